// The front: puts the caller's descriptors in order, runs, and executes cloche-full for every other command.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <span>
#include <string_view>

#include "base/path.hpp"
#include "base/sys.hpp"
#include "doors/agent_environment.hpp"
#include "doors/help.hpp"
#include "doors/hook_front.hpp"
#include "doors/print.hpp"

namespace {

using namespace cloche;

// A descriptor that is closed would be given to the next file we open, and the command's output could end up
// in it.
bool was_open(int fd) {
  if (::fcntl(fd, F_GETFD) >= 0) return true;
  (void)::open("/dev/null", O_RDWR);  // takes the lowest free number, which is this one
  return false;
}

std::string path_of_full() {
  const auto own = sys::read_link("/proc/self/exe");
  return std::string(own.ok() ? parent_of(own.value()) : "") + "/cloche-full";
}

// The other commands need more libraries than fit into a start of microseconds.
int hand_over(char** argv, char** environment) {
  const std::string full = path_of_full();
  ::execve(full.c_str(), argv, environment);
  complain(describe(system_error("execute " + full)) + "; it belongs beside cloche: build or install both");
  return 125;
}

}  // namespace

int main(int argc, char** argv) {
  (void)was_open(0);
  const bool has_output = was_open(1);
  (void)was_open(2);

  const std::span<char* const> words(argv, static_cast<size_t>(argc));
  const std::string_view command = words.size() < 2 ? "" : words[1];
  if (command == "run" && has_output && is_agents_start(words))
    return hand_over(argv, AgentEnvironment(environ, words).block());
  if (command == "hook" && is_hook_judgement(words.subspan(2))) {
    if (has_output) return hook_front(path_of_full(), words, AgentEnvironment(environ, words).block());
    complain("stdout is closed and nobody could hear the answer, so the call is refused");
    return 2;
  }
  // Every other command is there to print something. The number is taken by now, so only we can tell.
  if (!has_output) {
    complain("stdout is closed: there is nowhere to print the result, so nothing is done");
    return 125;
  }
  if (command == "--version") {
    print("cloche " CLOCHE_VERSION "\n");
    return 0;
  }
  if (command == "--help" || command == "-h" || command == "help") {
    print(main_help());
    return 0;
  }
  if (command.empty()) {
    complain("no command; see cloche --help");
    return 2;
  }
  if (is_agents_start(words)) return hand_over(argv, AgentEnvironment(environ, words).block());
  return hand_over(argv, environ);
}
