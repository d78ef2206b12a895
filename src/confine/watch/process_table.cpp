#include "confine/watch/process_table.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <vector>

#include "base/sys/sys.hpp"

namespace cloche {

Result<OwnedFd> open_process_table(int root) {
  return sys::open_at(root, "proc", O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

namespace {

// The entries of a directory that are named by a number, until `visit` returns false.
Result<void> for_each_number(int directory, const std::string& path,
                             const std::function<bool(int, const std::string&)>& visit) {
  auto again = TRY(sys::open_at(directory, path, O_RDONLY | O_DIRECTORY));
  const int opened = again.get();
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::fdopendir(opened), ::closedir);
  if (dir == nullptr) return {};
  (void)again.release();  // the DIR's now
  while (const dirent* entry = ::readdir(dir.get())) {
    const std::string name = entry->d_name;
    if (name[0] < '0' || name[0] > '9') continue;
    if (!visit(opened, name)) break;
  }
  return {};
}

// Calls `visit` with the directory of each thread ("17/task/19"), until that returns false.
void for_each_thread(const ProcessTable& table, const std::string& process,
                     const std::function<bool(const std::string& thread)>& visit) {
  const std::string threads = process + "/task";
  (void)for_each_number(table.directory, threads,
                        [&](int, const std::string& number) { return visit(threads + "/" + number); });
}

// Nothing where there is none: a thread that has ended, until it is waited for.
std::string statm_of(const ProcessTable& table, const std::string& at) {
  auto line = sys::read_file_at(table.directory, at + "/statm", 4096);
  return line.ok() && field_of(line.value(), 0) != 0 ? std::move(line).value() : "";
}

// The jail's own process is the first of a box. Without one it is the keeper's only child, and no process of
// the command's can become another.
bool is_ours(const ProcessTable& table, const std::string& process) {
  if (table.processes == Processes::of_runtime) return true;
  if (table.ancestor == 0) return process == "1";
  const auto line = sys::read_small_file_at(table.directory, process + "/stat");
  if (!line.ok()) return true;
  const std::string rest = behind_name(line.value());
  return !rest.empty() && field_of(rest, 1) == static_cast<uint64_t>(table.ancestor);
}

// Numbers with blanks between them.
void add_numbers(const std::string& text, std::vector<std::string>& found) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    if (end > begin) found.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

// Of every thread: the kernel keeps a child with the thread that has started it.
void add_children(const ProcessTable& table, const std::string& process, std::vector<std::string>& found) {
  for_each_thread(table, process, [&](const std::string& thread) {
    const auto line = sys::read_file_at(table.directory, thread + "/children", 1 << 20);
    if (line.ok()) add_numbers(line.value(), found);
    return true;
  });
}

void for_each_descendant(const ProcessTable& table, const std::function<void(const std::string&)>& visit) {
  std::vector<std::string> found;
  add_children(table, std::to_string(table.ancestor), found);
  for (size_t i = 0; i < found.size(); ++i) {
    add_children(table, std::string(found[i]), found);
    visit(std::string(found[i]));
  }
}

// Of who made himself undumpable, and of who has ended, which is no loss: he has nothing any more.
bool is_closed(int failure) { return failure == EACCES || failure == EPERM; }

// Calls `visit` with one line after another until that returns false. However long the whole is, no more than
// the longest line is held; 0, or why there are lines that were not visited.
int read_lines(int fd, const std::function<bool(std::string_view)>& visit) {
  constexpr size_t longest_line = 64 << 10;  // a path can be longer than the one that a call may be given
  std::string held(longest_line, '\0');
  for (size_t used = 0;;) {
    const ssize_t got = ::read(fd, held.data() + used, held.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0 ? errno : 0;
    const std::string_view text(held.data(), used + static_cast<size_t>(got));
    size_t begin = 0;
    for (size_t end; (end = text.find('\n', begin)) != text.npos; begin = end + 1)
      if (!visit(text.substr(begin, end - begin))) return ECANCELED;
    used = text.size() - begin;
    if (used == held.size()) return EFBIG;
    std::memmove(held.data(), held.data() + begin, used);
  }
}

// "7f0000000000-7f0000100000 rw-s 00000000 fe:00 1234                 /path (deleted)"
Mapping mapping_in(std::string_view line) {
  const char* at = line.data();
  const char* stop = line.data() + line.size();
  const auto next = [&](int base, size_t skipped) {
    uint64_t number = 0;
    at = std::min(std::from_chars(at, stop, number, base).ptr + skipped, stop);
    return number;
  };
  Mapping mapping;
  mapping.begin = next(16, 1);
  mapping.bytes = next(16, sizeof " rw-s") - mapping.begin;
  mapping.offset = next(16, 1);
  const auto major = static_cast<unsigned>(next(16, 1));
  mapping.device = ::makedev(major, static_cast<unsigned>(next(16, 1)));
  mapping.inode = next(10, 1);
  while (at < stop && *at == ' ') ++at;
  mapping.name = {at, static_cast<size_t>(stop - at)};
  return mapping;
}

}  // namespace

void for_each_process(const ProcessTable& table,
                      const std::function<void(const std::string& process)>& visit) {
  if (table.ancestor != 0) return for_each_descendant(table, visit);
  (void)for_each_number(table.directory, ".", [&](int, const std::string& process) {
    if (process != "0") visit(process);
    return true;
  });
}

std::optional<MemoryShown> memory_shown(const ProcessTable& table, const std::string& process) {
  MemoryShown shown{process, statm_of(table, process)};
  if (!shown.statm.empty()) return shown;
  for_each_thread(table, process, [&](const std::string& thread) {
    shown = {thread, statm_of(table, thread)};
    return shown.statm.empty();
  });
  return shown.statm.empty() ? std::nullopt : std::optional(std::move(shown));
}

bool for_each_descriptor(const ProcessTable& table, const std::string& process,
                         const std::function<bool(int directory, const std::string& name)>& visit) {
  bool complete = true;
  bool going = true;
  for_each_thread(table, process, [&](const std::string& thread) {
    const auto looked =
        for_each_number(table.directory, thread + "/fd", [&](int at, const std::string& name) {
          going = visit(at, name);
          return going;
        });
    const bool closed = !looked.ok() && is_closed(looked.error().number);
    if (closed && !statm_of(table, thread).empty()) complete = false;
    return going;
  });
  return complete || is_ours(table, process);
}

bool for_each_mapping(const ProcessTable& table, const std::string& process,
                      const std::function<bool(const Mapping&)>& visit) {
  const auto maps = sys::open_at(table.directory, process + "/maps", O_RDONLY);
  const int failure = maps.ok() ? read_lines(maps.value().get(),
                                             [&](std::string_view line) { return visit(mapping_in(line)); })
                                : maps.error().number;
  if (failure == 0 || failure == ENOENT || failure == ESRCH) return true;  // what has ended has none
  return is_closed(failure) && (statm_of(table, process).empty() || is_ours(table, process));
}

uint64_t largest_process_bytes(const ProcessTable& table) {
  uint64_t largest = 0;
  for_each_process(table, [&](const std::string& process) {
    if (const auto status = sys::read_small_file_at(table.directory, process + "/status"); status.ok())
      largest = std::max(largest, peak_bytes_in(status.value()));
  });
  return largest;
}

uint64_t peak_bytes_in(const std::string& status) {
  constexpr std::string_view name = "\nVmHWM:";  // a process's own name, in the line before, has no newline
  const size_t line = status.find(name);
  if (line == std::string::npos) return 0;
  const size_t digits = status.find_first_not_of(" \t", line + name.size());
  uint64_t kibibytes = 0;
  if (digits != std::string::npos)
    std::from_chars(status.data() + digits, status.data() + status.size(), kibibytes);
  return kibibytes << 10;
}

uint64_t field_of(const std::string& line, size_t index) {
  const char* at = line.data();
  const char* end = at + line.size();
  for (size_t i = 0; i < index; ++i) {
    while (at < end && *at != ' ') ++at;
    while (at < end && *at == ' ') ++at;
  }
  uint64_t value = 0;
  std::from_chars(at, end, value);
  return value;
}

std::string behind_name(const std::string& stat_line) {
  const size_t name_end = stat_line.rfind(')');
  return name_end == std::string::npos || name_end + 2 >= stat_line.size() ? ""
                                                                           : stat_line.substr(name_end + 2);
}

Ticks ticks_of(const std::string& stat_line) {
  const std::string rest = behind_name(stat_line);
  return {field_of(rest, 11) + field_of(rest, 12), field_of(rest, 13) + field_of(rest, 14),
          field_of(rest, 19)};
}

}  // namespace cloche
