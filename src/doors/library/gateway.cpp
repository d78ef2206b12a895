// The C++ interface: values of include/cloche/ in, the gateway beneath, values out. What is thrown ends here:
// this file is compiled with exceptions, and the rooms beneath throw nothing but what allocating throws.
#include <cloche/gateway.h>
#include <unistd.h>

#include <exception>
#include <new>
#include <utility>

#include "base/sys/sys.hpp"
#include "doors/approve/operator_approver.hpp"
#include "doors/library/call_json.hpp"
#include "doors/library/held_signals.hpp"
#include "doors/library/session_of.hpp"
#include "gateway/gateway.hpp"
#include "tools/answer/process_output.hpp"

namespace cloche {
namespace {

// The environment of the program, as it was.
class KeptEnvironment {
 public:
  explicit KeptEnvironment(std::vector<std::string> variables) : variables_(std::move(variables)) {
    for (auto& variable : variables_) block_.push_back(variable.data());
    block_.push_back(nullptr);
  }
  KeptEnvironment(const KeptEnvironment&) = delete;
  KeptEnvironment& operator=(const KeptEnvironment&) = delete;

  Environment environment() { return Environment(block_.data()); }

 private:
  std::vector<std::string> variables_;
  std::vector<char*> block_;
};

std::vector<std::string> own_environment() {
  std::vector<std::string> variables;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) variables.emplace_back(*at);
  return variables;
}

class NobodyIsAsked : public Approver {
 public:
  Answer ask(const Question& question) override {
    return make_answer(question, Reply::no, sys::monotonic_ms());
  }
  bool can_ask() const override { return false; }
};

// The program's approver, for the gateway, which lets nothing out that it throws.
class AskedInProgram : public Approver {
 public:
  explicit AskedInProgram(v1::Approver& approver) : approver_(approver) {}
  Answer ask(const Question& question) override { return answer_to(question, false); }
  std::optional<Answer> ask_afterwards(const Question& question) override {
    return answer_to(question, true);
  }

 private:
  Answer answer_to(const Question& question, bool afterwards) {
    v1::Question asked;
    asked.digest = question.digest;
    asked.text = question.text;
    asked.afterwards = afterwards;
    const v1::Answer answer = approver_.ask(asked);
    const Reply reply = answer == v1::Answer::once      ? Reply::once
                        : answer == v1::Answer::session ? Reply::session
                                                        : Reply::no;
    return make_answer(question, reply, sys::monotonic_ms());
  }

  v1::Approver& approver_;
};

v1::CallResult public_result(const CallResult& result, bool json) {
  v1::CallResult shown;
  const Outcome& outcome = result.outcome;
  shown.end = static_cast<v1::CallResult::End>(outcome.end);
  shown.exit_code = outcome.exit_code;
  shown.text = result.result;
  if (json) shown.json = call_json(result);
  shown.call_id = result.call_id;
  shown.run_id = result.run_id;
  if (outcome.changes) {
    shown.changes.set = outcome.changes->set;
    shown.changes.summary = summary_line(*outcome.changes);
    shown.changes.is_whole = outcome.changes->is_whole();
    shown.changes.conflicts = !outcome.changes->conflicts.empty();
  }
  const bool says_more = outcome.end != End::exited && !outcome.advice.empty();
  if (outcome.end == End::failed || says_more) shown.reason = operators_reason(outcome);
  for (const Denial& denial : outcome.denials) {
    if (is_outlived(denial)) shown.denials.push_back((denial.what + denial.advice).text());
  }
  shown.notes = result.notes;
  return shown;
}
static_assert(static_cast<int>(v1::CallResult::End::exited) == static_cast<int>(End::exited) &&
              static_cast<int>(v1::CallResult::End::refused) == static_cast<int>(End::refused) &&
              static_cast<int>(v1::CallResult::End::failed) == static_cast<int>(End::failed));

v1::CallResult result_of(const Error& error, bool json) {
  CallResult result;
  result.outcome = failed(error);
  if (error.cause == Cause::usage) result.outcome.exit_code = 2;
  result.result = shown_text(result.outcome, "", {});
  return public_result(result, json);
}

// A text so short that it needs no memory.
v1::Error out_of_memory() noexcept {
  v1::Error error;
  error.what = "out of memory";
  return error;
}

// What `work` returns; and what was thrown on the way, as `failed` makes a value of it.
template <typename Work, typename Failed>
auto guarded(const Work& work, const Failed& failed) noexcept -> decltype(work()) {
  try {
    const HeldPipeSignals held;
    return work();
  } catch (const std::bad_alloc&) {
    return failed(out_of_memory());
  } catch (...) {
    v1::Error error;
    error.what = "internal error";
    return failed(std::move(error));
  }
}

v1::CallResult bare_result(v1::Error error) noexcept {
  v1::CallResult result;
  result.text.swap(error.what);
  return result;
}

Error closed() { return usage_error("this gateway was moved to another: it makes no calls"); }

}  // namespace

namespace v1 {

struct Gateway::Inside {
  explicit Inside(std::vector<std::string> variables)
      : kept(std::move(variables)), environment(kept.environment()) {}

  KeptEnvironment kept;
  cloche::Environment environment;  // of `kept`
  std::optional<std::string> task = {};
  std::string role = {};
  Asked asked = Asked::nobody;
  NobodyIsAsked nobody = {};
  TerminalApprover terminal = TerminalApprover();
  OperatorApprover operators{environment};
  std::optional<Skill> skill = {};
  std::unique_ptr<cloche::Gateway> gateway = {};

  cloche::Approver& approver() {
    if (asked == Asked::terminal) return terminal;
    if (asked == Asked::operators) return operators;
    return nobody;
  }

  static cloche::Result<std::unique_ptr<Inside>> open(const Options& options) {
    TRY(judge_child_signal());
    CallArguments arguments = TRY(session_of(options));
    auto inside = std::make_unique<Inside>(TRY(environment_of(options, own_environment())));
    inside->task = arguments.task;
    inside->role = arguments.role;
    inside->asked = options.asked;
    inside->gateway = TRY(cloche::Gateway::open(std::move(arguments.options), inside->environment));
    inside->skill = TRY(skill_for(inside->gateway->session(), arguments.skill));
    // What the key `warm` says is about servers: a program says itself that it stays.
    if (!inside->gateway->session().options.warm.empty())
      (void)inside->gateway->keep_warm({.skill = inside->skill ? &*inside->skill : nullptr});
    return inside;
  }

  cloche::CallResult call(const Call& asked_for, cloche::Approver& answers) {
    CallContext context{.task = asked_for.task ? asked_for.task : task,
                        .role = asked_for.role.value_or(role),
                        .skill = skill ? &*skill : nullptr,
                        .stop = asked_for.cancel};
    return gateway->call({asked_for.tool, asked_for.arguments}, context, answers);
  }
};

const char* version() noexcept { return CLOCHE_VERSION; }

const char* name_of(CallResult::End end) noexcept {
  return cloche::name_of(static_cast<cloche::End>(end)).data();
}

CallResult not_made(const Error& error, bool json) noexcept {
  return guarded(
      [&] {
        return result_of({.cause = static_cast<Cause>(error.kind), .what = error.what, .fix = error.fix},
                         json);
      },
      bare_result);
}

Gateway::Gateway(std::unique_ptr<Inside> inside) noexcept : inside_(std::move(inside)) {}
Gateway::Gateway(Gateway&& other) noexcept = default;

Gateway& Gateway::operator=(Gateway&& other) noexcept {
  std::swap(inside_, other.inside_);
  return *this;
}

Gateway::~Gateway() {
  (void)guarded([&] { return inside_.reset(), 0; }, [](const Error&) { return 0; });
}

Result<Gateway> Gateway::open(const Options& options) noexcept {
  return guarded(
      [&]() -> Result<Gateway> {
        auto opened = Inside::open(options);
        if (!opened.ok()) return public_error(opened.error());
        return Gateway(std::move(opened).value());
      },
      [](Error error) { return Result<Gateway>(std::move(error)); });
}

CallResult Gateway::call(const Call& call, Approver* approver) noexcept {
  return guarded(
      [&] {
        if (!inside_) return result_of(closed(), call.json);
        if (approver == nullptr) return public_result(inside_->call(call, inside_->approver()), call.json);
        AskedInProgram asked(*approver);
        if (inside_->asked != Asked::operators) return public_result(inside_->call(call, asked), call.json);
        FiledApprover filed({.state = inside_->gateway->session().installation.state, .inner = &asked});
        return public_result(inside_->call(call, filed), call.json);
      },
      bare_result);
}

Result<std::string> Gateway::tools(ToolsFormat format) const noexcept {
  return guarded(
      [&]() -> Result<std::string> {
        if (!inside_) return public_error(closed());
        const auto tools = inside_->gateway->tools(inside_->skill ? &*inside_->skill : nullptr);
        if (!tools.ok()) return public_error(tools.error());
        return to_json(tools.value(), static_cast<ToolFormat>(format));
      },
      [](Error error) { return Result<std::string>(std::move(error)); });
}
static_assert(static_cast<int>(ToolsFormat::mcp) == static_cast<int>(ToolFormat::mcp) &&
              static_cast<int>(ToolsFormat::anthropic) == static_cast<int>(ToolFormat::anthropic));

namespace {

template <typename Work>
std::optional<Error> done(const Work& work) noexcept {
  return guarded(
      [&]() -> std::optional<Error> {
        const cloche::Result<void> result = work();
        if (result.ok()) return std::nullopt;
        return public_error(result.error());
      },
      [](Error error) { return std::optional<Error>(std::move(error)); });
}

}  // namespace

std::optional<Error> Gateway::set_autonomy(const std::string& level) noexcept {
  return done([&]() -> cloche::Result<void> {
    if (!inside_) return closed();
    const auto wanted = cloche::autonomy(level);
    if (!wanted)
      return usage_error("autonomy " + level + ": no such level", "known are readonly, supervised and full");
    return inside_->gateway->set_autonomy(*wanted);
  });
}

std::optional<Error> Gateway::set_default_profile(const std::string& name) noexcept {
  return done(
      [&] { return inside_ ? inside_->gateway->set_default_profile(name) : cloche::Result<void>(closed()); });
}

std::optional<Error> Gateway::set_enabled(bool enabled) noexcept {
  return done(
      [&] { return inside_ ? inside_->gateway->set_enabled(enabled) : cloche::Result<void>(closed()); });
}

void Gateway::end_tasks() noexcept {
  (void)done([&] {
    if (inside_) inside_->gateway->end_tasks();
    return cloche::Result<void>();
  });
}

std::string Gateway::workspace() const noexcept {
  return guarded([&] { return inside_ ? inside_->gateway->session().workspace : std::string(); },
                 [](const Error&) { return std::string(); });
}

bool Gateway::works_in_run() const noexcept {
  return inside_ != nullptr && inside_->gateway->session().options.operators.workspace_of_run;
}

}  // namespace v1
}  // namespace cloche
