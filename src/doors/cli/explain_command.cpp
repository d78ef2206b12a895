#include "doors/cli/explain_command.hpp"

#include "base/json/json_writer.hpp"
#include "doors/cli/arguments.hpp"
#include "doors/cli/call_arguments.hpp"
#include "doors/cli/help_pages.hpp"
#include "doors/cli/print.hpp"
#include "doors/cli/run_command.hpp"
#include "doors/commands.hpp"
#include "gateway/configuration/configuration.hpp"
#include "policy/authority/authority.hpp"
#include "tools/answer/model_text.hpp"

namespace cloche {
namespace {

std::string shouted(Decision decision) {
  return decision == Decision::deny ? "DENY" : (decision == Decision::ask ? "ASK" : "allow");
}

// "id file:line" -> "file:line", which is what a reader opens.
std::string place_in(const std::string& rule) {
  const size_t space = rule.find(' ');
  return space == std::string::npos ? rule : rule.substr(space + 1);
}

std::string painted(Decision decision, const Screen& screen) {
  return painted_state(screen.colour, name_of(decision), shouted(decision));
}

constexpr size_t texts_at = 10;    // beside a key
constexpr size_t reasons_at = 18;  // beside a gate and its decision

std::string gate_line(const Verdict& verdict, const Screen& screen) {
  const size_t blanks = 8 - shouted(verdict.decision).size();
  std::string line = padded(name_of(verdict.gate), texts_at, 0) + painted(verdict.decision, screen) +
                     std::string(blanks, ' ');
  const std::string reason = on_one_line(verdict.reason.text());
  line += verdict.rule.empty() ? reason : padded(reason, 56) + on_one_line(place_in(verdict.rule));
  while (line.ends_with(' ')) line.pop_back();
  line += "\n";
  if (verdict.decision != Decision::allow && !operators_fix(verdict).empty())
    line += "          fix     " + on_one_line(operators_fix(verdict)) + "\n";
  return fitted(line, reasons_at, screen);
}

std::string plan_lines(const Prepared& prepared) {
  const ConfinementPlan& plan = prepared.plan;
  std::string text = plan.argv.empty() ? "does      " + on_one_line(plan.action) + "\n"
                                       : "runs      " + on_one_line(quote_words(plan.argv)) + "\n";
  text += "in        " + on_one_line(plan.directory) + "\n";
  for (const auto& [name, value] : plan.environment)
    text += "env       " + on_one_line(name + "=" + value) + "\n";
  for (const auto& secret : plan.secrets) text += "env       " + on_one_line(secret.name) + " (secret)\n";
  return text + "plan      " + prepared.digest + "\n";
}

int fail(const Error& error, bool json) {
  if (json) print(explain_json(error));
  return report(error);
}

int show(const Result<Judged>& judged, bool json, const Environment& environment) {
  if (!judged.ok()) return fail(judged.error(), json);
  print(json ? explain_json(judged.value()) : explain_text(judged.value(), screen_of_output(environment)));
  return judged.value().judgement.decision == Decision::deny ? 126 : 0;
}

}  // namespace

HelpPage explain_help() {
  return {
      .usage =
          "cloche explain run [flags of run] -- CMD ARG...\ncloche explain call TOOL ARGS-JSON|- [flags]",
      .about =
          "Shows every gate's answer, the verdict, and what would run with its plan. Nothing runs. With "
          "- the arguments are read from stdin. The flags of `explain run` are those of cloche run; "
          "those of `explain call` are:",
      .rows = call_options_of(CallCommand::explain),
      .notes = "Exit code 0 when the call would run or be asked about, 126 when it is denied.",
      .examples = {R"(cloche explain call run_shell '{"cmd":"cat ../../etc/passwd"}')",
                   R"(cloche explain call run_shell '{"argv":["python3","a.py"],"profile":"full"}' --json)",
                   "cloche explain run --profile readonly -- make test"}};
}

namespace {

int explain_a_call(std::span<char* const> words, const Environment& environment) {
  auto parsed = parse_call(words, CallCommand::explain);
  if (!parsed.ok()) return fail(parsed.error(), ask_for_json(words));
  CallArguments& arguments = parsed.value();
  if (arguments.help) return print_all(text_of(explain_help()), 0);
  if (const auto read = read_from_stdin(arguments); !read.ok()) return fail(read.error(), arguments.json);
  if (arguments.task) arguments.options.run_name = run_of_task(*arguments.task, arguments.options.operators);
  const ExplainedFor whose{.skill_file = arguments.skill, .task = arguments.task};
  return show(explain(arguments.options, arguments.call, whose, environment), arguments.json, environment);
}

int explain_a_run(std::span<char* const> words, const Environment& environment) {
  auto parsed = parse_run(words);
  if (!parsed.ok()) return fail(parsed.error(), ask_for_json(words));
  if (parsed.value().help) return print_all(text_of(explain_help()), 0);
  RunArguments& arguments = parsed.value();
  auto read = read_secrets(arguments.secrets, environment, arguments.request);
  if (!read.ok()) return fail(read.error(), arguments.json);
  arguments.secret_files = std::move(read).value();
  take_over_process(arguments, {});
  return show(judge_run(arguments, environment), arguments.json, environment);
}

}  // namespace

std::string explain_text(const Judged& judged, const Screen& screen) {
  std::string text;
  for (const auto& verdict : judged.judgement.gates) text += gate_line(verdict, screen);
  const Decision decision = judged.judgement.decision;
  std::string rest = padded("verdict", texts_at) + painted(decision, screen);
  if (decision != Decision::allow) rest += " by " + std::string(name_of(judged.judgement.by));
  rest += "\n";
  for (const auto& note : judged.notes) rest += "note      " + on_one_line(note) + "\n";
  const Prepared* prepared = judged.judgement.prepared();
  if (prepared != nullptr) rest += plan_lines(*prepared);
  return text + fitted(rest, texts_at, screen);
}

void write_gates(JsonWriter& out, const Judgement& judgement) {
  out.key("gates").begin_array();
  for (const auto& verdict : judgement.gates) {
    out.begin_object().member("gate", name_of(verdict.gate)).member("decision", name_of(verdict.decision));
    out.member("reason", verdict.reason.text())
        .member("rule", verdict.rule)
        .member("fix", operators_fix(verdict));
    out.member("instead", verdict.instead.text());
    if (verdict.decision == Decision::ask) out.member("approver", name_of(verdict.approvers));
    out.end_object();
  }
  out.end_array();
}

std::string explain_json(const Judged& judged) {
  const Judgement& judgement = judged.judgement;
  const Prepared* prepared = judgement.prepared();
  JsonWriter out;
  out.begin_object().member("decision", name_of(judgement.decision));
  out.member("reason", judgement.decision == Decision::allow ? "" : decisive(judgement).reason.text());
  write_gates(out, judgement);
  out.key("plan");
  prepared != nullptr ? out.raw(to_json(prepared->plan)) : out.null();
  out.key("plan_digest");
  prepared != nullptr ? out.value(prepared->digest) : out.null();
  return out.member("notes", judged.notes).end_object().text() + "\n";
}

std::string explain_json(const Error& error) {
  JsonWriter out;
  out.begin_object().member("decision", name_of(Decision::deny)).member("reason", describe(error));
  out.key("gates").begin_array().end_array().key("plan").null().key("plan_digest").null();
  return out.end_object().text() + "\n";
}

int explain_command(std::span<char* const> words, const Environment& environment) {
  std::vector<char*> rest(words.begin(), words.end());
  // --json is accepted before `run` and `call` as well.
  const bool json = !rest.empty() && std::string_view(rest.front()) == "--json";
  if (json && rest.size() > 1) std::swap(rest[0], rest[1]);
  const std::string_view what = rest.empty() ? "" : rest.front();
  if (what == "--help" || what == "-h") return print_all(text_of(explain_help()), 0);
  const std::span<char* const> arguments(rest);
  if (what == "run") return explain_a_run(arguments.subspan(1), environment);
  if (what == "call") return explain_a_call(arguments.subspan(1), environment);
  return fail(usage_error("explain needs run or call",
                          "cloche explain run -- CMD... or cloche explain call TOOL ARGS-JSON"),
              json);
}

}  // namespace cloche
