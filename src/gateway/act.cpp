// What the gateway does itself, without starting a process: file tools, read_tool_result, and functions of
// the embedding program.
#include "gateway/exception_barrier.hpp"
#include "gateway/gateway.hpp"
#include "store/layers/layered_files.hpp"
#include "store/workspace/workspace_files.hpp"
#include "tools/answer/model_text.hpp"
#include "tools/files/artifacts.hpp"
#include "tools/files/recall.hpp"

namespace cloche {
namespace {

// What the gateway did itself: a process that never was has no exit code of its own.
Outcome acted(const ToolReply& reply) {
  Outcome outcome;
  outcome.end = End::exited;
  outcome.exit_code = reply.failed ? 1 : 0;
  outcome.backend = Unboxed::in_process;
  outcome.output = reply.text;
  outcome.output_bytes = reply.text.size();
  return outcome;
}

class TaskResults : public Results {
 public:
  TaskResults(Run& run, std::string task) : run_(run), task_(std::move(task)) {}
  Result<FilePart> recall(const std::string& call_id, uint64_t offset, uint64_t most) override {
    return run_.recall(task_, call_id, offset, most);
  }

 private:
  Run& run_;
  std::string task_;
};

}  // namespace

// Its answer is held to its own schema, as an executor's is.
Gateway::Effect Gateway::ask_function(const Permit& permit, const std::string& call_id) {
  const FunctionCall& call = *permit.launch().as<FunctionCall>();
  Effect effect;
  effect.outcome.backend = Unboxed::in_process;
  const RegisteredTool* tool = session_.registry.find(call.name);
  auto answer = tool != nullptr && tool->function ? guarded_run(*tool->function, permit)
                                                  : Result<std::string>(refusal("there is no such function"));
  if (answer.ok()) {
    effect.outcome.end = End::exited;
    effect.outcome.exit_code = 0;
    effect.outcome.output = std::move(answer).value();
    const OutputBudget budget{.bytes = session_.options.shown_bytes, .call_id = call_id};
    if (take_answer(*tool, effect, budget)) return effect;
  }
  const ToolReply reply =
      failed_reply("the function " + call.name + ": " +
                   (answer.ok() ? effect.outcome.reason.text() : describe(answer.error())));
  effect.outcome = acted(reply);
  effect.raw = reply.text;
  effect.shown = neutralised(reply.text);
  return effect;
}

// Into a layer, as a command's writes, and from there into the workspace.
ToolReply Gateway::act_in_layer(const Permit& permit, Judged& judged, const CallContext& context,
                                const std::string& call_id, Outcome& outcome) {
  const FileAction& action = *permit.launch().as<FileAction>();
  auto files = HeldWorkspace::open(permit, write_options(session_.settings));
  if (!files.ok()) return failed_reply(failure_text(files.error()));
  auto layers =
      CallLayers::make(permit.plan(), session_.installation.state, permit.facts().caller.privileged);
  if (!layers.ok()) return failed_reply(failure_text(layers.error()));
  LayeredFiles layered(files.value(), layers.value().trees().front());
  ToolReply reply = perform(action, layered);
  if (reply.failed) return reply;
  outcome.overlays_released = true;  // there was none: this process wrote to the layer, and has closed it
  settle(layers.value(), permit, judged, context, call_id, outcome);
  if (!outcome.changes) return failed_reply(failure_text(refusal(outcome.look_gap)));
  const std::string line = model_line(*outcome.changes);
  const bool is_staged = outcome.changes->end == ChangesEnd::staged;
  if (!line.empty() && !(is_staged && permit.plan().writes == Writes::stage)) return failed_reply(line);
  if (!line.empty()) reply.text = "[" + line + "]\n" + reply.text;  // as the operator wants every call
  return reply;
}

ToolReply Gateway::act_on_file(const Permit& permit, Judged& judged, const CallContext& context,
                               const std::string& call_id, Outcome& outcome) {
  const FileAction& action = *permit.launch().as<FileAction>();
  if (changes_files(action.kind)) return act_in_layer(permit, judged, context, call_id, outcome);
  auto files = HeldWorkspace::open(permit, write_options(session_.settings));
  return files.ok() ? perform(action, files.value()) : failed_reply(failure_text(files.error()));
}

Gateway::Effect Gateway::act(const Permit& permit, Judged& judged, const CallContext& context,
                             const CallRecord& record) {
  Effect effect;
  Outcome changed;
  const std::string& task = record.decided.task_id;
  ToolReply reply = failed_reply("there is nothing that could do it");
  if (permit.launch().as<FileAction>() != nullptr) {
    reply = act_on_file(permit, judged, context, record.call_id, changed);
  } else if (const auto* recall = permit.launch().as<Recall>(); recall != nullptr && run_) {
    TaskResults results(*run_, task);
    reply = perform(*recall, results);
  }
  effect.outcome = acted(reply);
  effect.outcome.changes = std::move(changed.changes);
  effect.raw = reply.text;
  effect.shown = neutralised(reply.text);
  effect.structured = std::move(reply.structured);
  effect.image = std::move(reply.image);
  return effect;
}

}  // namespace cloche
