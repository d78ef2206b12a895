// Whatever was planned before, the plan and its digest are those that planning anew gives.
#include "gateway/launch/session_caches.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "policy/plan/plan_call.hpp"

namespace cloche {
namespace {

using Kind = FileFact::Kind;

// All that a plan is made of.
struct Material {
  Launch launch;
  RunRequest request;
  Facts facts;
};

FileFact directory(std::string path, uint64_t inode) {
  return {.kind = Kind::directory, .path = std::move(path), .device = 1, .inode = inode};
}

Material usual() {
  Material material;
  material.launch.argv = {"cat", "file"};
  material.launch.readonly = false;
  material.launch.fresh_home = false;
  material.request.grants = {{.source = "/data"}};
  material.request.own = {{.source = "/home-of-task", .target = "/home/cloche", .writable = true}};
  material.request.hidden = {"/project/tool_calls"};
  Facts& facts = material.facts;
  facts.caller = {.uid = 1000, .gid = 1000, .home = "/home/user", .path = "/usr/bin"};
  facts.state = directory("/state", 8);
  facts.workspace = directory("/project", 2);
  facts.grants = {directory("/data", 3)};
  facts.own = {directory("/home-of-task", 4)};
  facts.hidden = {directory("/project/tool_calls", 5)};
  facts.system = {directory("/usr", 6)};
  facts.etc = {{.kind = Kind::file, .path = "/etc/services"}};
  facts.toolchains = {{.name = "pyenv", .trees = {directory("/opt/pyenv", 7)}, .path = {"/opt/pyenv/bin"}}};
  return material;
}

struct Row {
  std::string what;
  std::function<void(Material&)> change;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> table = {
      {"nothing", [](Material&) {}},
      {"command",
       [](Material& m) {
         m.launch.argv = {"ls", "-la"};
       }},
      {"command that JSON cannot carry",
       [](Material& m) {
         m.launch.argv = {"ls", "\xff"};
       }},
      {"shape's environment",
       [](Material& m) {
         m.launch.environment = {{"CI", "1"}};
       }},
      {"shape's directory", [](Material& m) { m.launch.directory = "/"; }},
      {"execution", [](Material& m) { m.launch.noexec = false; }},
      {"programs", [](Material& m) { m.launch.system_programs = false; }},
      {"home", [](Material& m) { m.launch.fresh_home = true; }},
      {"writes", [](Material& m) { m.launch.readonly = true; }},
      {"timeout", [](Material& m) { m.launch.timeout_ms = 1000; }},
      {"script",
       [](Material& m) {
         m.launch.script = Script{"x = 1", "/run/script/x.py"};
       }},
      {"another script",
       [](Material& m) {
         m.launch.script = Script{"x = 2", "/run/script/x.py"};
       }},
      {"what the gateway does itself", [](Material& m) { m.launch = {.does = Recall{.call_id = "c-0001"}}; }},
      {"profile", [](Material& m) { m.request.profile = Profile::readonly; }},
      {"view", [](Material& m) { m.request.view = View::host; }},
      {"umask", [](Material& m) { m.request.umask = 077; }},
      {"debugging", [](Material& m) { m.request.debugging = true; }},
      {"limit", [](Material& m) { m.request.limits.memory_bytes = 1 << 30; }},
      {"workspace read-only", [](Material& m) { m.request.workspace_use = WorkspaceUse::read_only; }},
      {"grant's target", [](Material& m) { m.request.grants[0].target = "/shown"; }},
      {"grant's access", [](Material& m) { m.request.grants[0].writable = true; }},
      {"grant's file", [](Material& m) { m.facts.grants[0].inode = 30; }},
      {"own file", [](Material& m) { m.facts.own[0].inode = 40; }},
      {"hidden file gone", [](Material& m) { m.facts.hidden[0] = {.path = "/project/tool_calls"}; }},
      {"hidden file elsewhere", [](Material& m) { m.facts.hidden[0].path = "/data/tool_calls"; }},
      {"grant that is refused", [](Material& m) { m.facts.hidden[0].path = "/data"; }},
      {"workspace's inode", [](Material& m) { m.facts.workspace.inode = 20; }},
      {"workspace's device", [](Material& m) { m.facts.workspace.device = 20; }},
      {"workspace's owner", [](Material& m) { m.facts.workspace.uid = 20; }},
      {"workspace that is refused", [](Material& m) { m.facts.workspace.path = "/usr"; }},
      {"project's configuration",
       [](Material& m) { m.facts.project_config = directory("/project/.cloche", 9); }},
      {"repository", [](Material& m) { m.facts.git_common = directory("/repository/.git", 10); }},
      {"state", [](Material& m) { m.facts.state.path = "/data/state"; }},
      {"system", [](Material& m) { m.facts.system.push_back(directory("/opt", 11)); }},
      {"etc", [](Material& m) { m.facts.etc[0].path = "/etc/protocols"; }},
      {"mounts", [](Material& m) { m.facts.mounts_below = {directory("/project/mount", 12)}; }},
      {"toolchain's tree",
       [](Material& m) {
         m.launch.system_programs = false;
         m.facts.toolchains[0].trees[0].inode = 70;
       }},
      {"caller's id", [](Material& m) { m.facts.caller.uid = 1001; }},
      {"caller's power", [](Material& m) { m.facts.caller.privileged = true; }},
      {"caller's variable",
       [](Material& m) {
         m.launch.pass_env = {"CI"};
         m.facts.caller.environment = {{"CI", "true"}};
       }},
  };
  return table;
}

void expect_as_anew(PlanCache& memo, const Material& material, const std::string& what) {
  const auto anew = plan_launch(material.launch, material.request, material.facts);
  const auto remembered = memo.plan(material.launch, material.request, material.facts);
  ASSERT_EQ(remembered.ok(), anew.ok()) << what;
  if (!anew.ok()) {
    EXPECT_EQ(remembered.error().what.text(), anew.error().what.text()) << what;
    return;
  }
  EXPECT_EQ(to_json(remembered.value().plan), to_json(anew.value())) << what;
  EXPECT_EQ(remembered.value().digest, digest_of(anew.value())) << what;
}

TEST(PlanCache, EveryChangeIsPlanned) {
  for (const auto& row : rows()) {
    PlanCache memo;
    Material changed = usual();
    row.change(changed);
    expect_as_anew(memo, usual(), "before " + row.what);
    expect_as_anew(memo, changed, row.what);
    expect_as_anew(memo, changed, row.what + " again");
    expect_as_anew(memo, usual(), "after " + row.what);
  }
}

// More of them than are kept.
TEST(PlanCache, WhatWasForgottenIsPlannedAgain) {
  PlanCache memo;
  for (int round = 0; round < 2; ++round) {
    for (const auto& row : rows()) {
      Material changed = usual();
      row.change(changed);
      expect_as_anew(memo, changed, row.what);
    }
  }
}

}  // namespace
}  // namespace cloche
