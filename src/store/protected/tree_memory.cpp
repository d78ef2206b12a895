#include "store/protected/tree_memory.hpp"

#include <algorithm>
#include <cstring>

namespace cloche {
namespace {

constexpr size_t most_bytes = size_t{64} << 20;

// As it lies in the text; the programs that write it and read it are the same.
struct Head {
  uint64_t device;
  uint64_t inode;
  int64_t seconds;
  uint32_t nanoseconds;
  uint32_t inside;  // bytes
  uint16_t name;    // bytes
  uint16_t quiet;
  uint32_t unused;
};
static_assert(sizeof(Head) == 40);

}  // namespace

std::optional<RememberedDirectory> take_directory(std::string_view& directories) {
  Head head{};
  if (directories.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, directories.data(), sizeof head);
  directories.remove_prefix(sizeof head);
  if (directories.size() < uint64_t{head.name} + head.inside) return std::nullopt;
  RememberedDirectory directory;
  directory.state = {head.device, head.inode, {head.seconds, head.nanoseconds}};
  directory.quiet = head.quiet == 1;
  directory.name = directories.substr(0, head.name);
  directory.inside = directories.substr(head.name, head.inside);
  directories.remove_prefix(size_t{head.name} + head.inside);
  return directory;
}

RememberedNames::RememberedNames(std::string_view directories) {
  while (const auto directory = take_directory(directories)) sorted_.push_back(*directory);
  std::sort(sorted_.begin(), sorted_.end(),
            [](const RememberedDirectory& a, const RememberedDirectory& b) { return a.name < b.name; });
}

std::optional<RememberedDirectory> RememberedNames::find(std::string_view name) const {
  const auto found = std::lower_bound(
      sorted_.begin(), sorted_.end(), name,
      [](const RememberedDirectory& one, std::string_view wanted) { return one.name < wanted; });
  if (found == sorted_.end() || found->name != name) return std::nullopt;
  return *found;
}

TreeMemory::Place TreeMemory::enter(std::string_view name) {
  ++count_;
  const Place place = text_.size();
  full_ = full_ || text_.size() > most_bytes;
  if (full_) return place;
  Head head{};
  head.name = static_cast<uint16_t>(name.size());
  text_.append(reinterpret_cast<const char*>(&head), sizeof head);
  text_.append(name);
  return place;
}

void TreeMemory::call_quiet(Place place, const DirectoryState& state) {
  if (full_) return;
  Head head{};
  std::memcpy(&head, text_.data() + place, sizeof head);
  head.device = state.device;
  head.inode = state.inode;
  head.seconds = state.changed.seconds;
  head.nanoseconds = static_cast<uint32_t>(state.changed.nanoseconds);
  head.quiet = 1;
  std::memcpy(text_.data() + place, &head, sizeof head);
}

void TreeMemory::leave(Place place) {
  if (full_) return;
  Head head{};
  std::memcpy(&head, text_.data() + place, sizeof head);
  head.inside = static_cast<uint32_t>(text_.size() - place - sizeof head - head.name);
  std::memcpy(text_.data() + place, &head, sizeof head);
}

}  // namespace cloche
