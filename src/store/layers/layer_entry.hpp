// One entry of a layer, upper or lower: a name in a directory that is held. Its state, its mode, its extended
// attributes. Nothing here follows a link.
//
// Overlay's own attributes say how a layer is merged; none of them may reach a project, where a later overlay
// would act on it.
#pragma once

#include <sys/stat.h>

#include <map>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "model/change_set.hpp"

namespace cloche {

struct LayerEntry {
  int directory;     // borrowed; may be held by O_PATH
  const char* name;  // "." is the directory itself

  // For the system calls that take no directory: through the descriptor in /proc. The last name is not
  // followed, and a single name has none on the way.
  std::string address() const;
};

// Of a directory, how many names it has counts as one: a file system, and an overlay, count them differently.
FileState state_of(const struct stat& seen);  // of a link without what it says
FileState state_of(const LayerEntry& entry, const struct stat& seen);
int64_t nanoseconds(const timespec& time);

// As listxattr(2) gives them; empty as well where the file system has none.
Result<std::string> attribute_names(const LayerEntry& entry);
Result<std::string> attribute_value(const LayerEntry& entry, const std::string& attribute);
// All but the overlay's own (store/layers/overlay_attributes.hpp), access control lists among them.
using Attributes = std::map<std::string, std::string, std::less<>>;
Result<Attributes> attributes_of(const LayerEntry& entry, std::string_view names);

Result<bool> has_overlay_attributes(const LayerEntry& entry);
// The owner of a file that is read-only gets write permission meanwhile.
Result<void> strip_overlay_attributes(const LayerEntry& entry);

// Gives `to` the attributes of `from`: those of users and access control lists, and overlay's own from one
// layer to another. What `to` has beyond them is removed.
enum class OverlaysOwn { left_out, copied };
Result<void> copy_attributes(const LayerEntry& from, const LayerEntry& to,
                             OverlaysOwn overlays = OverlaysOwn::left_out);

// Where it is another one.
Result<void> set_owner(const LayerEntry& entry, uid_t uid, gid_t gid);
// The times that were seen of another entry.
Result<void> set_times(const LayerEntry& entry, const struct stat& seen);
Result<void> set_modified(const LayerEntry& entry, int64_t ns);

// The owner may change the mode of what it cannot open. By a descriptor that was opened with O_PATH.
bool set_mode(int held, unsigned mode);
// Of a file or directory, never of what a link leads to.
Result<void> set_mode(const LayerEntry& entry, unsigned mode);

// Whether the caller is bound by modes and owners.
bool is_bound_by_modes();

// Lets the owner read a file or a directory of an upper layer that the call closed, and closes it again.
// Bytes need it, and so do the values of attributes.
class ReadableForNow {
 public:
  ReadableForNow(const LayerEntry& entry, const struct stat& seen);
  ~ReadableForNow();
  ReadableForNow(const ReadableForNow&) = delete;
  ReadableForNow& operator=(const ReadableForNow&) = delete;

 private:
  unsigned mode_;
  OwnedFd held_ = {};  // where it was closed
};

}  // namespace cloche
