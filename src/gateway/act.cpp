// What the gateway does itself, without starting a process: file tools, read_tool_result, and functions of
// the embedding program.
#include "gateway/changes/settle_changes.hpp"
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
  return {.end = End::exited,
          .exit_code = reply.failed ? 1 : 0,
          .output = reply.text,
          .output_bytes = reply.text.size(),
          .backend = Unboxed::in_process};
}

using Staged = Result<std::unique_ptr<StagedFiles>>;

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
ToolReply Gateway::act_in_layer(const Permit& permit, Judged& judged, const Requester& requester,
                                const std::string& call_id, Outcome& outcome) {
  const FileAction& action = *permit.launch().as<FileAction>();
  auto files = HeldWorkspace::open(permit, write_options(session_.settings));
  if (!files.ok()) return failed_reply(failure_text(files.error()));
  finish_interrupted(session_.installation.state, permit.facts().guard.git);
  auto layers = CallLayers::make(permit.plan(), session_.installation.state, permit.facts().caller.privileged,
                                 task_key(requester.context));
  if (!layers.ok()) return failed_reply(failure_text(layers.error()));
  auto staged = layers.value().continued() ? staged_files(requester.context) : Staged(nullptr);
  if (!staged.ok()) return failed_reply(failure_text(staged.error()));
  LayeredFiles layered(files.value(), std::move(staged).value(), &layers.value().trees().front(),
                       layers.value().attributes());
  ToolReply reply = perform(action, layered);
  const bool goes_on = layers.value().continued().has_value();  // to be staged again, whatever came of it
  if (reply.failed && !goes_on) return reply;
  outcome.overlays_released = true;  // there was none: this process wrote to the layer, and has closed it
  settle(layers.value(), permit, judged, requester, call_id, outcome);
  if (reply.failed) return reply;
  if (!outcome.changes) return failed_reply(failure_text(refusal(outcome.look_gap)));
  const std::string line = model_line(*outcome.changes);
  const bool is_staged = outcome.changes->end == ChangesEnd::staged;
  const bool is_expected = is_staged && (goes_on || permit.plan().writes == Writes::stage);
  if (!line.empty() && !is_expected) return failed_reply(line);
  if (!line.empty()) reply.text = "[" + line + "]\n" + reply.text;  // as the operator wants every call
  return reply;
}

ToolReply Gateway::act_on_file(const Permit& permit, Judged& judged, const Requester& requester,
                               const std::string& call_id, Outcome& outcome) {
  const FileAction& action = *permit.launch().as<FileAction>();
  if (changes_files(action.kind)) return act_in_layer(permit, judged, requester, call_id, outcome);
  auto files = HeldWorkspace::open(permit, write_options(session_.settings));
  if (!files.ok()) return failed_reply(failure_text(files.error()));
  auto staged = staged_files(requester.context);
  if (!staged.ok()) return failed_reply(failure_text(staged.error()));
  LayeredFiles seen(files.value(), std::move(staged).value(), nullptr, OverlayAttributes::user_namespace);
  return perform(action, seen);
}

// What earlier calls of the task wrote and is not in the project; none: there is nothing.
Result<std::unique_ptr<StagedFiles>> Gateway::staged_files(const CallContext& context) const {
  const std::string task = task_key(context);
  if (task.empty() || session_.installation.state.empty()) return Staged(nullptr);
  const auto workspace = know_directory(session_.workspace);
  if (!workspace.ok()) return Staged(nullptr);  // the first call makes it
  auto set = ChangeSets(session_.installation.state, boot_id()).staged_of(task, workspace.value());
  return set ? StagedFiles::open(*std::move(set)) : Staged(nullptr);
}

Gateway::Effect Gateway::act(const Permit& permit, Judged& judged, const Requester& requester,
                             const CallRecord& record) {
  Effect effect;
  Outcome changed;
  const std::string& task = record.decided.task_id;
  ToolReply reply = failed_reply("there is nothing that could do it");
  if (permit.launch().as<FileAction>() != nullptr) {
    reply = act_on_file(permit, judged, requester, record.call_id, changed);
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
