// Whether a file is the operator's own word: nobody but root and its owner can have written it, have turned a
// link that leads to it, or can put another in its place. Configuration, sandbox profiles and command shapes
// are all judged here.
#pragma once

#include <sys/stat.h>

#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace cloche {

// Who may write what an operator says, besides root.
struct Writers {
  unsigned owner = 0;
  bool group = false;  // where users have a group of their own, its members are the user
};
// Whoever runs us.
Writers users_writers();

Result<void> judge_owner(const struct stat& seen, const std::string& path, const Writers& writers);
Result<void> judge_mode(const struct stat& seen, const std::string& path, const Writers& writers);

// Every directory above `place`, which is absolute and resolved. In a sticky one nobody moves what is not
// his.
Result<void> judge_directories_above(const std::string& place, const Writers& writers);

// A regular file that nobody but these can have written, and where it is. What was judged is what is read.
struct OperatorsFile {
  OwnedFd fd;
  std::string opened;  // every link followed
};
Result<OperatorsFile> open_operators(const std::string& path, const Writers& writers);

// The same of the way to it, each link's place included: what opens it by this path, now or later, opens
// nothing of anybody else's.
Result<void> judge_way(const std::string& path, const OperatorsFile& file, const Writers& writers);

// A directory in which every file is the operator's word, with the way to it.
Result<void> judge_operators_folder(const std::string& folder, const Writers& writers);

// The whole of it; `path` is for messages.
Result<std::string> read_operators(int fd, const std::string& path, size_t most);

}  // namespace cloche
