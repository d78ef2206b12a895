// A terminal in front of `cloche run`, whichever box the command is in: it has one of its own, of the
// caller's size, and an interrupt that is typed ends it.
#include "everyday/conversation.hpp"
#include "ladder/rungs.hpp"
#include "run/fixture.hpp"

namespace cloche::test {
namespace {

class Terminals : public Rungs {
 protected:
  Conversation talk(const std::string& script) const {
    return Conversation(on_rung({"--toolchains", "none"}, {"bash", "-c", script}), Over::terminal, {31, 97});
  }
};
INSTANTIATE_TEST_SUITE_P(Rung, Terminals, ::testing::ValuesIn(seats()),
                         [](const auto& param) { return name_of(param); });

TEST_P(Terminals, TheCommandHasOneOfTheCallersSize) {
  auto with = talk("test -t 0 -a -t 1 -a -t 2 && stty size && read -r line && echo \"<$line>\"; exit 7");
  ASSERT_TRUE(with.hear("31 97")) << with.heard();
  with.send("typed\r");
  EXPECT_TRUE(with.hear("<typed>")) << with.heard();
  EXPECT_TRUE(exited(with.finish(), 7));
  EXPECT_TRUE(with.settings_restored());
}

// The sentry tells the command of no signal from outside: there the call ends.
TEST_P(Terminals, AnInterruptThatIsTypedReachesTheCommand) {
  const auto marker = marker_seconds();
  // A shell that is just starting a program in the foreground hears of a signal only when that has ended.
  auto with = talk("trap 'echo told; exit 9' INT; sleep " + marker + " & echo ready; wait");
  ASSERT_TRUE(with.hear("ready")) << with.heard();
  with.send("\x03");
  const Ran ran = with.finish();
  EXPECT_TRUE(exited(ran, backend() == "runsc" ? 130 : 9)) << with.heard();
  EXPECT_EQ(contains(with.heard(), "told"), backend() != "runsc");
  EXPECT_TRUE(with.settings_restored());
  EXPECT_TRUE(all_gone(marker, 2));
}

// Job control needs a controlling terminal, which a shell finds by its name.
TEST_P(Terminals, ItIsTheControllingTerminal) {
  auto with = talk("{ echo by name > /dev/tty; } 2>/dev/null || echo none");
  EXPECT_TRUE(with.hear(backend() == "runsc" ? "none" : "by name")) << with.heard();
  EXPECT_TRUE(exited(with.finish(), 0));
}

// As scripts do to write past a redirection; and not another process's, of the same user as it may be.
TEST_P(Terminals, ItCanBeOpenedByItsNamesAndNoOtherCan) {
  auto with = talk(
      "own=$(tty); opens() { test -c \"$1\" && { : > \"$1\"; } 2>/dev/null && n=$((n + 1)); }\n"
      "n=0; for name in /dev/stdin /dev/stdout /dev/stderr \"$own\"; do opens \"$name\"; done\n"
      "echo \"opened $n\"; n=0\n"
      "for i in {0..99}; do test /dev/pts/$i = \"$own\" || opens /dev/pts/$i; done; echo \"others $n\"");
  EXPECT_TRUE(with.hear(backend() == "runsc" ? "opened 3" : "opened 4")) << "gVisor's has no name\n"
                                                                         << with.heard();
  EXPECT_TRUE(with.hear("others 0")) << with.heard();
  EXPECT_TRUE(exited(with.finish(), 0));
}

}  // namespace
}  // namespace cloche::test
