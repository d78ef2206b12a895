#include "doors/cli/run_command.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "base/sys/fd.hpp"
#include "base/sys/sys.hpp"
#include "confine/supervise/escape_filter.hpp"
#include "confine/supervise/outcome_of_call.hpp"
#include "doors/cli/arguments.hpp"
#include "doors/cli/explain_command.hpp"
#include "doors/cli/help_pages.hpp"
#include "doors/cli/print.hpp"
#include "doors/commands.hpp"
#include "doors/hook/hook_command.hpp"
#include "gateway/gateway.hpp"
#include "model/network.hpp"
#include "policy/hosts/declared_hosts.hpp"
#include "tools/answer/model_text.hpp"

namespace cloche {

OwnedFd take_over_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGTSTP})
    sigaddset(&set, number);
  OwnedFd signals(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  // In the background what is written to the terminal must not stop Cloche, whose command would run on.
  for (int number : {SIGTTOU, SIGTTIN}) sigaddset(&set, number);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  return signals;
}

void say_workspace_of_run(const Session& session) {
  if (session.options.operators.workspace_of_run && ::isatty(2) == 1)
    complain("note: the workspace is " + session.workspace);
}

void complain_of_wait(std::string_view why) { complain("waiting: " + std::string(why)); }

namespace {

// For a person; as JSON it comes with every gate's answer.
void show_dry_run(const Prepared& prepared) {
  const ConfinementPlan& plan = prepared.plan;
  std::string text = "plan " + prepared.digest + "\n";
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
  for (const auto& secret : plan.secrets) text += "  env        " + secret.name + " (secret)\n";
  for (const auto& port : plan.published) text += "  published  " + to_text(port) + "\n";
  for (const auto& row : limit_table) {
    text += "  limit      " + std::string(row.name) + " " + show_limit(plan.limits, row) + "\n";
  }
  print(visible(text));
}

// The hosts of the operator's flags as they are compared with what skills declare.
std::vector<std::string> words_of(const std::vector<std::string>& hosts) {
  std::vector<std::string> words;
  for (const auto& host : hosts) words.push_back(host_entry(host).is_any() ? std::string(any_host) : host);
  return words;
}

Result<SessionOptions> session_for(const RunArguments& arguments) {
  SessionOptions options = default_session();
  options.serves = Asks::operators;
  options.operators = arguments.request;
  options.read_files = arguments.secret_files;
  options.ceilings.hosts = words_of(arguments.request.hosts);
  options.run = arguments.run;
  if (arguments.task) options.run_name = run_of_task(*arguments.task, arguments.request);
  const bool recorded = arguments.run || arguments.task;
  options.record = recorded ? Registry::Record::kept : Registry::Record::none;
  options.day_record = true;
  return options;
}

PassedOn passed_on_to(const RunArguments& arguments, const CallersDescriptors& callers, int signals) {
  PassedOn passed_on{.input = callers.input ? 0 : -1, .signals = signals, .raw = arguments.raw};
  if (!arguments.json) {
    passed_on.output = 1;
    passed_on.errors = 2;
    passed_on.says_refusals = true;
    passed_on.notes_layers = callers.errors && ::isatty(2) == 1;
  }
  if (arguments.request.terminal) passed_on.terminal = 0;
  return passed_on;
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

int refuse_run(const Error& error, const RunArguments& arguments) {
  CallResult result;
  result.outcome = failed_command(error, arguments.request);
  return finish_run(result, arguments);
}

int dry_run(const RunArguments& arguments, const Environment& environment) {
  const auto judged = judge_run(arguments, environment);
  if (arguments.json) {
    print(judged.ok() ? explain_json(judged.value()) : explain_json(judged.error()));
    if (!judged.ok()) return exit_code_of(judged.error());
    return judged.value().judgement.decision == Decision::deny ? 126 : 0;
  }
  if (!judged.ok()) return refuse_run(judged.error(), arguments);
  complain_notes(judged.value().notes);
  if (const Prepared* prepared = judged.value().judgement.prepared()) {
    show_dry_run(*prepared);
    return 0;
  }
  CallResult result;
  result.outcome = refused_command(decisive(judged.value().judgement));
  return finish_run(result, arguments);
}

Result<CallResult> run(const RunArguments& arguments, const Environment& environment,
                       const CallersDescriptors& callers, Approver& approver) {
  SessionOptions options = TRY(session_for(arguments));
  auto gateway = TRY(Gateway::open(std::move(options), environment));
  const auto skill = TRY(skill_for(gateway->session(), arguments.skill));
  if (!arguments.json && callers.errors) say_workspace_of_run(gateway->session());
  const OwnedFd signals = take_over_signals();
  const CallContext context{.task = arguments.task,
                            .role = "operator",
                            .skill = skill ? &*skill : nullptr,
                            .passed_on = passed_on_to(arguments, callers, signals.get()),
                            .starts_early = true,
                            .noted = complain_notes,
                            .waits = complain_of_wait};
  return gateway->call(operators_command(arguments.request.argv), context, approver);
}

}  // namespace

int finish_run(const CallResult& result, const RunArguments& arguments, Asks reader) {
  const Outcome& outcome = result.outcome;
  const bool ran = outcome.end != End::refused && outcome.end != End::failed;
  const auto json = [&] { return to_json(outcome, ran ? result.plan_digest : "", result.notes) + "\n"; };
  if (arguments.json) print(json());
  if (arguments.status_fd >= 0) (void)sys::write_all(arguments.status_fd, json());
  // A variable that was left out did not end the command.
  const bool stopped = std::ranges::any_of(outcome.denials, [](const Denial& denial) {
    return denial.by != DeniedBy(GateId::env) && !is_outlived(denial);
  });
  const bool by_itself = !stopped && !outcome.killed_from_outside;
  const bool plain = outcome.end == End::exited || (outcome.end == End::signaled && by_itself);
  if (!arguments.json && (!plain || (outcome.end == End::exited && !outcome.reason.empty())))
    complain(operators_reason(outcome));
  if (!arguments.json) {
    for (const auto& denial : outcome.denials) {
      const bool has_news = !denial.said || denial.times > 1;
      if ((is_by_egress(denial) && has_news) || is_outlived(denial)) complain(operators_sentence(denial));
    }
    for (const auto& failure : outcome.network_failures) complain(failure);
    for (const auto& line : quarantine_lines(outcome, reader)) complain(line);
    // What is in the project as the command wrote it goes without saying.
    if (outcome.changes && !outcome.changes->is_whole()) {
      const ChangesOutcome& changes = *outcome.changes;
      const std::string line = reader == Asks::model ? model_line(changes) : summary_line(changes);
      if (!line.empty()) complain(line);
    }
  }
  return outcome.exit_code;
}

void take_over_process(RunArguments& arguments, const CallersDescriptors& callers) {
  arguments.request.umask =
      ::umask(022);  // there is no way to ask without setting; ours makes files of Cloche's own
  // In the background the terminal is another job's: touching its settings would stop us.
  arguments.request.terminal = !arguments.json && callers.input && callers.output && ::isatty(0) == 1 &&
                               ::isatty(1) == 1 && ::tcgetpgrp(0) == ::getpgrp();
}

Result<Judged> judge_run(const RunArguments& arguments, const Environment& environment) {
  const ExplainedFor whose{.skill_file = arguments.skill, .task = arguments.task};
  return explain(TRY(session_for(arguments)), operators_command(arguments.request.argv), whose, environment);
}

int run_command(std::span<char* const> words, const Environment& environment,
                const CallersDescriptors& callers, Approver& approver) {
  auto parsed = parse_run(words);
  if (!parsed.ok()) return report(parsed.error());
  RunArguments& arguments = parsed.value();
  if (arguments.help) return print_all(text_of(run_help()), 0);
  if (arguments.call) return run_pending_command(*arguments.call, environment);
  auto read = read_secrets(arguments.secrets, environment, arguments.request);
  if (!read.ok()) return refuse_run(read.error(), arguments);
  arguments.secret_files = std::move(read).value();
  take_over_process(arguments, callers);
  if (!arguments.json) {
    for (const auto& denial : left_out_of(arguments.request)) complain(denial.what.text());
  }
  if (auto ready = check_descriptors(arguments, callers); !ready.ok())
    return refuse_run(ready.error(), arguments);
  if (arguments.dry_run) return dry_run(arguments, environment);
  const auto ran = run(arguments, environment, callers, approver);
  return ran.ok() ? finish_run(ran.value(), arguments) : refuse_run(ran.error(), arguments);
}

}  // namespace cloche
