// A permit for tests of what one lets happen: made as every other is, by decide().
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>

#include <string>

#include "policy/gates/decide.hpp"

namespace cloche::test {

// For whatever acts in this directory.
inline Permit permit_in(const std::string& workspace) {
  Case c;
  c.call.by = Asks::operators;
  c.intent.form = Intent::Form::words;
  c.intent.argv = {"true"};
  c.schema = {GateId::schema, Decision::allow, "a test"};
  c.rules = {GateId::rules, Decision::allow, "a test"};
  Prepared prepared;
  prepared.plan.workspace = prepared.plan.directory = workspace;
  prepared.seen.facts.workspace.path = workspace;
  prepared.seen.held.emplace_back(::open(workspace.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  Judgement judgement = decide(c, {}, std::move(prepared));
  EXPECT_TRUE(judgement.permit);
  return *std::move(judgement.permit);
}

}  // namespace cloche::test
