#include "store/sealed/sealed_files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/sys/directory.hpp"
#include "base/sys/sys.hpp"
#include "base/text/random_word.hpp"
#include "base/text/sha256.hpp"

namespace cloche {
namespace {

constexpr const char* lock_file = ".lock";
constexpr const char* key_file = ".key";
constexpr const char* fresh_file = ".new";
constexpr size_t key_letters = 52;  // 260 bits
constexpr size_t seal_bytes = 64;

Error not_ours(const std::string& path) {
  return refusal(path + " is not Cloche's own: another user owns it, or others may read or write it",
                 "look at it, then move it away");
}

Result<void> check_ours(int fd, mode_t type, const std::string& path) {
  struct stat seen {};
  if (::fstat(fd, &seen) != 0) return system_error("look at " + path);
  const bool linked = type == S_IFREG && seen.st_nlink != 1;
  if ((seen.st_mode & S_IFMT) != type || seen.st_uid != ::geteuid() || (seen.st_mode & 077) != 0 || linked)
    return not_ours(path);
  return {};
}

// Never through a link, and never waiting for a pipe's other end.
Result<OwnedFd> open_own_file(int directory, const char* name, int flags, const std::string& path) {
  auto file = TRY(sys::open_at(directory, name, flags | O_NOFOLLOW | O_NONBLOCK, 0600));
  TRY(check_ours(file.get(), S_IFREG, path));
  return file;
}

Result<OwnedFd> locked(int directory, const std::string& path) {
  auto file = TRY(open_own_file(directory, lock_file, O_RDWR | O_CREAT, path + "/" + lock_file));
  while (::flock(file.get(), LOCK_EX) != 0)
    if (errno != EINTR) return system_error("lock " + path);
  return file;
}

Result<void> put_bytes(int directory, const std::string& name, std::string_view bytes,
                       const std::string& path) {
  ::unlinkat(directory, fresh_file, 0);  // left by a process that was killed while it held the lock
  const auto file = TRY(open_own_file(directory, fresh_file, O_WRONLY | O_CREAT | O_EXCL, path));
  TRY(sys::write_all(file.get(), bytes));
  if (::fsync(file.get()) != 0) return system_error("keep " + path);
  if (::renameat(directory, fresh_file, directory, name.c_str()) != 0) return system_error("keep " + path);
  if (::fsync(directory) != 0) return system_error("keep " + path);
  return {};
}

Result<std::string> key_of(int directory, const std::string& path) {
  const std::string shown_path = path + "/" + key_file;
  const auto held = TRY(locked(directory, path));
  if (auto file = open_own_file(directory, key_file, O_RDONLY, shown_path); file.ok()) {
    auto key = TRY(sys::read_all(file.value().get(), key_letters));
    if (key.size() != key_letters) return not_ours(shown_path);
    return key;
  } else if (file.error().number != ENOENT) {
    return file.error();
  }
  auto key = TRY(random_word(key_letters));
  TRY(put_bytes(directory, key_file, key, shown_path));
  return key;
}

bool is_name(std::string_view name) {
  const size_t dot = name.find('.');
  return is_plain_id(name.substr(0, dot)) &&
         (dot == std::string_view::npos || is_plain_id(name.substr(dot + 1)));
}

std::string seal_of(const std::string& key, const std::string& name, std::string_view bytes) {
  return hmac_sha256(key, name + "\n" + std::string(bytes));  // no name has a line break in it
}

}  // namespace

Result<SealedFiles> SealedFiles::open(const std::string& state, const std::string& name) {
  if (state.empty())
    return refusal("there is no directory for Cloche's state",
                   "set XDG_STATE_HOME or HOME; a hook or a server has --state-home for it");
  std::string path = state + "/" + name;
  if (!make_private_directories(path)) return system_error("make " + path);
  if (!is_ours_alone(path)) return not_ours(path);
  auto directory = TRY(sys::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  TRY(check_ours(directory.get(), S_IFDIR, path));
  auto key = TRY(key_of(directory.get(), path));
  return SealedFiles(std::move(path), std::move(directory), std::move(key));
}

Result<OwnedFd> SealedFiles::lock() const { return locked(directory_.get(), path_); }

std::vector<std::string> SealedFiles::names() const {
  auto names = names_in("/proc/self/fd/" + std::to_string(directory_.get()));
  std::erase_if(names, [](const std::string& name) { return !is_name(name); });
  return names;
}

Result<std::string> SealedFiles::read(const std::string& name, size_t most) const {
  const std::string path = path_ + "/" + name;
  if (!is_name(name)) return refusal("this is not the name of a stored file");
  const auto file = TRY(open_own_file(directory_.get(), name.c_str(), O_RDONLY, path));
  const std::string whole = TRY(sys::read_all(file.get(), most + seal_bytes + 1));
  const bool sealed = whole.size() > seal_bytes && whole[seal_bytes] == '\n';
  const std::string bytes = sealed ? whole.substr(seal_bytes + 1) : std::string();
  if (!sealed || !equal_in_constant_time(whole.substr(0, seal_bytes), seal_of(key_, name, bytes)))
    return refusal(path + " is not as Cloche wrote it", "remove it and start again");
  return bytes;
}

Result<JsonValue> SealedFiles::read_json(const std::string& name, size_t most) const {
  return cloche::read_json(TRY(read(name, most)), name, {.bytes = most, .comments = JsonComments::refused});
}

std::string SealedFiles::keyed_digest(std::string_view text) const { return hmac_sha256(key_, text); }

Result<void> SealedFiles::put(const std::string& name, std::string_view bytes) const {
  if (!is_name(name)) return refusal("this cannot be the name of a stored file");
  return put_bytes(directory_.get(), name, seal_of(key_, name, bytes) + "\n" + std::string(bytes),
                   path_ + "/" + name);
}

Result<void> SealedFiles::remove(const std::string& name) const {
  if (::unlinkat(directory_.get(), name.c_str(), 0) != 0 || ::fsync(directory_.get()) != 0)
    return system_error("remove " + path_ + "/" + name);
  return {};
}

}  // namespace cloche
