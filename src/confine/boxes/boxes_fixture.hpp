// For tests: the plans that every box is rendered from, and where its parts would lie.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "confine/boxes/box_stage.hpp"
#include "confine/boxes/oci.hpp"
#include "policy/plan/facts_fixture.hpp"
#include "policy/plan/plan_run.hpp"

namespace cloche::fixture {

inline ConfinementPlan planned(const RunRequest& request, const Facts& facts) {
  auto plan = plan_run(request, facts);
  EXPECT_TRUE(plan.ok()) << plan.error().what;
  return plan.ok() ? std::move(plan).value() : ConfinementPlan{};
}

inline ConfinementPlan default_plan() { return planned({.argv = {"python3", "build.py"}}, debian()); }

// Each text in a file of its own name.
inline BoxParts parts_for(const ConfinementPlan& plan) {
  BoxParts parts{.jail = "/opt/cloche/bin/cloche-jail"};
  for (size_t at : texts_in(plan)) parts.texts[at] = "/state/texts" + plan.view[at].target;
  return parts;
}

inline OciOptions options_for(const ConfinementPlan& plan) {
  OciOptions options{.parts = parts_for(plan)};
  options.uids = {{.inside = 0, .outside = 2'000'000'001}, {.inside = 1001, .outside = 2'000'000'000}};
  options.gids = {{.inside = 0, .outside = 2'000'000'001}, {.inside = 1002, .outside = 2'000'000'000}};
  return options;
}

inline OciOptions options_for_gvisor(const ConfinementPlan& plan) {
  OciOptions options{.parts = parts_for(plan), .kernel = BoxKernel::gvisor};
  options.parts.inner.landlock_abi = 0;
  options.inside_uid = options.inside_gid = 0;
  return options;
}

// Of a plan that a bundle can say.
inline std::string bundle_text(const ConfinementPlan& plan, const OciOptions& options) {
  auto text = oci_config(plan, options);
  EXPECT_TRUE(text.ok()) << text.error().what;
  return text.ok() ? std::move(text).value() : "";
}

// Of a plan that a box can be told.
inline LaunchSpec staged_spec(Backend backend, const ConfinementPlan& plan, const HostProbe& probe,
                              const CallResources& resources, const StagedParts& parts) {
  auto spec = render_staged(backend, plan, probe, resources, parts);
  EXPECT_TRUE(spec.ok()) << spec.error().what;
  return spec.ok() ? std::move(spec).value() : LaunchSpec{};
}

// Of an executor: no workspace, its own folder, and nothing that it writes ever runs.
inline RunRequest executor_request(std::vector<Grant> grants = {}) {
  RunRequest request{.argv = {"python3", "tool.py"}};
  request.workspace_use = WorkspaceUse::hidden;
  request.directory = "/home/user/tools/notes";
  request.noexec = true;
  request.own = {{.source = "/home/user/tools/notes"}};
  request.grants = std::move(grants);
  return request;
}

inline Facts executor_facts() {
  Facts facts = debian();
  facts.own = {directory("/home/user/tools/notes", 120, 1001)};
  facts.grants = {directory("/home/user/notes", 121, 1001)};
  return facts;
}

struct Case {
  const char* name;
  ConfinementPlan plan;
};

inline ConfinementPlan with_grants() {
  RunRequest request{.argv = {"./job", "--all"}};
  request.grants = {{.source = "~/data"},
                    {.source = "key.pem", .target = "/data/key.pem"},
                    {.source = "./out", .writable = true}};
  request.environment = {{.name = "TOKEN", .value = "a b"}};
  Facts facts = debian();
  facts.grants = {directory("/home/user/data", 80, 1001), file("/home/user/key.pem", 82, 1001),
                  directory("/srv/out", 81, 1001)};
  return planned(request, facts);
}

inline ConfinementPlan of_the_host() {
  RunRequest request{.argv = {"sh"}};
  request.view = View::host;
  Facts facts = debian();
  facts.root = {link("/bin", "usr/bin"), directory("/etc"), directory("/home"), directory("/usr")};
  facts.secrets = {directory("/home/user/.ssh", 90, 1001), file("/home/user/.netrc", 91, 1001)};
  return planned(request, facts);
}

inline ConfinementPlan of_a_script() {
  RunRequest request{.argv = {"bash", "--noprofile", "--norc", "/run/cloche/script.sh"}};
  request.script = Script{"echo hello\n", "/run/cloche/script.sh"};
  return planned(request, debian());
}

inline ConfinementPlan of_a_task() {
  RunRequest request{.argv = {"make"}};
  request.own = {{"/state/homes/t1/home", "/home/cloche", true}, {"/state/homes/t1/tmp", "/tmp", true}};
  Facts facts = debian();
  facts.own = {directory("/state/homes/t1/home", 130, 1001), directory("/state/homes/t1/tmp", 131, 1001)};
  return planned(request, facts);
}

inline ConfinementPlan with_mounts_below() {
  Facts facts = debian();
  facts.mounts_below = {directory("/home/user/project/mnt"), file("/home/user/project/bound.txt")};
  facts.project_config = directory("/home/user/project/.cloche", 140, 1001);
  return planned({.argv = {"ls"}}, facts);
}

inline std::vector<Case> cases() {
  std::vector<Case> all = {{"default", default_plan()},  {"grants", with_grants()},
                           {"host-view", of_the_host()}, {"script", of_a_script()},
                           {"task", of_a_task()},        {"mounts-below", with_mounts_below()}};
  RunRequest readonly{.argv = {"git", "log"}, .profile = Profile::readonly};
  all.push_back({"readonly", planned(readonly, debian())});
  RunRequest noexec{.argv = {"python3", "-I", "-m", "py_compile", "a.py"}};
  noexec.noexec = true;
  all.push_back({"noexec", planned(noexec, debian())});
  all.push_back({"executor", planned(executor_request(), executor_facts())});
  all.push_back(
      {"executor-read", planned(executor_request({{.source = "/home/user/notes"}}), executor_facts())});
  all.push_back(
      {"executor-write",
       planned(executor_request({{.source = "/home/user/notes", .writable = true}}), executor_facts())});
  RunRequest executes = executor_request();
  executes.noexec = false;
  all.push_back({"executor-exec", planned(executes, executor_facts())});
  ConfinementPlan network = planned(executor_request(), executor_facts());
  network.hosts = {"api.example.org:443"};
  network.network = Network::of_host;
  all.push_back({"executor-network", network});
  return all;
}

}  // namespace cloche::fixture
