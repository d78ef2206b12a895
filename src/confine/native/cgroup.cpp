#include "confine/native/cgroup.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <charconv>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "model/names.hpp"

namespace cloche {
namespace {

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

bool put(const OwnedFd& directory, const char* file, uint64_t value) {
  auto fd = sys::open_at(directory.get(), file, O_WRONLY);
  return fd.ok() && sys::write_all(fd.value().get(), std::to_string(value)).ok();
}

uint64_t number_in(const std::string& text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string::npos) return 0;
  uint64_t value = 0;
  std::from_chars(text.data() + at + key.size(), text.data() + text.size(), value);
  return value;
}

uint64_t read_number(const OwnedFd& directory, const char* file, std::string_view key = "") {
  const auto text = sys::read_small_file_at(directory.get(), file);
  return text.ok() ? number_in(text.value(), key) : 0;
}

bool limit_version1(const std::vector<OwnedFd>& made, const Limits& limits) {
  if (!put(made[0], "memory.limit_in_bytes", limits.memory_bytes)) return false;
  // Absent without swap accounting, and then there is no swap.
  put(made[0], "memory.memsw.limit_in_bytes", limits.memory_bytes);
  // What lies in buffers of TCP is counted beside, and without a limit of its own it would be free.
  put(made[0], "memory.kmem.tcp.limit_in_bytes", limits.memory_bytes);
  return put(made[1], "pids.max", limits.processes + 1);  // the first process is the one more
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

bool limit_version2(const OwnedFd& made, const Limits& limits) {
  put(made, "memory.swap.max", 0);   // absent without swap
  put(made, "memory.oom.group", 1);  // all or nothing; we end the rest ourselves where it is not there
  return put(made, "memory.max", limits.memory_bytes) && put(made, "pids.max", limits.processes + 1);
}

// The call that left it has been killed; the kernel may need a moment to take the last process out.
bool make_anew(const std::string& directory) {
  for (int tries = 0; tries < 50; ++tries) {
    if (::mkdir(directory.c_str(), 0755) == 0) return true;
    if (errno != EEXIST) return false;
    if (::rmdir(directory.c_str()) != 0) ::usleep(2000);
  }
  return false;
}

}  // namespace

std::string fresh_cgroup_name() {
  static std::atomic<unsigned> counter{0};
  return "cloche-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
}

std::optional<Cgroup> Cgroup::find(const std::string& name, const std::string& table,
                                   const std::string& tree) {
  Cgroup group;
  const auto memory = own_path(table, "memory");
  const auto pids = own_path(table, "pids");
  if (memory && pids) {
    group.by_ = CountedBy::cgroup1;
    for (const auto& [controller, own] : {std::pair("/memory", *memory), std::pair("/pids", *pids)}) {
      const std::string parent = tree + controller + (own == "/" ? "" : own);
      if (::access(parent.c_str(), W_OK) != 0) return std::nullopt;
      group.directories_.push_back(parent + "/" + name);
    }
    return group;
  }
  const auto own = own_path(table, "");
  const auto parent = own ? parent_version2(tree, *own) : std::nullopt;
  if (!parent) return std::nullopt;
  group.by_ = CountedBy::cgroup2;
  group.directories_ = {*parent + "/" + name};
  return group;
}

std::string_view name_of(CountedBy by) {
  static constexpr std::string_view names[] = {"watched", "cgroup1", "cgroup2"};
  return name_in<CountedBy::cgroup2>(names, by);
}

std::optional<Cgroup> Cgroup::find(const std::string& name) {
  const auto table = sys::read_small_file("/proc/self/cgroup");
  return table.ok() ? find(name, table.value()) : std::nullopt;
}

Result<void> Cgroup::make(const Limits& limits) {
  const bool one = by_ == CountedBy::cgroup1;
  for (const auto& directory : directories_) {
    if (!make_anew(directory)) return system_error("make " + directory);
    opened_.push_back(TRY(sys::open(directory, O_RDONLY | O_DIRECTORY)));
    if (one) tasks_.push_back(TRY(sys::open_at(opened_.back().get(), "tasks", O_WRONLY)));
  }
  const bool limited = one ? limit_version1(opened_, limits) : limit_version2(opened_[0], limits);
  if (!limited) return system_error("limit " + directories_[0]);
  return {};
}

std::vector<int> Cgroup::procs_files() const {
  std::vector<int> numbers;
  for (const auto& file : by_ == CountedBy::cgroup1 ? tasks_ : opened_) numbers.push_back(file.get());
  return numbers;
}

Cgroup::Numbers Cgroup::numbers() const {
  Numbers numbers;
  if (opened_.empty()) return numbers;
  const bool two = by_ == CountedBy::cgroup2;
  const OwnedFd& memory = opened_.front();
  numbers.memory_peak_bytes = read_number(memory, two ? "memory.peak" : "memory.max_usage_in_bytes");
  numbers.memory_kills = read_number(memory, two ? "memory.events" : "memory.oom_control", "oom_kill ");
  numbers.processes_denied = read_number(opened_.back(), "pids.events", "max ");
  return numbers;
}

void Cgroup::remove() const {
  for (const auto& directory : directories_) ::rmdir(directory.c_str());
}

}  // namespace cloche
