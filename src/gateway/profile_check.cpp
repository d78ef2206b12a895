#include "gateway/profile_check.hpp"

#include <algorithm>

#include "base/private_file.hpp"
#include "base/shown.hpp"
#include "base/sys.hpp"
#include "gateway/configuration.hpp"
#include "gateway/ladder.hpp"
#include "gateway/throwaway.hpp"

namespace cloche {
namespace {

using Expect = ProfileExample::Expect;

constexpr uint64_t longest_ms = 30'000;

std::string how_it_ended(const Outcome& outcome) {
  const std::string said = outcome.errors.empty() ? outcome.output : outcome.errors;
  const std::string reason = outcome.reason.empty() ? said : outcome.reason;
  return "it ended with exit code " + std::to_string(outcome.exit_code) +
         (reason.empty() ? "" : ": " + shown(reason.substr(0, reason.find('\n')), 200));
}

// A rung that is built may still not be on this host.
Result<void> judge_rung_here(RunRequest& request, const SandboxProfile& profile, const Settings& settings,
                             const Environment& environment, const Installation& installation) {
  const Wish wish = TRY(wish_for(settings, environment, Door::command_line));
  Ladder ladder(environment, installation);
  const Choice choice = TRY(take_box(request, wish, ladder));
  if (choice.backend == Backend::none) return {};  // by the operator's own switch
  const Offer offer = ladder.offer(choice.backend);
  if (offer.works) return {};
  return refusal(profile.source + " requires the rung " + std::string(name_of(*profile.isolation)) +
                     ", which does not work here: " + offer.why,
                 offer.fix);
}

Result<Outcome> try_example(const SandboxProfile& profile, const ProfileExample& example,
                            const Environment& environment, const Installation& installation) {
  const Throwaway workspace("profile", environment, installation.state);
  if (workspace.path().empty()) return workspace.why_not();
  if (!write_private_file(workspace.path() + "/notes.txt", "a line of notes\n"))
    return system_error("write to " + workspace.path());
  RunRequest request = in_throwaway(workspace, example.argv);
  request.limits.wall_ms = std::min(request.limits.wall_ms, longest_ms);
  apply_profile(request, profile);
  TRY(settle_rung(request, profile.source));
  return std::move(TRY(run(request, environment, installation, Streams{})).outcome);
}

}  // namespace

std::string fault_of(const ProfileExample& example, const Outcome& outcome) {
  // What never ran was stopped by nothing.
  const bool ran = outcome.end == End::exited || outcome.end == End::signaled || outcome.end == End::limit ||
                   outcome.end == End::timeout;
  if (!ran) return "it could not be tried: " + outcome.reason;
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
  const Throwaway workspace("profile", environment, installation.state);
  if (workspace.path().empty()) return workspace.why_not();
  RunRequest request = in_throwaway(workspace, {"true"});
  std::vector<std::string> ignored;
  TRY(configure(request, settings, ignored));
  apply_profile(request, profile);
  TRY(settle_rung(request, profile.source));
  if (profile.isolation) TRY(judge_rung_here(request, profile, settings, environment, installation));
  TRY(plan_only(request, environment, installation));
  return {};
}

Result<std::vector<ExampleAnswer>> check_profile(const SandboxProfile& profile, const Settings& settings,
                                                 const Environment& environment,
                                                 const Installation& installation) {
  TRY(plan_under(profile, settings, environment, installation));
  std::vector<ExampleAnswer> answers;
  for (const auto& example : profile.examples) {
    ExampleAnswer answer{place(profile.source, example.line), example};
    answer.fault = fault_of(example, TRY(try_example(profile, example, environment, installation)));
    answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace cloche
