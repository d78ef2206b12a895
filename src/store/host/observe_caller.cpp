#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/sys/sys.hpp"
#include "store/host/observe.hpp"

namespace cloche {
namespace {

bool has_mapping_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (::syscall(SYS_capget, &header, data) != 0) return false;
  constexpr uint32_t needed = 1U << CAP_SETUID | 1U << CAP_SETGID | 1U << CAP_SYS_ADMIN;
  return (data[0].effective & needed) == needed;
}

// Whether every id of the range exists in our own user namespace; in a container it may not.
bool range_is_mapped(const char* map, const IdRange& ids) {
  const auto text = sys::read_small_file(map);
  if (!text.ok()) return false;
  const char* at = text.value().data();
  const char* end = at + text.value().size();
  while (at < end) {
    uint64_t numbers[3] = {};  // inside, outside, count
    for (auto& number : numbers) {
      while (at < end && (*at == ' ' || *at == '\n')) ++at;
      at = std::from_chars(at, end, number).ptr;
    }
    while (at < end && *at != '\n') ++at;
    ++at;
    if (numbers[0] <= ids.first && uint64_t{ids.first} + ids.count <= numbers[0] + numbers[2]) return true;
  }
  return false;
}

// Whether our id 0 is id 0 in the namespace above us too.
bool is_root_outside() {
  const auto text = sys::read_small_file("/proc/self/uid_map");
  if (!text.ok()) return true;
  uint64_t inside = 0;
  uint64_t outside = 0;
  const char* end = text.value().data() + text.value().size();
  const char* at = std::find_if(text.value().data(), end, [](char c) { return c != ' '; });
  at = std::from_chars(at, end, inside).ptr;
  at = std::find_if(at, end, [](char c) { return c != ' '; });
  std::from_chars(at, end, outside);
  return inside == 0 && outside == 0;
}

}  // namespace

CallerFact observe_caller(const RunRequest& request, const Environment& environment, const IdRange& ids) {
  CallerFact caller;
  caller.uid = ::geteuid();
  caller.gid = ::getegid();
  caller.privileged = caller.uid == 0 && has_mapping_capabilities() &&
                      range_is_mapped("/proc/self/uid_map", ids) &&
                      range_is_mapped("/proc/self/gid_map", ids);
  caller.stuck_as_root = caller.uid == 0 && !caller.privileged && is_root_outside();
  const std::string home = environment.get("HOME");
  if (const auto held = sys::hold(home); held.ok()) caller.home = held.value().path;
  if (caller.home == "/") caller.home.clear();
  caller.path = environment.get("PATH");
  for (const auto& pass : request.environment) {
    if (auto value = environment.find(pass.name)) caller.environment[pass.name] = *value;
  }
  if (auto term = environment.find("TERM")) caller.environment["TERM"] = *term;
  return caller;
}

}  // namespace cloche
