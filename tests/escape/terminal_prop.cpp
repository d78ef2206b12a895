// A terminal like the caller's: a pty whose slave is the command's controlling terminal. We hold the master,
// copy what the screen would show to our stdout, and afterwards look at the terminal as the caller's shell
// would find it.
//
//   with-terminal stdio|controlling -- CMD...    the terminal is stdin, stdout and stderr, or only the
//                                                controlling terminal while stdio stays what it was
//
// Words @TTY@ in the command become the slave's path, @DEVICE@ its device number, @FOLDER@ that of the
// file system it is in (each devpts mount counts its terminals from 0).
// Afterwards it says INJECTED when characters wait in the terminal's input, and CHANGED when its settings are
// not what they were.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "escape/attack.hpp"
#include "escape/props.hpp"

namespace cloche::escape {
namespace {

void start_in_terminal(const char* slave_path, bool as_stdio, const std::vector<std::string>& command) {
  setsid();
  const int slave = open(slave_path, O_RDWR | O_CLOEXEC);
  if (slave < 0 || ioctl(slave, TIOCSCTTY, 0) != 0) prop_fails("controlling terminal");
  for (int fd = 0; as_stdio && fd <= 2; ++fd) dup2(slave, fd);
  // The terminal's own hang-up, when we close the master, must not decide the outcome.
  signal(SIGHUP, SIG_DFL);
  become_command(command);
}

int copy_screen_until_exit(int master, pid_t child) {
  char buffer[4096];
  int status = 0;
  bool ended = false;
  while (true) {
    pollfd ready = {master, POLLIN, 0};
    const int count = poll(&ready, 1, ended ? 20 : 50);
    if (count > 0 && (ready.revents & POLLIN) != 0) {
      const ssize_t got = read(master, buffer, sizeof buffer);
      if (got > 0) fwrite(buffer, 1, static_cast<size_t>(got), stdout);
      if (got > 0) continue;
    }
    if (ended) break;
    ended = waitpid(child, &status, WNOHANG) == child;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int run_with_terminal(const std::vector<std::string>& args, const std::vector<std::string>& command) {
  const int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) prop_fails("pty");
  const std::string slave_path = ptsname(master);
  // Held open here, so that the input queue and the settings outlive the command.
  const int slave = open(slave_path.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);
  struct stat info {};
  termios before{};
  if (slave < 0 || fstat(slave, &info) != 0 || tcgetattr(slave, &before) != 0) prop_fails("slave");
  std::vector<std::string> filled = command;
  std::replace(filled.begin(), filled.end(), std::string("@TTY@"), slave_path);
  std::replace(filled.begin(), filled.end(), std::string("@FOLDER@"), std::to_string(info.st_dev));
  std::replace(filled.begin(), filled.end(), std::string("@DEVICE@"), std::to_string(info.st_rdev));

  const pid_t child = fork();
  if (child < 0) prop_fails("fork");
  if (child == 0) start_in_terminal(slave_path.c_str(), args.at(0) == "stdio", filled);
  const int code = copy_screen_until_exit(master, child);

  termios after{};
  tcgetattr(slave, &after);
  if (memcmp(&before, &after, sizeof before) != 0) std::puts("\nCHANGED");
  termios raw = after;
  cfmakeraw(&raw);  // counts characters that wait for a newline as well
  tcsetattr(slave, TCSANOW, &raw);
  int waiting = 0;
  if (ioctl(slave, FIONREAD, &waiting) == 0 && waiting > 0) std::puts("\nINJECTED");
  std::fflush(stdout);
  return code;
}

}  // namespace cloche::escape
