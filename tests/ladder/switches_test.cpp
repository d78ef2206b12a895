// The operator's own switches, end to end: CLOCHE_SANDBOX, CLOCHE_REQUIRE_SANDBOX and `enabled`, for commands
// and for tool calls. The table of every door is choose_test.cpp's; here it is shown that the words arrive.
#include <optional>

#include "ladder/rungs.hpp"

namespace cloche::test {
namespace {

enum class Held { yes, no, refused };

struct Row {
  std::optional<std::string> sandbox;  // CLOCHE_SANDBOX
  std::optional<std::string> require;  // CLOCHE_REQUIRE_SANDBOX
  const char* config;
  Held held;
};

const Row rows[] = {
    {{}, {}, "{}", Held::yes},
    {"", {}, "{}", Held::yes},
    {"on", {}, "{}", Held::yes},
    {"1", {}, "{}", Held::yes},
    {"off", {}, "{}", Held::no},
    {"0", {}, "{}", Held::no},
    {"no", {}, "{}", Held::no},
    {"false", {}, "{}", Held::no},
    {"off", "0", "{}", Held::no},
    {"off", "", "{}", Held::no},
    {"off", "1", "{}", Held::yes},
    {"off", "yes", "{}", Held::yes},
    {"off", "whatever", "{}", Held::yes},
    {{}, "1", "{}", Held::yes},
    {"maybe", {}, "{}", Held::refused},
    {"OFF", {}, "{}", Held::refused},
    {"maybe", "1", "{}", Held::refused},
    {{}, {}, R"({"enabled": false})", Held::no},
    {{}, "1", R"({"enabled": false})", Held::yes},
    {"off", "1", R"({"enabled": false})", Held::yes},
};

std::string words_of(const Row& row) {
  return "CLOCHE_SANDBOX=" + row.sandbox.value_or("(unset)") +
         " CLOCHE_REQUIRE_SANDBOX=" + row.require.value_or("(unset)") + " " + row.config;
}

class Switches : public Everyday {
 protected:
  void SetUp() override {
    scene().write("beside.txt", "open\n");
    file("look.py", "try: print(open('../beside.txt').read(), end='')\nexcept OSError: print('held')\n");
  }

  Ran by(const Row& row, std::vector<std::string> words) {
    scene().write("config/cloche/config.json", row.config);
    Command command = {.argv = {cloche()}, .as = as(), .cwd = workspace()};
    command.argv.insert(command.argv.end(), words.begin(), words.end());
    command.env = {{"XDG_STATE_HOME", state_home(as())}, {"XDG_CONFIG_HOME", scene().root() / "config"}};
    if (row.sandbox) command.env["CLOCHE_SANDBOX"] = *row.sandbox;
    if (row.require) command.env["CLOCHE_REQUIRE_SANDBOX"] = *row.require;
    return run(command);
  }

  static void expect(const Row& row, const Ran& ran) {
    const std::string note = "isolation is off";
    if (row.held == Held::refused) {
      EXPECT_TRUE(refused(ran, {125}, {"CLOCHE_SANDBOX", "means nothing"})) << words_of(row);
      EXPECT_FALSE(contains(ran.out, "open")) << words_of(row);
      return;
    }
    EXPECT_TRUE(exited(ran, 0)) << words_of(row);
    EXPECT_TRUE(contains(ran.out, row.held == Held::yes ? "held\n" : "open\n")) << words_of(row) << "\n"
                                                                                << ran.out;
    EXPECT_EQ(contains(ran.err, note), row.held == Held::no) << words_of(row) << "\n" << ran.err;
  }
};
FOR_EVERYONE(Switches);

TEST_P(Switches, ACommandIsHeldUnlessTheOperatorSaysOtherwise) {
  for (const Row& row : rows) expect(row, by(row, {"run", "--", "python3", "look.py"}));
}

TEST_P(Switches, SoIsAToolCallByHand) {
  for (const Row& row : rows)
    expect(row, by(row, {"call", "run_shell", R"({"cmd": "python3 look.py", "profile": "full"})"}));
}

// With nothing that holds nothing is claimed either.
TEST_P(Switches, WhatIsOffIsOffInTheAnswerToo) {
  const Ran ran = by({.sandbox = "off", .config = "{}"}, {"run", "--json", "--", "true"});
  EXPECT_TRUE(contains(ran.out, R"("backend":"none","layers":[])")) << ran.out;
}

}  // namespace
}  // namespace cloche::test
