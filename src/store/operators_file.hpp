// Files that the operator writes: configuration, sandbox profiles, command shapes. What is looked at here is
// judged by policy/path_trust.hpp, and what was judged is what is read.
#pragma once

#include <sys/stat.h>

#include <string>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "policy/path_trust.hpp"

namespace cloche {

// The user who runs us.
Writers users_writers();

OwnerFact owner_fact(const struct stat& seen, const std::string& path);

struct OperatorsFile {
  OwnedFd fd;
  std::string opened;  // every link followed
};

// A regular file that only these can have written.
Result<OperatorsFile> open_operators(const std::string& path, const Writers& writers);
// The same, and of the way to it.
Result<OperatorsFile> open_trusted(const std::string& path, const Writers& writers);

// How the path leads to what was opened by it.
Result<WayFact> look_at_way(const std::string& path, const OperatorsFile& file);

// A directory in which every file is the operator's word, with the way to it.
Result<void> check_operators_folder(const std::string& folder, const Writers& writers);

// The whole of it; `path` is for messages.
Result<std::string> read_operators(int fd, const std::string& path, size_t most);

}  // namespace cloche
