#include "egress/processes.hpp"

#include <sstream>

#include "harness/harness.hpp"

namespace cloche::test {
namespace {

fs::path proc(int pid) { return "/proc/" + std::to_string(pid); }

size_t memory_of(int pid, const std::string& field) {
  size_t kilobytes = 0;
  std::istringstream(status_of(pid)[field]) >> kilobytes;
  return kilobytes << 10;
}

}  // namespace

int gate_of(int gateway) {
  std::error_code ignored;
  for (const auto& task : fs::directory_iterator(proc(gateway) / "task", ignored)) {
    std::istringstream children(read_file(task.path() / "children"));
    for (int child = 0; children >> child;) {
      if (status_of(child)["Name"] == "cloche-egress") return child;
    }
  }
  return 0;
}

bool exists(int pid) {
  const auto status = status_of(pid);
  return !status.empty() && status.at("State").substr(0, 1) != "Z";
}

std::map<std::string, std::string> status_of(int pid) {
  std::map<std::string, std::string> out;
  std::istringstream lines(read_file(proc(pid) / "status"));
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(':');
    const size_t begin = line.find_first_not_of(" \t", colon + 1);
    const size_t end = line.find_last_not_of(" \t");
    if (colon == std::string::npos) continue;
    out[line.substr(0, colon)] = begin == std::string::npos ? "" : line.substr(begin, end + 1 - begin);
  }
  return out;
}

std::vector<std::string> files_of(int pid) {
  std::vector<std::string> out;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(proc(pid) / "fd", ignored))
    out.push_back(fs::read_symlink(entry.path(), ignored));
  return out;
}

size_t resident_bytes(int pid) { return memory_of(pid, "VmRSS"); }

size_t peak_bytes(int pid) { return memory_of(pid, "VmHWM"); }

}  // namespace cloche::test
