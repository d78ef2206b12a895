// Members of the protected set where nothing holds them while a command runs, because its level has no
// mounts: as they were before it, and put back when its last process is dead and they are not like that any
// more. Whether they are is told by their bytes and their mode, never by times.
//
// Several calls may be in one tree, and each would take for "before" what another has done meanwhile. So the
// copies belong to all of them, in this order of steps (store/protected/open_call.hpp, whose lock is held for
// each):
//   begin    a call takes over the copies of every call that is open in the tree, in whatever way those run,
//            and only then copies what none of them has and none of them can have changed; it leaves all of
//            that in STATE/before, 0600, before its command starts.
//   end      its look, then every copy is put back that is not as it was; then its file in STATE/before goes.
// So whoever ends last puts back what was there before the first began, whoever made what and in which order.
// Of a call that was killed the file stays. Calls that are open have its copies already; otherwise the next
// one looks in its stead, and puts back where the place of a copy is empty: what stands there by then was
// looked at, and may be the user's.
//
// What stands in the place of a member goes to quarantine first: nothing is deleted. What cannot be put back,
// because the disk is full, is kept there too, and its place is left empty: half a file is never left in it.
// Who changed it cannot be told; on the host somebody may have. Large ones are not copied (1 MiB a file, 8
// MiB and 512 names in all), and of git's own sample hooks none.
#pragma once

#include <sys/stat.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/outcome.hpp"
#include "store/protected/protected_walk.hpp"
#include "store/protected/quarantine.hpp"
#include "store/protected/vouchers.hpp"

namespace cloche {

enum class Places { all, empty };

class SavedMembers {
 public:
  // By when it was changed.
  using Certainty = std::function<bool(const ChangeTime& changed)>;

  // A file, a link, or a directory with what is in it; of these only what is certain to be as it was before
  // every call. What is not there is nothing to put back.
  void save(const HeldRoot& root, const std::string& path, const Certainty& is_certain);
  void save(const HeldRoot& root, const std::string& path) {
    save(root, path, [](const ChangeTime&) { return true; });
  }
  // What an earlier call saved counts, where this one has nothing of that name yet.
  void take_over(const SavedMembers& earlier);
  // Without those that this call may change.
  SavedMembers without(const std::function<bool(const std::string& path)>& is_left) const;
  // What is there now as it was saved.
  SavedMembers unchanged(const HeldRoot& root) const;

  bool is_empty() const { return saved_.empty(); }
  // Whether this file or link is as it was.
  bool has(const std::string& path, const struct stat& seen, const std::string& content) const;

  // For a file in the state directory, and back. What is cut off or unreadable is left out.
  std::string text() const;
  static SavedMembers from_text(std::string_view text);

  struct PutBack {
    std::vector<std::string> restored = {};     // relative to the root
    std::vector<Quarantined> quarantined = {};  // what stood there
    std::string gap = {};                       // what could not be put back, and why
  };
  PutBack put_back(const HeldRoot& root, Quarantine& quarantine, const Vouchers& vouchers,
                   Places places = Places::all) const;

 private:
  struct Saved {
    struct stat seen;
    std::string content;  // of a file; of a link what it says
  };
  using Entry = std::map<std::string, Saved>::value_type;

  static bool is_same(const Saved& saved, const struct stat& now, const std::string& content);
  static bool is_as_it_was(const Entry& entry, int parent, const struct stat& now);
  static Result<void> put_back_one(const Entry& entry, const HeldRoot& root, Quarantine& quarantine,
                                   const Vouchers& vouchers, PutBack& done);
  // What is said of one that could not be put back; its copy goes to where the operator finds it.
  static std::string describe_loss(const Entry& entry, const Error& error, Quarantine& quarantine);
  bool add(const std::string& path, Saved saved);
  void save_in(int parent, const std::string& name, const std::string& path, size_t depth,
               const Certainty& is_certain);
  void save_directory(int parent, const std::string& name, const std::string& path, size_t depth,
                      const Certainty& is_certain);

  std::map<std::string, Saved> saved_;  // by path: a directory comes before what is in it
  size_t bytes_ = 0;
};

}  // namespace cloche
