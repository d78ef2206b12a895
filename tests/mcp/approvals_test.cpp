// Questions to the client's user in both eras: what a yes is good for, and what is refused.
#include <gtest/gtest.h>

#include "mcp/driver.hpp"

namespace cloche::test {
namespace {

constexpr const char* rules = R"({"permissions":{"rules":[
  {"tool":"run_shell","args":{"cmd":"^(touch|echo) asked"},"action":"ask","reason":"it is asked about"},
  {"tool":"run_shell","args":{"cmd":"^touch operators"},"action":"ask","approver":"operator","reason":"his to decide"},
  {"tool":"*","action":"allow","reason":"the rest"}]}})";
constexpr const char* elicits = R"({"elicitation":{"form":{}}})";
const std::string touch = call_params("run_shell", R"({"cmd":"touch asked"})");

class McpApprovals : public testing::Test {
 protected:
  McpApprovals() { scene.configure(rules); }
  bool touched() const { return fs::exists(scene.workspace() / "asked"); }
  McpScene scene;
};

std::string respond(const std::string& id, const std::string& result) {
  return R"({"jsonrpc":"2.0","id":")" + id + R"(","result":)" + result + "}";
}

// In "waiting for approval ID...".
std::string waiting_id(const std::string& refused) {
  const std::string before = "waiting for approval ";
  const size_t place = refused.find(before);
  if (place == std::string::npos) return {};
  const size_t begin = place + before.size();
  return refused.substr(begin, refused.find_first_of(":;,. \"", begin) - begin);
}

TEST_F(McpApprovals, TheHandshakesClientIsAskedWhileTheCallWaits) {
  McpClient client(scene);
  client.shake_hands(elicits);
  client.send(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":)" + touch + "}");
  const auto question = client.receive();
  ASSERT_TRUE(question);
  EXPECT_EQ((*question)["method"].string, "elicitation/create");
  EXPECT_NE((*question)["params"]["message"].string.find("touch asked"), std::string::npos);
  EXPECT_EQ((*question)["params"]["requestedSchema"]["type"].string, "object");
  EXPECT_FALSE(touched());
  client.send(respond((*question)["id"].string, R"({"action":"accept","content":{"answer":"once"}})"));
  EXPECT_TRUE(text_of(client.answer("1")).starts_with("exit_code: 0"));
  EXPECT_TRUE(touched());
}

// A line that a shell reads, which under `any` runs as a script: its code and what it reads are two texts.
TEST_F(McpApprovals, AYesToALineOfShellCoversWhatItReads) {
  McpClient client(scene);
  client.shake_hands(elicits);
  const auto call_with = [&](const std::string& id, const std::string& input) {
    client.send(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"tools/call","params":)" +
                call_params("run_shell", R"({"cmd":"echo asked; cat","stdin":")" + input + R"("})") + "}");
  };
  call_with("1", "good");
  const auto question = client.receive();
  ASSERT_TRUE(question);
  const std::string message = (*question)["params"]["message"].string;
  EXPECT_NE(message.find("input       'echo' 'asked'; 'cat'\nstdin       good\n"), std::string::npos)
      << message;
  client.send(respond((*question)["id"].string, R"({"action":"accept","content":{"answer":"session"}})"));
  EXPECT_TRUE(text_of(client.answer("1")).starts_with("exit_code: 0\nstdout: asked\ngood"));
  call_with("2", "evil");
  const auto again = client.receive();
  ASSERT_TRUE(again);
  ASSERT_EQ((*again)["method"].string, "elicitation/create") << "another input is another question";
  EXPECT_NE((*again)["params"]["message"].string.find("stdin       evil"), std::string::npos);
  client.send(respond((*again)["id"].string, R"({"action":"decline"})"));
  EXPECT_TRUE(text_of(client.answer("2")).starts_with("refused by approval: "));
}

TEST_F(McpApprovals, EverythingButAYesIsANo) {
  McpClient client(scene);
  client.shake_hands(elicits);
  const std::vector<std::string> answers = {R"({"action":"decline"})", R"({"action":"accept"})",
                                            R"({"action":"accept","content":{"answer":"no"}})",
                                            R"({"action":"accept","content":{"answer":true}})"};
  for (size_t i = 0; i < answers.size(); ++i) {
    const std::string id = std::to_string(i);
    client.send(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"tools/call","params":)" + touch + "}");
    const auto question = client.receive();
    ASSERT_TRUE(question);
    client.send(respond((*question)["id"].string, answers[i]));
    const std::string text = text_of(client.answer(id));
    EXPECT_TRUE(text.starts_with("refused by approval: ")) << answers[i];
    EXPECT_EQ(text.find("waiting for approval"), std::string::npos) << "a person said no: " << answers[i];
    EXPECT_NE(text.find("said no to this very call; do not try to do it in another way"), std::string::npos)
        << text;
  }
  EXPECT_FALSE(touched());
}

// Headless clients have no user to ask and put every form away at once: the operator decides.
TEST_F(McpApprovals, WhatIsPutAwayUnansweredIsFiledForTheOperator) {
  McpClient client(scene);
  client.shake_hands(elicits);
  const std::vector<std::string> answers = {R"({"action":"cancel"})", "{}", "null", "7"};
  for (size_t i = 0; i < answers.size(); ++i) {
    const std::string id = std::to_string(i);
    client.send(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"tools/call","params":)" + touch + "}");
    const auto question = client.receive();
    ASSERT_TRUE(question);
    client.send(respond((*question)["id"].string, answers[i]));
    EXPECT_NE(text_of(client.answer(id)).find("waiting for approval"), std::string::npos) << answers[i];
  }
  client.send(R"({"jsonrpc":"2.0","id":"e","method":"tools/call","params":)" + touch + "}");
  const auto question = client.receive();
  ASSERT_TRUE(question);
  client.send(R"({"jsonrpc":"2.0","id":")" + (*question)["id"].string +
              R"(","error":{"code":-1,"message":"no"}})");
  const std::string refused = text_of(client.answer("\"e\""));
  EXPECT_FALSE(touched());
  ASSERT_EQ(run(scene.command({"approve", "yes", waiting_id(refused)})).exit_code, 0) << refused;
  EXPECT_TRUE(text_of(client.ask("\"a\"", "tools/call", touch)).starts_with("exit_code: 0"))
      << "the identical call passes after the operator's yes: " << client.last_line();
  EXPECT_TRUE(touched());
}

// And it is not answered: an error under the id of our own question would be about no request of the
// client's.
TEST_F(McpApprovals, AMalformedAnswerIsANo) {
  McpClient client(scene);
  client.shake_hands(elicits);
  const std::vector<std::string> answers = {
      R"(,"result":{"action":"accept"},"error":{"code":1,"message":"x"})", "",
      R"(,"result":{"action":"accept","action":"accept"})", R"(,"result":{"action":"accept","x":"\ud800"})"};
  for (size_t i = 0; i < answers.size(); ++i) {
    const std::string id = std::to_string(i);
    client.send(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"tools/call","params":)" + touch + "}");
    const auto question = client.receive();
    ASSERT_TRUE(question);
    client.send(R"({"jsonrpc":"2.0","id":")" + (*question)["id"].string + '"' + answers[i] + "}");
    const auto answer = client.receive();
    ASSERT_TRUE(answer) << answers[i];
    EXPECT_TRUE(text_of(*answer).starts_with("refused by approval: ")) << client.last_line();
  }
  EXPECT_FALSE(touched());
}

// Of the very same call: what it reads is part of it, so one that changes its own files is asked about again.
TEST_F(McpApprovals, AYesForTheSessionIsNotAskedAgain) {
  const std::string echo = call_params("run_shell", R"({"cmd":"echo asked"})");
  McpClient client(scene);
  client.shake_hands(elicits);
  client.send(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":)" + echo + "}");
  const auto question = client.receive();
  ASSERT_TRUE(question);
  client.send(respond((*question)["id"].string, R"({"action":"accept","content":{"answer":"session"}})"));
  client.answer("1");
  EXPECT_TRUE(text_of(client.ask("2", "tools/call", echo)).starts_with("exit_code: 0"));
}

TEST_F(McpApprovals, AQuestionOfACallThatIsCalledOffIsTakenBack) {
  McpClient client(scene);
  client.shake_hands(elicits);
  client.send(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":)" + touch + "}");
  const auto question = client.receive();
  ASSERT_TRUE(question);
  client.send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  const auto taken_back = client.receive();
  ASSERT_TRUE(taken_back);
  EXPECT_EQ((*taken_back)["method"].string, "notifications/cancelled");
  EXPECT_EQ((*taken_back)["params"]["requestId"].string, (*question)["id"].string);
  EXPECT_FALSE(touched());
}

// More than run at once, and nobody answers: others do not wait for that.
TEST_F(McpApprovals, QuestionsThatNobodyAnswersStallNoOtherCall) {
  constexpr int questions = 40;
  scene.write("workspace/file", "here");
  McpClient client(scene);
  client.shake_hands(elicits);
  const auto ask = [&](int id) {
    client.send(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"tools/call","params":)" +
                call_params("run_shell", R"({"cmd":"echo asked )" + std::to_string(id) + R"("})") + "}");
  };
  for (int i = 0; i < questions; ++i) ask(i);
  std::vector<std::string> asked;
  for (int i = 0; i < questions; ++i) {
    const auto question = client.receive();
    ASSERT_TRUE(question);
    asked.push_back((*question)["id"].string);
  }
  EXPECT_EQ(text_of(client.ask("\"r\"", "tools/call", call_params("read_artifact", R"({"path":"file"})"))),
            "here");
  for (const auto& id : asked) client.send(respond(id, R"({"action":"accept","content":{"answer":"once"}})"));
  for (int i = 0; i < questions; ++i)
    EXPECT_TRUE(text_of(client.answer(std::to_string(i))).starts_with("exit_code: 0"));
}

// Beyond that number nobody is asked, and it is said at once.
TEST_F(McpApprovals, TooManyQuestions) {
  constexpr int questions = 140;
  constexpr int most = 128;
  McpClient client(scene);
  client.shake_hands(elicits);
  for (int i = 0; i < questions; ++i)
    client.send(R"({"jsonrpc":"2.0","id":)" + std::to_string(i) + R"(,"method":"tools/call","params":)" +
                call_params("run_shell", R"({"cmd":"echo asked )" + std::to_string(i) + R"("})") + "}");
  int asked = 0;
  int refused = 0;
  for (int i = 0; i < questions; ++i) {
    const auto message = client.receive();
    ASSERT_TRUE(message) << i;
    asked += message->has("method") ? 1 : 0;
    refused += text_of(*message).find("too many questions") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(asked, most);
  EXPECT_EQ(refused, questions - most);
  client.process().close_input();
  EXPECT_LT(client.time_to_end(), Millis(1000));
}

// The agent's client reads them, and may show them to the model.
TEST_F(McpApprovals, LogMessagesSayWhatTheModelReads) {
  scene.configure(R"({"permissions":{"rules":[
    {"tool":"run_shell","args":{"cmd":"^touch no"},"action":"deny","reason":"not this"},
    {"tool":"run_shell","args":{"cmd":"^touch asked"},"action":"ask","reason":"it is asked about"},
    {"tool":"*","action":"allow","reason":"the rest"}]}})");
  McpClient client(scene);
  client.shake_hands();
  (void)client.ask("1", "logging/setLevel", R"({"level":"debug"})");
  size_t messages = 0;
  for (const std::string& params : {touch, call_params("run_shell", R"({"cmd":"touch no"})"),
                                    call_params("run_shell", R"({"cmd":"touch x","cwd":"nowhere"})")}) {
    client.send(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":)" + params + "}");
    for (auto line = client.receive(); line && (*line)["id"].number != 2; line = client.receive()) {
      const std::string said = (*line)["params"]["data"].string;
      ++messages;
      for (const char* secret : {"config.json", "cloche approve", "--", "(rule", "/home"})
        EXPECT_EQ(said.find(secret), std::string::npos) << said;
    }
  }
  EXPECT_GE(messages, 3U);
}

TEST_F(McpApprovals, WhoCannotAskGetsAnIdForTheOperator) {
  McpClient client(scene);
  client.shake_hands();
  for (const std::string& params : {touch, stateless(touch)}) {
    const Json refused = client.ask("1", "tools/call", params);
    EXPECT_TRUE(refused["result"]["isError"].boolean);
    EXPECT_NE(text_of(refused).find("waiting for approval "), std::string::npos) << text_of(refused);
    EXPECT_EQ(text_of(refused).find("cloche approve"), std::string::npos) << text_of(refused);
  }
  McpClient able(scene);
  able.shake_hands(elicits);
  const std::string operators = call_params("run_shell", R"({"cmd":"touch operators"})");
  EXPECT_NE(text_of(able.ask("1", "tools/call", operators)).find("waiting for approval "), std::string::npos);
  EXPECT_NE(text_of(able.ask("2", "tools/call", stateless(operators, elicits))).find("waiting for approval "),
            std::string::npos);
}

// In another terminal; and the server may have been started anew meanwhile.
TEST_F(McpApprovals, AfterTheOperatorsYesTheIdenticalCallPassesOnce) {
  std::string id;
  {
    McpClient client(scene);
    client.shake_hands();
    const std::string refused = text_of(client.ask("1", "tools/call", touch));
    const size_t place = refused.find("waiting for approval ");
    ASSERT_NE(place, std::string::npos) << refused;
    id = refused.substr(place + 21, refused.find(':', place + 21) - place - 21);
  }
  const Ran approved = run(scene.command({"approve", "yes", id}));
  ASSERT_EQ(approved.exit_code, 0) << id << approved.out << approved.err;
  McpClient client(scene);
  client.shake_hands();
  const std::string other = call_params("run_shell", R"({"cmd":"touch asked-too"})");
  EXPECT_NE(text_of(client.ask("1", "tools/call", other)).find("waiting for approval"), std::string::npos);
  EXPECT_TRUE(text_of(client.ask("2", "tools/call", touch)).starts_with("exit_code: 0"))
      << client.last_line();
  EXPECT_TRUE(touched());
  fs::remove(scene.workspace() / "asked");
  EXPECT_NE(text_of(client.ask("3", "tools/call", touch)).find("waiting for approval"), std::string::npos)
      << "a yes is for once: " << client.last_line();
}

// The stateless era: the result asks, and the call comes again.
class McpRequestState : public McpApprovals {
 protected:
  Json call(const std::string& params) {
    return client.ask(std::to_string(++id), "tools/call", stateless(params, elicits));
  }
  std::string state_for(const std::string& params) {
    const Json wanted = call(params);
    EXPECT_EQ(wanted["result"]["resultType"].string, "input_required") << client.last_line();
    const Json& asked = wanted["result"]["inputRequests"]["approval"];
    EXPECT_EQ(asked["method"].string, "elicitation/create");
    EXPECT_NE(asked["params"]["message"].string.find("touch asked"), std::string::npos);
    return wanted["result"]["requestState"].string;
  }
  static std::string with(const std::string& params, const std::string& state, const std::string& answer) {
    return params.substr(0, params.size() - 1) + R"(,"requestState":")" + state +
           R"(","inputResponses":{"approval":)" + answer + "}}";
  }
  const std::string yes = R"({"action":"accept","content":{"answer":"once"}})";
  McpClient client{scene};
  int id = 0;
};

TEST_F(McpRequestState, AYesPassesThatVeryCallOnce) {
  const std::string state = state_for(touch);
  EXPECT_FALSE(touched());
  EXPECT_TRUE(text_of(call(with(touch, state, yes))).starts_with("exit_code: 0")) << client.last_line();
  EXPECT_TRUE(touched());
  EXPECT_EQ(code_of(call(with(touch, state, yes))), -32602) << "it was used already: " << client.last_line();
}

TEST_F(McpRequestState, ANoIsARefusalAndUsesItUp) {
  const std::string state = state_for(touch);
  EXPECT_TRUE(
      text_of(call(with(touch, state, R"({"action":"decline"})"))).starts_with("refused by approval: "));
  EXPECT_EQ(code_of(call(with(touch, state, yes))), -32602);
  EXPECT_FALSE(touched());
}

TEST_F(McpRequestState, WhatIsPutAwayUnansweredIsFiledForTheOperator) {
  const std::string state = state_for(touch);
  const std::string refused = text_of(call(with(touch, state, R"({"action":"cancel"})")));
  EXPECT_FALSE(touched());
  ASSERT_EQ(run(scene.command({"approve", "yes", waiting_id(refused)})).exit_code, 0) << refused;
  EXPECT_TRUE(text_of(call(touch)).starts_with("exit_code: 0")) << client.last_line();
  EXPECT_TRUE(touched());
}

TEST_F(McpRequestState, WhatIsAlteredForeignOrAnothersIsRefused) {
  const std::string state = state_for(touch);
  std::string altered = state;
  altered.back() = altered.back() == '0' ? '1' : '0';
  EXPECT_EQ(code_of(call(with(touch, altered, yes))), -32602);
  EXPECT_EQ(code_of(call(with(touch, "made.up", yes))), -32602);
  const std::string other = call_params("run_shell", R"({"cmd":"touch asked-too"})");
  EXPECT_EQ(code_of(call(with(other, state, yes))), -32602) << "it belongs to another call";
  McpClient another(scene);
  EXPECT_EQ(code_of(another.ask("1", "tools/call", stateless(with(touch, state, yes), elicits))), -32602);
  EXPECT_FALSE(touched());
}

TEST_F(McpRequestState, WithoutTheAnswerItIsAskedAgain) {
  const std::string state = state_for(touch);
  const Json again = call(touch.substr(0, touch.size() - 1) + R"(,"requestState":")" + state + "\"}");
  EXPECT_EQ(again["result"]["resultType"].string, "input_required");
  EXPECT_FALSE(touched());
}

}  // namespace
}  // namespace cloche::test
