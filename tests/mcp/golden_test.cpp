// One conversation in each era, compared whole. What differs from run to run is replaced by its name.
#include <gtest/gtest.h>

#include <regex>

#include "base/golden.hpp"
#include "mcp/driver.hpp"

namespace cloche::test {
namespace {

std::string settled(std::string line) {
  line = std::regex_replace(line, std::regex(R"(r-[0-9]{8}-[0-9]{6}-[0-9a-f]{4})"), "RUN");
  line = std::regex_replace(line, std::regex(R"(("name":"cloche","title":"Cloche","version":")[^"]*)"),
                            "$1VERSION");
  line = std::regex_replace(line, std::regex(R"(("requestState":")[^"]*)"), "$1STATE");
  line =
      std::regex_replace(line, std::regex(R"("message":"[^"]*touch asked[^"]*")"), R"("message":"QUESTION")");
  return line;
}

// Each line is sent when the one before it was answered; notifications have no answer.
std::string conversation(McpClient& client, const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) {
    client.send(line);
    text += "> " + line + "\n";
    if (line.find("\"id\":") == std::string::npos) continue;
    for (auto message = client.receive(); message; message = client.receive()) {
      text += "< " + settled(client.last_line()) + "\n";
      if (!message->has("method") ||
          (*message)["method"].string == "notifications/subscriptions/acknowledged")
        break;
    }
  }
  return text;
}

std::string request(int id, const std::string& method, const std::string& params = "{}") {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + method + R"(","params":)" +
         params + "}";
}

class McpGolden : public testing::Test {
 protected:
  McpGolden() {
    scene.configure(R"({"permissions":{"rules":[
      {"tool":"run_shell","args":{"cmd":"^touch asked"},"action":"ask","reason":"it is asked about"},
      {"tool":"*","action":"allow","reason":"the rest"}]}})");
    skill = scene.write("SKILL.md", "---\nname: greeting\ndescription: says hello\n---\nSay hello.\n");
  }
  McpScene scene;
  fs::path skill;
};

TEST_F(McpGolden, TheHandshake) {
  McpClient client(scene, {"--prompt", skill});
  const std::string echo =
      call_params("run_shell", R"({"cmd":"echo hi"})", R"("_meta":{"progressToken":"p"})");
  expect_golden(
      "mcp-handshake.txt",
      conversation(client,
                   {request(1, "initialize", R"({"protocolVersion":"2025-06-18","capabilities":{}})"),
                    R"({"jsonrpc":"2.0","method":"notifications/initialized"})", request(2, "ping"),
                    request(3, "logging/setLevel", R"({"level":"info"})"), request(4, "tools/call", echo),
                    request(5, "tools/call", call_params("read_artifact", R"({"path":"../x"})")),
                    request(6, "tools/call", call_params("nope", "{}")),
                    request(7, "resources/templates/list"), request(8, "prompts/list"),
                    request(9, "prompts/get", R"({"name":"greeting"})"), request(10, "server/forget")}));
}

TEST_F(McpGolden, Stateless) {
  McpClient client(scene, {"--prompt", skill});
  const auto ask = [](int id, const std::string& method, const std::string& params = "{}") {
    return request(id, method, stateless(params, R"({"elicitation":{}})"));
  };
  expect_golden(
      "mcp-stateless.txt",
      conversation(client, {ask(1, "server/discover"),
                            ask(2, "tools/call", call_params("run_shell", R"({"cmd":"echo hi"})")),
                            ask(3, "tools/call", call_params("read_artifact", R"({"path":"../x"})")),
                            ask(4, "tools/call", call_params("run_shell", R"({"cmd":"touch asked"})")),
                            ask(5, "tools/call", call_params("nope", "{}")),
                            ask(6, "resources/read", R"({"uri":"cloche://none"})"), ask(7, "prompts/list"),
                            ask(8, "prompts/get", R"({"name":"greeting"})"),
                            ask(9, "subscriptions/listen", R"({"notifications":{"toolsListChanged":true}})"),
                            ask(10, "ping"), request(11, "server/discover")}));
}

}  // namespace
}  // namespace cloche::test
