#include "judged_call.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/json/json_writer.hpp"
#include "doors/approve/terminal_approver.hpp"
#include "gateway/gateway.hpp"

namespace cloche::test {
Called call_run_shell(const std::filesystem::path& workspace, const std::string& cmd,
                      CommandProfile commands) {
  Called called;
  SessionOptions options = default_session();
  options.programs.folder = CLOCHE_TEST_BIN_DIR;
  options.record = Registry::Record::none;
  options.ceilings.commands = options.ceilings.unasked = commands;
  options.operators.workspace = workspace.string();
  options.operators.limits.wall_ms = 120'000;
  const Environment environment(environ);
  const ToolCall call{"run_shell", "{\"cmd\":" + json_quote(cmd) + "}"};
  auto explained = explain(options, call, {}, environment);
  EXPECT_TRUE(explained.ok()) << describe(explained.error());
  if (!explained.ok()) return called;
  called.explanation = std::move(explained).value();
  if (!called.explanation.judgement.permit) return called;
  called.planned_digest = called.explanation.plan_digest();
  auto gateway = Gateway::open(options, environment);
  EXPECT_TRUE(gateway.ok()) << describe(gateway.error());
  if (!gateway.ok()) return called;
  TerminalApprover nobody(0, "/nonexistent");
  CallResult result = gateway.value()->call(call, {}, nobody);
  called.run_digest = result.plan_digest;
  called.outcome = std::move(result.outcome);
  return called;
}

bool is_installed(const std::string& program) {
  for (const std::string folder : {"/usr/local/bin/", "/usr/bin/", "/bin/"}) {
    if (::access((folder + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

}  // namespace cloche::test
