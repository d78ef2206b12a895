#include "confine/supervise/outcome_of_call.hpp"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/text/visible_text.hpp"

namespace cloche {
namespace {

using wire::Step;

// Which promise is not kept when this step fails. Only steps that this host may simply lack the means for.
std::optional<LayerId> layer_behind(Step step) {
  switch (step) {
    case Step::namespaces:
    case Step::map_ids:
    case Step::become_ids: return LayerId::user_ids;
    case Step::mount_proc: return LayerId::pid_namespace;
    case Step::loopback: return LayerId::net_namespace;
    case Step::root_mount:
    case Step::pivot: return LayerId::mount_view;
    case Step::landlock: return LayerId::landlock;
    case Step::seccomp: return LayerId::syscall_filter;
    case Step::join_cgroup: return LayerId::memory_limit;
    case Step::session_keyring: return LayerId::session_keyring;
    case Step::capabilities: return LayerId::no_capabilities;
    case Step::no_new_privileges: return LayerId::no_new_privileges;
    default: return std::nullopt;
  }
}

bool is_about_a_mount(Step step) {
  return (step >= Step::clone_source && step <= Step::map_owner) ||
         (step >= Step::make_target && step <= Step::place_mount);
}

// Of these the gateway tells one from another.
FailedStep failed_step(Step step) {
  switch (step) {
    case Step::clone_source: return FailedStep::clone_source;
    case Step::mount_overlay: return FailedStep::mount_layer;
    case Step::check_source:
    case Step::map_owner:
    case Step::make_target:
    case Step::mount_tree:
    case Step::place_mount: return FailedStep::place_mount;
    default: return FailedStep::other;
  }
}

// What would raise it. No flag goes above the source that has lowered it.
std::string advice_about(const LimitInfo& row, const std::vector<LimitSource>& lowered_by) {
  const std::string by(source_of(lowered_by, row.id));
  return by.empty() ? "; raise it with " + std::string(row.flag) : "; it is held there by " + by;
}

Outcome limited(const LimitHit& hit, const ConfinementPlan& plan) {
  const LimitInfo& row = info_of(hit.limit);
  const bool is_late = hit.limit == LimitId::wall;
  Outcome outcome{
      .end = is_late ? End::timeout : End::limit, .exit_code = is_late ? 124 : 137, .limit = hit.limit};
  outcome.reason =
      "the " + std::string(row.name) + " limit of " + show_limit(plan.limits, row) + " was reached";
  if (!hit.what.empty()) outcome.reason += ": " + hit.what;
  outcome.advice = advice_about(row, plan.lowered_by);
  outcome.denials.push_back(
      {.by = Enforcer::limit, .what = outcome.reason, .advice = outcome.advice, .is_reason = true});
  return outcome;
}

Outcome not_executed(const wire::Report& report, const ConfinementPlan& plan) {
  const std::string name = shown(plan.argv.front());
  // An empty name is each directory of the PATH itself, which the kernel finds and does not execute.
  if (name.empty() || report.number == ENOENT || report.number == ENOTDIR)
    return {.end = End::not_found,
            .exit_code = 127,
            .reason = name.empty() ? "the command is empty" : name + ": not found inside"};
  Outcome outcome{.end = End::not_executable, .exit_code = 126, .reason = name + ": "};
  switch (report.number) {
    case EACCES: outcome.reason += "not executable: a directory, or without the right to execute"; break;
    case ENOEXEC: outcome.reason += "not a program: give it a #! line or name its interpreter"; break;
    case E2BIG: outcome.reason += "the arguments and the environment are too long for the kernel"; break;
    default:
      outcome.reason +=
          strerrordesc_np(report.number) != nullptr ? strerrordesc_np(report.number) : "unknown error";
  }
  return outcome;
}

Outcome signaled(int signal, Message reason) {
  return {.end = End::signaled, .exit_code = 128 + signal, .signal = signal, .reason = std::move(reason)};
}

Outcome ended_so(int signal, Message how) {
  Outcome outcome = signaled(signal, "ended " + how);
  outcome.ended = std::move(how);
  return outcome;
}

// Which decision the kernel tells by this signal. It leaves out those that the command can hear of and live.
std::optional<Denial> denial_behind(int signal, const ConfinementPlan& plan) {
  if (signal == SIGSYS) {
    return Denial{Enforcer::syscall, "a system call of another architecture: the filter ended the process",
                  "; use a 64-bit build of the program"};
  }
  if (signal != SIGXFSZ) return std::nullopt;
  const LimitInfo& row = info_of(LimitId::file_size);
  return Denial{Enforcer::limit,
                "a file met the " + std::string(row.name) + " limit of " + show_limit(plan.limits, row),
                advice_about(row, plan.lowered_by)};
}

Outcome ended(int status, const ConfinementPlan& plan) {
  if (WIFEXITED(status)) return {.end = End::exited, .exit_code = WEXITSTATUS(status)};
  const int signal = WTERMSIG(status);
  const char* name = sigdescr_np(signal);
  Outcome outcome = ended_so(signal, "by signal " + std::to_string(signal) +
                                         (name != nullptr ? std::string(" (") + name + ")" : ""));
  if (auto denial = denial_behind(signal, plan)) {
    outcome.reason += ": " + denial->what.text();
    outcome.ended += ": " + denial->what.text();
    outcome.advice = denial->advice;
    denial->is_reason = true;
    outcome.denials.push_back(*std::move(denial));
  }
  return outcome;
}

// The kernel's own limit for a single process may come before our sum over the tree.
bool used_up_its_time(const Reports& reports, const Limits& limits) {
  if (!reports.ended || !reports.usage || !WIFSIGNALED(reports.ended->status)) return false;
  const int signal = WTERMSIG(reports.ended->status);
  return (signal == SIGKILL || signal == SIGXCPU) && reports.usage->cpu_us >= limits.cpu_s * 1'000'000;
}

// Empty: it has written none.
std::string_view last_line_of(std::string_view errors) {
  const size_t last = errors.find_last_not_of('\n');
  if (last == std::string_view::npos) return {};
  errors = errors.substr(0, last + 1);
  return errors.substr(errors.rfind('\n') + 1);  // from the beginning where there is none
}

// Bubblewrap goes to the command's directory itself, before the jail could say what is wrong with it.
constexpr std::string_view bwrap_cannot_enter = "bwrap: Can't chdir to ";

// "DIRECTORY: why", behind that.
Error no_directory_error(std::string_view said) {
  said.remove_prefix(bwrap_cannot_enter.size());
  const size_t why = std::min(said.rfind(": "), said.size());
  return {Cause::system,
          std::string("could not ") + wire::name_of(Step::working_directory) + " (" +
              std::string(said.substr(0, why)) + ")" + std::string(said.substr(why)),
          0, wire::hint_for(Step::working_directory, 0)};
}

// A runtime says in its own words what it lacks. Most of what it builds is the view.
LayerId layer_behind(std::string_view said) {
  return said.find("cgroup") != std::string_view::npos ? LayerId::memory_limit : LayerId::mount_view;
}

// Of a report that the jail would not send to the supervisor it was built with.
Error other_build_error(uint32_t format) {
  char text[96];
  std::snprintf(text, sizeof text, "cloche-jail is of another build (format %08x, this is %08x)", format,
                wire::format);
  return {.cause = Cause::system,
          .what = std::string(text),
          .number = EBADMSG,
          .fix = "install the programs of one build together",
          .step = failed_step(Step::read_plan)};
}

}  // namespace

Error box_error(const std::optional<wire::Report>& failed, Backend backend, const std::string& errors) {
  const std::string_view said = last_line_of(errors);
  if (backend == Backend::bwrap && said.starts_with(bwrap_cannot_enter)) return no_directory_error(said);
  const std::string name(name_of(backend));
  const LayerId layer = layer_behind(said);
  Error error{Cause::missing_layer,
              "missing layer " + std::string(name_of(layer)) + ": " + name + " could not build the box", 0,
              "mend what it names, or choose another box with --isolation or --backend", layer};
  if (failed) error.number = failed->number;
  if (!said.empty()) {
    error.what += ": " + std::string(said);
  } else {
    error.what += ", and said nothing";
    error.fix = "see whether " + name + " --version works; apt install --reinstall " +
                std::string(package_of(backend)) + " puts it back as it was";
  }
  return error;
}

Error step_error(const wire::Report& report, const wire::PlanText& jail, const std::string& directory) {
  if (report.step == Step::read_plan && report.number == EBADMSG && report.index != wire::format)
    return other_build_error(report.index);
  const auto layer = layer_behind(report.step);
  Error error{.cause = layer ? Cause::missing_layer : Cause::system,
              .number = report.number,
              .fix = wire::hint_for(report.step, report.number),
              .layer = layer,
              .step = failed_step(report.step)};
  if (layer) error.what = "missing layer " + std::string(name_of(*layer)) + ": ";
  error.what += std::string("could not ") + wire::name_of(report.step);
  if (is_about_a_mount(report.step) && report.index < jail.mounts.size()) {
    const wire::MountText& mount = jail.mounts[report.index];
    error.what += " (" + (mount.kind == wire::MountKind::tree ? mount.source : "/" + mount.target) + ")";
  }
  if (report.step == Step::working_directory) error.what += " (" + directory + ")";
  error.what += std::string(": ") +
                (strerrordesc_np(report.number) != nullptr ? strerrordesc_np(report.number) : "unknown");
  return error;
}

Outcome judge(const Reports& reports, const ConfinementPlan& plan) {
  Outcome outcome;
  if (reports.hit) {
    outcome = limited(*reports.hit, plan);
  } else if (reports.cancelled) {
    outcome =
        signaled(SIGKILL, "cancelled: the caller wants it no more, and everything it started was ended");
  } else if (used_up_its_time(reports, plan.limits)) {
    outcome = limited({LimitId::cpu, "one process alone used it"}, plan);
  } else if (reports.not_executed) {
    outcome = not_executed(*reports.not_executed, plan);
  } else if (reports.ended) {
    outcome = ended(reports.ended->status, plan);
  } else if (reports.lost_a_part) {
    outcome.end = End::failed;
    outcome.reason = "a part of gVisor was killed, and the rest of it waited for that one";
  } else if (reports.signal_passed != 0) {
    // It did not end by itself within the grace: by the kill that followed.
    outcome = ended_so(reports.signal_passed,
                       "at the caller's request (signal " + std::to_string(reports.signal_passed) + ")");
  } else if (reports.usage && WIFSIGNALED(reports.usage->status)) {
    outcome = signaled(SIGKILL, "the sandbox was ended from outside");
    outcome.killed_from_outside = true;
  } else {
    // gVisor's command can signal the process that waits for it, and then there is no report.
    outcome.reason =
        plan.backend == Backend::runsc
            ? "the box ended without a word: its first process was ended, by the command or from outside"
            : "the jail was ended from outside";
    outcome.end = End::failed;
  }
  if (reports.usage) {
    outcome.usage.cpu_ms = reports.usage->cpu_us / 1000;
    outcome.usage.max_rss_bytes = reports.usage->max_rss_bytes;
  }
  return outcome;
}

Denial denied_processes(const ConfinementPlan& plan, uint64_t times) {
  const LimitInfo& row = info_of(LimitId::processes);
  return {Enforcer::limit,
          "the " + std::string(row.name) + " limit of " + show_limit(plan.limits, row) +
              " refused a new process " + std::to_string(times) + " times",
          advice_about(row, plan.lowered_by)};
}

Denial denied_memory(const ConfinementPlan& plan, const std::vector<std::string>& full) {
  const LimitInfo& row = info_of(LimitId::tmp);
  std::string places;
  for (const auto& target : full) places += (places.empty() ? "" : " and ") + target;
  return {Enforcer::limit,
          places + (full.size() == 1 ? " was" : " were") + " full: the " + std::string(row.name) +
              " limit of " + show_limit(plan.limits, row) + " was met",
          advice_about(row, plan.lowered_by)};
}

Error interrupted_error(Message what) { return {Cause::interrupted, std::move(what), 0, "run it again"}; }

bool was_interrupted(const wire::Report& failed) {
  return failed.number == 0 && failed.step != wire::Step::start_box;
}

bool was_interrupted(const Outcome& outcome) {
  if (outcome.end == End::failed) return true;
  if (outcome.end != End::signaled) return false;
  switch (outcome.signal) {  // a program that breaks by itself gets others
    case SIGHUP:
    case SIGINT:
    case SIGQUIT:
    case SIGKILL:
    case SIGTERM: return true;
    default: return false;
  }
}

}  // namespace cloche
