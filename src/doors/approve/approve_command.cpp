#include "doors/approve/approve_command.hpp"

#include <unistd.h>

#include <algorithm>

#include "base/json/json_writer.hpp"
#include "base/sys/sys.hpp"
#include "doors/approve_watch.hpp"
#include "doors/cli/options.hpp"
#include "doors/print.hpp"
#include "gateway/configuration/installation.hpp"
#include "jail/core/wire.hpp"

namespace cloche {
namespace {

using Action = ApproveArguments::Action;

struct ActionName {
  std::string_view name;
  Action action;
  std::string_view value;  // "ID": it takes one
  std::string_view help;
};
constexpr ActionName actions[] = {
    {"list", Action::list, "", "What waits, and what was answered and not yet used (default)."},
    {"show", Action::show, "ID", "Everything that a yes would cover."},
    {"yes", Action::yes, "ID", "Let the call pass, once, within an hour."},
    {"no", Action::no, "ID", "Refuse the call for an hour."}};

struct ApproveOptions {
  bool watch = false;
  bool json = false;
  bool help = false;
};
const OptionTables<ApproveOptions>& tables() {
  static constexpr Option<ApproveOptions> options[] = {
      {"--watch", "", "Wait for questions and ask each at this terminal; Ctrl-C ends it.",
       raise<&ApproveOptions::watch>},
      {"--json", "", "Print JSON on stdout: {\"questions\": [...]}, or the one question.",
       raise<&ApproveOptions::json>},
      help_option<ApproveOptions>};
  static const OptionTables<ApproveOptions> all{{options}};
  return all;
}

std::string approve_help() {
  std::vector<HelpRow> rows;
  for (const auto& row : actions)
    rows.push_back({std::string(row.name) + (row.value.empty() ? "" : " " + std::string(row.value)),
                    std::string(row.help)});
  for (auto& row : rows_of(tables())) rows.push_back(std::move(row));
  return text_of(HelpPage{
      .usage = "cloche approve [list | show ID | yes ID | no ID | --watch] [--json]",
      .about =
          "The operator's answer to a call that waits for one: a rule says ask with `approver: operator`, or "
          "the agent's front end could ask no person. What is approved is that very command with those very "
          "files: anything changed is another question. Questions wait for 8 hours.",
      .rows = std::move(rows),
      .notes =
          "The owner of Cloche's state directory is the operator. An agent that runs under your own id "
          "outside the sandbox could answer as well: then this is advice, and `cloche doctor` says so.\n"
          "\n"
          "Exit codes: 0; 2 usage; 125 there is no such question, or it was answered, used or has expired.",
      .examples = {"cloche approve", "cloche approve show k3vqw7ma", "cloche approve yes k3vqw7ma",
                   "cloche approve --watch"}});
}

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

std::string padded(std::string_view text, size_t width) {
  std::string out(text);
  out.resize(std::max(out.size() + 2, width), ' ');
  return out;
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

// Under the glass there is a state directory like any other, and nothing in it: an answer given there would
// look like one.
bool is_under_the_glass() {
  const auto name = sys::read_small_file("/proc/sys/kernel/hostname");
  const auto status = sys::read_file("/proc/self/status", 64 << 10);
  return name.ok() && status.ok() && name.value() == std::string(wire::sandbox_hostname) + "\n" &&
         status.value().find("\nNoNewPrivs:\t1\n") != std::string::npos &&
         status.value().find("\nSeccomp:\t2\n") != std::string::npos;
}

int fail(const Error& error, bool json) {
  const int code = error.cause == Cause::usage ? 2 : 125;
  if (json) {
    JsonWriter out;
    out.begin_object().member("error", describe(error)).end_object();
    print(out.text() + "\n");
  }
  complain(describe(error));
  return code;
}

Result<int> give(const Approvals& approvals, const ApproveArguments& arguments) {
  const uint64_t now_ms = wall_clock_ms();
  FiledQuestion filed = TRY(approvals.find(arguments.id, now_ms));
  // Before it counts, so that whoever types the wrong id sees it; and what was shown is what is answered.
  if (!arguments.json && ::isatty(1) == 1) print(approval_text(filed, now_ms));
  filed.answer = arguments.action == Action::yes ? Decision::allow : Decision::deny;
  TRY(approvals.answer(filed, *filed.answer, now_ms));
  if (arguments.json) return print_all(to_json(filed) + "\n", 0);
  return print_all(filed.answer == Decision::allow
                       ? "Approved " + filed.id + ": the identical call passes once within the hour.\n"
                       : "Refused " + filed.id + ": the identical call is refused for the next hour.\n",
                   0);
}

Result<int> carry_out(const ApproveArguments& arguments, const Environment& environment) {
  if (is_under_the_glass())
    return refusal("this runs in the sandbox, where nothing can be approved",
                   "run it in a terminal of your own");
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
  return print_all(approve_help(), 0);
}

}  // namespace

Result<ApproveArguments> parse_approve(std::span<char* const> words) {
  ApproveOptions said;
  const auto others =
      TRY(read_options(said, words, tables(), OptionsEnd::dashes, "see cloche approve --help"));
  if (said.help) return ApproveArguments{.action = Action::help};
  if (said.watch && (said.json || !others.empty()))
    return bad_usage("--watch speaks to a person, and stands alone");
  if (said.watch) return ApproveArguments{.action = Action::watch};
  const std::string_view word = others.empty() ? "list" : others[0];
  const auto* action = std::find_if(std::begin(actions), std::end(actions),
                                    [&](const ActionName& one) { return one.name == word; });
  const size_t wanted = action == std::end(actions) ? 0 : (action->value.empty() ? 1 : 2);
  if (others.size() > wanted) return bad_usage("'" + std::string(others[wanted]) + "' does not fit here");
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

int approve_door(std::span<char* const> words, const Environment& environment) {
  const auto arguments = parse_approve(words);
  if (!arguments.ok()) return fail(arguments.error(), false);
  if (arguments.value().action == Action::help) return print_all(approve_help(), 0);
  const auto code = carry_out(arguments.value(), environment);
  return code.ok() ? code.value() : fail(code.error(), arguments.value().json);
}

}  // namespace cloche
