#include "store/operators_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/path.hpp"
#include "base/sys.hpp"

namespace cloche {
namespace {

// Links that the way passes: each is a word about where it leads.
Result<void> judge_turns(const std::vector<std::string>& turns, const Writers& writers) {
  for (const auto& turn : turns) {
    struct stat seen {};
    if (::lstat(turn.c_str(), &seen) != 0) return system_error("look at " + turn);
    TRY(judge_owner(seen, turn, writers));
    TRY(judge_directories_above(turn, writers));
  }
  return {};
}

}  // namespace

Writers users_writers() { return {::geteuid(), true}; }

Result<void> judge_owner(const struct stat& seen, const std::string& path, const Writers& writers) {
  if (seen.st_uid == 0 || seen.st_uid == writers.owner) return {};
  return refusal(path + " belongs to another user, id " + std::to_string(seen.st_uid),
                 writers.owner == 0 ? "chown it to root" : "chown it to root or to you");
}

Result<void> judge_mode(const struct stat& seen, const std::string& path, const Writers& writers) {
  if ((seen.st_mode & S_IWOTH) != 0)
    return refusal(path + " can be written by everybody", "chmod o-w " + path);
  if (!writers.group && (seen.st_mode & S_IWGRP) != 0 && seen.st_gid != 0)
    return refusal(path + " can be written by the group " + std::to_string(seen.st_gid), "chmod g-w " + path);
  return {};
}

Result<void> judge_directories_above(const std::string& place, const Writers& writers) {
  for (std::string_view at = parent_of(place);; at = parent_of(at)) {
    struct stat seen {};
    const std::string directory(at);
    if (::stat(directory.c_str(), &seen) != 0) return system_error("look at " + directory);
    TRY(judge_owner(seen, directory, writers));
    if ((seen.st_mode & S_ISVTX) == 0) TRY(judge_mode(seen, directory, writers));
    if (at == "/") return {};
  }
}

Result<OperatorsFile> open_operators(const std::string& path, const Writers& writers) {
  OperatorsFile file{TRY(sys::open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)), {}};
  file.opened = TRY(sys::path_of(file.fd.get()));
  struct stat seen {};
  if (::fstat(file.fd.get(), &seen) != 0) return system_error("look at " + path);
  // A pipe or a device could keep us waiting or give every reader something else.
  if (!S_ISREG(seen.st_mode)) return refusal(path + " is not a regular file");
  TRY(judge_owner(seen, path, writers));
  TRY(judge_mode(seen, path, writers));
  return file;
}

Result<void> judge_way(const std::string& path, const OperatorsFile& file, const Writers& writers) {
  TRY(judge_directories_above(file.opened, writers));
  if (file.opened == path) return {};
  return judge_turns(TRY(sys::walk(path)).turns, writers);
}

Result<void> judge_operators_folder(const std::string& folder, const Writers& writers) {
  const auto walked = TRY(sys::walk(folder));
  struct stat seen {};
  if (::fstat(walked.fd.get(), &seen) != 0) return system_error("look at " + folder);
  if (!S_ISDIR(seen.st_mode)) return refusal(folder + " is not a directory");
  TRY(judge_owner(seen, folder, writers));
  TRY(judge_mode(seen, folder, writers));
  TRY(judge_directories_above(walked.path, writers));
  return judge_turns(walked.turns, writers);
}

Result<std::string> read_operators(int fd, const std::string& path, size_t most) {
  auto text = sys::read_all(fd, most);
  if (text.ok()) return text;
  if (text.error().number == EFBIG)
    return refusal(path + " is longer than " + std::to_string(most) + " bytes", "make it shorter");
  return system_error("read " + path, text.error().number);
}

}  // namespace cloche
