// What the tests of the planner share.
#pragma once

#include "base/lists.hpp"
#include "policy/plan/plan_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/sys/path.hpp"

namespace cloche::plan_run_fixture {

using Kind = FileFact::Kind;

inline FileFact directory(std::string path) { return {.kind = Kind::directory, .path = std::move(path)}; }

inline Facts plain_host() {
  Facts facts;
  facts.caller = {.uid = 1001, .gid = 1002, .home = "/home/user", .path = "/usr/bin:/bin"};
  facts.workspace = directory("/home/user/project");
  facts.system = {directory("/usr"), {.kind = Kind::link, .path = "/bin", .link = "usr/bin"}};
  return facts;
}

inline RunRequest plain_request() { return {.argv = {"true"}}; }

inline const ViewEntry* find(const ConfinementPlan& plan, std::string_view target) {
  return find_by(plan.view, &ViewEntry::target, target);
}

inline std::string variable(const ConfinementPlan& plan, std::string_view name) {
  for (const auto& each : plan.environment) {
    if (each.name == name) return each.value;
  }
  return "(unset)";
}

}  // namespace cloche::plan_run_fixture
