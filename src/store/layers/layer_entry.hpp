// One entry of a layer, upper or lower: a name in a directory that is held. Its state, its extended
// attributes, its bytes. Nothing here follows a link.
#pragma once

#include <sys/stat.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "model/change_set.hpp"

namespace cloche {

struct LayerEntry {
  int directory;     // borrowed; may be held by O_PATH
  const char* name;  // "." is the directory itself

  // For the system calls on extended attributes, which take no directory: through the descriptor in /proc.
  std::string address() const;
};

// Of a directory, how many names it has counts as one: a file system, and an overlay, count them differently.
FileState state_of(const LayerEntry& entry, const struct stat& seen);
int64_t nanoseconds(const timespec& time);

// As listxattr(2) gives them; empty as well where the file system has none.
Result<std::string> attribute_names(const LayerEntry& entry);
Result<std::string> attribute_value(const LayerEntry& entry, const std::string& attribute);
// All but the overlay's own (store/layers/overlay_attributes.hpp), access control lists among them.
using Attributes = std::map<std::string, std::string, std::less<>>;
Result<Attributes> attributes_of(const LayerEntry& entry, std::string_view names);

// The owner may change the mode of what it cannot open. By a descriptor that was opened with O_PATH.
bool set_mode(int held, unsigned mode);

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

enum class Comparison { equal, different, over_budget };

// Two open files of this size, byte by byte; holes that both have are not read. `budget` is what may be read
// of each, and loses what was.
Result<Comparison> compare_bytes(int one, int other, uint64_t size, uint64_t& budget);

}  // namespace cloche
