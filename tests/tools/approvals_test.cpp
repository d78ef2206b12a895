// A rule that asks: with nobody there the answer is no; at a terminal a yes lets one call through, and one
// for the session the same call again, but no other.
#include <cstdlib>

#include "everyday/conversation.hpp"
#include "tools/fixture.hpp"

namespace cloche::test {
namespace {

class Approvals : public Tools {
 protected:
  Approvals() {
    scene().write(
        "home/.config/cloche/config.json",
        R"({"permissions": {"default": "allow", "rules": [{"tool": "run_script", "action": "ask", "reason": "scripts are asked about",
                  "args": {"code": "^echo"}}]}})");
  }
  // Answers each question in turn, in one session at a terminal; the lines that the session printed.
  std::vector<Answer> talk(const std::vector<Call>& calls, const Words& replies) {
    Command command = session_command(calls, {});
    const fs::path said = scene().write("said", "");
    std::string line;
    for (const auto& word : command.argv) line += (line.empty() ? "" : " ") + word;
    command.argv = {"sh", "-c", line + " > " + said.string()};
    Conversation terminal(command, Over::terminal);
    for (const auto& reply : replies) {
      EXPECT_TRUE(terminal.hear("else: no > ")) << terminal.heard();
      terminal.send(reply + "\r");
    }
    EXPECT_TRUE(exited(terminal.finish(), 0));
    EXPECT_TRUE(terminal.settings_restored());
    std::vector<Answer> answers;
    for (auto& json : json_lines(said)) answers.push_back({std::move(json), {}});
    EXPECT_EQ(answers.size(), calls.size());
    answers.resize(calls.size());
    return answers;
  }
};

const Call asked = {"run_script", script("echo one")};
const Call another = {"run_script", script("echo two")};

TEST_P(Approvals, WithNobodyToAskItIsDenied) {
  const Answer answer = call(asked);
  EXPECT_TRUE(refused_by(answer, "approval"));
  EXPECT_EQ(answer.text("decision"), "deny");
  EXPECT_TRUE(ended(call({"run_script", script("true")}), "exited")) << "what no rule asks about runs";
}

TEST_P(Approvals, AYesLetsOneCallThrough) {
  const auto answers = talk({asked, asked}, {"y", "n"});
  EXPECT_TRUE(ended(answers[0], "exited"));
  EXPECT_TRUE(contains(answers[0].result(), "stdout: one"));
  EXPECT_TRUE(refused_by(answers[1], "approval"));
}

TEST_P(Approvals, OneForTheSessionLetsTheSameCallThroughAgainAndNoOther) {
  const auto answers = talk({asked, asked, another, asked}, {"s", "n"});
  for (const size_t same : {0, 1, 3}) EXPECT_TRUE(ended(answers[same], "exited")) << same;
  EXPECT_TRUE(refused_by(answers[2], "approval"));
}

TEST_P(Approvals, AnythingElseIsANo) {
  for (const char* reply : {"", "yep", "no", "N"})
    EXPECT_TRUE(refused_by(talk({asked}, {reply})[0], "approval")) << reply;
}

TEST_P(Approvals, ANoIsAboutOneCall) {
  const auto answers = talk({asked, asked}, {"n", "y"});
  EXPECT_TRUE(refused_by(answers[0], "approval", "did not say yes"));
  EXPECT_TRUE(ended(answers[1], "exited"));
}

TEST_P(Approvals, ARefusedCallIsNotAskedAbout) {
  const auto answers = talk({{"run_script", R"({"code": "echo one", "interpreter": "perl"})"}}, {});
  EXPECT_TRUE(refused_by(answers[0], "schema"));
}

FOR_EVERYONE(Approvals);

}  // namespace
}  // namespace cloche::test
