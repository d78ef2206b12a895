// `cloche mcp`: an MCP server on stdin and stdout.
//
// Who waits for whom: this thread reads stdin and hands one message after the other to the server
// (mcp/server.hpp), which never blocks. Before each message it polls everything else. While the client does
// not take its answers, no further message is handled, even one that was read already. A client that closes
// its end, or a signal, ends everything within a second, whatever is left to answer; the first of these only
// counts once the first proof has ended.
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/lists.hpp"
#include "base/sys/sys.hpp"
#include "base/text/random_word.hpp"
#include "doors/cli/call_arguments.hpp"
#include "doors/cli/help_pages.hpp"
#include "doors/cli/print.hpp"
#include "doors/commands.hpp"
#include "doors/mcp/framing.hpp"
#include "doors/mcp/server.hpp"

namespace cloche {
namespace {

constexpr unsigned grace_ms = 500;       // once stdin is closed: to read the rest, and for calls to end
constexpr unsigned last_words_ms = 150;  // for the client to take the answers
constexpr unsigned hard_end_ms = 850;    // then the process ends, however busy the machine is
constexpr rlim_t enough_descriptors = 16'384;
constexpr size_t key_letters = 52;  // 260 bits
constexpr const char* isolated =
    "Commands and files of one workspace, each call judged by rules and run under kernel isolation. ";
constexpr const char* not_isolated =
    "Commands and files of one workspace, each call judged by rules. Isolation is switched off by the "
    "operator: nothing confines what a call starts. ";
constexpr const char* refusals =
    "A refusal says which gate refused, why, and what to do instead: do that, and do not repeat the same "
    "call.";

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

// What is said once for all calls, while the first messages are answered: the first proof after a boot takes
// longer than some clients wait for a server, and the model's first turn is then without tools.
class FirstProof {
 public:
  explicit FirstProof(std::function<void()> prove)
      : ended_(::eventfd(0, EFD_CLOEXEC)),
        proof_(std::async(std::launch::async, [this, prove = std::move(prove)] {
          prove();
          const uint64_t one = 1;
          (void)!::write(ended_.get(), &one, sizeof one);
        })) {}

  void wait() const { proof_.wait(); }
  // Or until there is a signal.
  void wait(const OwnedFd& signals) const {
    if (!ended_) return wait();
    std::array<pollfd, 2> events = {{{ended_.get(), POLLIN, 0}, {signals.get(), POLLIN, 0}}};
    while (::poll(events.data(), events.size(), -1) < 0) {
    }
  }

 private:
  OwnedFd ended_;
  std::future<void> proof_;  // its end is waited for
};

// Ends this process in time, whatever is left to do: the client no longer reads it. The record is then as
// after a kill, which it survives, and keepers end what still runs.
void end_for_sure_in(unsigned ms) {
  struct sigaction ending {};
  ending.sa_handler = [](int) { ::_exit(0); };
  ::sigaction(SIGALRM, &ending, nullptr);
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  ::pthread_sigmask(SIG_UNBLOCK, &alarm, nullptr);
  const itimerval once{.it_interval = {}, .it_value = {.tv_sec = 0, .tv_usec = static_cast<long>(ms) * 1000}};
  ::setitimer(ITIMER_REAL, &once, nullptr);
}

// How long calls may go on by themselves: not at all when we were told to end.
using Grace = unsigned;
constexpr Grace at_once = 0;

// Each call has a few descriptors, and many hosts give a process room for far fewer calls than run at once.
// What calls start has limits of its own.
void make_room_for_descriptors() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= enough_descriptors) return;
  files.rlim_cur = std::min(files.rlim_max, enough_descriptors);
  (void)::setrlimit(RLIMIT_NOFILE, &files);
}

class Reader {
 public:
  Reader(mcp::Server& server, const mcp::Outbox& outbox, const Wakers& wakers, const FirstProof& proof)
      : server_(server), outbox_(outbox), wakers_(wakers), proof_(proof) {}

  Grace run() {
    std::optional<Grace> end;
    while (!end) end = handle_next_event();
    if (!closed_ms_) end_for_sure_in(hard_end_ms);
    return *end;
  }

 private:
  std::optional<Grace> handle_next_event() {
    const bool room = outbox_.has_room();
    const bool more = has_more();
    const bool reads = room && !more;
    // A closed input is always ready: once that was seen, it is looked at only to be read.
    std::array<pollfd, 4> events = {
        {{reads || !closed_ms_ ? 0 : -1, static_cast<short>(POLLRDHUP | (reads ? POLLIN : 0)), 0},
         {wakers_.event.get(), POLLIN, 0},
         {wakers_.signals.get(), POLLIN, 0},
         {1, 0, 0}}};  // POLLERR when its reader has gone
    if (::poll(events.data(), events.size(), room && more ? 0 : wait_ms()) < 0) return {};
    if (events[2].revents != 0 || events[3].revents != 0) return at_once;
    if (events[1].revents != 0) wakers_.rest();
    if (outbox_.is_broken()) return at_once;
    if ((events[0].revents & (POLLHUP | POLLRDHUP | POLLERR)) != 0) note_closed();
    if (closed_ms_ && grace_left() == 0) return at_once;
    if (!room) return {};
    if (more) return take_next(), std::nullopt;
    return events[0].revents != 0 ? read_some() : std::nullopt;
  }

  // A client that closes at once, such as a file, is answered too: what it asked began with the proof.
  void note_closed() {
    if (closed_ms_) return;
    proof_.wait(wakers_.signals);
    closed_ms_ = sys::monotonic_ms();
    end_for_sure_in(hard_end_ms);
  }
  Grace grace_left() const {
    const uint64_t now = sys::monotonic_ms();
    const uint64_t gone_ms = now - closed_ms_.value_or(now);
    return gone_ms < grace_ms ? grace_ms - static_cast<Grace>(gone_ms) : 0;
  }
  int wait_ms() const { return closed_ms_ ? static_cast<int>(grace_left()) : -1; }

  // What was read and not looked at yet.
  bool has_more() const { return next_message_ < messages_.size() || lines_.has_more(); }

  void take_next() {
    if (next_message_ == messages_.size()) {
      const auto line = lines_.next();
      if (!line) return;  // its end has not come
      take_up(*line);
    }
    server_.take(messages_[next_message_++]);
  }

  void take_up(const mcp::LineSplitter::Taken& line) {
    messages_ = server_.read(line);
    next_message_ = 0;
  }

  std::optional<Grace> read_some() {
    const ssize_t got = ::read(0, buffer_.data(), buffer_.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return {};
    if (got > 0) {
      lines_.feed({buffer_.data(), static_cast<size_t>(got)});
      return {};
    }
    note_closed();
    const auto line = lines_.last();
    if (!line) return grace_left();
    take_up(*line);
    return {};  // and comes here again
  }

  mcp::Server& server_;
  const mcp::Outbox& outbox_;
  const Wakers& wakers_;
  const FirstProof& proof_;
  mcp::LineSplitter lines_{mcp::max_message_bytes};
  std::array<char, 64 << 10> buffer_{};
  std::vector<mcp::Incoming> messages_ = {};  // of one line
  size_t next_message_ = 0;                   // of them
  std::optional<uint64_t> closed_ms_ = {};    // when it was seen that the client has closed its end
};

// The session's own skill, and what else was named.
Result<std::vector<mcp::OfferedPrompt>> prompts_for(const CallArguments& arguments) {
  std::vector<mcp::OfferedPrompt> prompts;
  std::vector<std::string> paths = arguments.prompts;
  if (arguments.skill) paths.insert(paths.begin(), *arguments.skill);
  for (const auto& path : paths) {
    auto prompt = TRY(mcp::prompt_of(path));
    const bool known =
        std::ranges::any_of(prompts, [&](const mcp::OfferedPrompt& one) { return one.name == prompt.name; });
    if (!known) prompts.push_back(std::move(prompt));
  }
  return prompts;
}

// Once for all calls, on stderr: the operator who started the server does not see the notes of each call.
void say_about_box(const Gateway& gateway, const Skill* skill) {
  const auto proven = gateway.prove_box({.skill = skill});
  const auto switched = switch_notes(gateway.session().wish);  // said already
  if (!proven.ok()) return complain("note: commands will fail here: " + visible(describe(proven.error())));
  for (const auto& note : proven.value()) {
    const bool said = contains(switched, note);
    if (!said) complain("note: " + visible(note));
  }
}

Result<void> serve(CallArguments arguments, const Environment& environment) {
  SessionOptions& options = arguments.options;
  options.front_end = FrontEnd::agent;
  options.usual_pool = mcp_pool;
  if (arguments.task) options.run_name = run_of_task(*arguments.task, options.operators);
  const auto gateway = TRY(Gateway::open(std::move(options), environment));
  const auto skill = TRY(skill_for(gateway->session(), arguments.skill));
  complain_notes(gateway->session().notes);
  if (!arguments.task) {
    if (const auto shared = gateway->share_home(); !shared.ok())
      complain("note: every call has a fresh $HOME and /tmp: " + visible(describe(shared.error())));
  }
  mcp::ServerOptions serving{.task = arguments.task, .role = arguments.role};
  serving.instructions = std::string(gateway->is_isolated() ? isolated : not_isolated) + refusals;
  if (skill) {
    serving.skill = &*skill;
    complain_notes(skill->warnings);
  }
  serving.state_key = TRY(random_word(key_letters));
  const std::string task = arguments.task.value_or(std::string(task_without_name));
  auto prompts = TRY(prompts_for(arguments));
  auto catalog = TRY(mcp::make_catalog(*gateway, serving.skill, task, std::move(prompts)));
  // What became of the operator's switch, also where no command could be judged.
  complain_notes(switch_notes(gateway->session().wish));
  complain_notes(gateway->keep_warm({.skill = serving.skill}));
  make_room_for_descriptors();
  const Wakers wakers = TRY(Wakers::open());
  const FirstProof proof([&gateway, skill = serving.skill] { say_about_box(*gateway, skill); });
  serving.before_call = [&proof] { proof.wait(); };  // to prove the same twice takes longer
  const auto outbox = TRY(mcp::Outbox::open(1, [&] { wakers.wake(); }));
  mcp::Server server(*gateway, std::move(catalog), std::move(serving), *outbox);
  const Grace grace = Reader(server, *outbox, wakers, proof).run();
  const bool ended = server.end(grace);
  outbox->close(last_words_ms);
  // A process that the kernel does not let go of would keep us for longer than a client waits. Its keeper
  // sees that we are gone and ends it.
  if (!ended) ::_exit(0);
  return {};
}

// For a person who tries it: an agent's end is no terminal.
void say_what_it_is() {
  if (::isatty(0) != 1) return;
  complain(
      "this is an MCP server: it reads JSON-RPC from stdin, one message a line, and answers on stdout. An "
      "agent starts it by itself; tell it so, as with: claude mcp add cloche -- cloche mcp --workspace DIR. "
      "It serves until Ctrl-D or Ctrl-C. To make one call by hand: cloche call TOOL JSON");
}

}  // namespace

HelpPage mcp_help() {
  return {.usage = "cloche mcp [flags]",
          .about =
              "An MCP server on stdin and stdout, for a coding agent: each call of a tool is "
              "judged by every gate, runs under kernel isolation and is recorded. Speaks "
              "2026-07-28 and, after a handshake, 2025-11-25 down to 2024-11-05.",
          .rows = call_options_of(CallCommand::mcp),
          .notes =
              "With --skill, the skill is also offered as a prompt. A question about a call goes "
              "to the user of the client, where the client can ask and the rule allows it; "
              "otherwise it waits for 'cloche approve'.",
          .examples = {"cloche mcp --workspace ./proj",
                       "cloche mcp --workspace ./proj --skill skills/code-review/SKILL.md",
                       "claude mcp add cloche -- cloche mcp --workspace ./proj"}};
}

int mcp_command(std::span<char* const> words, const Environment& environment) {
  auto parsed = parse_call(words, CallCommand::mcp);
  if (!parsed.ok()) return report(parsed.error());
  if (parsed.value().help) return print_all(text_of(mcp_help()), 0);
  ::signal(SIGTSTP, SIG_IGN);  // what its calls have started would run on with no limit watched
  say_what_it_is();
  const auto served = serve(std::move(parsed).value(), environment);
  return served.ok() ? 0 : report(served.error());
}

}  // namespace cloche
