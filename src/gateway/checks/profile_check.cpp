#include "gateway/checks/profile_check.hpp"

#include <algorithm>

#include "base/sys/private_file.hpp"
#include "base/sys/sys.hpp"
#include "base/text/visible_text.hpp"
#include "gateway/checks/isolation_levels.hpp"
#include "gateway/checks/own_run.hpp"
#include "gateway/checks/scratch_workspace.hpp"
#include "gateway/configuration/configuration.hpp"

namespace cloche {
namespace {

using Expect = ProfileExample::Expect;

constexpr uint64_t longest_ms = 30'000;

std::string how_it_ended(const Outcome& outcome) {
  const std::string& said = outcome.errors.empty() ? outcome.output : outcome.errors;
  const std::string why = outcome.reason.empty() ? said.substr(0, said.find('\n')) : outcome.reason.text();
  return "it ended with exit code " + std::to_string(outcome.exit_code) +
         (why.empty() ? "" : ": " + shown(why, 200));
}

struct Terms {
  const SandboxProfile& profile;
  const Settings& settings;
  const Environment& environment;
  const Installation& installation;
};

// A level that is built may still not be on this host.
Result<void> take_box_here(RunRequest& request, const Terms& terms) {
  const Wish wish = TRY(wish_for(terms.settings, terms.environment, FrontEnd::command_line));
  IsolationLevels levels(terms.environment, terms.installation);
  const Choice choice = TRY(choose_backend(request, wish, levels));
  if (choice.backend == Backend::none) return {};  // by the operator's own switch
  const Offer offer = levels.offer(choice.backend, request.landlock);
  if (offer.works) return {};
  const bool by_profile = terms.profile.isolation == request.isolation;
  return refusal((by_profile ? terms.profile.source : text_of(terms.settings.isolation.origin)) +
                     " requires the isolation level " + std::string(name_of(*request.isolation)) +
                     ", which does not work here: " + offer.why,
                 offer.fix);
}

// As an operator's own command has it under the profile: with the limits, the programs and the isolation
// level of the configuration.
Result<RunRequest> request_under(const Terms& terms, const ScratchWorkspace& workspace,
                                 std::vector<std::string> argv) {
  RunRequest request = in_scratch(workspace, std::move(argv));
  std::vector<std::string> ignored;
  TRY(configure(request, terms.settings, ignored));
  apply_profile(request, terms.profile);
  TRY(settle_rung(request, terms.profile.source));
  if (request.isolation) TRY(take_box_here(request, terms));
  return request;
}

Result<Outcome> try_example(const Terms& terms, const ProfileExample& example) {
  const ScratchWorkspace workspace("profile", terms.environment, terms.installation.state);
  if (workspace.path().empty()) return workspace.why_not();
  if (!write_private_file(workspace.path() + "/notes.txt", "a line of notes\n"))
    return system_error("write to " + workspace.path());
  RunRequest request = TRY(request_under(terms, workspace, example.argv));
  request.limits.wall_ms = std::min(request.limits.wall_ms, longest_ms);
  // The switch is for commands: without a box an example proves nothing.
  if (request.backend == Backend::none) {
    request.backend.reset();
    TRY(settle_rung(request, terms.profile.source));
  }
  return std::move(TRY(run_own(request, terms.environment, terms.installation)).outcome);
}

}  // namespace

std::string fault_of(const ProfileExample& example, const Outcome& outcome) {
  // What never ran was stopped by nothing.
  const bool ran = outcome.end == End::exited || outcome.end == End::signaled || outcome.end == End::limit ||
                   outcome.end == End::timeout;
  if (!ran) return "it could not be tried: " + outcome.reason.text();
  const bool allowed = outcome.end == End::exited && outcome.exit_code == 0;
  if (allowed && example.expect == Expect::deny) return "it was allowed";
  if (!allowed && example.expect == Expect::allow) return "it was denied: " + how_it_ended(outcome);
  const std::string printed = outcome.output + outcome.errors;
  if (printed.find(example.says) == std::string::npos)
    return "it did not say \"" + shown(example.says, 80) + "\": " + how_it_ended(outcome);
  return {};
}

Result<void> plan_under(const SandboxProfile& profile, const Settings& settings,
                        const Environment& environment, const Installation& installation) {
  const ScratchWorkspace workspace("profile", environment, installation.state);
  if (workspace.path().empty()) return workspace.why_not();
  const RunRequest request =
      TRY(request_under({profile, settings, environment, installation}, workspace, {"true"}));
  TRY(plan_own(request, environment, installation));
  return {};
}

Result<std::vector<ExampleAnswer>> check_profile(const SandboxProfile& profile, const Settings& settings,
                                                 const Environment& environment,
                                                 const Installation& installation) {
  TRY(plan_under(profile, settings, environment, installation));
  std::vector<ExampleAnswer> answers;
  for (const auto& example : profile.examples) {
    ExampleAnswer answer{file_line(profile.source, example.line), example};
    answer.fault =
        fault_of(example, TRY(try_example({profile, settings, environment, installation}, example)));
    answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace cloche
