#include "store/vouchers.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "base/directory.hpp"
#include "base/sha256.hpp"
#include "base/sys.hpp"
#include "store/saved_members.hpp"
#include "store/tree_steps.hpp"

namespace cloche {
namespace {

constexpr size_t most_names = 512;
constexpr size_t most_depth = 16;
constexpr int64_t kept_seconds = 30 * 24 * 3600;  // longer than any call

ChangeTime written_at(const struct stat& seen) { return {seen.st_mtim.tv_sec, seen.st_mtim.tv_nsec}; }

}  // namespace

Vouchers::Vouchers(const std::string& state, int root) {
  struct stat seen {};
  if (state.empty() || ::fstat(root, &seen) != 0) return;
  directory_ = state + "/vouched";
  of_root_ = std::to_string(seen.st_dev) + "-" + std::to_string(seen.st_ino) + "-";
}

std::string Vouchers::place_of(const std::string& path, mode_t mode, const std::string& content) const {
  const std::string head = path + '\0' + std::to_string(mode) + '\0';
  return directory_ + "/" + of_root_ + sha256(head + content);
}

void Vouchers::vouch_for(const std::string& path, mode_t mode, const std::string& content) const {
  if (directory_.empty() || S_ISDIR(mode) || !make_private_directories(directory_)) return;
  remove_old();
  const auto voucher =
      sys::open(place_of(path, mode, content), O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (voucher.ok()) ::futimens(voucher.value().get(), nullptr);  // one that was there counts from now on too
}

void Vouchers::remove_old() const {
  const int64_t now = change_time_now().seconds;
  for (const auto& name : names_in(directory_)) {
    struct stat seen {};
    const std::string place = directory_ + "/" + name;
    if (::lstat(place.c_str(), &seen) == 0 && seen.st_mtim.tv_sec + kept_seconds < now)
      ::unlink(place.c_str());
  }
}

struct Vouchers::Search {
  ChangeTime since;
  size_t names = 0;
  size_t depth = 0;
  bool found = false;  // a voucher; a directory without a file has none
};

bool Vouchers::are_for(const HeldRoot& root, const std::string& path, const ChangeTime& since) const {
  if (directory_.empty()) return false;
  const auto parent = open_parent(root.fd.get(), path);
  Search search{.since = since};
  return parent.ok() && are_for_child(search, parent.value().get(), path.substr(path.rfind('/') + 1), path) &&
         search.found;
}

bool Vouchers::are_for_child(Search& search, int parent, const std::string& name,
                             const std::string& path) const {
  const auto seen = look_in(parent, name);
  if (!seen || ++search.names > most_names || search.depth > most_depth) return false;
  if (!S_ISDIR(seen->st_mode)) {
    const auto content = seen->st_nlink == 1 ? content_of_member(parent, name, *seen) : std::nullopt;
    struct stat voucher {};
    const bool vouched = content && ::lstat(place_of(path, seen->st_mode, *content).c_str(), &voucher) == 0 &&
                         written_at(voucher) >= search.since;
    search.found = search.found || vouched;
    return vouched;
  }
  const OwnedFd fd = open_child(parent, name.c_str(), directory_flags);
  bool all = fd.get() >= 0;
  ++search.depth;
  if (all) {
    for_each_name(fd.get(), [&](const dirent& entry) {
      all = are_for_child(search, fd.get(), entry.d_name, joined(path, entry.d_name));
      return all;
    });
  }
  --search.depth;
  return all;
}

}  // namespace cloche
