// The front: puts the caller's descriptors in order, and hands the words to a door.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <span>
#include <string_view>

#include "doors/help.hpp"
#include "doors/print.hpp"
#include "doors/run_command.hpp"

namespace {

// A descriptor that is closed would be given to the next file we open, and the command's output could end up
// in it.
bool was_open(int fd) {
  if (::fcntl(fd, F_GETFD) >= 0) return true;
  (void)::open("/dev/null", O_RDWR);  // takes the lowest free number, which is this one
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace cloche;
  CallersDescriptors callers;
  callers.input = was_open(0);
  callers.output = was_open(1);
  callers.errors = was_open(2);
  ::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is an ordinary end of output

  const Environment environment(environ);
  const std::span<char* const> words(argv + 1, static_cast<size_t>(argc > 0 ? argc - 1 : 0));
  const std::string_view command = words.empty() ? "" : words[0];
  if (command == "run") return run_door(words.subspan(1), environment, callers);
  if (command == "doctor") return doctor_door(words.subspan(1), environment);
  if (command == "--version") {
    print("cloche " CLOCHE_VERSION "\n");
    return 0;
  }
  if (command == "--help" || command == "-h" || command == "help") {
    print(main_help());
    return 0;
  }
  complain(command.empty() ? "no command; see cloche --help"
                           : "unknown command '" + std::string(command) + "'; see cloche --help");
  return 2;
}
