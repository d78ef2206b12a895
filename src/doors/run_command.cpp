#include "doors/run_command.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "base/fd.hpp"
#include "base/sys.hpp"
#include "confine/escape_filter.hpp"
#include "confine/verdict.hpp"
#include "doors/arguments.hpp"
#include "doors/help.hpp"
#include "doors/print.hpp"
#include "gateway/run.hpp"
#include "policy/plan_run.hpp"
#include "store/share_memory.hpp"

namespace cloche {
int exit_code_of(const Error& error) { return error.cause == Cause::usage ? 2 : 125; }

OwnedFd take_over_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH}) sigaddset(&set, number);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  return OwnedFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

void complain_of_wait(std::string_view why) { complain("waiting: " + std::string(why)); }

Outcome outcome_of(const Error& error, const RunRequest& request) {
  Outcome outcome;
  outcome.backend = backend_of(request);
  outcome.end =
      error.cause == Cause::configuration || error.cause == Cause::usage ? End::refused : End::failed;
  outcome.exit_code = exit_code_of(error);
  outcome.reason = error.what;
  if (!error.fix.empty()) outcome.advice = "; " + error.fix;
  return outcome;
}

namespace {

// For a person; as JSON it comes with every gate's answer, from doors/judged_run.cpp.
void show_dry_run(const ConfinementPlan& plan) {
  const std::string digest = digest_of(plan);
  std::string text = "plan " + digest + "\n";
  for (const auto& word : plan.argv) text += "  argv       " + word + "\n";
  text += "  directory  " + plan.directory + "\n";
  for (const auto& entry : plan.view) {
    std::string access(name_of(entry.access));
    access.resize(10, ' ');
    const bool from = !entry.source.empty() && entry.source != entry.target;
    text +=
        "  " + access + " " + entry.target + (from ? " <- " + entry.source : "") + "  (" + entry.why + ")\n";
  }
  for (const auto& [name, value] : plan.environment) text += "  env        " + name + "=" + value + "\n";
  for (const auto& row : limit_table) {
    text += "  limit      " + std::string(row.name) + " " + show_limit(plan.limits, row) + "\n";
  }
  print(visible(text));
}

Streams streams_for(const RunArguments& arguments, const CallersDescriptors& callers, int signals) {
  Streams streams;
  streams.input = callers.input ? 0 : -1;
  if (!arguments.json) {
    streams.output = 1;
    streams.errors = 2;
  }
  streams.terminal = arguments.request.terminal ? 0 : -1;
  streams.raw = arguments.raw;
  streams.signals = signals;
  return streams;
}

Result<void> check_descriptors(const RunArguments& arguments, const CallersDescriptors& callers) {
  if (!callers.output) {
    return refusal("stdout is closed, so the command's output has nowhere to go",
                   "redirect it to /dev/null to drop it");
  }
  if (arguments.status_fd >= 0 && ::fcntl(arguments.status_fd, F_GETFD) < 0) {
    return usage_error("--status-fd " + std::to_string(arguments.status_fd) + " is not open");
  }
  return {};
}

}  // namespace

void say_notes(const std::vector<std::string>& notes, RunArguments& arguments) {
  for (const auto& note : notes) complain("note: " + visible(note));
  arguments.notes.insert(arguments.notes.end(), notes.begin(), notes.end());
}

int finish_run(const Outcome& outcome, const std::string& digest, const RunArguments& arguments) {
  const auto json = [&] { return to_json(outcome, digest, arguments.notes) + "\n"; };
  if (arguments.json) print(json());
  if (arguments.status_fd >= 0) (void)sys::write_all(arguments.status_fd, json());
  // A variable that was left out has ended nothing.
  const bool stopped = std::any_of(outcome.denials.begin(), outcome.denials.end(),
                                   [](const Denial& denial) { return denial.by != DeniedBy(GateId::env); });
  const bool by_itself = !stopped && !outcome.killed_from_outside;
  const bool plain = outcome.end == End::exited || (outcome.end == End::signaled && by_itself);
  if (!arguments.json && (!plain || (outcome.end == End::exited && !outcome.reason.empty())))
    complain(operators_reason(outcome));
  if (!arguments.json) {
    for (const auto& denial : outcome.denials) {
      if (is_by_egress(denial)) complain((denial.what + denial.advice).text());
    }
    for (const auto& failure : outcome.network_failures) complain(failure);
    for (const auto& line : quarantine_lines(outcome)) complain(line);
  }
  return outcome.exit_code;
}

int run_door(std::span<char* const> words, const Environment& environment, const CallersDescriptors& callers,
             const std::function<int()>& otherwise) {
  auto parsed = parse_run(words);
  if (!parsed.ok()) {
    complain(describe(parsed.error()));
    return exit_code_of(parsed.error());
  }
  return run_parsed(std::move(parsed).value(), environment, callers, nullptr, otherwise);
}

int run_parsed(RunArguments arguments, const Environment& environment, const CallersDescriptors& callers,
               RunWitness* witness, const std::function<int()>& otherwise) {
  if (arguments.help) {
    print(run_help());
    return 0;
  }
  auto installation = find_installation(environment);
  // What comes with Cloche is judged by whoever can read it; from then on that is known.
  const ShareJudged share = otherwise && installation.ok()
                                ? share_judged(installation.value().jail, installation.value().state)
                                : ShareJudged::remembered;
  if (share == ShareJudged::no) return otherwise();
  arguments.request.umask =
      ::umask(022);  // there is no way to ask without setting; ours makes files of Cloche's own
  // In the background the terminal is somebody else's: touching its settings would stop us.
  arguments.request.terminal = !arguments.json && !arguments.dry_run && callers.input && callers.output &&
                               ::isatty(0) == 1 && ::isatty(1) == 1 && ::tcgetpgrp(0) == ::getpgrp();
  if (!arguments.json) {
    for (const auto& denial : left_out_of(arguments.request)) complain(denial.what.text());
  }
  const auto answer = [&](const Error& error) {
    return finish_run(outcome_of(error, arguments.request), "", arguments);
  };
  if (auto ready = check_descriptors(arguments, callers); !ready.ok()) return answer(ready.error());
  if (!installation.ok()) return answer(installation.error());
  if (arguments.dry_run) {
    auto plan = plan_only(arguments.request, environment, installation.value());
    if (!plan.ok()) return answer(plan.error());
    show_dry_run(plan.value());
    return 0;
  }
  if (witness != nullptr) {
    if (auto ready = witness->before(); !ready.ok()) return answer(ready.error());
  }
  const OwnedFd signals = take_over_signals();
  auto ran = run(arguments.request, environment, installation.value(),
                 streams_for(arguments, callers, signals.get()));
  if (witness != nullptr) {
    ran.ok() ? witness->after(ran.value().outcome, &ran.value().plan)
             : witness->after(outcome_of(ran.error(), arguments.request), nullptr);
  }
  if (!ran.ok() && otherwise && ran.error().cause == Cause::missing_layer) {
    ::umask(arguments.request.umask);
    return otherwise();
  }
  if (!ran.ok()) return answer(ran.error());
  // Not before: the state directory itself was judged by now. And only what nobody changed meanwhile.
  if (share == ShareJudged::as_built)
    note_share_as_built(installation.value().jail, installation.value().state);
  const bool wants_digest = arguments.json || arguments.status_fd >= 0;
  return finish_run(ran.value().outcome, wants_digest ? digest_of(ran.value().plan) : "", arguments);
}

}  // namespace cloche
