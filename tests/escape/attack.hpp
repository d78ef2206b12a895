// What the hostile little programs share. Each attack is one function that tries one thing from wherever it
// stands and says how it went; it never knows whether it is under Cloche or not. The same binary in the same
// scene without Cloche is the control that shows the attack works.
#pragma once

#include <sys/types.h>

#include <cerrno>
#include <functional>
#include <string>
#include <vector>

namespace cloche::escape {

// The numbers are the exit codes. `planted` is for attacks that can only be judged from outside, after they
// have ended: they leave something behind and the observer looks for it.
enum class Ending { planted = 0, escaped = 10, held = 20, unable = 30 };

struct Report {
  Ending ending;
  std::string how;
};

Report planted(const std::string& what);
Report escaped(const std::string& how);
Report held(const std::string& why);
Report held_by_errno(const std::string& doing, int error = errno);
Report unable(const std::string& why);
Report unable_by_errno(const std::string& doing, int error = errno);

// args.at(i) throws when an argument is missing; main() turns that into `unable`.
using Arguments = std::vector<std::string>;

struct Attack {
  const char* name;
  const char* promise;  // what would be broken if this got through, in one sentence
  Report (*attempt)(const Arguments& args);
};

using Attacks = std::vector<Attack>;

Attacks file_attacks();
Attacks mode_bit_attacks();
Attacks descriptor_attacks();
Attacks secret_attacks();
Attacks process_attacks();
Attacks socket_attacks();
Attacks privilege_attacks();
Attacks mount_attacks();
Attacks kernel_surface_attacks();
Attacks terminal_attacks();
Attacks ipc_attacks();
Attacks bomb_attacks();
Attacks memory_bomb_attacks();
Attacks disk_bomb_attacks();
Attacks survivor_attacks();

// Props are not attacks: launchers and victims that set a scene up around the command that follows.
int run_prop(const std::string& name, const Arguments& args);

// --- small tools
// --------------------------------------------------------------------------------------------

std::string error_name(int error);
// At most `limit` bytes; empty when it cannot be opened or read, with errno set.
std::string slurp(const std::string& path, size_t limit = 1 << 16);
std::string slurp_descriptor(int fd, size_t limit = 1 << 16);
// The beginning of stolen goods, fit for one line of output.
std::string printable(const std::string& text);
std::vector<std::string> list_directory(const std::string& path);
std::vector<int> visible_processes();  // the numbers in /proc
double seconds_now();                  // monotonic
void sleep_ms(int milliseconds);
// Runs in a child, so that being killed (a wrong-architecture call is) is an answer and not the end of ours.
Report in_child(const std::function<Report()>& attempt);
// True when our namespace of this kind ("mnt", "pid", "uts") is the one the test runs in: attacks that would
// hurt the host when they succeed go no further then.
bool in_host_namespace(const char* kind, const std::string& host_link);

}  // namespace cloche::escape
