// One command under the supervisor (confine/supervise/supervisor.hpp says how that works): what it knows of
// it, and what it does in a turn of its loop.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/sys/sys.hpp"
#include "confine/supervise/escape_filter.hpp"
#include "confine/supervise/outcome_of_call.hpp"
#include "confine/supervise/stream_relay.hpp"
#include "confine/supervise/supervisor.hpp"
#include "confine/supervise/terminal.hpp"
#include "confine/watch/watch.hpp"
#include "jail/core/wire.hpp"

namespace cloche {

class SupervisedCall {
 public:
  SupervisedCall(JailProcess& jail, const Startable& what, const LaunchSpec& spec, const Cgroup* cgroup,
                 const Streams& streams, NetworkGate* network)
      : jail_(jail),
        what_(what),
        plan_(spec.as_run ? *spec.as_run : what.plan()),
        spec_(spec),
        streams_(streams),
        network_(network),
        cgroup_(cgroup),
        start_ms_(sys::monotonic_ms()),
        now_ms_(start_ms_),
        deadline_ms_(start_ms_ + plan_.limits.wall_ms),
        note_at_ms_(streams.lasting_note.empty() ? ~0ULL : start_ms_ + lasting_ms),
        watch_(plan_, cgroup, start_ms_, spec.upper_directories),
        raw_terminal_(plan_.terminal ? streams.terminal : -1) {}

  Result<Outcome> run() {
    // What fills a task's home once would otherwise fill it a little more by each call. The jail ends when it
    // gets no plan.
    if (auto full = watch_.sizes_at_start()) {
      said_.hit = std::move(full);
      return judge(said_, plan_);
    }
    TRY(start());
    while (!finished()) turn();
    return conclude();
  }

 private:
  static constexpr uint64_t lasting_ms = 2000;  // before the caller's terminal is told that it lasts
  static constexpr uint64_t flush_ms = 1000;    // for the caller to take the rest of the output after a kill

  Result<void> start();
  std::optional<EscapeFilter> filter_for(int callers) const;
  bool finished() const { return gone_ && (flows_finished() || now_ms_ >= flush_deadline_ms_); }
  bool flows_finished() const { return output_.finished() && errors_.finished(); }
  void turn();
  int wait_ms() const;
  void keep_time();
  void note_that_it_lasts();
  void say_refusals();
  bool can_speak() const;
  void speak(std::string_view line) const;
  void move_flows();
  void hold_builder_back();
  void let_builder_speak();
  void heed_keys(std::string_view typed);
  void hear();
  void take_report(const wire::Report& report, std::vector<OwnedFd> fds);
  void open_terminal(OwnedFd master);
  void take_signals();
  void command_stopped();
  void suspend(Stop what);
  std::optional<LimitHit> stop_watched(Stop what);
  [[noreturn]] void watch_for(pid_t stopped, int way);
  void pass_on(int number);
  void take_stop();
  Keep keep_of(int spill) const { return {streams_.keep_most, streams_.in_memory, spill}; }
  void show(const StreamRelay& flow, uint64_t bytes_before) const;
  void keeper_ended();
  void hear_all();
  void end_what_a_keeper_left();
  void give_up_on_keeper();
  void end_memory_files();
  bool wait_for_release(size_t overlays);
  bool is_speechless() const { return (spec_.jail.flags & wire::speechless) != 0; }
  // gVisor from its start: its own processes are counted with the command's, and may be killed like those.
  bool is_watched() const { return said_.started || is_speechless(); }
  // What builds the box has the command's stderr. What it says before there is a command is ours to say where
  // the box fails, and the command's to be mixed with where it does not.
  bool is_builders_turn() const {
    return spec_.backend != Backend::native && !said_.started && !gone_ && !builder_speaks_;
  }
  // The box did not come to the command, for a reason of its own.
  bool was_never_built() const {
    return spec_.backend != Backend::native &&
           (!said_.failed || said_.failed->step == wire::Step::start_box) && never_started();
  }
  // The box ended before the command was reached, and by itself.
  bool never_started() const {
    return !said_.hit && !said_.cancelled && (said_.failed || (!said_.started && !said_.not_executed));
  }
  void leave_terminal();
  void end_everything();
  void stop_for(LimitHit hit);
  Result<Outcome> conclude();

  JailProcess& jail_;
  const Startable& what_;
  const ConfinementPlan& plan_;
  const LaunchSpec& spec_;
  const Streams& streams_;
  NetworkGate* network_;
  const Cgroup* cgroup_;
  uint64_t start_ms_;
  uint64_t now_ms_;  // as of this turn
  uint64_t deadline_ms_;
  uint64_t note_at_ms_;
  uint64_t end_ms_ = 0;  // when everything was told to end; 0: not yet
  uint64_t grace_deadline_ms_ = ~0ULL;
  uint64_t flush_deadline_ms_ = ~0ULL;
  Watch watch_;
  RawTerminal raw_terminal_;
  Insistence insistence_;
  SuspendKey suspend_key_;
  bool command_has_stopped_ = false;
  bool said_that_it_stopped_ = false;

  OwnedFd control_;
  StreamRelay input_;
  StreamRelay output_;
  StreamRelay errors_;
  OwnedFd master_;
  std::vector<std::string> full_;  // what the command filled of its memory
  size_t released_ = 0;            // of the plan's overlays: the kernel has let go of them
  bool gone_ = false;
  size_t heard_ = 0;             // reports so far
  std::string said_by_builder_;  // on stderr, before there was a command
  bool builder_speaks_ = false;  // and what else it says is passed on as it comes
  Reports said_;
};

}  // namespace cloche
