// What the tests of authority share.
#pragma once

#include "policy/authority/authority.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "policy/gates/gates.hpp"

namespace cloche::authority_fixture {

using Family = Capability::Family;
using Names = std::vector<std::string>;

inline HostPaths host() {
  return {.home = "/home/u", .workspace = "/home/u/proj", .own = {"/srv/cloche"}, .secret_grants = {}};
}

inline OperatorDefaults defaults(Autonomy level = Autonomy::full) {
  OperatorDefaults operators;
  operators.ceilings = {
      .commands = CommandProfile::full, .loadout = std::nullopt, .network = true, .level = level};
  return operators;
}

inline Capability read(const std::string& hint) { return {Family::read, hint, "fs:read:" + hint}; }
inline Capability write(const std::string& hint) { return {Family::write, hint, "fs:write:" + hint}; }
inline Capability net(const std::string& host) { return {Family::network, host, "network:" + host}; }
inline Capability execute() { return {Family::execute, "", "code:exec"}; }

inline Authority grant(const OperatorDefaults& operators, const Skill& skill,
                       const HostPaths& names = host()) {
  const auto authority = authority_of(operators, &skill, names);
  EXPECT_TRUE(authority.ok()) << describe(authority.error());
  return authority.ok() ? authority.value() : Authority{};
}

inline std::string joined(const Names& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

inline std::string grants_of(const Authority& authority) {
  std::string text;
  for (const auto& one : authority.grants)
    text += (text.empty() ? "" : " ") + std::string(one.writable ? "rw:" : "ro:") + one.source;
  return text;
}

// ---- each key, under either trust ----

inline Authority grant_to_executor(const OperatorDefaults& operators, const Executor& executor) {
  const auto authority = authority_of(operators, executor, host());
  EXPECT_TRUE(authority.ok()) << describe(authority.error());
  return authority.ok() ? authority.value() : Authority{};
}

}  // namespace cloche::authority_fixture
