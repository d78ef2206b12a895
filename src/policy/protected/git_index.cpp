#include "policy/protected/git_index.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/sys/path.hpp"
#include "base/text/sha256.hpp"
#include "base/text/visible_text.hpp"
#include "policy/protected/folded_name.hpp"

namespace cloche {
namespace {

constexpr size_t sha1_length = 20;
constexpr size_t sha256_length = 32;

struct Entry {
  uint32_t mode = 0;
  std::string_view object = {};
  uint32_t flags = 0;
  uint32_t noted_length = 0;  // of the name: git goes by this, and reading goes by the NUL behind it
  std::string name = {};

  bool operator==(const Entry&) const = default;
};

constexpr uint32_t length_bits = 0x0fff;

// Longer than any path that git can check out. In format 4 one byte can repeat the name before it.
constexpr size_t longest_name = 4096;

// Takes bytes from the front; what is not there makes the whole reading fail.
class Bytes {
 public:
  explicit Bytes(std::string_view rest) : rest_(rest) {}

  std::string_view take(size_t count) {
    if (count > rest_.size()) {
      fail();
      return {};
    }
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  uint32_t number(size_t bytes) {
    uint32_t value = 0;
    for (const char byte : take(bytes)) value = (value << 8U) | static_cast<unsigned char>(byte);
    return value;
  }
  std::string_view until_zero() {
    const size_t end = rest_.find('\0');
    const std::string_view taken = take(end == std::string_view::npos ? rest_.size() + 1 : end);
    take(1);
    return taken;
  }
  // Git's numbers of variable length: seven bits a byte, and each byte that follows adds one.
  uint64_t offset() {
    uint64_t value = 0;
    for (int i = 0; i < 8; ++i) {
      const uint32_t byte = number(1);
      value = (value << 7U) | (byte & 0x7fU);
      if ((byte & 0x80U) == 0) return value;
      ++value;
    }
    fail();
    return 0;
  }
  void fail() {
    failed_ = true;
    rest_ = {};
  }
  size_t left() const { return rest_.size(); }
  bool failed() const { return failed_; }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

// Caches: cached trees, untracked files, the watch on files, and two tables for reading in parallel.
bool is_cache(std::string_view extension) {
  for (const std::string_view cache : {"TREE", "UNTR", "FSMN", "EOIE", "IEOT"}) {
    if (extension == cache) return true;
  }
  return false;
}

// The name up to a NUL, and further ones so that the entry has a multiple of eight bytes.
std::string padded_name(Bytes& bytes, size_t bytes_before) {
  std::string name(bytes.until_zero());
  const size_t length = bytes_before + name.size() + 1;
  bytes.take((8 - length % 8) % 8);
  return name;
}

// How much of the end of the last name to leave off, and what to put there.
std::string compressed_name(Bytes& bytes, const std::string& last) {
  const uint64_t cut = bytes.offset();
  const std::string_view end = bytes.until_zero();
  if (cut > last.size() || last.size() - cut + end.size() > longest_name) {
    bytes.fail();
    return {};
  }
  return last.substr(0, last.size() - cut).append(end);
}

Entry read_entry(Bytes& bytes, uint32_t version, size_t id_bytes, const std::string& last) {
  constexpr uint32_t is_extended = 0x4000;
  const size_t start = bytes.left();
  Entry entry;
  bytes.take(4 * 6);  // two times, device, inode
  entry.mode = bytes.number(4);
  bytes.take(4 * 3);  // owner, group, size
  entry.object = bytes.take(id_bytes);
  entry.flags = bytes.number(2);
  if ((entry.flags & is_extended) != 0) entry.flags |= bytes.number(2) << 16U;
  entry.noted_length = entry.flags & length_bits;
  // Set where further flags follow, and those are compared.
  entry.flags &= ~(length_bits | is_extended);
  entry.name = version >= 4 ? compressed_name(bytes, last) : padded_name(bytes, start - bytes.left());
  return entry;
}

// Entry by entry, then extension by extension, and never more than one of them in memory: what a call left
// may be made to grow when it is read.
class IndexReader {
 public:
  IndexReader(std::string_view text, size_t id_bytes)
      : bytes_(text.substr(0, text.size() - std::min(text.size(), id_bytes))),  // a checksum is at the end
        id_bytes_(id_bytes) {
    if (bytes_.take(4) != "DIRC") bytes_.fail();
    version_ = bytes_.number(4);
    entries_left_ = bytes_.number(4);
    if (version_ < 2 || version_ > 4) bytes_.fail();
  }

  std::optional<Entry> next_entry() {
    if (entries_left_ == 0 || bytes_.failed()) return std::nullopt;
    --entries_left_;
    Entry entry = read_entry(bytes_, version_, id_bytes_, last_);
    last_ = entry.name;
    return entry;
  }
  // Its name and its contents. To be asked after the last entry.
  using Extension = std::pair<std::string_view, std::string_view>;
  std::optional<Extension> next_extension() {
    if (bytes_.left() == 0) return std::nullopt;
    const std::string_view name = bytes_.take(4);
    const std::string_view contents = bytes_.take(bytes_.number(4));
    return bytes_.failed() ? std::nullopt : std::optional(Extension(name, contents));
  }
  std::optional<Extension> next_content() {
    auto extension = next_extension();
    while (extension && is_cache(extension->first)) extension = next_extension();
    return extension;
  }
  bool failed() const { return bytes_.failed(); }
  size_t left() const { return bytes_.left(); }

 private:
  Bytes bytes_;
  size_t id_bytes_;
  uint32_t version_ = 0;
  uint32_t entries_left_ = 0;
  std::string last_ = {};
};

bool is_same_as(std::string_view one, std::string_view other, size_t id_bytes) {
  IndexReader left(one, id_bytes);
  IndexReader right(other, id_bytes);
  for (;;) {
    const auto a = left.next_entry();
    if (a != right.next_entry()) return false;
    if (!a) break;
  }
  for (;;) {
    const auto a = left.next_content();
    if (a != right.next_content()) return false;
    if (!a) break;
  }
  return !left.failed() && !right.failed();
}

// Git reads a large index in parallel, from the places that two tables at its end say. They must be those
// where the entries are.
class PlacesOfEntries {
 public:
  PlacesOfEntries(size_t size, size_t left) : size_(size), begins_{size - left} {}

  void note(size_t left) { begins_.push_back(size_ - left); }

  bool are_said_by(std::string_view extension, std::string_view contents) const {
    Bytes bytes(contents);
    if (extension == "EOIE") return bytes.number(4) == begins_.back();
    if (extension != "IEOT") return true;
    if (bytes.number(4) != 1) return false;
    size_t entry = 0;
    while (bytes.left() > 0) {
      if (entry >= begins_.size() || bytes.number(4) != begins_[entry]) return false;
      entry += bytes.number(4);
    }
    return !bytes.failed() && entry + 1 == begins_.size();
  }

 private:
  size_t size_;
  std::vector<size_t> begins_;  // of each entry, and where the last one ends
};

constexpr size_t stat_fields = 10;  // of four bytes each, at the front of an entry
enum StatField : size_t {
  change_s,
  change_ns,
  modified_s,
  modified_ns,
  device,
  inode,
  mode,
  owner,
  group,
  size
};

uint32_t field_at(std::string_view entry, StatField field) {
  return Bytes(entry.substr(field * 4)).number(4);
}

void put_field(std::string& index, size_t entry, StatField field, uint64_t value) {
  for (size_t i = 0; i < 4; ++i) index[entry + field * 4 + i] = static_cast<char>(value >> (24 - 8 * i));
}

// Git can be built without nanoseconds.
bool is_time(std::string_view entry, StatField seconds, const timespec& time) {
  const uint32_t noted_ns = field_at(entry, static_cast<StatField>(seconds + 1));
  return field_at(entry, seconds) == static_cast<uint32_t>(time.tv_sec) &&
         (noted_ns == 0 || noted_ns == static_cast<uint32_t>(time.tv_nsec));
}

bool is_entry_of(std::string_view entry, const EntryFile& file) {
  return is_time(entry, modified_s, file.seen.st_mtim) &&
         field_at(entry, size) == static_cast<uint32_t>(file.seen.st_size) &&
         (file.is_new || is_time(entry, change_s, file.seen.st_ctim));
}

void put_stat(std::string& index, size_t entry, const struct stat& seen) {
  put_field(index, entry, change_s, static_cast<uint64_t>(seen.st_ctim.tv_sec));
  put_field(index, entry, change_ns, static_cast<uint64_t>(seen.st_ctim.tv_nsec));
  put_field(index, entry, device, seen.st_dev);
  put_field(index, entry, inode, seen.st_ino);
  put_field(index, entry, owner, seen.st_uid);
  put_field(index, entry, group, seen.st_gid);
}

}  // namespace

bool is_path_of_git(std::string_view path) {
  for (;;) {
    const size_t slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    if (name.empty() || name == "." || name == "..") return false;
    const bool is_plain = name.front() != '.' && name.find('~') == std::string_view::npos &&
                          static_cast<unsigned char>(name.front()) < 0x80;
    if (!is_plain) {
      const std::string folded = folded_name(name);
      if (folded == ".git" || folded == "git~1") return false;
    }
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

std::optional<std::string> refreshed_index(std::string_view index, const LookAtEntry& look) {
  if (index.size() < sha1_length) return std::nullopt;
  const std::string_view body = index.substr(0, index.size() - sha1_length);
  if (sha1_bytes(body) != index.substr(body.size())) return std::nullopt;
  std::string refreshed(body);
  bool is_changed = false;
  IndexReader reader(index, sha1_length);
  for (size_t at = body.size() - reader.left();; at = body.size() - reader.left()) {
    const auto entry = reader.next_entry();
    if (!entry || reader.failed()) break;
    const auto file = look(entry->name);
    if (!file || !is_entry_of(body.substr(at, stat_fields * 4), *file)) continue;
    put_stat(refreshed, at, file->seen);
    is_changed = true;
  }
  if (reader.failed() || !is_changed) return std::nullopt;
  return refreshed + sha1_bytes(refreshed);
}

std::optional<std::string> danger_in_git_index(std::string_view text, ObjectNames names) {
  constexpr const char* unreadable = "it is not written as git writes one";
  constexpr uint32_t sparse_directory = 0040000;
  const size_t id_bytes = names == ObjectNames::sha1 ? sha1_length : sha256_length;
  IndexReader reader(text, id_bytes);
  PlacesOfEntries places(text.size() - std::min(text.size(), id_bytes), reader.left());
  bool has_unnamed = false;  // of a split one: it stands for an entry of the other part
  while (const auto entry = reader.next_entry()) {
    places.note(reader.left());
    std::string_view path = entry->name;
    if (entry->noted_length != std::min<size_t>(path.size(), length_bits)) return unreadable;
    has_unnamed = has_unnamed || path.empty();
    if (entry->mode == sparse_directory && path.ends_with('/')) path.remove_suffix(1);
    if (!path.empty() && !is_path_of_git(path))
      return "git would write to '" + shown(entry->name) + "', which is no path of a checkout";
  }
  bool is_split = false;
  while (const auto extension = reader.next_extension()) {
    is_split = is_split || extension->first == "link";
    if (!places.are_said_by(extension->first, extension->second)) return unreadable;
  }
  if (reader.failed() || (has_unnamed && !is_split)) return unreadable;
  return std::nullopt;
}

// The file does not say how long its object names are. Read with the wrong length, it does not come out even.
bool is_same_index(std::string_view one, std::string_view other) {
  return is_same_as(one, other, sha1_length) || is_same_as(one, other, sha256_length);
}

}  // namespace cloche
