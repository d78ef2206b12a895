#include "store/commit/entry_attributes.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>

#include "base/text/visible_text.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

// Since Linux 6.13, and the same on every architecture of ours.
#ifdef SYS_listxattrat
constexpr long list_attributes_call = SYS_listxattrat;
#else
constexpr long list_attributes_call = 465;
#endif

// The l...xattr functions follow no link at the end, and a single name has none on the way.
std::string path_of_entry(int directory, const char* name) {
  return "/proc/self/fd/" + std::to_string(directory) + "/" + name;
}

ssize_t list_names(int directory, const char* name, char* names, size_t size) {
  static const bool has_call = [] {
    char none = 0;
    return ::syscall(list_attributes_call, AT_FDCWD, "/", 0, &none, size_t{0}) >= 0;
  }();
  if (has_call) return ::syscall(list_attributes_call, directory, name, AT_SYMLINK_NOFOLLOW, names, size);
  return ::llistxattr(path_of_entry(directory, name).c_str(), names, size);
}

Error attribute_error(const char* doing, const char* name) {
  return system_error(std::string(doing) + " '" + shown(name) + "'");
}

bool is_copied(std::string_view name, OverlaysOwn overlays) {
  if (is_overlay_attribute(name)) return overlays == OverlaysOwn::copied;
  return name.starts_with("user.") || name.starts_with("system.posix_acl_");
}

Result<std::string> attribute(const std::string& entry, const std::string& name) {
  std::string value(size_t{64} << 10, '\0');
  const ssize_t size = ::lgetxattr(entry.c_str(), name.c_str(), value.data(), value.size());
  if (size < 0) return attribute_error("read the attribute", name.c_str());
  value.resize(static_cast<size_t>(size));
  return value;
}

}  // namespace

bool is_bound_by_modes() {
  static const bool bound = ::geteuid() != 0;
  return bound;
}

Result<std::vector<std::string>> attributes_of(int directory, const char* name) {
  char names[1024];
  std::string more;
  const char* first = names;
  ssize_t size = list_names(directory, name, names, sizeof names);
  if (size < 0 && errno == ERANGE) {
    more.resize(size_t{64} << 10);  // as many as the kernel has
    size = list_names(directory, name, more.data(), more.size());
    first = more.data();
  }
  if (size < 0 && errno != ENOTSUP) return attribute_error("list the attributes of", name);
  std::vector<std::string> answer;
  for (ssize_t at = 0; at < size;) {
    answer.emplace_back(first + at);
    at += static_cast<ssize_t>(answer.back().size()) + 1;
  }
  return answer;
}

Result<bool> has_overlay_attributes(int directory, const char* name) {
  const auto names = TRY(attributes_of(directory, name));
  return std::any_of(names.begin(), names.end(), is_overlay_attribute);
}

bool set_mode_of_held(int directory, mode_t mode) {
  return ::chmod(("/proc/self/fd/" + std::to_string(directory)).c_str(), mode) == 0;
}

Result<void> set_mode(int directory, const char* name, mode_t mode) {
  const OwnedFd entry = open_child(directory, name, O_PATH);
  struct stat seen {};
  if (!entry || ::fstat(entry.get(), &seen) != 0) return attribute_error("look at", name);
  if (S_ISLNK(seen.st_mode)) return {};
  if ((seen.st_mode & 07777U) == mode) return {};
  if (set_mode_of_held(entry.get(), mode)) return {};
  return attribute_error("set the mode of", name);
}

Result<void> strip_overlay_attributes(int directory, const char* name) {
  const auto names = TRY(attributes_of(directory, name));
  if (std::none_of(names.begin(), names.end(), is_overlay_attribute)) return {};
  const auto seen = look_in(directory, name);
  if (!seen) return attribute_error("look at", name);
  const mode_t mode = seen->st_mode & 07777U;
  const bool is_closed = is_bound_by_modes() && (mode & S_IWUSR) == 0;
  if (is_closed) TRY(set_mode(directory, name, mode | S_IWUSR));
  for (const auto& attribute : names) {
    if (!is_overlay_attribute(attribute)) continue;
    if (::lremovexattr(path_of_entry(directory, name).c_str(), attribute.c_str()) != 0)
      return attribute_error("remove overlay's attributes from", name);
  }
  if (is_closed) TRY(set_mode(directory, name, mode));
  return {};
}

Result<void> copy_attributes(int from_directory, const char* from, int to_directory, const char* to,
                             OverlaysOwn overlays) {
  const auto wanted = TRY(attributes_of(from_directory, from));
  const std::string source = path_of_entry(from_directory, from);
  const std::string target = path_of_entry(to_directory, to);
  for (const auto& name : TRY(attributes_of(to_directory, to))) {
    if (!is_copied(name, overlays) || std::find(wanted.begin(), wanted.end(), name) != wanted.end()) continue;
    if (::lremovexattr(target.c_str(), name.c_str()) != 0)
      return attribute_error("remove an attribute of", to);
  }
  for (const auto& name : wanted) {
    if (!is_copied(name, overlays)) continue;
    const std::string value = TRY(attribute(source, name));
    if (::lsetxattr(target.c_str(), name.c_str(), value.data(), value.size(), 0) != 0)
      return attribute_error("set an attribute of", to);
  }
  return {};
}

}  // namespace cloche
