#include "doors/kept_run.hpp"

#include "base/path.hpp"
#include "base/sys.hpp"
#include "doors/hook_place.hpp"
#include "doors/print.hpp"
#include "doors/run_command.hpp"
#include "gateway/gateway.hpp"
#include "store/approvals.hpp"
#include "store/kept_calls.hpp"
#include "tools/model_text.hpp"

namespace cloche {
namespace {

// Somebody was asked when the hook judged it: his yes was to that very question, and this is a no to every
// other.
class AnsweredBefore : public Approver {
 public:
  explicit AnsweredBefore(std::string digest) : digest_(std::move(digest)) {}
  Answer ask(const Question& question) override {
    const bool same = !digest_.empty() && question.digest == digest_;
    Answer answer = make_answer(question, same ? Reply::once : Reply::no, sys::monotonic_ms());
    if (!same) answer.reason = "what was approved is not what would run now; make the call again";
    return answer;
  }
  bool speaks_for_operator() const override { return true; }  // who could answer was settled then

 private:
  std::string digest_;
};

// Where the agent's shell stands, which knows best, as long as it is in the workspace; what somebody approved
// starts where he was told.
std::string directory_of(const KeptCall& kept) {
  const auto here = sys::hold(".");
  const bool within = here.ok() && is_beneath(kept.workspace, here.value().path);
  return within && kept.approved.empty() ? here.value().path : kept.directory;
}

// On the rung that the agent was told, or a higher one: whatever the hook knew of requirements, by its
// variables or by files that have changed since, is in that word.
Result<SessionOptions> session_of(const KeptCall& kept) {
  SessionOptions options = hook_session({kept.workspace, directory_of(kept), kept.task, kept.profile});
  if (kept.rung.empty()) return options;
  const auto rung = rung_named(kept.rung);
  if (!rung) return refusal("a call that was kept names no rung: the agent has to make the call again");
  options.lowest = *rung;
  // To ask for one below the default would be to ask for less.
  if (*rung >= options.operators.rung) options.operators.isolation = rung;
  return options;
}

Result<CallResult> run_kept(const std::string& id, const Environment& environment) {
  const Installation installation = TRY(find_installation(environment));
  const KeptCalls calls = TRY(KeptCalls::open(installation.state));
  const KeptCall kept = TRY(calls.take(id, wall_clock_ms()));
  SessionOptions options = TRY(session_of(kept));
  auto gateway = TRY(Gateway::open(std::move(options), environment));
  // What was allowed because it is isolated does not run otherwise, whatever was switched since.
  if (!kept.isolation.empty()) TRY(gateway->set_enabled(true));
  AnsweredBefore approver(kept.approved);
  const OwnedFd signals = take_over_signals();
  const ToolCall named{kept.asked, kept.input};
  const CallContext context{.task = kept.task,
                            .named = &named,
                            .passed_on = {.output = 1, .errors = 2, .signals = signals.get()},
                            .waits = complain_of_wait};
  return gateway->call({kept.tool, kept.arguments}, context, approver);
}

}  // namespace

int kept_run_door(const std::string& id, const Environment& environment) {
  const auto ran = run_kept(id, environment);
  if (ran.ok()) {
    const bool open = ran.value().outcome.backend == name_of(Backend::none);
    for (const auto& note : open ? ran.value().notes : ran.value().box_notes)
      complain("note: " + visible(without_places(note)));
  }
  Outcome outcome = ran.ok() ? ran.value().outcome : failed(ran.error());
  if (!ran.ok()) outcome.exit_code = exit_code_of(ran.error());
  return finish_run(for_model(std::move(outcome)), "", RunArguments{});
}

}  // namespace cloche
