// The gateway: one tool call from start to end, on one page. Judged, asked about, written down, carried out,
// written down again.
//
// Threads: a Gateway is shared by as many as like. What calls are judged with is only read, the record and
// the answers have locks of their own, and each call has its own processes and descriptors.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/admission/admission.hpp"
#include "gateway/approval/ask_approval.hpp"
#include "gateway/judge.hpp"
#include "gateway/launch/pool_counts.hpp"
#include "gateway/launch/shared_home.hpp"
#include "gateway/session.hpp"
#include "model/fetch_answer.hpp"
#include "model/outcome.hpp"
#include "store/config/settings.hpp"
#include "store/layers/layered_files.hpp"
#include "store/record/record.hpp"
#include "store/workspace/file_replacement.hpp"
#include "tools/answer/process_output.hpp"
#include "tools/answer/reply.hpp"

namespace cloche {

// What of a program's input and output is the caller's own, when it is not collected for a model. -1: it is
// collected.
struct PassedOn {
  int input = -1;  // -1: what the call itself says
  int output = -1;
  int errors = -1;
  int signals = -1;   // a signalfd with what should reach the command
  int terminal = -1;  // the caller's, when the plan has one of ours
  bool raw = false;   // pass every escape sequence to it
  // `errors` is a terminal: say there, once, that what a long command writes is not in the project yet.
  bool notes_layers = false;
  bool says_refusals = false;  // say on `errors` what the network gate refuses, when it does
};

// Whose call it is.
struct CallContext {
  std::optional<std::string> task = {};  // calls of one task share a $HOME and a /tmp
  bool of_session = false;               // without a task: has the session's, where share_home() made them
  std::string role = "agent";
  std::string tenant = {};               // whose calls wait in turn with those of others
  bool has_place = false;                // the front end has a queue of its own, which keeps to limits()
  const Skill* skill = nullptr;          // none: what the session's options say
  std::span<const ToolCall> named = {};  // what an agent made of it with tools of its own; none: it is ours
  int stop = -1;  // a descriptor that is readable once the caller has cancelled the call; -1: it never does
  // What the call prints, piece by piece while it runs. On the call's own thread: it must not
  // wait.
  std::function<void(std::string_view)> heard = {};
  PassedOn passed_on = {};
  bool starts_early = false;  // the jail starts while the call is judged: for one that is seldom refused
  // How much of each stream of its output the outcome holds. More is in a file until the call has ended,
  // which the record and the result are made from: for a front end with many calls at once.
  size_t output_in_memory = ~size_t{0};
  // What was dropped or tightened, once it is decided and before anything starts.
  std::function<void(const std::vector<std::string>& notes)> noted = {};
  // Why the call waits for others, once it has for a second. On the call's own thread.
  std::function<void(std::string_view why)> waits = {};
};

// What would happen to a call, in a session of its own: judged as Gateway::call() would judge it first, and
// nothing is done or made.
struct ExplainedFor {
  std::optional<std::string> skill_file = {};
  std::optional<std::string> task = {};
  Learnt learnt = {};
};
Result<Judged> explain(SessionOptions options, const ToolCall& call, const ExplainedFor& whose,
                       const Environment& environment);

// An answer to a question about a judged call, as Questions::ask() gives it; with a yes, the call knows what
// it covers.
std::optional<Verdict> ask_about(Judged& judged, Questions& questions, Approver& approver);

// What the environment gate keeps from an operator's command, one sentence each.
std::vector<Denial> left_out_of(const RunRequest& request);

// Whose transcript calls without a task are in.
inline constexpr std::string_view task_without_name = "main";

// What is written down of a call before it happens; of one that could not be judged, that it was asked for.
DecisionRecord undecided(const ToolCall& asked, const CallContext& context);
DecisionRecord decision_of(const Judged& judged, const ToolCall& asked, const CallContext& context);

// How a call went that is not begun, because too many run and wait already.
Outcome busy_outcome();
// How a call went that our own machinery could not carry out.
Outcome failed(const Error& error);
// The same of an operator's command, which is refused where its words or the configuration are wrong.
Outcome failed_command(const Error& error, const RunRequest& request);

// How the file tools write: with `durable` a file is on the disk before the call's line says so.
WriteOptions write_options(const Settings& settings);

struct CallResult {
  std::string tool = {};  // as asked
  std::string call_id = {};
  std::string run_id = {};
  std::string result = {};      // the exact text the model gets
  std::string structured = {};  // JSON by the tool's output schema; empty: there is none
  ShownImage image = {};        // of a file that is one
  Outcome outcome = {};
  Judgement judgement = {};
  std::string plan_digest = {};
  std::vector<std::string> notes = {};
  std::vector<std::string> box_notes = {};  // of these, what is less about the box than was asked for

  bool is_error() const { return outcome.end != End::exited || outcome.exit_code != 0; }
};

// Of output that is too long for memory what the outcome does not hold.
struct Spilled {
  OwnedFd output = {};
  OwnedFd errors = {};
};

// Files for it that calls had and wrote nothing to: most commands print less than it takes a file system to
// make one.
class UnusedSpills {
 public:
  Spilled take(const std::string& state);
  void give_back(Spilled spilled);

 private:
  std::mutex lock_;
  std::vector<Spilled> ready_;
};

class Gateway {
 public:
  static Result<std::unique_ptr<Gateway>> open(SessionOptions options, const Environment& environment);
  ~Gateway();
  Gateway(const Gateway&) = delete;
  Gateway& operator=(const Gateway&) = delete;

  // Never throws and never fails: whatever happens is a result that a model can be given. Where as many calls
  // run as limits() says it waits for its turn first, and where too many wait it is refused as busy.
  CallResult call(const ToolCall& asked, const CallContext& context, Approver& approver);

  // For a front end with a queue of its own: how many calls may run and wait, and the result of one for which
  // it has no room.
  const QueueLimits& limits() const { return limits_; }
  CallResult refuse_busy(const ToolCall& asked, const CallContext& context);

  // The box that a command of such a caller runs in proves itself, so that the first call does not wait for
  // it. An Error says why calls of commands will fail; otherwise what is less about it than was asked for.
  Result<std::vector<std::string>> prove_box(const CallContext& context) const;

  // What waits for the next calls, and what it was good for; of a gateway without a pool all zeros.
  PoolCounts pool_counts() const;

  // Calls of this session may find their program started from now on, where the operator wants that: for a
  // process that lives long. The first is started for such a caller at once. Before the first call. What is
  // less about it than was asked for.
  std::vector<std::string> keep_warm(const CallContext& context);

  // Whether anything holds the programs that calls start.
  bool is_isolated() const { return cloche::is_isolated(session_, runtime_settings()); }

  // What a model may be shown: the tools of the loadout, and no other.
  Result<std::vector<ToolSpec>> tools(const Skill* skill) const;
  const Session& session() const { return session_; }
  Run* record() { return run_.get(); }
  const Run* record() const { return run_.get(); }

  // Between calls, by any thread: a call that has begun keeps what it began with. Never beyond what the
  // managed file says; the user's and the project's rules for tools hold as before.
  Result<void> set_autonomy(Autonomy level);
  Result<void> set_default_profile(const std::string& name);
  Result<void> set_enabled(bool enabled);
  RuntimeSettings runtime_settings() const;

  // What a call of that task would have for a home: made where it is missing, and part of its plan.
  Result<std::vector<Grant>> home_of(const ToolCall& asked, const CallContext& context) const;

  // Calls of this session without a task share a $HOME and a /tmp from now on, unless they have rights that
  // others of them have not (gateway/launch/shared_home.hpp). Before the first call.
  Result<void> share_home();

  // The homes of its tasks end here; until then calls of one task share them.
  void end_tasks();

 private:
  Gateway(Session session, std::unique_ptr<Run> run)
      : session_(std::move(session)),
        limits_(limits_of(session_.settings.calls.value, size_of_machine())),
        admission_(limits_),
        run_(std::move(run)) {}

  Result<void> set(const RuntimeSettings& wanted);

  // What of the session's home a call has while it runs.
  struct AtHome {
    std::vector<Grant> own = {};
    SharedHome::Use use = {};
    uint64_t generation = 0;
  };
  // What every call with the session's home has mounted in its view.
  std::string_view pinned(const CallContext& context) const {
    return context.of_session && !context.task ? session_.workspace : std::string_view();
  }
  bool may_have_shared_home(const ToolCall& asked, const CallContext& context) const;
  Result<Judged> judge_with_shared_home(const ToolCall& asked, const CallersView& view,
                                        const CallContext& context, AtHome& at_home);
  Result<Judged> judge_at_home(const ToolCall& asked, CallersView view, const CallContext& context,
                               AtHome& at_home);

  struct Effect {
    Outcome outcome = {};
    std::string shown = {};
    std::string raw = {};
    std::string structured = {};
    ShownImage image = {};
    std::string program = {};           // of a command: `raw` is made of the outcome and of
    Spilled spilled = {};               // what it does not hold
    std::optional<Voided> voided = {};  // nothing was started: the permit no longer fitted the world
    std::unique_ptr<LaunchResources> resources = {};  // see Ran
  };
  // Whose call it is and who is asked, for what a call leads to.
  struct Requester {
    const CallContext& context;
    Approver& approver;
    const std::vector<Grant>& home;
  };
  void settle(CallLayers& layers, const Permit& permit, Judged& judged, const Requester& requester,
              const std::string& call_id, Outcome& outcome) const;
  // The name that calls which go on from each other's staged changes have in common; empty: the call has
  // none.
  std::string task_key(const CallContext& context) const;
  static PrintedStreams all_printed(const Outcome& outcome, const Spilled& spilled);
  static Chunks raw_of(const Effect& effect, const Outcome& outcome);
  // The two lines of a call in the record, where there is one. False: a note says what is missing.
  Result<void> begin(CallRecord& record);
  bool finish(const CallRecord& record, const Chunks& raw, std::vector<std::string>& notes);
  static bool take_answer(const RegisteredTool& tool, Effect& effect, const OutputBudget& budget);
  // What earlier decisions about this call came to, when their permits were void.
  struct Tries {
    Learnt learnt = {};
    std::string approved = {};  // the digest of the question that was answered with yes
  };
  struct Attempt {
    CallResult result = {};
    std::optional<Voided> voided = {};  // it is to be judged again
  };
  CallResult call_in_place(const ToolCall& asked, const CallContext& context, Approver& approver);
  CallResult not_judged(const ToolCall& asked, const CallContext& context, Outcome outcome);
  // Judged, asked about, written down, carried out, written down again: once.
  Attempt attempt(const ToolCall& asked, const CallContext& context, Approver& approver, Tries& tries);

  // The only way from a decision to a process or a file.
  Effect execute(Permit permit, Judged& judged, const Requester& requester, CallRecord& record,
                 std::optional<LaunchResources> resources);
  Result<std::variant<Ran, Voided>> launch(const Permit& permit, Judged& judged, const CallContext& context,
                                           const std::string& call_id, const Spilled& spilled = {},
                                           std::optional<LaunchResources> resources = {});
  Effect start(const Permit& permit, Judged& judged, const Requester& requester, const std::string& call_id,
               std::optional<LaunchResources> resources);
  // http_get, redirect by redirect (fetch.cpp).
  struct Journey {
    const CallContext& context;
    std::string call_id = {};  // of the call that it is
    std::string url = {};      // where it is now
    int redirects = 0;
    uint64_t hop_ms = 0;  // the limit of the first
    Outcome so_far = {};
    std::string said = {};  // of the last answer, or why there is none
  };
  struct Hop {
    CallRecord record = {};  // with how it went
    std::optional<FetchAnswer> answer = {};
  };
  struct Redirect {
    Judged judged;
    CallRecord record = {};
  };
  Effect fetch(const Permit& permit, Judged& judged, const Requester& requester, CallRecord& record);
  Hop fetch_once(const Permit& permit, Judged& judged, Journey& journey, CallRecord record);
  Result<Redirect> redirect(const std::string& url, const Requester& requester, const Journey& journey);
  static std::optional<Outcome> stop_before(const std::string& next, const Journey& journey);
  static Effect journey_ended(Journey& journey, std::optional<Outcome> last);
  Result<Judged> judge_redirect(const ToolCall& asked, const Requester& requester, uint64_t most_ms);
  Effect act(const Permit& permit, Judged& judged, const Requester& requester, const CallRecord& record);
  // What it changed is in the outcome.
  ToolReply act_on_file(const Permit& permit, Judged& judged, const Requester& requester,
                        const std::string& call_id, Outcome& outcome);
  Result<std::unique_ptr<StagedFiles>> staged_files(const CallContext& context) const;
  ToolReply act_in_layer(const Permit& permit, Judged& judged, const Requester& requester,
                         const std::string& call_id, Outcome& outcome);
  Effect ask_function(const Permit& permit, const std::string& call_id);

  Session session_;
  const QueueLimits limits_;
  Admission admission_;
  mutable std::mutex settings_lock_;
  RuntimeSettings runtime_settings_;
  std::unique_ptr<Run> run_;      // none: there is no record
  std::string why_not_recorded_;  // shown with each command; empty: it is, or the operator wants none
  std::unique_ptr<SharedHome> home_ = {};
  UnusedSpills spills_;
  std::unique_ptr<LaunchPool> pool_ = {};  // none: each call starts its own sandbox
  std::unique_ptr<WarmBoxes> warm_ = {};   // none: the operator does not want it
  Questions questions_;
};

}  // namespace cloche
