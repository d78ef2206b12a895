#include "gateway/launch/warm_boxes.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/sys/sys.hpp"
#include "confine/native/probe.hpp"
#include "confine/warm/late_text.hpp"
#include "gateway/launch/caller.hpp"
#include "gateway/launch/start_program.hpp"
#include "jail/core/wire_encode.hpp"

namespace cloche {
namespace {

// The memory of one that no call comes for is given back; the next call is a cold one then.
constexpr uint64_t longest_wait_ms = 10 * 60 * 1000;
// Before the end of one box and the start of the next, which would take processor time from the answer of a
// call.
constexpr auto pause = std::chrono::milliseconds(10);
// To come to the open of the script, on a busy machine.
constexpr uint64_t longest_start_ms = 5000;

// Whether the jail would be told the same now, byte for byte: another plan, another file of /etc or another
// claim of an id is another box.
bool is_sent(WarmBox& box, const OwnProcess& interpreter, std::string_view script,
             const Installation& installation) {
  auto spec = box.resources.render(interpreter, box.probe, installation);
  return spec.ok() && wire::encode(with_late_text(std::move(spec.value().jail), script)) == box.sent;
}

}  // namespace

WarmBoxes::WarmBoxes(Installation installation, std::vector<std::string> modules)
    : installation_(std::move(installation)), modules_(std::move(modules)) {
  worker_ = std::thread([this] { work(); });
}

WarmBoxes::~WarmBoxes() {
  {
    const std::lock_guard held(lock_);
    ends_ = true;
  }
  changed_.notify_one();
  worker_.join();
}

bool WarmBoxes::serves(const ConfinementPlan& plan) { return late_script(plan).has_value(); }

bool WarmBoxes::can_import(const ConfinementPlan& plan) const {
  return modules_.empty() || !early_imports(plan, modules_).file.empty();
}

std::unique_ptr<WarmBox> WarmBoxes::take(const Startable& what) {
  const auto script = late_script(what.plan());
  if (!script || !(what.directory() == wire::Identity{})) return nullptr;
  std::unique_ptr<WarmBox> box;
  {
    const std::lock_guard held(lock_);
    box = std::move(waiting_);
  }
  if (!box) return nullptr;
  const auto interpreter = waiting_interpreter(what.plan(), box->imports);
  bool is_early = false;
  const uint64_t waited_ms = sys::monotonic_ms() - box->started_ms;
  if (interpreter.ok() && waited_ms < longest_wait_ms && box->marks.still_hold() &&
      is_sent(*box, interpreter.value(), script->target, installation_)) {
    const auto written = write_late_text(box->resources.jail(), *script);
    if (written.ok() && written.value()) return box;
    is_early = written.ok() && waited_ms < longest_start_ms;
  }
  const std::lock_guard held(lock_);
  auto& kept = is_early && !waiting_ ? waiting_ : unused_.emplace_back();
  kept = std::move(box);
  changed_.notify_one();
  return nullptr;
}

void WarmBoxes::finish(std::unique_ptr<WarmBox> box) {
  const std::lock_guard held(lock_);
  unused_.push_back(std::move(box));
  changed_.notify_one();
}

void WarmBoxes::want(const ConfinementPlan& plan, const CallerFact& caller) {
  if (!serves(plan)) return;
  const std::lock_guard held(lock_);
  if (waiting_ || order_) return;
  order_ = Order{without_script(plan), caller};
  changed_.notify_one();
}

Result<std::unique_ptr<WarmBox>> WarmBoxes::start(const Order& order) const {
  // Before anything is looked at that they stand for.
  HostMarks marks = HostMarks::take(marks_of_python(program_candidates(order.plan)));
  EarlyImports imports = early_imports(order.plan, modules_);
  const OwnProcess interpreter = TRY(waiting_interpreter(order.plan, imports));
  const ConfinementPlan& plan = interpreter.plan();
  LaunchResources resources = TRY(LaunchResources::take(order.caller, plan.limits, installation_));
  auto made = std::make_unique<WarmBox>(
      WarmBox{.resources = std::move(resources), .marks = std::move(marks), .imports = std::move(imports)});
  WarmBox& box = *made;
  box.probe = probe_host();
  if (const auto missing = missing_layers(plan, box.probe); !missing.empty())
    return describe_missing(missing);
  box.spec = TRY(box.resources.render(interpreter, box.probe, installation_));
  box.proof = TRY(proof_for(plan, box.spec, order.caller, box.probe, installation_, Proving::when_needed));
  box.spec.jail = with_late_text(std::move(box.spec.jail), plan.argv.back());
  box.sent = wire::encode(box.spec.jail);
  TRY(box.resources.jail().go(interpreter, box.sent, box.resources.cgroup()));
  box.started_ms = sys::monotonic_ms();
  return made;
}

// What cannot be started is not tried again before the next call, which learns why by its own start.
void WarmBoxes::work() {
  std::unique_lock held(lock_);
  while (!ends_) {
    if (order_ || !unused_.empty()) {
      if (changed_.wait_for(held, pause, [this] { return ends_; })) return;
      const auto order = order_;
      auto unused = std::exchange(unused_, {});
      held.unlock();
      unused.clear();
      auto box = order ? start(*order) : Result<std::unique_ptr<WarmBox>>(nullptr);
      held.lock();
      if (order) order_.reset();
      if (box.ok() && box.value()) (waiting_ ? unused_.emplace_back() : waiting_) = std::move(box).value();
    }
    if (waiting_ && sys::monotonic_ms() - waiting_->started_ms >= longest_wait_ms)
      unused_.push_back(std::move(waiting_));
    if (ends_ || order_ || !unused_.empty()) continue;
    if (!waiting_) {
      changed_.wait(held);
    } else {
      const uint64_t waited = std::min(longest_wait_ms, sys::monotonic_ms() - waiting_->started_ms);
      changed_.wait_for(held, std::chrono::milliseconds(longest_wait_ms - waited));
    }
  }
}

}  // namespace cloche
