// The door `cloche mcp`: an MCP server on stdin and stdout.
//
// Who waits for whom: this thread reads stdin and hands each line to the server (mcp/server.hpp), which never
// waits for anybody. While the client does not take what it was sent, nothing more is read from it either; it
// can still close its end, and that or a signal ends everything within a second.
#include "doors/mcp_command.hpp"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "base/random_word.hpp"
#include "base/sys.hpp"
#include "doors/call_arguments.hpp"
#include "doors/help.hpp"
#include "doors/mcp/framing.hpp"
#include "doors/mcp/server.hpp"
#include "doors/print.hpp"

namespace cloche {
namespace {

constexpr unsigned grace_ms = 500;       // for calls to end by themselves once stdin is closed
constexpr unsigned last_words_ms = 150;  // for the client to take the answers
constexpr size_t key_letters = 52;       // 260 bits
constexpr const char* instructions =
    "Commands and files of one workspace, each call judged by rules and run under kernel isolation. A "
    "refusal "
    "says which gate refused, why, and what to do instead: do that, and do not repeat the same call.";

int fail(const Error& error) {
  complain(describe(error));
  return error.fault == Fault::usage ? 2 : 125;
}

// What wakes the reader beside stdin: room for more answers, and signals that want us to end.
class Wakers {
 public:
  static Result<Wakers> open() {
    Wakers wakers;
    wakers.event = OwnedFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!wakers.event) return system_error("make an event");
    sigset_t ending;
    sigemptyset(&ending);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ending, number);
    ::pthread_sigmask(SIG_BLOCK, &ending, nullptr);  // before there are other threads: for all of them
    wakers.signals = OwnedFd(::signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!wakers.signals) return system_error("wait for signals");
    return wakers;
  }
  void wake() const {
    const uint64_t one = 1;
    (void)!::write(event.get(), &one, sizeof one);
  }
  void rest() const {
    uint64_t count = 0;
    (void)!::read(event.get(), &count, sizeof count);
  }

  OwnedFd event;
  OwnedFd signals;
};

enum class WhyEnd { input_closed, told_to };

class Reader {
 public:
  Reader(mcp::Server& server, const mcp::Outbox& outbox, const Wakers& wakers)
      : server_(server), outbox_(outbox), wakers_(wakers) {}

  WhyEnd run() {
    std::optional<WhyEnd> end;
    while (!end) end = turn();
    return *end;
  }

 private:
  std::optional<WhyEnd> turn() {
    const bool room = outbox_.has_room();
    if (room) closed_ms_ = 0;
    std::array<pollfd, 3> events = {{{closed_ms_ == 0 ? 0 : -1, static_cast<short>(room ? POLLIN : 0), 0},
                                     {wakers_.event.get(), POLLIN, 0},
                                     {wakers_.signals.get(), POLLIN, 0}}};
    const int most_ms = closed_ms_ == 0 ? -1 : static_cast<int>(grace_ms);
    if (::poll(events.data(), events.size(), most_ms) < 0) return {};
    if (events[2].revents != 0) return WhyEnd::told_to;
    if (events[1].revents != 0) wakers_.rest();
    if (outbox_.is_broken()) return WhyEnd::told_to;
    if (!room) return look_at_closed(events[0].revents != 0);
    return events[0].revents != 0 ? read_some() : std::nullopt;
  }

  // Closed while nothing is read, because the client takes no answers: there may be more to read, if it takes
  // them soon.
  std::optional<WhyEnd> look_at_closed(bool seen_now) {
    const uint64_t now = sys::monotonic_ms();
    if (seen_now) closed_ms_ = now;
    if (closed_ms_ != 0 && now >= closed_ms_ + grace_ms) return WhyEnd::input_closed;
    return {};
  }

  std::optional<WhyEnd> read_some() {
    const auto take = [&](std::string_view line) { server_.take_line(line); };
    const auto skipped = [&] { server_.take_too_long_line(); };
    const ssize_t got = ::read(0, buffer_.data(), buffer_.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return {};
    if (got > 0) {
      lines_.feed({buffer_.data(), static_cast<size_t>(got)}, take, skipped);
      return {};
    }
    lines_.end(take, skipped);
    return WhyEnd::input_closed;
  }

  mcp::Server& server_;
  const mcp::Outbox& outbox_;
  const Wakers& wakers_;
  mcp::LineSplitter lines_{mcp::max_message_bytes};
  std::array<char, 64 << 10> buffer_{};
  uint64_t closed_ms_ = 0;  // when that was seen while nothing was read; 0: it was not
};

// The session's own skill, and what else was named.
Result<std::vector<mcp::OfferedPrompt>> prompts_for(const CallArguments& arguments) {
  std::vector<mcp::OfferedPrompt> prompts;
  std::vector<std::string> paths = arguments.prompts;
  if (arguments.skill) paths.insert(paths.begin(), *arguments.skill);
  for (const auto& path : paths) {
    auto prompt = TRY(mcp::prompt_of(path));
    const bool known = std::any_of(prompts.begin(), prompts.end(),
                                   [&](const mcp::OfferedPrompt& one) { return one.name == prompt.name; });
    if (!known) prompts.push_back(std::move(prompt));
  }
  return prompts;
}

Result<void> serve(CallArguments arguments, const Environment& environment) {
  SessionOptions& options = arguments.options;
  options.door = Door::agent;
  if (arguments.task) options.run_name = run_of_task(*arguments.task, options.operators);
  const auto gateway = TRY(Gateway::open(std::move(options), environment));
  const auto skill = TRY(skill_for(gateway->session(), arguments.skill));
  for (const auto& note : gateway->session().notes) complain("note: " + visible(note));
  mcp::ServerOptions serving{.task = arguments.task, .role = arguments.role, .instructions = instructions};
  if (skill) {
    serving.skill = &*skill;
    for (const auto& warning : skill->warnings) complain("note: " + visible(warning));
  }
  serving.state_key = TRY(random_word(key_letters));
  const std::string task = arguments.task.value_or(std::string(task_without_name));
  auto prompts = TRY(prompts_for(arguments));
  auto catalog = TRY(mcp::make_catalog(*gateway, serving.skill, task, std::move(prompts)));
  if (const auto proven = gateway->prove_box({.skill = serving.skill}); !proven.ok())
    complain("note: commands will fail here: " + visible(describe(proven.error())));
  const Wakers wakers = TRY(Wakers::open());
  const auto outbox = TRY(mcp::Outbox::open(1, [&] { wakers.wake(); }));
  mcp::Server server(*gateway, std::move(catalog), std::move(serving), *outbox);
  const WhyEnd why = Reader(server, *outbox, wakers).run();
  const bool ended = server.end(why == WhyEnd::input_closed ? grace_ms : 0);
  outbox->close(last_words_ms);
  // A process that the kernel does not let go of would keep us for longer than a client waits. Its keeper
  // sees that we are gone and ends it.
  if (!ended) ::_exit(0);
  return {};
}

}  // namespace

int mcp_door(std::span<char* const> words, const Environment& environment) {
  auto parsed = parse_call(words, CallWords::server);
  if (!parsed.ok()) return fail(parsed.error());
  if (parsed.value().help) {
    print(mcp_help());
    return 0;
  }
  const auto served = serve(std::move(parsed).value(), environment);
  return served.ok() ? 0 : fail(served.error());
}

}  // namespace cloche
