#include "gateway/configuration/misconfiguration.hpp"

#include <sys/stat.h>

#include "base/sys/sys.hpp"
#include "gateway/configuration/configuration.hpp"
#include "policy/plan/plan_run.hpp"
#include "store/config/command_files.hpp"
#include "store/config/skill_files.hpp"
#include "store/host/system_facts.hpp"

namespace cloche {
namespace {

Result<void> judge_everywhere(const Environment& environment, const Installation& installation) {
  const Configuration configuration = TRY(load_configuration(environment, installation, ""));
  TRY(load_command_shapes(environment, ""));
  std::vector<std::string> notes;
  RunRequest request;
  TRY(configure(request, configuration.settings, notes));
  const auto& executors = configuration.settings.executors_dir.value;
  if (executors) TRY(load_executors(*executors, {}));
  return {};
}

}  // namespace

bool may_be_workspace(const std::string& path, const Environment& environment) {
  const auto held = sys::hold(path);
  struct stat seen {};
  return held.ok() && ::fstat(held.value().fd.get(), &seen) == 0 &&
         judge_workspace(fact_from(seen, held.value().path), environment.get("HOME")).ok();
}

Result<void> judge_loading(const SessionOptions& options, const Environment& environment) {
  const Installation installation = TRY(find_installation(environment, options.programs));
  SessionOptions said = options;
  said.run.reset();  // nothing is made, so there may be none yet
  if (may_be_workspace(said.operators.workspace.value_or("."), environment))
    TRY(judge_state(installation.state, said.operators));
  TRY(load_session(std::move(said), environment));
  return {};
}

std::string misconfiguration(const Environment& environment, const Installation& installation) {
  const auto judged = judge_everywhere(environment, installation);
  return judged.ok() ? "" : describe(judged.error());
}

}  // namespace cloche
