// cloche-jail: locks itself in and executes one command. The sandbox of our own is core/ (core/keeper.hpp);
// what other levels need is boxes/: boxes of other programs (boxes/box_keeper.hpp), and the last steps alone,
// in such a box or without one (boxes/inner_main.hpp). Nothing in core/ includes anything of boxes/.
#include <grp.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "jail/boxes/box_keeper.hpp"
#include "jail/boxes/inner_main.hpp"
#include "jail/core/keeper.hpp"
#include "jail/core/keyring.hpp"
#include "jail/core/report.hpp"
#include "jail/core/wire.hpp"

extern "C" int main(int argc, char** argv) {  // by that name also where no library knows of it
  using namespace cloche;
  if (jail::is_inner(argc, argv)) jail::run_inner(argc, argv);
  wire::Start start;
  if (!wire::read_start(argc, argv, start)) {
    static constexpr char message[] = "cloche-jail is started by cloche; see cloche run --help\n";
    (void)!::write(2, message, sizeof message - 1);
    return 2;
  }
  // A session of its own: nothing typed at the caller's terminal signals the keeper.
  ::setsid();
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignored, nullptr);
  struct sigaction standard {
  };  // where the caller ignores it, the kernel forgets children before we can look
  standard.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &standard, nullptr);
  // In a container the call may be forbidden to us; then it is to the command too, which has our filters.
  const int why = jail::join_keyring();
  if (why != 0 && why != ENOSYS && why != EPERM) jail::fail(wire::Step::session_keyring, why);
  if (start.has(wire::privileged)) jail::must(::setgroups(0, nullptr), wire::Step::drop_groups);
  if (start.has(wire::boxed)) jail::keep_box(start);
  jail::keep_sandbox(start);
}
