// What a call has put back (saved_members.hpp) is not the work of a command. Another call that is in the same
// tree would take it for that: it has changed since that one began, which may have no copy of its own to know
// it by. So whoever puts something back leaves a voucher for it first, and whoever looks afterwards leaves
// alone what has one.
//
// A voucher is an empty file in STATE/vouched. Its name is of the tree, and of a digest of what was put back:
// where it lies, its mode and its content. Whatever is like that is as it was, whoever wrote it; time and
// inode say nothing that another command could not have changed meanwhile. It counts for calls that were in
// the tree when it was written.
#pragma once

#include <sys/stat.h>

#include <string>

#include "model/facts.hpp"

namespace cloche {

class Vouchers {
 public:
  // Without a state directory nobody vouches, and nothing is vouched for.
  Vouchers(const std::string& state, int root);

  // Before it is in its place. A file or a link; a directory is what is in it.
  void vouch_for(const std::string& path, mode_t mode, const std::string& content) const;

  // Whether somebody has put back this very file, or link, since then.
  bool is_for(const std::string& path, const struct stat& seen, const std::string& content,
              const ChangeTime& since) const;

 private:
  std::string place_of(const std::string& path, mode_t mode, const std::string& content) const;
  void remove_old() const;

  std::string directory_;  // empty: none
  std::string of_root_;
};

}  // namespace cloche
