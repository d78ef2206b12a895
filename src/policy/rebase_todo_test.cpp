// Which lists of a rebase hold commands.
#include "policy/rebase_todo.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

TEST(RebaseTodo, ExecLines) {
  for (const char* todo : {"exec make\n", "x make", "pick 1 a\n  exec make\n", "pick 1 a\n\tx\tmake\n", "x\n",
                           "exec\r\n", "# Rebase\n\nexec a\\\n"})
    EXPECT_TRUE(has_exec_line(todo)) << todo;
  for (const char* todo : {"", "\n\n", "pick 1 exec make\n", "# exec make\n", "#x\n", "p 1 x\nexecute\nxx\n",
                           "label exec\nreset exec\nmerge -C 1 x # exec\nupdate-ref refs/heads/x\nbreak\n"})
    EXPECT_FALSE(has_exec_line(todo)) << todo;
}

TEST(RebaseTodo, StrategiesByPath) {
  EXPECT_FALSE(is_strategy_by_path("ort\n"));
  EXPECT_TRUE(is_strategy_by_path("x/y\n"));
  for (const char* opts :
       {"[options]\n\tstrategy = x/y\n", "[options] Strategy=x/y", "[Options]\n\tSTRATEGY = \"x/y\"\n",
        "[options]\n\tstrategy-option = ours\n\tstrategy = x/y\n", "[options]\n\tstrategy = x\\\n/y\n"})
    EXPECT_TRUE(has_strategy_by_path(opts)) << opts;
  for (const char* opts : {"", "[options]\n\tstrategy = ort\n\tmainline = 1\n",
                           "[options]\n\tstrategy = ort\n\tstrategy-option = subtree=a/b\n"})
    EXPECT_FALSE(has_strategy_by_path(opts)) << opts;
}

}  // namespace
}  // namespace cloche
