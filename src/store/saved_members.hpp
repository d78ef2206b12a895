// Members of the protected set where nothing holds them while a command runs, because its rung has no mounts:
// as they were before it, and put back when its last process is dead and they are not like that any more.
//
// The copies are in memory, so a Cloche that is killed puts nothing back. What stands in the place of a
// member goes to quarantine first: nothing is deleted. What cannot be put back, because the disk is full, is
// kept there too, and its place is left empty: half a file is never left in it. Who changed it cannot be
// told; on the host somebody may have. Large ones are not copied (1 MiB a file, 8 MiB and 512 names in all),
// and of git's own sample hooks none.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/outcome.hpp"
#include "store/protected_walk.hpp"
#include "store/quarantine.hpp"
#include "store/vouchers.hpp"

namespace cloche {

// As it can be found again: a file's bytes, a link's words. Nothing for what is too large, or neither.
std::optional<std::string> content_of_member(int parent, const std::string& name, const struct stat& seen);

class SavedMembers {
 public:
  // A file, a link, or a directory with what is in it. What is not there is nothing to put back.
  void save(const HeldRoot& root, const std::string& path);

  struct PutBack {
    std::vector<std::string> restored = {};     // relative to the root
    std::vector<Quarantined> quarantined = {};  // what stood there
    std::string gap = {};                       // what could not be put back, and why
  };
  PutBack put_back(const HeldRoot& root, Quarantine& quarantine, const Vouchers& vouchers) const;

 private:
  struct Saved {
    std::string path;
    struct stat seen;
    std::string content;  // of a file; of a link what it says
  };
  static bool is_as_it_was(const Saved& saved, int parent, const std::string& name, const struct stat& now);
  static Result<void> put_back_one(const Saved& saved, const HeldRoot& root, Quarantine& quarantine,
                                   const Vouchers& vouchers, PutBack& done);
  // What is said of one that could not be put back; its copy goes to where the operator finds it.
  static std::string describe_loss(const Saved& saved, const Error& error, Quarantine& quarantine);
  void save_in(int parent, const std::string& name, const std::string& path, size_t depth);
  void save_directory(int parent, const std::string& name, const std::string& path, size_t depth);

  std::vector<Saved> saved_;  // a directory before what is in it
  size_t bytes_ = 0;
};

}  // namespace cloche
