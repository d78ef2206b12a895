#include "jail/boxes/descendants.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "jail/core/kernel.hpp"
#include "jail/core/text.hpp"

namespace cloche::jail {
namespace {

// More than a round can hold are left for the next round.
struct Found {
  pid_t pid[4096];
  size_t count = 0;

  void add(pid_t process) {
    if (count < sizeof pid / sizeof pid[0]) pid[count++] = process;
  }
};
Found found;

// Adds the numbers of the file, which stand in one line with blanks between them.
void add_numbers(int fd) {
  pid_t number = 0;
  char text[4096];
  for (ssize_t got = 0; (got = ::read(fd, text, sizeof text)) > 0;) {
    for (ssize_t i = 0; i < got; ++i) {
      if (text[i] >= '0' && text[i] <= '9') {
        number = number * 10 + (text[i] - '0');
      } else if (number != 0) {
        found.add(number);
        number = 0;
      }
    }
  }
}

// Of its first thread; a process whose other threads have children gives them to us when it is killed.
void add_children_of(pid_t process) {
  Text<64> path;
  const auto number = static_cast<uint64_t>(process);
  path.add("/proc/").add(number).add("/task/").add(number).add("/children");
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  add_numbers(fd);
  ::close(fd);
}

// Whether there was any.
bool end_one_round() {
  found.count = 0;
  add_children_of(kernel::getpid());
  for (size_t i = 0; i < found.count; ++i) {
    ::kill(found.pid[i], SIGSTOP);
    add_children_of(found.pid[i]);
  }
  for (size_t i = 0; i < found.count; ++i) ::kill(found.pid[i], SIGKILL);
  return found.count != 0;
}

}  // namespace

void end_descendants() {
  while (true) {
    end_one_round();
    // Blocks only while a process that was killed above is still dying; then there may be its children.
    const pid_t ended = ::waitpid(-1, nullptr, 0);
    if (ended < 0 && errno == ECHILD) return;
  }
}

}  // namespace cloche::jail
