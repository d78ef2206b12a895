#include "store/host/system_facts.hpp"

#include <dirent.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/lists.hpp"
#include "base/sys/directory.hpp"
#include "base/sys/path.hpp"
#include "base/sys/private_file.hpp"
#include "policy/plan/system_view.hpp"

namespace cloche {
namespace {

using Kind = FileFact::Kind;

// A system path can be remounted or upgraded under us at any time, so what it is, not which, is judged.
FileFact fact_of(const std::string& path, unsigned char type) {
  FileFact fact{.path = path};
  if (type == DT_REG) fact.kind = Kind::file;
  if (type == DT_DIR) fact.kind = Kind::directory;
  if (fact.exists()) return fact;
  fact = look_at(path);
  fact.device = fact.inode = 0;
  return fact;
}

void add_if_usable(SharedList<FileFact>& facts, FileFact fact) {
  const bool usable = fact.kind == Kind::directory || fact.kind == Kind::file || fact.kind == Kind::link;
  if (usable) facts.push_back(std::move(fact));
}

bool is_listed(std::string_view name) {
  return std::any_of(std::begin(etc_paths), std::end(etc_paths), [&](const ShownPath& row) {
    return row.path.ends_with('*') ? name.starts_with(row.path.substr(0, row.path.size() - 1)) &&
                                         name.find('/') == std::string_view::npos
                                   : name == row.path;
  });
}

bool is_system_path(std::string_view path) {
  return find_by(system_paths, &ShownPath::path, path) != nullptr ||
         find_by(data_paths, &ShownPath::path, path) != nullptr;
}

bool is_etc_path(std::string_view path) {
  constexpr std::string_view etc = "/etc/";
  return path.starts_with(etc) && is_plain_absolute(path) && is_listed(path.substr(etc.size()));
}

// The directory itself says of all its entries at once what they are.
void scan(Facts& facts) {
  for (const auto& row : system_paths)
    add_if_usable(facts.system, fact_of(std::string(row.path), DT_UNKNOWN));
  for (const auto& row : data_paths) add_if_usable(facts.system, fact_of(std::string(row.path), DT_UNKNOWN));
  struct Entry {
    std::string name;
    unsigned char type;
  };
  std::vector<Entry> shown;
  for_each_entry("/etc", [&](std::string_view name, unsigned char type) {
    if (is_listed(name)) shown.push_back({std::string(name), type});
  });
  std::sort(shown.begin(), shown.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
  for (const auto& entry : shown) add_if_usable(facts.etc, fact_of("/etc/" + entry.name, entry.type));
  for (const auto& row : etc_paths) {  // those in a directory of their own
    if (row.path.find('/') != std::string_view::npos)
      add_if_usable(facts.etc, fact_of("/etc/" + std::string(row.path), DT_UNKNOWN));
  }
}

// The tables above are part of the answer: another version of Cloche asks something else.
constexpr uint64_t mark_of_tables() {
  uint64_t mark = 0xcbf29ce484222325;
  const auto add = [&mark](std::string_view text) {
    for (char c : text) mark = (mark ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    mark = (mark ^ '\n') * 0x100000001b3;
  };
  for (const auto& row : system_paths) add(row.path);
  for (const auto& row : data_paths) add(row.path);
  for (const auto& row : etc_paths) add(row.path);
  return mark;
}

struct Header {
  uint64_t mark = mark_of_tables();
  struct {
    uint64_t device = 0, inode = 0;
    int64_t modified_s = 0, modified_ns = 0, changed_s = 0, changed_ns = 0;
  } directories[3];
};

Header header_now() {
  Header header;
  auto* directory = header.directories;
  for (const char* path : {"/", "/etc", "/etc/ssl"}) {
    struct stat seen {};
    if (::stat(path, &seen) == 0) {
      *directory = {seen.st_dev,          seen.st_ino,         seen.st_mtim.tv_sec,
                    seen.st_mtim.tv_nsec, seen.st_ctim.tv_sec, seen.st_ctim.tv_nsec};
    }
    ++directory;
  }
  return header;
}

// A directory that changed just now may change again without its times moving on.
bool has_settled(const Header& header) {
  const int64_t settled = ::time(nullptr) - 2;
  return std::all_of(
      std::begin(header.directories), std::end(header.directories),
      [&](const auto& directory) { return std::max(directory.modified_s, directory.changed_s) < settled; });
}

std::string take_text(std::string_view& bytes) {
  const size_t end = std::min(bytes.find('\0'), bytes.size());
  std::string text(bytes.substr(0, end));
  bytes.remove_prefix(std::min(end + 1, bytes.size()));
  return text;
}

bool load(Facts& into, const std::string& file, const Header& now) {
  const auto cached = read_private_file(file, 1 << 20);
  if (!cached.ok() || cached.value().size() < sizeof now) return false;
  if (std::memcmp(cached.value().data(), &now, sizeof now) != 0) return false;
  std::string_view rest(cached.value());
  rest.remove_prefix(sizeof now);
  Facts facts;
  while (rest.size() > 2) {
    FileFact fact;
    const bool system = rest[0] == 's';
    fact.kind = static_cast<Kind>(rest[1] - '0');
    rest.remove_prefix(2);
    fact.path = take_text(rest);
    fact.link = take_text(rest);
    // Whatever the file says, nothing is shown that the tables do not name.
    if (!(system ? is_system_path(fact.path) : is_etc_path(fact.path))) return false;
    // The directories of the header say nothing of one that lies deeper.
    const bool deep = find_by(data_paths, &ShownPath::path, fact.path) != nullptr;
    if (deep && ::access(fact.path.c_str(), F_OK) != 0) return false;
    add_if_usable(system ? facts.system : facts.etc, std::move(fact));
  }
  into.system = std::move(facts.system);
  into.etc = std::move(facts.etc);
  return true;
}

void save(const Facts& facts, const std::string& file, const Header& header) {
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  const auto add = [&bytes](char group, const FileFact& fact) {
    bytes += group;
    bytes += static_cast<char>('0' + static_cast<int>(fact.kind));
    bytes.append(fact.path.c_str(), fact.path.size() + 1).append(fact.link.c_str(), fact.link.size() + 1);
  };
  for (const auto& fact : facts.system) add('s', fact);
  for (const auto& fact : facts.etc) add('e', fact);
  write_private_file(file, bytes);
}

}  // namespace

FileFact look_at(const std::string& path) {
  FileFact fact{.path = path};
  char link[4096];
  const ssize_t length = ::readlink(path.c_str(), link, sizeof link);
  if (length > 0) {
    fact.kind = Kind::link;
    fact.link.assign(link, static_cast<size_t>(length));
    return fact;
  }
  struct stat seen {};
  if (errno != EINVAL || ::lstat(path.c_str(), &seen) != 0 || S_ISLNK(seen.st_mode)) return fact;
  return fact_from(seen, path);
}

FileFact fact_from(const struct stat& seen, std::string path) {
  FileFact fact{.kind = Kind::other, .path = std::move(path)};
  if (S_ISDIR(seen.st_mode)) fact.kind = Kind::directory;
  if (S_ISREG(seen.st_mode)) fact.kind = Kind::file;
  fact.device = seen.st_dev;
  fact.inode = seen.st_ino;
  fact.uid = seen.st_uid;
  fact.gid = seen.st_gid;
  return fact;
}

void look_at_system(Facts& facts, const std::string& state) {
  const std::string file = state + "/system";
  const Header now = header_now();
  if (!state.empty() && load(facts, file, now)) return;
  scan(facts);
  // With the header from before the scan: a change meanwhile makes the cached answer a stale one. Observing
  // makes no directory.
  if (facts.state.exists() && has_settled(now)) save(facts, file, now);
}

}  // namespace cloche
