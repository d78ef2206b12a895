// What the permission rules cost a call, and how that grows with their number.
#include <chrono>
#include <string>

#include "base/json/json_writer.hpp"
#include "base/sys/sys.hpp"
#include "gateway/configuration/rule_gate.hpp"
#include "policy/gates/decide.hpp"
#include "policy/rules/rules.hpp"
#include "policy/shapes/shapes.hpp"
#include "policy/shipped_files.hpp"
#include "sections.hpp"
#include "tools/registry.hpp"

namespace cloche::bench {
namespace {

using Clock = std::chrono::steady_clock;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

// What people write: a program with arguments, a danger anywhere, a secret's name, a place.
std::string pattern(size_t number) {
  const std::string n = std::to_string(number);
  switch (number % 5) {
    case 0: return "^tool" + n + " (run|build)\\b";
    case 1: return "\\bdanger" + n + "\\s+-rf";
    case 2: return "(?i)secret" + n + "|token" + n;
    case 3: return "^(app" + n + "|srv" + n + ") ";
    default: return "/etc/part" + n + "/.*\\.conf";
  }
}

std::string permissions(size_t count) {
  std::string text = "{\"default\": \"ask\", \"rules\": [";
  for (size_t i = 0; i < count; ++i)
    text += std::string(i == 0 ? "" : ",\n") +
            "{\"tool\": \"run_shell\", \"args\": {\"cmd\": " + json_quote(pattern(i)) + "}, \"action\": \"" +
            (i % 3 == 0 ? "allow" : "deny") + "\"}";
  return text + "]}";
}

Result<RuleFile> load(const std::string& text) {
  const auto json = TRY(read_json(text, "bench", {.bytes = 16 << 20}));
  return RuleFile::read(&json, "bench");
}

// Median over rounds of the mean of one round, for the commands in turn.
double call_cost(const RuleFiles& files, const std::vector<std::string>& commands, size_t rounds,
                 size_t calls) {
  std::vector<RuleCall> list;
  for (const auto& command : commands) list.push_back({"run_shell", {{"cmd", command}}});
  Samples samples;
  size_t asked = 0;
  for (size_t round = 0; round < rounds; ++round) {
    const auto start = Clock::now();
    for (size_t i = 0; i < calls; ++i)
      asked += rules_gate(files, list[i % list.size()]).decision == Decision::ask ? 1 : 0;
    samples.push_back(microseconds_since(start) / static_cast<double>(calls));
  }
  return asked > 0 ? median(samples) : 0;
}

Result<Shapes> shipped_shapes() {
  Shapes all;
  for (const std::string name : {"share/commands/passive.json", "share/commands/full.json"}) {
    const Shapes some = TRY(load_shapes(shipped_text(name), name));
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

// The whole decision about a tool call: its arguments read and understood, schema, rules and every other
// gate. The look at the host is no part of it: its facts come with the case.
double decision_cost(const RuleFiles& files, const Shapes& shapes, const Registry& registry,
                     const std::vector<std::string>& commands, size_t rounds, size_t calls) {
  Samples samples;
  size_t gates = 0;
  for (size_t round = 0; round < rounds; ++round) {
    const auto start = Clock::now();
    for (size_t i = 0; i < calls; ++i) {
      Case c;
      c.call = {"run_shell", "{\"cmd\":" + json_quote(commands[i % commands.size()]) + "}"};
      c.ceilings.commands = c.ceilings.unasked = CommandProfile::full;
      c.ceilings.loadout = std::nullopt;
      c.facts.workspace = "/project";
      const ReadArguments arguments = read_arguments(c.call);
      c.intent = registry.understand(c.call, arguments, c.facts.workspace);
      c.schema = registry.schema_verdict(arguments, c.intent);
      c.rules = rules_verdict(files, c, shapes);
      gates += decide(c, shapes).gates.size();
    }
    samples.push_back(microseconds_since(start) / static_cast<double>(calls));
  }
  return gates == rounds * calls * 9 ? median(samples) : 0;
}

}  // namespace

Result<void> measure_rules(const Scene&, Pace pace, Report& report) {
  const size_t rounds = pace == Pace::quick ? 5 : 21;
  Table table{"rules",
              "Permission rules",
              {"rules", "load ms", "rules gate, us", "beyond ASCII, us", "whole decision, us"}};
  const Shapes shapes = TRY(shipped_shapes());
  const Registry registry = TRY(Registry::make({}, Registry::Record::kept));
  double at_500 = 0;
  double at_10000 = 0;
  for (size_t count : {10U, 100U, 500U, 2000U, 10'000U}) {
    say("permission rules: " + std::to_string(count));
    const std::string text = permissions(count);
    const auto start = Clock::now();
    const RuleFiles files{.user = TRY(load(text))};
    const double load_ms = microseconds_since(start) / 1000;
    const std::vector<std::string> commands = {"git status --short",
                                               "python3 -m pytest -q tests/unit -k 'not slow'", "ls -la src",
                                               "tool490 build all", "cat /etc/part494/a.conf"};
    const double usual = call_cost(files, commands, rounds, 2000);
    const double whole = decision_cost(files, shapes, registry, commands, rounds, 2000);
    const double foreign = call_cost(files, {"echo 'gr\xc3\xbc\xc3\x9f'", "cat \xc3\xbc.txt"}, rounds, 2000);
    if (count == 500) at_500 = whole;
    if (count == 10'000) at_10000 = whole;
    table.rows.push_back({std::to_string(count), Cell::number(load_ms, 1), Cell::number(usual, 2),
                          Cell::number(foreign, 2), Cell::number(whole, 2)});
  }
  report.targets.push_back({"a decision under 500 rules, us", at_500, 20, Target::Sense::at_most});
  report.targets.push_back(
      {"a decision under 10,000 rules to one under 500", at_10000 / at_500, 20, Target::Sense::at_most});
  table.notes.push_back("In one process: medians of " + std::to_string(rounds) +
                        " rounds. Linear growth from 500 to 10,000 rules would be a ratio of 20.");
  report.tables.push_back(std::move(table));
  return {};
}

}  // namespace cloche::bench
