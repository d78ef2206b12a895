#include "store/layers/directory_origin.hpp"

#include <fcntl.h>

#include <cstring>
#include <string_view>

#include "store/layers/layer_entry.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

// How the kernel writes it (struct ovl_fb): a version, a mark, the length of all, flags, the type of a file
// handle, the id of a file system, and the handle.
constexpr size_t version_at = 0;
constexpr size_t mark_at = 1;
constexpr size_t length_at = 2;
constexpr size_t type_at = 4;
constexpr size_t handle_at = 21;
constexpr char known_version = 0;
constexpr char known_mark = '\xfb';

struct Handle {
  int type;
  std::string bytes;
  bool operator==(const Handle&) const = default;
};

std::optional<Handle> noted_handle(std::string_view note) {
  if (note.size() <= handle_at || note[version_at] != known_version || note[mark_at] != known_mark ||
      static_cast<unsigned char>(note[length_at]) != note.size())
    return std::nullopt;
  return Handle{static_cast<unsigned char>(note[type_at]), std::string(note.substr(handle_at))};
}

std::optional<Handle> handle_of(int directory) {
  alignas(file_handle) char room[sizeof(file_handle) + MAX_HANDLE_SZ] = {};
  auto* handle = reinterpret_cast<file_handle*>(room);
  handle->handle_bytes = MAX_HANDLE_SZ;
  int mount = 0;
  if (::name_to_handle_at(directory, "", handle, &mount, AT_EMPTY_PATH) != 0) return std::nullopt;
  Handle found{handle->handle_type, std::string(handle->handle_bytes, '\0')};
  std::memcpy(found.bytes.data(), handle->f_handle, found.bytes.size());
  return found;
}

}  // namespace

std::optional<bool> is_made_from(int upper, const std::string& path, OverlayAttributes attributes,
                                 int directory) {
  const OwnedFd around = open_descendant(upper, directory_in(path), O_PATH | O_DIRECTORY);
  if (!around) return std::nullopt;
  const std::string name = last_of(path);
  const auto note =
      attribute_value({around.get(), name.c_str()}, std::string(prefix_of(attributes)) + "origin");
  const auto noted = note.ok() ? noted_handle(note.value()) : std::nullopt;
  const auto now = noted ? handle_of(directory) : std::nullopt;
  return now ? std::optional(*noted == *now) : std::nullopt;
}

}  // namespace cloche
