#include "store/operators_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "store/system_facts.hpp"

namespace cloche {
namespace {

Result<OwnerFact> look_at_open(int fd, const std::string& path) {
  struct stat seen {};
  if (::fstat(fd, &seen) != 0) return system_error("look at " + path);
  return owner_fact(seen, path);
}

// `place` is absolute and resolved.
Result<std::vector<OwnerFact>> owners_above(const std::string& place) {
  std::vector<OwnerFact> above;
  for (std::string_view at = parent_of(place);; at = parent_of(at)) {
    struct stat seen {};
    const std::string directory(at);
    if (::stat(directory.c_str(), &seen) != 0) return system_error("look at " + directory);
    above.push_back(owner_fact(seen, directory));
    if (at == "/") return above;
  }
}

Result<WayFact> way_to(const std::string& place, const std::vector<std::string>& turns) {
  WayFact way{.above = TRY(owners_above(place))};
  for (const auto& turn : turns) {
    struct stat seen {};
    if (::lstat(turn.c_str(), &seen) != 0) return system_error("look at " + turn);
    way.links.push_back({owner_fact(seen, turn), TRY(owners_above(turn))});
  }
  return way;
}

}  // namespace

Writers users_writers() { return {::geteuid(), true}; }

OwnerFact owner_fact(const struct stat& seen, const std::string& path) {
  return {.kind = fact_from(seen, path).kind,
          .path = path,
          .uid = seen.st_uid,
          .gid = seen.st_gid,
          .group_writes = (seen.st_mode & S_IWGRP) != 0,
          .others_write = (seen.st_mode & S_IWOTH) != 0,
          .sticky = (seen.st_mode & S_ISVTX) != 0};
}

Result<OperatorsFile> open_operators(const std::string& path, const Writers& writers) {
  OperatorsFile file{TRY(sys::open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)), {}};
  file.opened = TRY(sys::path_of(file.fd.get()));
  const OwnerFact fact = TRY(look_at_open(file.fd.get(), path));
  TRY(judge_operators_file(fact, writers));
  return file;
}

Result<WayFact> look_at_way(const std::string& path, const OperatorsFile& file) {
  return way_to(file.opened, file.opened == path ? std::vector<std::string>{} : TRY(sys::walk(path)).turns);
}

Result<OperatorsFile> open_trusted(const std::string& path, const Writers& writers) {
  OperatorsFile file = TRY(open_operators(path, writers));
  const WayFact way = TRY(look_at_way(path, file));
  TRY(judge_operators_way(way, writers));
  return file;
}

Result<void> check_operators_folder(const std::string& folder, const Writers& writers) {
  const auto walked = TRY(sys::walk(folder));
  const OwnerFact fact = TRY(look_at_open(walked.fd.get(), folder));
  TRY(judge_operators_folder(fact, writers));
  return judge_operators_way(TRY(way_to(walked.path, walked.turns)), writers);
}

Result<std::string> read_operators(int fd, const std::string& path, size_t most) {
  auto text = sys::read_all(fd, most);
  if (text.ok()) return text;
  if (text.error().number == EFBIG)
    return refusal(path + " is longer than " + std::to_string(most) + " bytes", "make it shorter");
  return system_error("read " + path, text.error().number);
}

}  // namespace cloche
