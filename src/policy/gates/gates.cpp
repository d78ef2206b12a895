#include "policy/gates/gates.hpp"

#include <algorithm>

#include "base/json/json_writer.hpp"
#include "base/lists.hpp"
#include "base/sys/path.hpp"
#include "base/text/command_words.hpp"
#include "base/text/pieces.hpp"
#include "policy/authority/secret_names.hpp"
#include "policy/gates/tool_arguments.hpp"
#include "policy/hosts/declared_hosts.hpp"
#include "policy/hosts/host_patterns.hpp"

namespace cloche {
namespace {

using Role = ShapeOperand::Role;

Verdict allow(GateId gate, std::string reason = {}) { return {gate, Decision::allow, std::move(reason)}; }

bool is_command(const Intent& intent) { return intent.form != Intent::Form::none; }

Verdict unreadable(GateId gate, const Intent& intent) {
  return deny(gate, "the call cannot be read: " + intent.problem, how_to_send(intent));
}

// What a gate says when there is no command text to judge, or nothing at all.
std::optional<Verdict> without_command(GateId gate, const Case& c) {
  if (c.call.by == Asks::operators) return allow(gate, "not a tool call");
  if (!c.intent.problem.empty()) return unreadable(gate, c.intent);
  if (c.intent.tool.empty())
    return deny(gate, "the tool is not known, so nothing can be said of its arguments",
                how_to_send(c.intent));
  if (!is_command(c.intent)) {
    const bool starts = c.intent.launch && !c.intent.launch->argv.empty();
    return allow(gate, starts ? "the tool's own program" : "the call runs no command");
  }
  return {};
}

std::string usages_of(const Shapes& shapes, CommandProfile profile, const std::string& program) {
  std::string list;
  for (const auto& shape : shapes) {
    const auto& names = shape.parts.front().words;
    if (shape.profile > profile || !contains(names, program)) continue;
    list += (list.empty() ? "" : ", or ") + shape.usage;
  }
  return list;
}

// The program is listed and its arguments are not, or it is not listed at all.
Verdict refuse_shape(const Case& c, const Shapes& shapes, CommandProfile profile) {
  const std::string& program = c.intent.argv.front();
  const std::string name(name_of(profile));
  const std::string usages = usages_of(shapes, profile, program);
  if (!usages.empty()) {
    return deny(GateId::shape,
                name + " accepts " + program + " only as listed, not: " + shown(quote_words(c.intent.argv)),
                "write it as " + usages);
  }
  const bool wider = c.ceilings.level != Autonomy::readonly && c.ceilings.commands > profile &&
                     find_shape(shapes, c.ceilings.commands, c.intent.argv);
  const std::string bare(program.substr(program.rfind('/') + 1));
  if (bare != program && !usages_of(shapes, profile, bare).empty())
    return deny(GateId::shape, name + " runs programs by their plain name, not " + shown(program),
                "write " + bare);
  return deny(GateId::shape, name + " has no command " + shown(program),
              wider ? "ask for the profile " + std::string(name_of(c.ceilings.commands)) : "use another tool",
              wider ? "" : "add a shape, or widen --commands");
}

// What does what the shell would have done.
std::string instead_of(ShellOperator::Kind kind) {
  using Kind = ShellOperator::Kind;
  switch (kind) {
    case Kind::redirect:
    case Kind::heredoc: return "write files with write_artifact; quote it if it is data";
    case Kind::pipe:
    case Kind::sequence:
    case Kind::group:
    case Kind::background: return "make one call for each command; quote it if it is data";
    case Kind::expansion: return "write the value itself; quote it if it is data";
    case Kind::glob: return "name the files (list_artifacts lists them); quote it if it is data";
    case Kind::home: return "write a path in the workspace; quote it if it is data";
    case Kind::assignment: return "leave the variable out";
    case Kind::braces: return "write each of the words; quote it if it is data";
    case Kind::comment: return "leave the comment out; quote it if it is data";
    case Kind::tab: return "put such text into a file with write_artifact";
    case Kind::line_break: break;
  }
  return "make one call for each command";
}

std::string_view what_is(ShellOperator::Kind kind) {
  using Kind = ShellOperator::Kind;
  switch (kind) {
    case Kind::pipe: return "a pipe";
    case Kind::redirect: return "a redirection";
    case Kind::heredoc: return "a here-document";
    case Kind::sequence: return "a second command";
    case Kind::background: return "a background command";
    case Kind::expansion: return "an expansion";
    case Kind::glob: return "a file pattern";
    case Kind::home: return "a home directory";
    case Kind::assignment: return "an assignment";
    case Kind::group: return "a group of commands";
    case Kind::line_break: return "a second command";
    case Kind::braces: return "a list of words in braces";
    case Kind::comment: return "a comment";
    case Kind::tab: return "a tab in a word";
  }
  return "shell syntax";
}

constexpr size_t longest_repeated = 8 << 10;

bool is_in_loadout(const Case& c, std::string_view tool) {
  const auto& loadout = c.ceilings.loadout;
  return !loadout || contains(*loadout, tool);
}

// The call of run_script that does the same, whole; or that there is such a
// tool, where no such call can be said; or nothing, where it would be refused.
std::string as_run_script(const Case& c) {
  const bool works = c.ceilings.execute && c.ceilings.level != Autonomy::readonly;
  if (!works || !is_in_loadout(c, "run_script")) return {};
  const Intent& intent = c.intent;
  if (intent.input || !intent.shell_text || intent.shell_text->size() > longest_repeated)
    return ", or use run_script";
  const std::string enter = intent.cwd ? "cd -- " + quote_words({*intent.cwd}) + " || exit\n" : "";
  JsonWriter out;
  out.begin_object().member("interpreter", "bash").member("code", enter + *intent.shell_text);
  if (intent.timeout_ms) out.member("timeout_s", *intent.timeout_ms / 1000);
  return ", or call run_script " + out.end_object().take();
}

std::string why_a_shell(const Intent& intent) {
  if (intent.operators.empty()) return intent.argv.front() + " is a word that only a shell knows";
  const ShellOperator& first = intent.operators.front();
  const std::string what(what_is(first.kind));
  if (first.kind == ShellOperator::Kind::line_break) return "a line break begins " + what + " to a shell";
  if (first.kind == ShellOperator::Kind::tab) return what + " is for a shell to read";
  return first.quoted ? first.text + " within double quotes is " + what + " to a shell"
                      : "unquoted " + first.text + " is " + what + " to a shell";
}

std::string instead_of_shell(const Case& c) {
  const Intent& intent = c.intent;
  if (intent.operators.empty()) {
    const bool enters = intent.argv.front() == "cd";
    return (enters ? "give the command itself with the argument cwd" : "call the program itself") +
           as_run_script(c);
  }
  const ShellOperator& first = intent.operators.front();
  return (first.quoted ? "use single quotes if it is data" : instead_of(first.kind)) + as_run_script(c);
}

const OperandFact* fact_of(const CallFacts& facts, const std::string& written) {
  for (const auto& fact : facts.operands) {
    if (fact.written == written) return &fact;
  }
  return nullptr;
}

bool is_inside(const CallFacts& facts, const std::string& resolved) {
  if (!facts.workspace.empty() && is_beneath(facts.workspace, resolved)) return true;
  return std::ranges::any_of(
      facts.read_roots, [&](const std::string& root) { return !root.empty() && is_beneath(root, resolved); });
}

// The words that are paths. Without a shape that says so, every word after the program may be one.
PathCandidates candidates_of(const Intent& intent, CommandProfile profile, const Shapes& shapes) {
  auto match = find_shape(shapes, profile, intent.argv).value_or(ShapeMatch{});
  if (match.shape == nullptr) {
    for (size_t i = 1; i < intent.argv.size(); ++i) match.operands.push_back({i, Role::argument});
  }
  return path_candidates(match, intent.argv);
}

constexpr size_t longest_path = 4096;  // the kernel's PATH_MAX

bool is_operand(const PathCandidate& path) { return path.role == Role::file || path.role == Role::path; }

// A guess such as the /sub of -Iinclude/sub means a path only where the host has a /sub.
bool means_nothing(const PathCandidate& path, const OperandFact& fact) {
  return path.role == Role::guess && path.written[0] == '/' && fact.problem.empty() && !fact.rooted;
}

// In the sandbox these are its own, whatever the host has there: a grant would not help the command.
bool is_of_the_sandbox(const std::string& resolved) {
  constexpr std::string_view places[] = {"/dev", "/proc", "/sys", "/tmp", "/run"};
  return std::ranges::any_of(places, [&](std::string_view place) { return is_beneath(place, resolved); });
}

Verdict outside(const std::string& reason, const std::string& place) {
  if (is_of_the_sandbox(place)) return deny(GateId::path, reason, "use a path in the workspace");
  return deny(GateId::path, reason, "use a path in the workspace, or ask the user to put the file there",
              "copy the file into the workspace, or grant it: " + words_to_copy({"--ro", place}));
}

std::optional<Verdict> refuse_path(const CallFacts& facts, const PathCandidate& path, bool passive) {
  const OperandFact* fact = fact_of(facts, path.written);
  if (fact == nullptr)
    return deny(GateId::path, shown(path.written) + " was not looked up, so nothing is known of it",
                "name the file by a plain path in the workspace");
  if (means_nothing(path, *fact)) return {};
  if (!is_operand(path) && is_home(path))
    return deny(GateId::path, shown(path.written) + " is a home directory to programs that expand it",
                "write a path in the workspace; a file of that name is ./" + shown(path.written));
  if (!fact->problem.empty())
    return deny(GateId::path, shown(path.written) + ": " + fact->problem,
                "name the file by a plain path in the workspace");
  if (is_operand(path) && path.written.size() >= longest_path)
    return deny(GateId::path, shown(path.written) + ": no system call takes a path this long",
                "name the file by a plain path in the workspace");
  if (!is_inside(facts, fact->resolved)) {
    const std::string reason =
        shown(path.written) + " resolves to " + shown(fact->resolved) + ", outside the workspace";
    if (path.role != Role::guess) return outside(reason, fact->resolved);
    return deny(GateId::path, reason,
                "if that is not what it means, write ./ before the value, or put it into a file");
  }
  // Some programs tidy a path by its letters before they open it, and link/..
  // is another place then.
  const std::string by_letters = tidied(facts.directory(), path.written);
  if (path.written.find("..") != std::string::npos && !is_inside(facts, by_letters)) {
    return outside(
        shown(path.written) + " is by its letters " + shown(by_letters) + ", outside the workspace",
        by_letters);
  }
  // A program that takes a directory for a file reads everything in it, and no gate has seen that.
  if (path.role == Role::file && fact->kind == FileFact::Kind::directory)
    return deny(GateId::path, shown(path.written) + " is a directory, and a file belongs here",
                "name its files; list_artifacts and ls list them");
  // A pipe or a device never ends, and reading it may do something.
  if ((passive || is_operand(path)) && fact->kind == FileFact::Kind::other)
    return deny(GateId::path,
                shown(path.written) + " resolves to " + shown(fact->resolved) + ", a pipe, socket or device",
                "name a file or a directory");
  return {};
}

std::string judged_instead(const Intent& intent) {
  return intent.tool == "run_shell" ? "make one call for each command, without shell syntax"
                                    : "use run_shell or the artifact tools";
}

// A script or a program of the user's own: there is no argv to judge.
Verdict opaque_gate(const Case& c) {
  if (c.ceilings.level == Autonomy::readonly)
    return deny(GateId::shape, "autonomy readonly runs no code that cannot be judged",
                judged_instead(c.intent), "raise --autonomy");
  if (!c.ceilings.execute)
    return deny(GateId::shape, "it runs code that no gate can judge, and the skill does not have code:exec",
                judged_instead(c.intent), "declare code:exec in the skill");
  return allow(GateId::shape, "opaque: what it does is not known beforehand; the sandbox answers for it");
}

// Of a file tool: what was said of its path, and whether anything may be written at all.
Verdict action_gate(const Case& c) {
  if (changes_files(c.intent.launch->as<FileAction>()->kind)) {
    if (c.ceilings.level == Autonomy::readonly)
      return deny(GateId::path, "autonomy readonly writes nothing", "say what you would write instead");
    if (!c.ceilings.writes)
      return deny(GateId::path, "the sandbox profile writes nothing", "say what you would write instead");
  }
  Verdict verdict = c.action;
  verdict.gate = GateId::path;
  return verdict;
}

bool starts_something(const Intent& intent) {
  return is_command(intent) || (intent.launch && !intent.launch->argv.empty());
}

Verdict judge_shape(const Case& c, const Shapes& shapes) {
  if (c.call.by == Asks::model && c.intent.opaque && c.intent.problem.empty()) return opaque_gate(c);
  if (auto verdict = without_command(GateId::shape, c)) return *verdict;
  const CommandProfile profile = commands_for(c.ceilings, c.intent);
  if (c.intent.shell_text) return allow(GateId::shape, "it needs a shell: no-shell answers");
  if (std::string problem = problem_of(c.intent.argv); !problem.empty())
    return deny(GateId::shape, "the command cannot be judged: " + problem, how_to_send(c.intent));
  if (profile == CommandProfile::any)
    return allow(GateId::shape, "any: every command; the rules and the sandbox decide");
  const auto match = find_shape(shapes, profile, c.intent.argv);
  if (!match) return refuse_shape(c, shapes, profile);
  Verdict verdict =
      allow(GateId::shape, std::string(name_of(match->shape->profile)) + ": " + match->shape->usage);
  verdict.rule = match->shape->id + " " + match->shape->source + ":" + std::to_string(match->shape->line);
  return verdict;
}

}  // namespace

std::string how_to_send(const Intent& intent) {
  if (intent.tool.empty()) return "call one of " + comma_separated(shipped_tools());
  if (intent.tool != "run_shell")
    return "send the arguments that the description of " + intent.tool + " lists";
  return R"(send {"cmd": TEXT} or {"argv": [WORD, ...]}, with profile, timeout_s, stdin or cwd if need be)";
}

const std::vector<std::string>& shipped_tools() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const auto& known : tool_arguments()) list.emplace_back(known.tool);
    return list;
  }();
  return names;
}

CommandProfile most_commands(const Ceilings& ceilings) {
  // A call that may only read runs no code of the workspace's.
  return ceilings.level == Autonomy::readonly ? CommandProfile::passive : ceilings.commands;
}

CommandProfile commands_for(const Ceilings& ceilings, const Intent& intent) {
  return std::min(most_commands(ceilings), intent.profile.value_or(ceilings.unasked));
}

std::vector<std::string> paths_to_observe(const Intent& intent, const Ceilings& ceilings,
                                          const Shapes& shapes) {
  const CommandProfile profile = commands_for(ceilings, intent);
  if (!is_command(intent) || profile == CommandProfile::any || intent.argv.empty()) return {};
  std::vector<std::string> paths;
  const PathCandidates candidates = candidates_of(intent, profile, shapes);
  if (candidates.too_many) return {};  // the gate refuses them unseen
  for (const auto& candidate : candidates.list) paths.push_back(candidate.written);
  std::ranges::sort(paths);
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

std::optional<ShapeMatch> shape_of(const Case& c, const Shapes& shapes) {
  const CommandProfile profile = commands_for(c.ceilings, c.intent);
  if (c.call.by == Asks::operators || profile == CommandProfile::any) return {};
  return find_shape(shapes, profile, c.intent.argv);
}

std::vector<std::string> final_argv(const Case& c, const Shapes& shapes) {
  const auto match = shape_of(c, shapes);
  return match ? launch_of(*match, c.intent.argv, c.facts.directory()).argv : c.intent.argv;
}

Verdict loadout_gate(const Case& c) {
  if (c.call.by == Asks::operators) return allow(GateId::loadout, "not a tool call");
  const std::string& tool = c.intent.tool;
  const auto& loadout = c.ceilings.loadout;
  std::vector<std::string> tools = loadout ? *loadout : shipped_tools();
  if (!loadout) tools.insert(tools.end(), c.ceilings.executors.begin(), c.ceilings.executors.end());
  if (tool.empty())
    return deny(GateId::loadout, "there is no tool " + shown(c.call.tool, 60),
                tools.empty() ? "the loadout is empty" : "known are " + comma_separated(tools));
  const bool scripts = c.intent.opaque && c.intent.shell_text;  // a line that runs as a script
  if (scripts && !is_in_loadout(c, "run_script"))
    return deny(GateId::loadout,
                why_a_shell(c.intent) + ", and run_script, which it needs, is not in the loadout",
                "make one call for each command, without shell syntax", "add run_script to the loadout");
  if (contains(tools, tool))
    return allow(GateId::loadout, tool + (loadout ? " is in the loadout" : " is in the default loadout"));
  return deny(GateId::loadout, tool + " is not in the loadout",
              tools.empty() ? "the loadout is empty" : "it has " + comma_separated(tools));
}

Verdict shape_gate(const Case& c, const Shapes& shapes) {
  Verdict verdict = judge_shape(c, shapes);
  // What only fetches is the network gate's to ask about.
  const bool fetches = c.intent.launch && c.intent.launch->as<Fetch>() != nullptr;
  if (verdict.decision == Decision::allow && starts_something(c.intent) && !fetches && !c.asks.empty()) {
    verdict.decision = Decision::ask;
    verdict.reason =
        "autonomy " + std::string(name_of(c.ceilings.level)) + " asks: " + comma_separated(c.asks);
    verdict.instead = needs_the_user;
  }
  return verdict;
}

Verdict no_shell_gate(const Case& c) {
  if (auto verdict = without_command(GateId::no_shell, c)) return *verdict;
  if (!c.intent.shell_text && c.intent.operators.empty()) return allow(GateId::no_shell);
  return deny(GateId::no_shell, why_a_shell(c.intent) + ", and there is no shell here", instead_of_shell(c),
              "give --commands any, where such a line runs as a script");
}

namespace {

// Where it starts is judged under every profile: the kernel shows more than the
// workspace.
std::optional<Verdict> refuse_directory(const Case& c) {
  if (!c.intent.cwd) return {};
  const std::string cwd = "cwd " + shown(*c.intent.cwd);
  const std::string instead = "name a directory of the workspace, relative to its top";
  if (!c.facts.cwd) return deny(GateId::path, cwd + " was not looked up", instead);
  const OperandFact& fact = *c.facts.cwd;
  if (!fact.problem.empty()) return deny(GateId::path, cwd + ": " + fact.problem, instead);
  if (c.facts.workspace.empty() || !is_beneath(c.facts.workspace, fact.resolved))
    return deny(GateId::path, cwd + " leads out of the workspace", instead);
  if (fact.kind != FileFact::Kind::directory) return deny(GateId::path, cwd + " is not a directory", instead);
  return {};
}

}  // namespace

Verdict path_gate(const Case& c, const Shapes& shapes) {
  if (c.call.by == Asks::operators)
    return allow(GateId::path, "an operator's command: paths are the kernel's");
  if (c.intent.problem.empty() && c.intent.launch && c.intent.launch->as<FileAction>() != nullptr)
    return action_gate(c);
  if (auto refused = refuse_directory(c)) return *refused;
  if (auto verdict = without_command(GateId::path, c)) return *verdict;
  const CommandProfile profile = commands_for(c.ceilings, c.intent);
  if (profile == CommandProfile::any)
    return allow(GateId::path, "any: what is a path is not known; the kernel decides");
  if (c.intent.argv.empty()) return allow(GateId::path, "it needs a shell: no-shell answers");
  const auto candidates = candidates_of(c.intent, profile, shapes);
  if (candidates.too_many)
    return deny(GateId::path, "the call names more paths than can be judged", "name fewer, or shorter ones");
  const bool passive = commands_for(c.ceilings, c.intent) == CommandProfile::passive;
  for (const auto& candidate : candidates.list) {
    if (auto refused = refuse_path(c.facts, candidate, passive)) return *refused;
  }
  return allow(GateId::path, candidates.list.empty() ? "" : "every path is in the workspace");
}

std::string_view why_left_out(const Case& c, std::string_view name) {
  if (c.call.by == Asks::model) return why_dropped(name);
  return looks_secret(name) ? "it looks like a secret" : "";
}

Verdict env_gate(const Case& c) {
  const std::string secrets = c.secrets.empty() ? "" : "given as secrets: " + comma_separated(c.secrets);
  if (c.ceilings.pass_env.empty())
    return allow(GateId::env, secrets.empty() ? "nothing of the caller's environment is passed" : secrets);
  std::vector<std::string> passed;
  std::vector<std::string> dropped;
  for (const auto& name : c.ceilings.pass_env) {
    const auto why = why_left_out(c, name);
    why.empty() ? passed.push_back(shown(name))
                : dropped.push_back(shown(name) + " (" + std::string(why) + ")");
  }
  const std::string beside = secrets.empty() ? "" : "; " + secrets;
  if (dropped.empty()) return allow(GateId::env, "passed: " + comma_separated(passed) + beside);
  Verdict verdict = allow(GateId::env, "left out: " + comma_separated(dropped) + beside);
  if (c.call.by == Asks::operators) verdict.fix = "give it knowingly: cloche run --secret NAME";
  return verdict;
}

namespace {

// Whether what the call starts has the hosts that are declared, by the operator or by a skill.
bool runs_with_network(const Case& c, const Shapes& shapes) {
  if (!c.ceilings.network || c.ceilings.hosts.empty() || !starts_something(c.intent)) return false;
  if (c.intent.launch) return c.intent.launch->network;
  if (const auto match = shape_of(c, shapes)) return match->shape->profile != CommandProfile::passive;
  return commands_for(c.ceilings, c.intent) != CommandProfile::passive;
}

Verdict ask_first(const Case& c, const std::string& what) {
  Verdict verdict{
      GateId::network, Decision::ask,
      "autonomy " + std::string(name_of(c.ceilings.level)) + " asks before it uses the network: " + what};
  verdict.instead = needs_the_user;
  return verdict;
}

// A skill answers for the tools of its allowed-tools.
bool asks_for_network(const Case& c) { return c.ceilings.level == Autonomy::supervised && !c.unasked; }

// The hosts that a command of this call may reach; which of them it will is not known beforehand.
Verdict reach_of_command(const Case& c, const Shapes& shapes) {
  if (!c.reach.empty()) return allow(GateId::network, c.reach);
  if (c.call.by == Asks::operators || !runs_with_network(c, shapes))
    return allow(GateId::network, "the call needs no network");
  const std::string reach =
      "it may reach what is declared (" + describe_declared(c.ceilings.declared_by, c.ceilings.hosts) + ")";
  return asks_for_network(c) ? ask_first(c, reach) : allow(GateId::network, reach);
}

// Of an operator's own command there is no flag that would raise it: the place that says so is named.
Verdict no_network_at_all(const Case& c) {
  const std::string no = "autonomy readonly has no network";
  if (c.call.by == Asks::model)
    return deny(GateId::network, no, "do without the network", "raise --autonomy");
  return deny(GateId::network, no + ": " + c.reach, {}, "leave the network out, or raise autonomy there");
}

std::string how_to_declare(const Case& c, const std::string& host) {
  const std::string flag = std::string(net_flag) + " " + host;
  if (c.ceilings.declared_by.empty()) return "give " + flag;
  // A skill's own list stands in place of the operator's, and a project's is held against both.
  return "declare it there; for a skill of a project the operator has to give " + flag + " as well";
}

}  // namespace

Verdict network_gate(const Case& c, const Shapes& shapes) {
  if (!c.intent.problem.empty()) return unreadable(GateId::network, c.intent);
  if (c.intent.hosts.empty()) return reach_of_command(c, shapes);
  if (c.ceilings.level == Autonomy::readonly) return no_network_at_all(c);
  if (!c.ceilings.network)
    return deny(GateId::network, "the sandbox profile has no network", "do without the network",
                "give --profile workspace-write");
  if (!c.ceilings.network_problem.empty())
    return deny(GateId::network, c.ceilings.network_problem, "do without the network",
                "list the hosts in needs_network, or give --net HOST or --net-any");
  for (const auto& wanted : c.intent.hosts) {
    const ReadHost read = read_wanted_host(wanted);
    if (!read)
      return deny(GateId::network,
                  "'" + shown(wanted) + "' is not the name of a host: " + std::string(read.problem),
                  "write NAME or NAME:PORT");
    if (!is_declared(*read.host, c.ceilings.hosts))
      return deny(GateId::network,
                  "egress: connect to " + shown(wanted) + " refused: not declared (" +
                      describe_declared(c.ceilings.declared_by, c.ceilings.hosts) + ")",
                  "use what is declared, or tell the user which host is needed and why",
                  how_to_declare(c, shown(wanted)));
  }
  if (asks_for_network(c)) return ask_first(c, shown(comma_separated(c.intent.hosts)));
  return allow(GateId::network, "every host is declared");
}

}  // namespace cloche
