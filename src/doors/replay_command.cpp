#include "doors/replay_command.hpp"

#include "base/json/json_writer.hpp"
#include "base/sys/sys.hpp"
#include "base/text/visible_text.hpp"
#include "doors/print.hpp"
#include "gateway/configuration/installation.hpp"
#include "gateway/configuration/rule_gate.hpp"
#include "gateway/replay.hpp"

namespace cloche {
namespace {

Result<Replay> replayed(const ReplayArguments& arguments, const Environment& environment) {
  const std::string text = TRY(sys::read_file(arguments.policy, config_limits.bytes));
  const RuleFiles rules{.user = TRY(rules_in(text, arguments.policy))};
  return replay(arguments.run, TRY(find_installation(environment)).state, rules);
}

std::string to_json(const Replay& replay) {
  JsonWriter out;
  out.begin_object().member("calls", replay.calls).member("unreadable_lines", replay.unreadable_lines);
  out.key("changed").begin_array();
  for (const auto& [call, before, after, rules] : replay.changed) {
    out.begin_object().member("call_id", call.call_id).member("task_id", call.task_id);
    out.member("tool", call.tool).member("args", call.args).member("before", name_of(before));
    out.member("after", name_of(after)).member("rule", rules.rule).member("reason", rules.reason);
    out.end_object();
  }
  return out.end_array().end_object().text() + "\n";
}

std::string to_text(const Replay& replay) {
  std::string text;
  for (const auto& [call, before, after, rules] : replay.changed) {
    text += shown(call.call_id, 70) + "  " + std::string(name_of(before)) + " -> " +
            std::string(name_of(after)) + "  " + shown(call.tool, 60) + " " + shown(call.args, 100) +
            "\n        " + (rules.rule.empty() ? "" : shown(rules.rule) + ": ") + shown(rules.reason) + "\n";
  }
  text += std::to_string(replay.calls) + " calls, " + std::to_string(replay.changed.size()) +
          " verdicts would change\n";
  if (replay.unreadable_lines > 0)
    text += std::to_string(replay.unreadable_lines) + " lines could not be read; see cloche log verify\n";
  return text;
}

}  // namespace

int replay_door(const ReplayArguments& arguments, const Environment& environment) {
  const auto result = replayed(arguments, environment);
  if (!result.ok()) {
    complain(describe(result.error()));
    return result.error().cause == Cause::usage ? 2 : 125;
  }
  print(arguments.json ? to_json(result.value()) : to_text(result.value()));
  return result.value().changed.empty() ? 0 : 1;
}

}  // namespace cloche
