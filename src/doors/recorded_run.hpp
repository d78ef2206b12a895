// `cloche run` with --run, --task or --skill: an operator's command that leaves a record, shares a task's
// home, or has what a skill declares.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/environment.hpp"
#include "base/fd.hpp"
#include "doors/arguments.hpp"
#include "doors/run_command.hpp"
#include "gateway/explain.hpp"
#include "model/skill.hpp"
#include "store/record.hpp"

namespace cloche {

// The operator named the skill, so what it declares is granted; what it leaves out, a command of his has
// anyway. `held` keeps what of its places was judged. Its limits come after the configuration's.
Result<Skill> add_skill(RunArguments& arguments, const Environment& environment, std::vector<OwnedFd>& held);

class RecordedRun : public RunWitness {
 public:
  // Adds to the request what the flags mean: the run's workspace, the task's home, the skill's grants.
  static Result<std::unique_ptr<RecordedRun>> prepare(RunArguments& arguments,
                                                      const Environment& environment);

  // To those of the skill; once the configuration has said its own.
  void lower_limits(RunRequest& request) const;

  // What the gates said; also of a command that they refused.
  void note(const std::vector<std::string>& notes);
  void judged(const Explanation& explanation);
  Result<void> before() override;
  void after(const Outcome& outcome, const ConfinementPlan* plan) override;

 private:
  std::unique_ptr<Run> run_;  // none: only a skill was named
  CallRecord record_ = {};
  std::optional<Skill> skill_;
  std::vector<OwnedFd> held_;  // what of the skill's places was judged
};

}  // namespace cloche
