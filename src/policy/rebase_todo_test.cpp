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

}  // namespace
}  // namespace cloche
