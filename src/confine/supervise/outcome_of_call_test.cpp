// From reports to sentences and exit codes, by table.
#include "confine/supervise/outcome_of_call.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <cerrno>

namespace cloche {
namespace {

using wire::Report;
using wire::ReportKind;
using wire::Step;

constexpr int exited_with(int code) { return code << 8; }  // as wait() says it

ConfinementPlan plan_for(const char* program) {
  ConfinementPlan plan;
  plan.argv = {program};
  return plan;
}

wire::PlanText jail_plan() {
  wire::PlanText plan;
  plan.directory = "/project/sub";
  plan.mounts = {{.kind = wire::MountKind::tree, .target = "work", .source = "/home/user/project"},
                 {.kind = wire::MountKind::tmpfs, .target = "tmp"}};
  return plan;
}

struct Sentence {
  Report report;
  const char* what;
  const char* layer;  // nullptr: none is to blame
};

TEST(StepError, OfAJailOfAnotherBuildSaysSo) {
  const Report report{
      .kind = ReportKind::failed, .step = Step::read_plan, .number = EBADMSG, .index = wire::format ^ 1U};
  const Error error = step_error(report, jail_plan(), "/");
  EXPECT_EQ(error.what.text().find("cloche-jail is of another build (format "), 0U) << error.what;
  EXPECT_EQ(error.fix.text(), "install the programs of one build together");
}

TEST(StepError, SaysWhichStepWhyAndOnWhat) {
  const auto failed = [](Step step, int number, uint32_t index = 0) {
    return Report{.kind = ReportKind::failed, .step = step, .number = number, .index = index};
  };
  const Sentence rows[] = {
      {failed(Step::namespaces, ENOSPC),
       "missing layer user-ids: could not create the namespaces: No space left on device", "user-ids"},
      {failed(Step::landlock, EOPNOTSUPP),
       "missing layer landlock: could not restrict by Landlock: Operation not supported", "landlock"},
      {failed(Step::seccomp, EINVAL),
       "missing layer syscall-filter: could not install the system call filter: Invalid argument",
       "syscall-filter"},
      {failed(Step::loopback, EPERM),
       "missing layer net-namespace: could not bring up the loopback interface: Operation not permitted",
       "net-namespace"},
      {failed(Step::clone_source, ENOENT, 0),
       "could not clone a source tree (/home/user/project): No such file or directory", nullptr},
      {failed(Step::mount_tmpfs, ENOMEM, 1), "could not mount a tmpfs (/tmp): Cannot allocate memory",
       nullptr},
      {failed(Step::check_source, ESTALE, 0),
       "could not check that a source is still what was judged (/home/user/project): Stale file handle",
       nullptr},
      {failed(Step::make_target, EROFS, 99), "could not make a mount point: Read-only file system", nullptr},
      {failed(Step::working_directory, ENOENT),
       "could not enter the working directory (/project/sub): No such file or directory", nullptr},
      {failed(Step::working_directory, ESTALE),
       "could not enter the working directory (/project/sub): Stale file handle", nullptr},
      {failed(Step::limits, EPERM), "could not set resource limits: Operation not permitted", nullptr},
      {failed(Step::read_plan, EBADMSG, wire::format), "could not read the plan: Bad message", nullptr},
      {failed(Step::read_plan, 99999), "could not read the plan: unknown", nullptr},
  };
  for (const auto& [report, what, layer] : rows) {
    const Error error = step_error(report, jail_plan(), "/project/sub");
    EXPECT_EQ(error.what.text(), what);
    EXPECT_EQ(error.number, report.number);
    EXPECT_EQ(error.cause, layer != nullptr ? Cause::missing_layer : Cause::system);
    EXPECT_EQ(error.layer ? name_of(*error.layer) : "", layer != nullptr ? layer : "");
    EXPECT_EQ(error.fix.text(), wire::hint_for(report.step, report.number));
  }
}

TEST(StepError, NamesTheStepsThatTheGatewayAnswers) {
  for (uint32_t number = 0; number <= static_cast<uint32_t>(Step::last); ++number) {
    const auto step = static_cast<Step>(number);
    const bool places = step == Step::check_source || step == Step::map_owner || step == Step::make_target ||
                        step == Step::mount_tree || step == Step::place_mount;
    const FailedStep named = step == Step::clone_source    ? FailedStep::clone_source
                             : step == Step::mount_overlay ? FailedStep::mount_layer
                             : places                      ? FailedStep::place_mount
                                                           : FailedStep::other;
    EXPECT_EQ(step_error({.step = step, .number = EINVAL}, jail_plan(), "/").step, named) << number;
  }
}

TEST(BoxError, SaysWhatTheToolSaidLast) {
  struct Row {
    Backend backend;
    const char* errors;
    const char* what;
    const char* fix;
  };
  const Row rows[] = {
      {Backend::runc, "", "missing layer mount-view: runc could not build the box, and said nothing",
       "see whether runc --version works; apt install --reinstall runc puts it back as it was"},
      {Backend::bwrap, "\n", "missing layer mount-view: bwrap could not build the box, and said nothing",
       "see whether bwrap --version works; apt install --reinstall bubblewrap puts it back as it was"},
      {Backend::runc, "one\ntwo\n\n", "missing layer mount-view: runc could not build the box: two",
       "mend what it names, or choose another box with --isolation or --backend"},
      {Backend::runc, "runc run failed: no cgroup mount found in mountinfo\n",
       "missing layer memory-limit: runc could not build the box: runc run failed: no cgroup mount found in "
       "mountinfo",
       "mend what it names, or choose another box with --isolation or --backend"},
      {Backend::bwrap, "bwrap: Can't chdir to /a: b/nope: No such file or directory\n",
       "could not enter the working directory (/a: b/nope): No such file or directory",
       "name a directory inside the view with -C"},
      {Backend::bwrap, "bwrap: Can't mount proc\n",
       "missing layer mount-view: bwrap could not build the box: bwrap: Can't mount proc",
       "mend what it names, or choose another box with --isolation or --backend"},
  };
  for (const auto& [backend, errors, what, fix] : rows) {
    const Error error = box_error(std::nullopt, backend, errors);
    EXPECT_EQ(error.what.text(), what);
    EXPECT_EQ(error.fix.text(), fix);
  }
}

TEST(StepError, HasASentenceForEveryStep) {
  for (uint32_t step = 0; step <= static_cast<uint32_t>(Step::last); ++step) {
    const Error error =
        step_error({.step = static_cast<Step>(step), .number = EPERM}, jail_plan(), "/project/sub");
    EXPECT_NE(error.what.text().find(wire::name_of(static_cast<Step>(step))), std::string::npos)
        << error.what;
    EXPECT_TRUE(error.what.text().ends_with("Operation not permitted")) << error.what;
  }
}

TEST(Judge, PassesExitCodesOnExactly) {
  for (int code = 0; code < 256; ++code) {
    const Outcome outcome = judge({.ended = Report{.status = exited_with(code)}}, plan_for("x"));
    EXPECT_EQ(outcome.end, End::exited);
    EXPECT_EQ(outcome.exit_code, code);
    EXPECT_EQ(outcome.signal, 0);
    EXPECT_EQ(outcome.reason.text(), "");
    EXPECT_EQ(outcome.limit, std::nullopt);
    EXPECT_TRUE(outcome.denials.empty());
  }
}

TEST(Judge, PassesSignalsOnAsTheShellDoes) {
  for (int signal = 1; signal <= 64; ++signal) {
    const Outcome outcome = judge({.ended = Report{.status = signal}}, plan_for("x"));
    EXPECT_EQ(outcome.end, End::signaled);
    EXPECT_EQ(outcome.signal, signal);
    EXPECT_EQ(outcome.exit_code, 128 + signal);
    EXPECT_TRUE(outcome.reason.text().starts_with("ended by signal " + std::to_string(signal)))
        << outcome.reason;
    EXPECT_EQ(outcome.denials.empty(), signal != SIGSYS && signal != SIGXFSZ) << signal;
  }
  const Outcome dumped = judge({.ended = Report{.status = SIGSEGV | 0x80}}, plan_for("x"));
  EXPECT_EQ(dumped.exit_code, 128 + SIGSEGV) << "with the core flag of wait()";
}

TEST(Judge, ALimitThatNoFlagRaisesIsNamedWithWhoHoldsIt) {
  ConfinementPlan plan = plan_for("x");
  plan.lowered_by = {{LimitId::wall, "/etc/cloche/config.json:3"}};
  const Outcome outcome = judge({.hit = LimitHit{LimitId::wall, ""}}, plan);
  EXPECT_TRUE(outcome.reason.text().ends_with(" was reached")) << outcome.reason;
  EXPECT_EQ(outcome.advice.text(), "; it is held there by /etc/cloche/config.json:3");
  EXPECT_EQ(judge({.hit = LimitHit{LimitId::cpu, ""}}, plan).advice.text(), "; raise it with --cpu");
}

TEST(Judge, ALimitIsNamedWithItsValueAndItsFlag) {
  for (const auto& row : limit_table) {
    ConfinementPlan plan = plan_for("x");
    const Outcome outcome = judge({.hit = LimitHit{row.id, "seen: much"}}, plan);
    const bool wall = row.id == LimitId::wall;
    EXPECT_EQ(outcome.end, wall ? End::timeout : End::limit) << row.name;
    EXPECT_EQ(outcome.exit_code, wall ? 124 : 137) << row.name;
    EXPECT_EQ(outcome.limit, row.id);
    EXPECT_EQ(outcome.reason.text(), "the " + std::string(row.name) + " limit of " +
                                         show_limit(plan.limits, row) + " was reached: seen: much");
    EXPECT_EQ(outcome.advice.text(), "; raise it with " + std::string(row.flag));
    ASSERT_EQ(outcome.denials.size(), 1U);
    EXPECT_EQ(outcome.denials[0].by, DeniedBy(Enforcer::limit));
    EXPECT_EQ(outcome.denials[0].what.text(), outcome.reason.text());
    EXPECT_EQ(outcome.denials[0].advice.text(), outcome.advice.text());
  }
}

TEST(Judge, ALimitExplainsTheSignalThatFollowedIt) {
  const Outcome outcome = judge(
      {.ended = Report{.status = SIGKILL}, .hit = LimitHit{LimitId::memory, {}}, .signal_passed = SIGINT},
      plan_for("x"));
  EXPECT_EQ(outcome.end, End::limit);
  EXPECT_EQ(outcome.exit_code, 137);
}

struct Exec {
  int number;
  End end;
  int exit_code;
  const char* reason;
};

TEST(Judge, ANameThatWasNotExecutedIsOnOneLine) {
  for (const int number : {ENOENT, EACCES}) {
    const Outcome outcome =
        judge({.not_executed = Report{.number = number}}, plan_for("a\ncloche: all fine"));
    EXPECT_TRUE(outcome.reason.text().starts_with("a\\u{a}cloche: all fine: not ")) << outcome.reason;
  }
}

TEST(Judge, SaysWhyACommandCouldNotBeExecuted) {
  const Exec rows[] = {
      {ENOENT, End::not_found, 127, "tool: not found inside"},
      {ENOTDIR, End::not_found, 127, "tool: not found inside"},
      {EACCES, End::not_executable, 126,
       "tool: not executable: a directory, or without the right to execute"},
      {ENOEXEC, End::not_executable, 126, "tool: not a program: give it a #! line or name its interpreter"},
      {E2BIG, End::not_executable, 126,
       "tool: the arguments and the environment are too long for the kernel"},
      {ELOOP, End::not_executable, 126, "tool: Too many levels of symbolic links"},
      {ENOMEM, End::not_executable, 126, "tool: Cannot allocate memory"},
  };
  for (const auto& [number, end, exit_code, reason] : rows) {
    const Outcome outcome = judge({.not_executed = Report{.number = number}}, plan_for("tool"));
    EXPECT_EQ(outcome.end, end) << number;
    EXPECT_EQ(outcome.exit_code, exit_code) << number;
    EXPECT_EQ(outcome.reason.text(), reason);
  }
  for (const int number : {ENOENT, EACCES}) {
    const Outcome outcome = judge({.not_executed = Report{.number = number}}, plan_for(""));
    EXPECT_EQ(outcome.exit_code, 127);
    EXPECT_EQ(outcome.reason.text(), "the command is empty");
  }
}

TEST(Judge, WhatTheCallerEndedIsTheCallersDoing) {
  const Outcome outcome = judge({.signal_passed = SIGINT}, plan_for("x"));
  EXPECT_EQ(outcome.end, End::signaled);
  EXPECT_EQ(outcome.exit_code, 130);
  EXPECT_EQ(outcome.reason.text(), "ended at the caller's request (signal 2)");
  EXPECT_EQ(outcome.ended.text(), "at the caller's request (signal 2)");
  EXPECT_FALSE(outcome.killed_from_outside);
  const Outcome by_itself =
      judge({.ended = Report{.status = exited_with(3)}, .signal_passed = SIGINT}, plan_for("x"));
  EXPECT_EQ(by_itself.end, End::exited) << "it caught the signal and ended in its own way";
  EXPECT_EQ(by_itself.exit_code, 3);
}

TEST(Judge, WithoutAWordFromTheJailItIsAFailureOfOurs) {
  EXPECT_EQ(judge({}, plan_for("x")).end, End::failed);
  EXPECT_EQ(judge({}, plan_for("x")).exit_code, 125);
  EXPECT_FALSE(judge({}, plan_for("x")).reason.empty());
  EXPECT_EQ(judge({.started = true, .gone = true}, plan_for("x")).end, End::failed);
  const Outcome killed = judge({.usage = Report{.status = SIGKILL}}, plan_for("x"));
  EXPECT_EQ(killed.exit_code, 137);
  EXPECT_TRUE(killed.killed_from_outside);
  EXPECT_TRUE(killed.ended.empty()) << "its reason is another";
  EXPECT_EQ(killed.reason.text(), "the sandbox was ended from outside");
  ConfinementPlan in_gvisor = plan_for("x");
  EXPECT_EQ(judge({}, in_gvisor).reason.text(), "the jail was ended from outside");
  in_gvisor.backend = Backend::runsc;
  EXPECT_NE(judge({}, in_gvisor).reason.text().find("by the command or from outside"), std::string::npos);
}

TEST(Judge, ABoxThatLostAPartSaysSo) {
  const Outcome outcome =
      judge({.started = true, .usage = Report{.status = SIGKILL}, .lost_a_part = true}, plan_for("x"));
  EXPECT_EQ(outcome.end, End::failed);
  EXPECT_EQ(outcome.exit_code, 125);
  EXPECT_NE(outcome.reason.text().find("a part of gVisor was killed"), std::string::npos);
}

TEST(Judge, ReportsWhatWasUsed) {
  const Outcome outcome =
      judge({.ended = Report{.status = 0}, .usage = Report{.cpu_us = 1'234'567, .max_rss_bytes = 4096}},
            plan_for("x"));
  EXPECT_EQ(outcome.usage.cpu_ms, 1234U);
  EXPECT_EQ(outcome.usage.max_rss_bytes, 4096U);
}

struct Cpu {
  int status;
  uint64_t cpu_us;
  bool limited;
};

TEST(Judge, AKillByTheKernelsOwnCpuLimitIsTheLimit) {
  const Cpu rows[] = {
      {SIGKILL, 2'000'000, true},  {SIGXCPU, 2'500'000, true},         {SIGKILL, 1'999'999, false},
      {SIGTERM, 9'000'000, false}, {exited_with(0), 9'000'000, false}, {exited_with(137), 9'000'000, false},
  };
  for (const auto& [status, cpu_us, limited] : rows) {
    ConfinementPlan plan = plan_for("x");
    plan.limits.cpu_s = 2;
    const Outcome outcome =
        judge({.ended = Report{.status = status}, .usage = Report{.cpu_us = cpu_us}}, plan);
    EXPECT_EQ(outcome.limit == LimitId::cpu, limited) << status << " " << cpu_us;
  }
}

TEST(Judge, ASignalThatTellsADecisionIsExplained) {
  ConfinementPlan plan = plan_for("x");
  plan.limits.file_bytes = 1 << 20;
  const struct {
    int signal;
    Enforcer by;
    std::string what;
    std::string advice;
  } rows[] = {
      {SIGXFSZ, Enforcer::limit, "a file met the fsize limit of 1M", "; raise it with --fsize"},
      {SIGSYS, Enforcer::syscall, "a system call of another architecture: the filter ended the process",
       "; use a 64-bit build of the program"},
  };
  for (const auto& row : rows) {
    const Outcome outcome = judge({.ended = Report{.status = row.signal}}, plan);
    ASSERT_EQ(outcome.denials.size(), 1U) << row.signal;
    EXPECT_EQ(outcome.denials[0].by, DeniedBy(row.by));
    EXPECT_EQ(outcome.denials[0].what.text(), row.what);
    EXPECT_EQ(outcome.denials[0].advice.text(), row.advice);
    EXPECT_FALSE(is_outlived(outcome.denials[0]));
    EXPECT_TRUE(outcome.ended.text().ends_with(": " + row.what)) << outcome.ended;
    EXPECT_EQ(operators_reason(outcome), "ended " + outcome.ended.text() + row.advice);
  }
}

TEST(DeniedMemory, NamesThePlacesThatWereFull) {
  ConfinementPlan plan = plan_for("x");
  plan.limits.tmp_bytes = 8 << 20;
  const Denial one = denied_memory(plan, {"/tmp"});
  EXPECT_EQ(one.by, DeniedBy(Enforcer::limit));
  EXPECT_EQ(one.what.text(), "/tmp was full: the tmp limit of 8M was met");
  EXPECT_EQ(one.advice.text(), "; raise it with --tmp");
  EXPECT_TRUE(is_outlived(one));
  EXPECT_EQ(denied_memory(plan, {"/dev/shm", "/tmp"}).what.text(),
            "/dev/shm and /tmp were full: the tmp limit of 8M was met");
}

TEST(DeniedProcesses, AreCountedInOneSentence) {
  ConfinementPlan plan = plan_for("x");
  plan.limits.processes = 64;
  const Denial denial = denied_processes(plan, 3);
  EXPECT_EQ(denial.by, DeniedBy(Enforcer::limit));
  EXPECT_EQ(denial.what.text(), "the pids limit of 64 refused a new process 3 times");
  EXPECT_EQ(denial.advice.text(), "; raise it with --pids");
}

}  // namespace
}  // namespace cloche
