#include "confine/cgroup.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <memory>

#include "base/path.hpp"
#include "base/sys.hpp"

namespace cloche {
namespace {

constexpr std::string_view prefix = "cloche-";

std::string fresh_name() {
  static std::atomic<unsigned> counter{0};
  return std::string(prefix) + std::to_string(::getpid()) + "-" + std::to_string(counter++);
}

// Our own cgroup path in the hierarchy of `controller`; "" asks for version 2.
std::optional<std::string> own_path(const std::string& table, std::string_view controller) {
  size_t begin = 0;
  while (begin < table.size()) {
    const size_t end = std::min(table.find('\n', begin), table.size());
    const std::string_view line(table.data() + begin, end - begin);
    begin = end + 1;
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string names = "," + std::string(line.substr(first + 1, second - first - 1)) + ",";
    const bool matches = controller.empty()
                             ? names == ",,"
                             : names.find("," + std::string(controller) + ",") != std::string::npos;
    if (matches) return std::string(line.substr(second + 1));
  }
  return std::nullopt;
}

bool put(const std::string& directory, const char* file, const std::string& value) {
  auto fd = sys::open(directory + "/" + file, O_WRONLY);
  return fd.ok() && sys::write_all(fd.value().get(), value).ok();
}

uint64_t number_in(const std::string& text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string::npos) return 0;
  uint64_t value = 0;
  std::from_chars(text.data() + at + key.size(), text.data() + text.size(), value);
  return value;
}

uint64_t read_number(const OwnedFd& directory, const char* file, std::string_view key = "") {
  if (!directory) return 0;
  const auto text = sys::read_file_at(directory.get(), file, 1 << 16);
  return text.ok() ? number_in(text.value(), key) : 0;
}

// Groups of a supervisor that was killed before it had a keeper, or together with it: nobody else would take
// them away.
void sweep(const std::string& parent) {
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(parent.c_str()), ::closedir);
  while (dir != nullptr) {
    const dirent* entry = ::readdir(dir.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (!name.starts_with(prefix)) continue;
    pid_t owner = 0;
    std::from_chars(name.data() + prefix.size(), name.data() + name.size(), owner);
    if (owner > 0 && ::kill(owner, 0) != 0 && errno == ESRCH)
      ::unlinkat(::dirfd(dir.get()), entry->d_name, AT_REMOVEDIR);
  }
}

bool make_version1(const std::string& tree, const std::string& table, const char* controller,
                   const std::string& name, std::vector<std::string>& made, std::string& why) {
  const auto own = own_path(table, controller);
  if (!own) {
    why = std::string("no ") + controller + " controller";
    return false;
  }
  const std::string parent = tree + "/" + controller + (*own == "/" ? "" : *own);
  sweep(parent);
  const std::string directory = parent + "/" + name;
  if (::mkdir(directory.c_str(), 0755) != 0) {
    why = system_error("make " + directory).what;
    return false;
  }
  made.push_back(directory);
  return true;
}

bool limit_version1(const std::vector<std::string>& made, const Limits& limits) {
  const std::string memory = std::to_string(limits.memory_bytes);
  if (!put(made[0], "memory.limit_in_bytes", memory)) return false;
  put(made[0], "memory.memsw.limit_in_bytes",
      memory);  // absent without swap accounting, and then there is no swap
  return put(made[1], "pids.max", std::to_string(limits.processes + 1));  // the first process is the one more
}

// The nearest group above us that hands memory and pids down and that we may make children in. Our own has us
// in it, and version 2 gives controllers to the children of empty groups only; the root is the exception.
std::optional<std::string> parent_version2(const std::string& root, std::string own) {
  while (true) {
    const std::string directory = own == "/" ? root : root + own;
    const auto handed = sys::read_file(directory + "/cgroup.subtree_control", 4096);
    const bool both = handed.ok() && handed.value().find("memory") != std::string::npos &&
                      handed.value().find("pids") != std::string::npos;
    if (both && ::access(directory.c_str(), W_OK) == 0) return directory;
    if (own == "/") return std::nullopt;
    own = std::string(parent_of(own));
  }
}

bool limit_version2(const std::string& directory, const Limits& limits) {
  put(directory, "memory.swap.max", "0");   // absent without swap
  put(directory, "memory.oom.group", "1");  // all or nothing; we end the rest ourselves where it is not there
  return put(directory, "memory.max", std::to_string(limits.memory_bytes)) &&
         put(directory, "pids.max", std::to_string(limits.processes + 1));
}

}  // namespace

std::optional<Cgroup> Cgroup::create(const Limits& limits, std::string& why, const std::string& tree) {
  const auto table = sys::read_file("/proc/self/cgroup", 1 << 16);
  if (!table.ok()) {
    why = table.error().what;
    return std::nullopt;
  }
  Cgroup group;
  const std::string name = fresh_name();
  bool limited = false;
  why = "no cgroup with memory and pids that this user may use";
  if (own_path(table.value(), "memory")) {
    group.by_ = "cgroup1";
    limited = make_version1(tree, table.value(), "memory", name, group.directories_, why) &&
              make_version1(tree, table.value(), "pids", name, group.directories_, why) &&
              limit_version1(group.directories_, limits);
  } else if (const auto own = own_path(table.value(), "")) {
    group.by_ = "cgroup2";
    if (const auto parent = parent_version2(tree, *own)) {
      sweep(*parent);
      const std::string directory = *parent + "/" + name;
      if (::mkdir(directory.c_str(), 0755) == 0) group.directories_.push_back(directory);
      limited = !group.directories_.empty() && limit_version2(directory, limits);
    }
  }
  for (const auto& directory : group.directories_) {
    auto door = group.by_ == "cgroup1" ? sys::open(directory + "/tasks", O_WRONLY)
                                       : sys::open(directory, O_PATH | O_DIRECTORY);
    limited = limited && door.ok();
    if (door.ok()) group.doors_.push_back(std::move(door).value());
  }
  if (!limited) {
    group.remove();
    return std::nullopt;
  }
  auto memory = sys::open(group.directories_.front(), O_RDONLY | O_DIRECTORY);
  auto pids = sys::open(group.directories_.back(), O_RDONLY | O_DIRECTORY);
  if (memory.ok()) group.memory_ = std::move(memory).value();
  if (pids.ok()) group.pids_ = std::move(pids).value();
  return group;
}

Cgroup::Numbers Cgroup::numbers() const {
  Numbers numbers;
  const bool two = by_ == "cgroup2";
  numbers.memory_peak_bytes = read_number(memory_, two ? "memory.peak" : "memory.max_usage_in_bytes");
  numbers.memory_kills = read_number(memory_, two ? "memory.events" : "memory.oom_control", "oom_kill ");
  numbers.processes_denied = read_number(pids_, "pids.events", "max ");
  return numbers;
}

void Cgroup::remove() const {
  for (const auto& directory : directories_) ::rmdir(directory.c_str());
}

}  // namespace cloche
