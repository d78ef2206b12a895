// The operator's switches behind the hook: what is allowed is isolated, and what is not isolated is never
// allowed. The table of every door is choose_test.cpp's; here it is shown that the words arrive.
#include <regex>

#include "hook/fixture.hpp"

namespace cloche::test {
namespace {

enum class Held { yes, no, refused };

struct Row {
  const char* sandbox;  // CLOCHE_SANDBOX
  const char* require;  // CLOCHE_REQUIRE_SANDBOX
  const char* config;
  Held held;
};

constexpr const char* off = R"({"enabled": false})";
constexpr const char* off_allowed = R"({"allow_sandbox_off": true})";

const Row rows[] = {
    {"", "", "{}", Held::yes},
    {"on", "", "{}", Held::yes},
    {"off", "", "{}", Held::yes},  // an agent stands behind this door: a variable is not the operator's word
    {"0", "", "{}", Held::yes},
    {"perhaps", "", "{}", Held::refused},
    {"perhaps", "1", off_allowed, Held::refused},
    {"on", "", off_allowed, Held::yes},
    {"off", "", off_allowed, Held::no},
    {"no", "", off_allowed, Held::no},
    {"false", "0", off_allowed, Held::no},
    {"off", "1", off_allowed, Held::yes},
    {"off", "yes", off_allowed, Held::yes},
    {"", "", off, Held::no},
    {"on", "", off, Held::no},
    {"off", "", off, Held::no},
    {"", "1", off, Held::yes},
    {"off", "1", off, Held::yes},
};

class HookSwitches : public Hook {
 protected:
  void configure(const char* config) { scene().write("home/.config/cloche/config.json", config); }
  static Command given(const Row& row) {
    return {.env = {{"CLOCHE_SANDBOX", row.sandbox}, {"CLOCHE_REQUIRE_SANDBOX", row.require}}};
  }
  // Reads what lies beside the workspace, where nothing in the sandbox sees it.
  void SetUp() override { scene().write("beside.txt", "open\n"); }
  std::string look() const { return call_of("Bash", R"({"command": "cat ../beside.txt || echo held"})"); }
  // The agent's own shell has the same environment.
  Ran carry_out_with(const std::string& command, Command how) const {
    Command shell = words({}, std::move(how));
    shell.argv = {"sh", "-c", command};
    return run(shell);
  }
};

std::string words_of(const Row& row) {
  return std::string("CLOCHE_SANDBOX=") + row.sandbox + " CLOCHE_REQUIRE_SANDBOX=" + row.require + " " +
         row.config;
}

// The command in an answer that was heard at a terminal.
std::string command_in(const std::string& reply) {
  std::smatch found;
  const std::regex command(R"re("updatedInput":\{"command":"([^"]*)")re");
  return std::regex_search(reply, found, command) ? found[1].str() : "";
}

TEST_P(HookSwitches, WhatIsAllowedIsIsolated) {
  for (const Row& row : rows) {
    configure(row.config);
    if (row.held == Held::refused) {
      EXPECT_TRUE(refused(hook_bytes(look(), {}, given(row)), {2}, {"means nothing"})) << words_of(row);
      continue;
    }
    const HookSaid said = said_to(look(), given(row));
    if (row.held == Held::no) {
      EXPECT_EQ(said.decision, "deny") << words_of(row);
      EXPECT_TRUE(contains(said.reason, "there is no isolation")) << said.reason;
      EXPECT_EQ(said.command, "") << words_of(row);
      continue;
    }
    EXPECT_EQ(said.decision, "allow") << words_of(row) << said.reason;
    EXPECT_EQ(carry_out_with(said.command, given(row)).out, "held\n") << words_of(row);
  }
}

TEST_P(HookSwitches, AtItsTerminalClaudesPersonIsAskedAboutWhatIsNot) {
  for (const Row& row : rows) {
    if (row.held == Held::refused) continue;
    configure(row.config);
    const std::string reply = in_terminal_program(look(), given(row));
    const bool asks = contains(reply, R"("permissionDecision":"ask")");
    EXPECT_EQ(asks, row.held == Held::no) << words_of(row) << reply;
    if (!asks) continue;
    EXPECT_TRUE(contains(reply, "there is no isolation")) << reply;
    EXPECT_TRUE(contains(reply, "What it asks for: cat ../beside.txt")) << reply;
    const Ran ran = carry_out_with(command_in(reply), given(row));
    EXPECT_EQ(ran.out, "open\n") << words_of(row);
    EXPECT_TRUE(contains(ran.err, "isolation is off")) << ran.err;
  }
}

TEST_P(HookSwitches, WhatWasAllowedIsIsolatedWhateverIsSwitchedSince) {
  const std::string command = said_to(look()).command;
  configure(off);
  EXPECT_EQ(carry_out(command).out, "held\n");
}

TEST_P(HookSwitches, WhatIsRefusedForItIsInTheRecord) {
  configure(off);
  (void)said_to(look());
  const Ran log = cloche_in_state({"log", "show", "last"});
  EXPECT_TRUE(contains(log.out, "there is no isolation")) << log.out;
}

FOR_EVERYONE(HookSwitches);

}  // namespace
}  // namespace cloche::test
