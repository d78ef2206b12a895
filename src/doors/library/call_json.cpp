#include "doors/library/call_json.hpp"

#include "base/json/json_writer.hpp"
#include "doors/cli/explain_command.hpp"

namespace cloche {

std::string call_json(const CallResult& result) {
  JsonWriter out;
  out.begin_object();
  write_members(out, result.outcome, result.plan_digest);
  out.member("call_id", result.call_id).member("run_id", result.run_id).member("tool", result.tool);
  out.member("result", result.result).key("structured");
  result.structured.empty() ? out.null() : out.raw(result.structured);
  const AnswerFault fault = result.outcome.answer_fault;
  fault == AnswerFault::none ? out.key("failure").null() : out.member("failure", name_of(fault));
  out.member("decision", name_of(result.judgement.decision));
  write_gates(out, result.judgement);
  return out.member("notes", result.notes).end_object().text();
}

}  // namespace cloche
