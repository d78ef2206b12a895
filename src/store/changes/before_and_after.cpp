#include "store/changes/before_and_after.hpp"

#include <algorithm>
#include <deque>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "base/text/sha256.hpp"
#include "store/layers/layer_entry.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

constexpr int most_links = 40;       // as the kernel has it
constexpr size_t most_steps = 4096;  // of one path with all its links

std::string path_of(const std::vector<std::string>& names) {
  std::string path;
  for (const auto& name : names) path.append("/").append(name);
  return path.empty() ? "/" : path;
}

void put_before(std::deque<std::string>& rest, std::string_view path) {
  const auto names = components_of(path);
  rest.insert(rest.begin(), names.begin(), names.end());
}

}  // namespace

std::string BeforeAndAfter::absolute(const TreePath& where) const {
  const std::string& root = set_.trees[where.tree].path;
  if (where.path.empty()) return root;
  return (root == "/" ? "" : root) + "/" + where.path;
}

// The innermost, where one lies in another.
const ChangedTree* BeforeAndAfter::tree_of(const std::string& path, TreePath& where) const {
  const ChangedTree* found = nullptr;
  for (size_t i = 0; i < set_.trees.size(); ++i) {
    const std::string& root = set_.trees[i].path;
    if (!is_beneath(root, path) || (found != nullptr && root.size() < found->path.size())) continue;
    found = &set_.trees[i];
    const size_t skipped = root == "/" ? 1 : root.size() + 1;
    where = {i, path.size() > skipped ? path.substr(skipped) : std::string()};
  }
  return found;
}

// To the root of a tree, which is known to have no link in it.
bool BeforeAndAfter::is_on_way(const std::string& path) const {
  return std::any_of(set_.trees.begin(), set_.trees.end(),
                     [&](const ChangedTree& tree) { return is_beneath(path, tree.path); });
}

// A directory that came, went or was replaced has every path beneath it in the set.
bool BeforeAndAfter::is_below_change(const TreePath& where) const {
  for (std::string_view at = where.path; !at.empty();) {
    at = directory_in(at);
    const Change* change = directories_.find(where.tree, at);
    if (change == nullptr) continue;
    if (!is_directory(change->before) || !is_directory(change->after)) return true;
  }
  return false;
}

BeforeAndAfter::Entry BeforeAndAfter::look(const TreePath& where, Side side) const {
  if (where.path.empty()) return {Presence::present, FileKind::directory};
  if (const Change* change = directories_.find(where.tree, where.path)) {
    const auto& state = side == Side::before ? change->before : change->after;
    return state ? Entry{Presence::present, state->kind, state->link} : Entry{};
  }
  if (side == Side::after && is_below_change(where)) return {};
  const OwnedFd around =
      open_descendant(layers_[where.tree].lower, directory_in(where.path), O_PATH | O_DIRECTORY);
  if (!around) return {is_absent(errno) ? Presence::absent : Presence::unknown};
  const std::string name(name_in(where.path));
  const auto seen = look_in(around.get(), name);
  if (!seen) return {is_absent(errno) || errno == ENAMETOOLONG ? Presence::absent : Presence::unknown};
  FileState state = state_of({around.get(), name.c_str()}, *seen);
  return {Presence::present, state.kind, std::move(state.link)};
}

PathEnd BeforeAndAfter::follow(const std::string& absolute, Side side, std::vector<TreePath>* passed) const {
  std::vector<std::string> resolved;
  std::deque<std::string> rest;
  put_before(rest, absolute);
  int links = 0;
  size_t steps = 0;
  while (!rest.empty()) {
    if (++steps > most_steps) return {PathEnd::Place::unknown};
    const std::string name = std::move(rest.front());
    rest.pop_front();
    if (name == "..") {
      if (!resolved.empty()) resolved.pop_back();
      continue;
    }
    resolved.push_back(name);
    const std::string here = path_of(resolved);
    TreePath where;
    if (tree_of(here, where) == nullptr) {
      if (is_on_way(here)) continue;
      std::string whole = here;
      for (const auto& next : rest) whole.append("/").append(next);
      return {PathEnd::Place::outside, {0, tidied("", whole)}};
    }
    const Entry entry = look(where, side);
    if (entry.presence == Presence::unknown) return {PathEnd::Place::unknown};
    if (entry.presence == Presence::absent || entry.kind != FileKind::link) continue;
    if (++links > most_links) return {PathEnd::Place::nowhere};
    if (entry.link.empty()) return {PathEnd::Place::unknown};
    if (passed != nullptr) passed->push_back(where);
    if (entry.link.starts_with('/')) {
      resolved.clear();
    } else {
      resolved.pop_back();
    }
    put_before(rest, entry.link);
  }
  const std::string end = path_of(resolved);
  TreePath where;
  if (tree_of(end, where) == nullptr) return {PathEnd::Place::outside, {0, end}};
  return {PathEnd::Place::inside, where};
}

OwnedFd BeforeAndAfter::open_file(const TreePath& where, Side side) const {
  const bool is_changed = directories_.find(where.tree, where.path) != nullptr;
  const TreeLayers& layers = layers_[where.tree];
  const bool is_above = side == Side::after && is_changed;
  const std::string place = is_above && layers.place_of ? layers.place_of(where.path) : where.path;
  OwnedFd fd = open_descendant(is_above ? layers.upper : layers.lower, place, O_RDONLY);
  struct stat seen {};
  if (!fd || ::fstat(fd.get(), &seen) != 0 || !S_ISREG(seen.st_mode)) return OwnedFd();
  return fd;
}

std::optional<std::string> BeforeAndAfter::read(const TreePath& where, Side side, size_t most) const {
  const OwnedFd fd = open_file(where, side);
  if (!fd) return std::nullopt;
  auto text = sys::read_all(fd.get(), most);
  if (!text.ok()) return std::nullopt;
  return std::move(text).value();
}

std::optional<std::string> BeforeAndAfter::digest(const TreePath& where, Side side,
                                                  uint64_t& bytes_left) const {
  const OwnedFd fd = open_file(where, side);
  if (!fd) return std::nullopt;
  Sha256 digest;
  std::string buffer(size_t{64} << 10, '\0');
  for (;;) {
    const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 || static_cast<uint64_t>(got) > bytes_left) return std::nullopt;
    if (got == 0) return digest.finish();
    bytes_left -= static_cast<uint64_t>(got);
    digest.add(std::string_view(buffer).substr(0, static_cast<size_t>(got)));
  }
}

std::optional<std::vector<DirectoryAround::Name>> BeforeAndAfter::names_before(const TreePath& where,
                                                                               size_t most) const {
  const OwnedFd fd = open_descendant(layers_[where.tree].lower, where.path, directory_flags);
  if (!fd) return std::nullopt;
  std::vector<DirectoryAround::Name> names;
  bool is_whole = true;
  const bool read = for_each_name(fd.get(), [&](const dirent& entry) {
    if (names.size() >= most) is_whole = false;
    if (is_whole) names.push_back({entry.d_name, kind_in(fd.get(), entry)});
    return is_whole;
  });
  if (!read || !is_whole) return std::nullopt;
  return names;
}

}  // namespace cloche
