// What no client should say: a clear error, and the server goes on with bounded memory.
#include <gtest/gtest.h>

#include <thread>

#include "mcp/driver.hpp"

namespace cloche::test {
namespace {

struct BadRow {
  const char* name;
  std::string line;
  int code;
  const char* says;
};

std::string nested(size_t depth) {
  return R"({"jsonrpc":"2.0","id":1,"method":"ping","params":)" + std::string(depth, '[') +
         std::string(depth, ']') + "}";
}

std::vector<BadRow> rows() {
  const std::string request = R"({"jsonrpc":"2.0","id":1,"method":)";
  return {
      {"no JSON", "nonsense", -32700, "not JSON"},
      {"half of it", R"({"jsonrpc":"2.0")", -32700, "not JSON"},
      {"nested 10,000 deep", nested(10'000), -32700, "deep"},
      {"a number of 400 digits", request + R"("ping","params":{"n":1)" + std::string(400, '0') + "}}", -32700,
       ""},
      {"a number beyond a double", request + R"("ping","params":{"n":1e999}})", -32700, ""},
      {"not UTF-8", request + "\"pi\xff\"}", -32700, "UTF-8"},
      {"half a surrogate pair", request + R"("\ud800"})", -32700, ""},
      {"a key twice", R"({"jsonrpc":"2.0","id":1,"id":2,"method":"ping"})", -32700, "twice"},
      {"a byte of zero", std::string(R"({"jsonrpc":"2.0)") + '\0' + "\"}", -32700, ""},
      {"two values", request + R"("ping"} {})", -32700, ""},
      {"a comment", request + R"("ping"} // hello)", -32700, ""},
      {"a batch", "[" + request + R"("ping"}])", -32600, "batch"},
      {"an empty batch", "[]", -32600, "batch"},
      {"a string", R"("ping")", -32600, "object"},
      {"another version of JSON-RPC", R"({"jsonrpc":"1.0","id":1,"method":"ping"})", -32600, "2.0"},
      {"no version", R"({"id":1,"method":"ping"})", -32600, "2.0"},
      {"an id that is null", R"({"jsonrpc":"2.0","id":null,"method":"ping"})", -32600, "id"},
      {"an id with a fraction", R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})", -32600, "id"},
      {"an id that is an object", R"({"jsonrpc":"2.0","id":{},"method":"ping"})", -32600, "id"},
      {"an id of a megabyte",
       R"({"jsonrpc":"2.0","id":")" + std::string(1 << 20, 'x') + R"(","method":"ping"})", -32600, "id"},
      {"a method that is a number", request + "7}", -32600, "method"},
      {"params that are a list", request + R"("ping","params":[]})", -32600, "params"},
      {"neither a request nor an answer", R"({"jsonrpc":"2.0","id":1})", -32600, "request"},
      {"an unknown method", request + R"("tools/destroy"})", -32601, "tools/destroy"},
      {"a second handshake", request + R"("initialize","params":{"protocolVersion":"2025-11-25"}})", -32600,
       "already"},
      {"an unknown tool", request + R"("tools/call","params":{"name":"nope"}})", -32602,
       "unknown tool: nope"},
      {"a call without a name", request + R"("tools/call","params":{}})", -32602, "name"},
      {"arguments that are a list", request + R"("tools/call","params":{"name":"run_shell","arguments":[]}})",
       -32602, "arguments"},
      {"a cursor of nobody's", request + R"("tools/list","params":{"cursor":"after-7000"}})", -32602,
       "cursor"},
      {"a level of nobody's", request + R"("logging/setLevel","params":{"level":"loud"}})", -32602, "level"},
      {"a resource of nobody's", request + R"("resources/read","params":{"uri":"x:y"}})", -32002, "resource"},
      {"a prompt of nobody's", request + R"("prompts/get","params":{"name":"x"}})", -32602, "prompt"},
  };
}

TEST(McpBadInput, EachHasAClearErrorAndTheServerGoesOn) {
  const McpScene scene;
  McpClient client(scene);
  client.shake_hands();
  for (const auto& row : rows()) {
    client.send(row.line);
    const auto answer = client.receive();
    ASSERT_TRUE(answer) << row.name;
    EXPECT_EQ(code_of(*answer), row.code) << row.name << ": " << client.last_line();
    const std::string& message = (*answer)["error"]["message"].string;
    EXPECT_NE(message.find(row.says), std::string::npos) << row.name << ": " << message;
    EXPECT_LT(message.size(), 300U) << row.name;
    EXPECT_TRUE(client.ask("\"after\"", "ping").has("result")) << row.name;
  }
}

TEST(McpBadInput, AMessageOfAHundredMegabytesIsSkipped) {
  const McpScene scene;
  McpClient client(scene);
  client.shake_hands();
  client.send_bytes(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":")");
  const std::string piece(1 << 20, 'x');
  for (int i = 0; i < 100; ++i) client.send_bytes(piece);
  client.send("\"}}");
  const auto answer = client.receive();
  ASSERT_TRUE(answer);
  EXPECT_EQ(code_of(*answer), -32600);
  EXPECT_NE((*answer)["error"]["message"].string.find("8 MiB"), std::string::npos) << client.last_line();
  EXPECT_TRUE(client.ask("2", "ping").has("result"));
  EXPECT_LT(client.most_memory_bytes(), 64U << 20);
}

TEST(McpBadInput, AnIdThatIsInUse) {
  const McpScene scene;
  McpClient client(scene);
  client.shake_hands();
  const std::string call = R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":)" +
                           call_params("run_shell", R"({"cmd":"sleep 0.5"})") + "}";
  client.send(call);
  client.send(call);
  const Json refused = client.answer("1");
  EXPECT_EQ(code_of(refused), -32600) << client.last_line();
  EXPECT_TRUE(text_of(client.answer("1")).starts_with("exit_code: 0"));
}

TEST(McpBadInput, NothingBeforeTheHandshakeButPing) {
  const McpScene scene;
  McpClient client(scene);
  EXPECT_TRUE(client.ask("1", "ping").has("result"));
  EXPECT_EQ(code_of(client.ask("2", "tools/list")), -32602);
  EXPECT_TRUE(client.ask("3", "tools/list", stateless("{}")).has("result")) << "that one needs none";
  client.shake_hands();
  EXPECT_TRUE(client.ask("4", "tools/list").has("result"));
}

// The one revision that had batches.
TEST(McpBadInput, ABatchWhereItIsAllowed) {
  const McpScene scene;
  McpClient client(scene);
  client.shake_hands("{}", "2025-03-26");
  client.send(R"([{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"tools/list"}])");
  EXPECT_TRUE(client.answer("1").has("result"));
  EXPECT_TRUE(client.answer("2").has("result"));
}

TEST(McpBadInput, ResponsesToNothingAndUnknownNotificationsAreNotAnswered) {
  const McpScene scene;
  McpClient client(scene);
  client.shake_hands();
  client.send(
      R"({"jsonrpc":"2.0","id":"cloche-1","result":{"action":"accept","content":{"answer":"once"}}})");
  client.send(R"({"jsonrpc":"2.0","method":"notifications/made-up"})");
  client.send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}})");
  client.send("");
  client.ask("1", "ping");
  EXPECT_TRUE(client.messages().empty());
}

}  // namespace
}  // namespace cloche::test
