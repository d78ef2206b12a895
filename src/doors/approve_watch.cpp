#include "doors/approve_watch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/sys/sys.hpp"
#include "doors/approve/approve_command.hpp"

namespace cloche {
namespace {

constexpr int look_every_ms = 500;
constexpr size_t longest_line = 16;

enum class Said { yes, no, later, nothing };  // nothing: the terminal is gone

// The terminal itself: what is piped into us is not the operator.
class Terminal {
 public:
  explicit Terminal(OwnedFd fd) : fd_(std::move(fd)) {}

  bool say(std::string_view text) const { return sys::write_all(fd_.get(), text).ok(); }

  // One line as the terminal gives it; Ctrl-C ends us as it ends any program.
  Said ask(const std::string& text) const {
    ::tcflush(fd_.get(), TCIFLUSH);  // typed before it could be read
    if (!say("\nCloche asks: may this run?\n" + text + "y: yes, once   n: no   Enter: later > "))
      return Said::nothing;
    char line[longest_line];
    const ssize_t got = ::read(fd_.get(), line, sizeof line);
    if (got <= 0) return Said::nothing;
    const std::string_view word(line, static_cast<size_t>(got));
    if (word == "y\n" || word == "yes\n") return Said::yes;
    return word == "n\n" || word == "no\n" ? Said::no : Said::later;
  }

  // Whether it is still there, a moment later.
  bool rest() const {
    pollfd one{fd_.get(), 0, 0};
    return ::poll(&one, 1, look_every_ms) == 0;
  }

 private:
  OwnedFd fd_;
};

std::string settle(const Approvals& approvals, const FiledQuestion& filed, Said said) {
  if (said == Said::later) return "It waits on: cloche approve show " + filed.id + "\n";
  const Decision decision = said == Said::yes ? Decision::allow : Decision::deny;
  const auto answered = approvals.answer(filed, decision, wall_clock_ms());
  if (!answered.ok()) return describe(answered.error()) + "\n";
  return said == Said::yes ? "Approved " + filed.id + ".\n" : "Refused " + filed.id + ".\n";
}

}  // namespace

Result<int> watch_approvals(const Approvals& approvals) {
  auto fd = sys::open("/dev/tty", O_RDWR | O_NOCTTY);
  if (!fd.ok())
    return refusal("--watch asks at a terminal, and there is none", "use `cloche approve list` and `yes ID`");
  const Terminal terminal(std::move(fd).value());
  terminal.say("Waiting for questions; Ctrl-C ends it.\n");
  std::set<std::string> seen;
  do {
    for (const auto& filed : approvals.list(wall_clock_ms())) {
      if (filed.answer || !seen.insert(filed.id).second) continue;
      const Said said = terminal.ask(approval_text(filed, wall_clock_ms()));
      if (said == Said::nothing) return 0;
      terminal.say(settle(approvals, filed, said));
    }
  } while (terminal.rest());
  return 0;
}

}  // namespace cloche
