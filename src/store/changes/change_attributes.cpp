#include "store/changes/change_attributes.hpp"

#include <limits.h>
#include <linux/limits.h>
#include <sys/xattr.h>

#include <cerrno>
#include <cstdint>

namespace cloche {
namespace {

constexpr const char* access_list = "system.posix_acl_access";
constexpr const char* default_list = "system.posix_acl_default";
constexpr const char* capabilities = "security.capability";

constexpr unsigned named_user = 0x02;
constexpr unsigned named_group = 0x08;

unsigned little_endian(std::string_view bytes, size_t at, size_t count) {
  unsigned value = 0;
  for (size_t i = 0; i < count; ++i) value |= unsigned{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return value;
}

void add_list(const std::string& path, const char* name, RightsOfFile& rights) {
  std::string bytes(size_t{64} << 10, '\0');
  const ssize_t length = ::lgetxattr(path.c_str(), name, bytes.data(), bytes.size());
  if (length < 0) {
    rights.is_unknown = rights.is_unknown || errno != ENODATA;
    return;
  }
  const auto entries = entries_of_acl({bytes.data(), static_cast<size_t>(length)}, name == default_list);
  if (!entries) rights.is_unknown = true;
  if (entries) rights.acl.insert(rights.acl.end(), entries->begin(), entries->end());
}

}  // namespace

std::optional<std::vector<AclEntry>> entries_of_acl(std::string_view bytes, bool is_default) {
  constexpr size_t head = 4;
  constexpr size_t entry = 8;  // tag and permissions of two bytes each, then the id
  constexpr unsigned version = 2;
  if (bytes.size() < head || (bytes.size() - head) % entry != 0) return std::nullopt;
  if (little_endian(bytes, 0, head) != version) return std::nullopt;
  std::vector<AclEntry> entries;
  for (size_t at = head; at < bytes.size(); at += entry) {
    const unsigned tag = little_endian(bytes, at, 2);
    if (tag != named_user && tag != named_group) continue;
    entries.push_back(
        {tag == named_group, is_default, little_endian(bytes, at + 4, 4), little_endian(bytes, at + 2, 2)});
  }
  return entries;
}

// By /proc: the kernel has no call for the attributes of a name in a directory before 6.13. The last name is
// not followed, and the one before it is the directory that is held.
RightsOfFile rights_of(int directory, const std::string& name) {
  RightsOfFile rights;
  const std::string path = "/proc/self/fd/" + std::to_string(directory) + "/" + name;
  char few[1024];  // most files have none, so this runs once a file
  std::string many;
  char* list = few;
  ssize_t length = ::llistxattr(path.c_str(), few, sizeof few);
  if (length < 0 && errno == ERANGE) {
    many.resize(XATTR_LIST_MAX);
    list = many.data();
    length = ::llistxattr(path.c_str(), list, many.size());
  }
  if (length < 0) {
    rights.is_unknown = errno != ENOTSUP;
    return rights;
  }
  const std::string_view names(list, static_cast<size_t>(length));
  if (names.find(access_list) != std::string_view::npos) add_list(path, access_list, rights);
  if (names.find(default_list) != std::string_view::npos) add_list(path, default_list, rights);
  rights.has_capabilities = names.find(capabilities) != std::string_view::npos;
  return rights;
}

}  // namespace cloche
