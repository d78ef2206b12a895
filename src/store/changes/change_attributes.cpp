#include "store/changes/change_attributes.hpp"

#include <cerrno>

#include "store/layers/layer_entry.hpp"
#include "store/layers/overlay_attributes.hpp"

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

void add_list(const LayerEntry& entry, const char* name, RightsOfFile& rights) {
  const auto bytes = attribute_value(entry, name);
  if (!bytes.ok()) {
    rights.is_unknown = rights.is_unknown || bytes.error().number != ENODATA;
    return;
  }
  const auto entries = entries_of_acl(bytes.value(), name == default_list);
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

RightsOfFile rights_of(int directory, const std::string& name) {
  const LayerEntry entry{directory, name.c_str()};
  RightsOfFile rights;
  const auto names = attribute_names(entry);
  if (!names.ok()) return {.is_unknown = true};
  for_each_attribute(names.value(), [&](std::string_view one) {
    if (one == access_list) add_list(entry, access_list, rights);
    if (one == default_list) add_list(entry, default_list, rights);
    rights.has_capabilities = rights.has_capabilities || one == capabilities;
  });
  return rights;
}

}  // namespace cloche
