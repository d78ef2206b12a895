#include "judged_call.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/json.hpp"
#include "policy/plan_call.hpp"

namespace cloche::test {
namespace {

Installation built_installation() {
  Installation installation;
  installation.jail = CLOCHE_TEST_BIN_DIR "/cloche-jail";
  installation.probe = CLOCHE_TEST_BIN_DIR "/cloche-probe";
  return installation;
}

}  // namespace

Called call_run_shell(const std::filesystem::path& workspace, const std::string& cmd,
                      CommandProfile commands) {
  Called called;
  CallRequest request;
  request.call = {"run_shell", "{\"cmd\":" + json_quote(cmd) + "}"};
  request.ceilings.commands = request.ceilings.unasked = commands;
  request.ceilings.loadout = std::nullopt;
  request.ceilings.level = Autonomy::supervised;
  request.operators.workspace = workspace.string();
  request.operators.limits.wall_ms = 120'000;
  const Environment environment(environ);
  const Installation installation = built_installation();
  auto explained = explain_call(request, environment, installation);
  EXPECT_TRUE(explained.ok()) << describe(explained.error());
  if (!explained.ok()) return called;
  called.explanation = std::move(explained).value();
  if (!called.explanation.judgement.permit) return called;
  called.planned_digest = digest_of(*called.explanation.plan);
  const RunRequest run_request =
      request_for(called.explanation.judgement.permit->launch(), request.operators);
  auto ran = run(run_request, environment, installation, Streams{});
  EXPECT_TRUE(ran.ok()) << describe(ran.error());
  if (!ran.ok()) return called;
  called.run_digest = digest_of(ran.value().plan);
  called.outcome = std::move(ran.value().outcome);
  return called;
}

bool is_installed(const std::string& program) {
  for (const std::string folder : {"/usr/local/bin/", "/usr/bin/", "/bin/"}) {
    if (::access((folder + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

}  // namespace cloche::test
