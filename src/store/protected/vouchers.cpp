#include "store/protected/vouchers.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "base/sys/directory.hpp"
#include "base/sys/sys.hpp"
#include "base/text/sha256.hpp"
#include "store/protected/protected_walk.hpp"
#include "store/protected/tree_name.hpp"

namespace cloche {
namespace {

constexpr int64_t kept_seconds = 30 * 24 * 3600;  // longer than any call

ChangeTime written_at(const struct stat& seen) { return {seen.st_mtim.tv_sec, seen.st_mtim.tv_nsec}; }

}  // namespace

Vouchers::Vouchers(const std::string& state, int root) {
  const std::string tree = tree_name(root);
  if (state.empty() || tree.empty()) return;
  directory_ = state + "/vouched";
  of_root_ = tree + "-";
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

bool Vouchers::is_for(const std::string& path, const struct stat& seen, const std::string& content,
                      const ChangeTime& since) const {
  if (directory_.empty() || seen.st_nlink != 1) return false;
  struct stat voucher {};
  return ::lstat(place_of(path, seen.st_mode, content).c_str(), &voucher) == 0 &&
         written_at(voucher) >= since;
}

}  // namespace cloche
