// For unit tests of the record: a run of the test's own, and calls to write down in it.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/scratch.hpp"
#include "store/record/record.hpp"
#include "store/record/verify_run.hpp"

namespace cloche {

inline DecisionRecord a_decision(const std::string& task) {
  DecisionRecord decided{
      .task_id = task, .role = "model", .tool = "run_shell", .args = R"({"cmd":"ls -la"})"};
  decided.decision = Decision::allow;
  decided.verdicts = {{GateId::loadout, Decision::allow, "all shipped tools", "", ""}};
  decided.plan_digest = "sha256:" + std::string(64, 'a');
  return decided;
}

inline CallRecord a_call(const DecisionRecord& decided, const std::string& call_id,
                         const std::string& result) {
  CallRecord call{.decided = decided, .call_id = call_id, .result = result};
  call.outcome.end = End::exited;
  call.outcome.exit_code = 0;
  call.outcome.layers = {{LayerId::landlock, "abi 6"}};
  return call;
}

// One call from its decision to its end; its id.
inline std::string write_call(Run& run, const std::string& task, const std::string& raw) {
  const DecisionRecord decided = a_decision(task);
  const auto id = run.begin(decided);
  EXPECT_TRUE(id.ok()) << describe(id.error());
  if (!id.ok()) return "";
  const auto done = run.finish(a_call(decided, id.value(), raw), raw);
  EXPECT_TRUE(done.ok()) << describe(done.error());
  return id.value();
}

inline std::string text_in(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

inline void put_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::trunc) << text;
}

inline std::vector<std::string> lines_in(const std::string& path) {
  std::vector<std::string> lines;
  std::istringstream in(text_in(path));
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

using OpenRun = std::unique_ptr<Run>;  // inside a fixture, Run is a function of testing::Test
inline Result<OpenRun> open_run(const RunPlace& where, Durability durability = Durability::buffered) {
  return Run::open(where, durability);
}

class RecordTest : public testing::Test {
 protected:
  RunPlace place(const std::string& name = "run") const {
    auto placed = place_given_run(scratch_.path + "/" + name, state());
    EXPECT_TRUE(placed.ok()) << describe(placed.error());
    return std::move(placed).value();
  }
  OpenRun open(const RunPlace& where, Durability durability = Durability::buffered) const {
    auto run = open_run(where, durability);
    EXPECT_TRUE(run.ok()) << describe(run.error());
    return std::move(run).value();
  }
  std::string state() const { return scratch_.path + "/state"; }
  std::string transcript(const std::string& task) const {
    return scratch_.path + "/run/artifacts/tool_calls/" + task + ".jsonl";
  }
  std::string audit() const { return scratch_.path + "/run/audit.jsonl"; }

  // "ok", or "file:line: why" of the first fault.
  static std::string verdict(const RunPlace& where, const VerifyRequest& request = {}) {
    const auto found = verify_run(where, request);
    if (!found.ok()) return "error: " + describe(found.error());
    const auto& bad = found.value().first_bad;
    return bad ? bad->file + ":" + std::to_string(bad->line) + ": " + bad->why : "ok";
  }

  Scratch scratch_;
};

}  // namespace cloche
