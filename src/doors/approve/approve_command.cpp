#include "doors/approve/approve_command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/json/json_writer.hpp"
#include "base/lists.hpp"
#include "base/sys/sys.hpp"
#include "doors/cli/help_pages.hpp"
#include "doors/cli/options.hpp"
#include "doors/cli/print.hpp"
#include "doors/commands.hpp"
#include "gateway/configuration/installation.hpp"
#include "jail/core/wire.hpp"

namespace cloche {
namespace {

using Action = ApproveArguments::Action;

constexpr ActionName<Action> actions[] = {
    {"list", Action::list, "", "List what waits, and what was answered and not yet used (default)."},
    {"show", Action::show, "ID", "Show everything that a yes would cover."},
    {"yes", Action::yes, "ID", "Let the call pass, once, within an hour."},
    {"no", Action::no, "ID", "Refuse the call for an hour."}};

struct ApproveOptions {
  bool watch = false;
  bool json = false;
  bool help = false;
};
constexpr Option<ApproveOptions> options[] = {
    {"--watch", "", "Wait for questions and ask each at this terminal; Ctrl-C ends it.",
     raise<&ApproveOptions::watch>},
    {"--json", "", "Print JSON on stdout: {\"questions\": [...]}, or the one question.",
     raise<&ApproveOptions::json>},
    help_option<ApproveOptions>};

}  // namespace

HelpPage approve_help() {
  return {
      .usage = "cloche approve [list | show ID | yes ID | no ID | --watch] [--json]",
      .about =
          "Lists and answers the calls that wait for the operator: a rule says ask with `approver: "
          "operator`, or the agent could not ask a person. A yes covers exactly that command with "
          "exactly those files; "
          "when anything changes, it is another question. Questions wait for 8 hours.",
      .rows = rows_of<Action>(actions) + rows_of<ApproveOptions>(options),
      .notes =
          "The owner of Cloche's state directory is the operator. An agent that runs under your own id "
          "outside the sandbox could answer as well: then an approval is only advice, and `cloche doctor` "
          "says so.\n"
          "\n"
          "Exit codes: 0 done; 2 bad usage; 125 no such question, or it was answered, used or has expired.",
      .examples = {"cloche approve", "cloche approve show k3vqw7ma", "cloche approve yes k3vqw7ma",
                   "cloche approve --watch"}};
}

namespace {

Error bad_usage(const std::string& what) { return usage_error(what, "see cloche approve --help"); }

std::string_view state_of(const FiledQuestion& filed) {
  if (!filed.answer) return "waiting";
  return *filed.answer == Decision::allow ? "approved" : "refused";
}

// "command     make test": what it is about, on one line.
std::string summary_of(const FiledQuestion& filed) {
  const std::string& text = filed.question.text;
  const auto line_after = [&](std::string_view name) {
    const size_t at = text.find(name);
    if (at == std::string::npos) return std::string();
    return text.substr(at + name.size(), text.find('\n', at) - at - name.size());
  };
  const std::string tool = text.starts_with("tool ") ? line_after("tool        ") : "";
  const std::string command = line_after("command     ");
  // Of a script, and of what the agent does itself, the words say more than the command.
  const bool by_words = command.starts_with("none: ") || command.find(" /run/cloche/") != std::string::npos;
  const std::string summary = tool + ": " + (by_words ? line_after("input       ") : command);
  return summary.size() <= 70 ? summary : summary.substr(0, 67) + "...";
}

std::string age_of(uint64_t since_ms, uint64_t now_ms) {
  const uint64_t seconds = now_ms > since_ms ? (now_ms - since_ms) / 1000 : 0;
  if (seconds < 120) return std::to_string(seconds) + " s";
  return seconds < 7200 ? std::to_string(seconds / 60) + " min" : std::to_string(seconds / 3600) + " h";
}

void write_question(JsonWriter& out, const FiledQuestion& filed) {
  out.begin_object().member("id", filed.id).member("state", state_of(filed));
  out.member("digest", filed.question.digest).member("approver", name_of(filed.question.approvers));
  out.member("workspace", filed.workspace).member("asked_ms", filed.asked_ms);
  out.member("expires_ms", filed.expires_ms).member("text", filed.question.text).end_object();
}

std::string to_json(const FiledQuestion& filed) {
  JsonWriter out;
  write_question(out, filed);
  return out.take();
}

// A command in the sandbox has an empty state directory of its own: an answer stored there would look valid
// and count for nothing.
bool is_in_sandbox() {
  const auto name = sys::read_small_file("/proc/sys/kernel/hostname");
  const auto status = sys::read_file("/proc/self/status", 64 << 10);
  return name.ok() && status.ok() && name.value() == std::string(wire::sandbox_hostname) + "\n" &&
         status.value().find("\nNoNewPrivs:\t1\n") != std::string::npos &&
         status.value().find("\nSeccomp:\t2\n") != std::string::npos;
}

int fail(const Error& error, bool json) {
  if (json) {
    JsonWriter out;
    out.begin_object().member("error", describe(error)).end_object();
    print(out.text() + "\n");
  }
  return report(error);
}

Result<int> give(const Approvals& approvals, const ApproveArguments& arguments) {
  const uint64_t now_ms = wall_clock_ms();
  FiledQuestion filed = TRY(approvals.find(arguments.id, now_ms));
  // Shown before the answer is stored: the operator sees a wrong id, and answers exactly what was shown.
  if (!arguments.json && ::isatty(1) == 1) print(approval_text(filed, now_ms));
  filed.answer = arguments.action == Action::yes ? Decision::allow : Decision::deny;
  TRY(approvals.answer(filed, *filed.answer, now_ms));
  if (arguments.json) return print_all(to_json(filed) + "\n", 0);
  return print_all(filed.answer == Decision::allow
                       ? "Approved " + filed.id + ": the identical call passes once within the hour.\n"
                       : "Refused " + filed.id + ": the identical call is refused for the next hour.\n",
                   0);
}

// ---- --watch

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
  if (said == Said::later) return "It still waits: cloche approve show " + filed.id + "\n";
  const Decision decision = said == Said::yes ? Decision::allow : Decision::deny;
  const auto answered = approvals.answer(filed, decision, wall_clock_ms());
  if (!answered.ok()) return describe(answered.error()) + "\n";
  return said == Said::yes ? "Approved " + filed.id + ".\n" : "Refused " + filed.id + ".\n";
}

// Waits for questions and asks each at the terminal, until Ctrl-C. An Error where there is no terminal.
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

Result<int> carry_out(const ApproveArguments& arguments, const Environment& environment) {
  if (is_in_sandbox())
    return refusal("nothing can be approved from within the sandbox", "run it in a terminal of your own");
  const Installation installation = TRY(find_installation(environment));
  if (arguments.action == Action::list && !installation.state.empty() &&
      !Approvals::are_there(installation.state))
    return print_all(arguments.json ? approvals_json({}) + "\n" : approvals_table({}, 0), 0);
  const Approvals approvals = TRY(Approvals::open(installation.state));
  const uint64_t now_ms = wall_clock_ms();
  switch (arguments.action) {
    case Action::list: {
      const auto questions = approvals.list(now_ms);
      return print_all(arguments.json ? approvals_json(questions) + "\n" : approvals_table(questions, now_ms),
                       0);
    }
    case Action::show: {
      const FiledQuestion filed = TRY(approvals.find(arguments.id, now_ms));
      return print_all(arguments.json ? to_json(filed) + "\n" : approval_text(filed, now_ms), 0);
    }
    case Action::yes:
    case Action::no: return give(approvals, arguments);
    case Action::watch: return watch_approvals(approvals);
    case Action::help: break;
  }
  return print_all(text_of(approve_help()), 0);
}

}  // namespace

Result<ApproveArguments> parse_approve(std::span<char* const> words) {
  ApproveOptions said;
  const auto others =
      TRY(read_options(said, words, options, OptionsEnd::dashes, "see cloche approve --help"));
  if (said.help) return ApproveArguments{.action = Action::help};
  if (said.watch && (said.json || !others.empty()))
    return bad_usage("--watch asks at the terminal, and takes no other argument");
  if (said.watch) return ApproveArguments{.action = Action::watch};
  const std::string_view word = others.empty() ? "list" : others[0];
  const auto* action = find_by(actions, &ActionName<Action>::name, word);
  const size_t wanted = action == nullptr ? 0 : (action->value.empty() ? 1 : 2);
  if (others.size() > wanted) return bad_usage("unexpected argument '" + std::string(others[wanted]) + "'");
  if (wanted == 2 && others.size() < 2) return bad_usage(std::string(word) + " needs an id");
  return ApproveArguments{.action = action->action, .id = wanted == 2 ? others[1] : "", .json = said.json};
}

std::string approvals_json(const std::vector<FiledQuestion>& questions) {
  JsonWriter out;
  out.begin_object().key("questions").begin_array();
  for (const auto& filed : questions) write_question(out, filed);
  return out.end_array().end_object().take();
}

std::string approvals_table(const std::vector<FiledQuestion>& questions, uint64_t now_ms) {
  if (questions.empty()) return "No question waits.\n";
  std::string text;
  for (const auto& filed : questions)
    text += padded(filed.id, 11) + padded(state_of(filed), 10) + padded(age_of(filed.asked_ms, now_ms), 9) +
            summary_of(filed) + "\n";
  return text + "See one whole with `cloche approve show ID`.\n";
}

std::string approval_text(const FiledQuestion& filed, uint64_t now_ms) {
  return "question    " + filed.id + ", " + std::string(state_of(filed)) + ", asked " +
         age_of(filed.asked_ms, now_ms) + " ago\n" +
         (filed.workspace.empty() ? "" : "workspace   " + escape_for_person(filed.workspace) + "\n") +
         filed.question.text;
}

int approve_command(std::span<char* const> words, const Environment& environment) {
  const auto arguments = parse_approve(words);
  if (!arguments.ok()) return fail(arguments.error(), false);
  if (arguments.value().action == Action::help) return print_all(text_of(approve_help()), 0);
  const auto code = carry_out(arguments.value(), environment);
  return code.ok() ? code.value() : fail(code.error(), arguments.value().json);
}

}  // namespace cloche
