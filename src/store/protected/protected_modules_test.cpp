// What a command leaves below .git/modules, of which git makes the directory of a submodule later.
#include "store/protected/protected_walk_fixture.hpp"

namespace cloche {
namespace {

const WalkRow rows[] = {
    {"a hook for a submodule that is not there yet",
     [](Tree& t) { t.repository(".git"); },
     [](Tree& t) { t.write(".git/modules/new/hooks/pre-commit"); },
     {".git/modules/new/hooks/pre-commit"}},
    {"at any depth, in any letters",
     [](Tree& t) { t.repository("w/.git"); },
     [](Tree& t) {
       t.write("w/.git/modules/a/b/c/HOOKS/post-checkout");
       t.write("w/.git/MODULES/a/Hooks/update");
     },
     {"w/.git/MODULES/a/Hooks/update", "w/.git/modules/a/b/c/HOOKS/post-checkout"}},
    {"two spellings",
     [](Tree& t) { t.repository(".git"); },
     [](Tree& t) {
       t.write(".git/modules/new/hooks/pre-commit");
       t.write(".git/modules/new/HOOKS/pre-commit");
     },
     {".git/modules/new/HOOKS/pre-commit", ".git/modules/new/hooks/pre-commit"}},
    {"a configuration that runs something",
     [](Tree& t) { t.repository(".git"); },
     [](Tree& t) {
       t.write(".git/modules/new/config", evil_config);
       t.write(".git/modules/newer/Config.Worktree", evil_config);
       t.write(".git/modules/old/config", "[core]\n\tbare = false\n");
     },
     {".git/modules/new/config", ".git/modules/newer/Config.Worktree"}},
    {"of a submodule's own",
     [](Tree& t) {
       t.repository(".git");
       t.repository(".git/modules/lib");
     },
     [](Tree& t) { t.write(".git/modules/lib/modules/new/hooks/pre-commit"); },
     {".git/modules/lib/modules/new/hooks/pre-commit"}},
    {"an older one, moved there",
     [](Tree& t) {
       t.repository(".git");
       t.write("x/hooks/pre-commit");
     },
     [](Tree& t) { t.move("x", ".git/modules"); },
     {".git/modules/hooks/pre-commit"}},
    {"hooks that pose as a repository",
     [](Tree& t) { t.repository(".git"); },
     [](Tree& t) {
       t.make(".git/modules/new/hooks/objects");
       t.make(".git/modules/new/hooks/refs");
       t.write(".git/modules/new/hooks/pre-commit");
     },
     {".git/modules/new/hooks/pre-commit"}},
    {"submodules of any name stay",
     [](Tree& t) { t.repository(".git"); },
     [](Tree& t) {
       for (const char* name : {"lib", "hooks", "config", "a/hooks", "a/config"})
         t.repository(std::string(".git/modules/") + name);
     },
     {}},
    {"samples stay",
     [](Tree& t) { t.repository(".git"); },
     [](Tree& t) { t.write(".git/modules/new/hooks/pre-commit.sample"); },
     {}},
};

TEST(ProtectedModules, WhatACommandLeaves) {
  for (const auto& row : rows) expect_suspects(row);
}

TEST(ProtectedModules, WhatACommandLeavesInARememberedTree) {
  for (const auto& row : rows) expect_suspects_in_remembered_tree(row);
}

}  // namespace
}  // namespace cloche
