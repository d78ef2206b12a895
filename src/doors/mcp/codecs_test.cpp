// Every method and every error of the two eras.
#include <gtest/gtest.h>

#include "doors/mcp/handshake_codec.hpp"
#include "doors/mcp/shared_codec.hpp"
#include "doors/mcp/stateless_codec.hpp"

namespace cloche::mcp {
namespace {

constexpr const char* meta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";

Incoming request(const std::string& method, const std::string& params) {
  return read_line(R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":)" + params + "}")
      .messages.at(0);
}

// What was understood, in a word or two; of an error its code.
struct Shown {
  std::string operator()(const Initialize& r) const {
    return "initialize " + r.version + (r.elicits ? " elicits" : "");
  }
  std::string operator()(const Ping&) const { return "ping"; }
  std::string operator()(const SetLevel& r) const { return "level " + std::string(name_of(r.level)); }
  std::string operator()(const Discover&) const { return "discover"; }
  std::string operator()(const Listen&) const { return "listen"; }
  std::string operator()(const List& r) const { return std::string(r.name) + " " + r.cursor; }
  std::string operator()(const ReadResource& r) const { return "read " + r.uri; }
  std::string operator()(const GetPrompt& r) const { return "prompt " + r.name; }
  std::string operator()(const CallTool& r) const {
    return "call " + r.name + r.arguments + (r.state ? " state " + *r.state : "") +
           (r.responses ? " responses " + to_json(*r.responses) : "");
  }
};

std::string shown(const Reading& reading) {
  if (const auto* error = std::get_if<RpcError>(&reading)) return std::to_string(error->code);
  return std::visit(Shown{}, std::get<Understood>(reading).request);
}

struct MethodRow {
  const char* method;
  std::string params;
  const char* means;
};

// The same in both eras.
const MethodRow shared_rows[] = {
    {"tools/list", "{}", "tools "},
    {"tools/list", R"({"cursor":"c"})", "tools c"},
    {"tools/list", R"({"cursor":7})", "-32602"},
    {"tools/list", R"({"cursor":""})", "-32602"},
    {"tools/call", R"({"name":"t"})", "call t{}"},
    {"tools/call", R"({"name":"t","arguments":{"b":1,"a":[true,null]}})", R"(call t{"b":1,"a":[true,null]})"},
    {"tools/call", R"({"name":"t","arguments":7})", "-32602"},
    {"tools/call", R"({"name":7})", "-32602"},
    {"tools/call", "{}", "-32602"},
    {"resources/list", R"({"cursor":"c"})", "resources c"},
    {"resources/templates/list", "{}", "resourceTemplates "},
    {"resources/read", R"({"uri":"u"})", "read u"},
    {"resources/read", "{}", "-32602"},
    {"prompts/list", "{}", "prompts "},
    {"prompts/get", R"({"name":"p","arguments":{}})", "prompt p"},
    {"prompts/get", "{}", "-32602"},
    {"completion/complete", "{}", "-32601"},
    {"resources/subscribe", R"({"uri":"u"})", "-32601"},
    {"", "{}", "-32601"},
};

TEST(HandshakeCodec, EveryMethod) {
  const MethodRow rows[] = {
      {"ping", "{}", "ping"},
      {"logging/setLevel", R"({"level":"emergency"})", "level emergency"},
      {"logging/setLevel", R"({"level":"loud"})", "-32602"},
      {"logging/setLevel", "{}", "-32602"},
      {"initialize", R"({"protocolVersion":"2025-11-25"})", "-32600"},  // for the second time
  };
  const handshake::Agreed agreed{.version = "2025-11-25"};
  for (const auto& row : rows)
    EXPECT_EQ(shown(handshake::read_request(request(row.method, row.params), agreed)), row.means)
        << row.method;
  for (const auto& row : shared_rows)
    EXPECT_EQ(shown(handshake::read_request(request(row.method, row.params), agreed)), row.means)
        << row.method << row.params;
}

TEST(HandshakeCodec, BeforeTheHandshake) {
  const MethodRow rows[] = {
      {"initialize", R"({"protocolVersion":"x"})", "initialize x"},
      {"initialize", R"({"protocolVersion":"x","capabilities":{"elicitation":{}}})", "initialize x elicits"},
      {"initialize", R"({"protocolVersion":"x","capabilities":{"elicitation":{"form":{}}}})",
       "initialize x elicits"},
      {"initialize", R"({"protocolVersion":"x","capabilities":{"elicitation":{"url":{}}}})", "initialize x"},
      {"initialize", R"({"protocolVersion":"x","capabilities":{"elicitation":7}})", "initialize x"},
      {"initialize", R"({"protocolVersion":7})", "-32602"},
      {"initialize", "{}", "-32602"},
      {"ping", "{}", "ping"},
      {"tools/list", "{}", "-32602"},
      {"tools/call", R"({"name":"t"})", "-32602"},
      {"made/up", "{}", "-32601"},
  };
  for (const auto& row : rows)
    EXPECT_EQ(shown(handshake::read_request(request(row.method, row.params), {})), row.means) << row.params;
}

TEST(HandshakeCodec, TheVersionThatIsAgreedOn) {
  for (const char* version : {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"})
    EXPECT_EQ(handshake::agreed_version(version), version);
  for (const char* version : {"2026-07-28", "2024-10-07", "", "x"})
    EXPECT_EQ(handshake::agreed_version(version), "2025-11-25") << version;
}

TEST(StatelessCodec, EveryMethod) {
  const MethodRow rows[] = {
      {"server/discover", "{}", "discover"},
      {"subscriptions/listen", R"({"notifications":{}})", "listen"},
      {"subscriptions/listen", "{}", "-32602"},
      {"tools/call", R"({"name":"t","requestState":"s","inputResponses":{"approval":{}}})",
       R"(call t{} state s responses {"approval":{}})"},
      {"tools/call", R"({"name":"t","requestState":7})", "-32602"},
      {"tools/call", R"({"name":"t","inputResponses":[]})", "-32602"},
      {"ping", "{}", "-32601"},
      {"initialize", "{}", "-32601"},
      {"logging/setLevel", R"({"level":"info"})", "-32601"},
  };
  const auto read = [](const MethodRow& row) {
    const std::string params = row.params == "{}" ? "{" + std::string(meta) + "}"
                                                  : "{" + std::string(meta) + "," + row.params.substr(1);
    const Incoming incoming = request(row.method, params);
    EXPECT_TRUE(stateless::speaks(incoming));
    return shown(stateless::read_request(incoming));
  };
  for (const auto& row : rows) EXPECT_EQ(read(row), row.means) << row.method << row.params;
  for (const auto& row : shared_rows) EXPECT_EQ(read(row), row.means) << row.method << row.params;
}

TEST(StatelessCodec, WhatEveryRequestMustSay) {
  const std::string version = R"("io.modelcontextprotocol/protocolVersion":)";
  const std::string capabilities = R"("io.modelcontextprotocol/clientCapabilities":)";
  const std::string level = R"("io.modelcontextprotocol/logLevel":)";
  struct Row {
    std::string meta;
    const char* means;
  };
  const Row rows[] = {
      {version + R"("2026-07-28",)" + capabilities + "{}", "discover"},
      {version + R"("2026-07-28",)" + capabilities + "{}," + level + R"("debug")", "discover"},
      {version + R"("2026-07-28",)" + capabilities + "{}," + level + R"("loud")", "-32602"},
      {version + R"("2026-07-28",)" + capabilities + "7", "-32602"},
      {version + R"("2026-07-28")", "-32602"},
      {version + "7," + capabilities + "{}", "-32602"},
      {capabilities + "{}", "-32602"},
      {"", "-32602"},
      {version + R"("2025-11-25",)" + capabilities + "{}", "-32022"},
      {version + R"("2099-01-01")", "-32022"},
  };
  for (const auto& row : rows)
    EXPECT_EQ(shown(stateless::read_request(request("server/discover", R"({"_meta":{)" + row.meta + "}}"))),
              row.means)
        << row.meta;
  EXPECT_TRUE(stateless::speaks(request("server/discover", "{}"))) << "no other era has it";
  EXPECT_FALSE(stateless::speaks(request("tools/list", R"({"_meta":{"progressToken":1}})")));
}

TEST(Codecs, ProgressTokens) {
  const std::pair<const char*, const char*> rows[] = {
      {R"({"_meta":{"progressToken":"a"}})", R"("a")"},
      {R"({"_meta":{"progressToken":12}})", "12"},
      {R"({"_meta":{"progressToken":1.5}})", ""},
      {R"({"_meta":{"progressToken":{}}})", ""},
      {R"({"_meta":7})", ""},
      {"{}", ""},
  };
  for (const auto& [params, token] : rows)
    EXPECT_EQ(progress_token_of(request("tools/call", params)), token) << params;
}

TEST(Codecs, WhatIsWritten) {
  struct Row {
    Response response;
    const char* handshake;
    const char* stateless;
  };
  const Row rows[] = {
      {Empty{}, "{}", R"({"resultType":"complete",META})"},
      {Page{.name = "tools", .items = {R"({"name":"a"})", "2"}, .next = "n"},
       R"({"tools":[{"name":"a"},2],"nextCursor":"n"})",
       R"({"resultType":"complete","tools":[{"name":"a"},2],"nextCursor":"n","ttlMs":0,"cacheScope":"private",META})"},
      {ToolResult{.text = "t", .structured = R"({"a":1})", .is_error = false, .meta = R"({"k":"v"})"},
       R"({"content":[{"type":"text","text":"t"}],"structuredContent":{"a":1},"isError":false,"_meta":{"k":"v"}})",
       R"({"resultType":"complete","content":[{"type":"text","text":"t"}],"structuredContent":{"a":1},"isError":false,)"
       R"("_meta":{"io.modelcontextprotocol/serverInfo":INFO,"k":"v"}})"},
      {ToolResult{.text = "\xff", .is_error = true},
       "{\"content\":[{\"type\":\"text\",\"text\":\"\xef\xbf\xbd\"}],\"isError\":true}",
       "{\"resultType\":\"complete\",\"content\":[{\"type\":\"text\",\"text\":\"\xef\xbf\xbd\"}],\"isError\":"
       "true,META}"},
      {ResourceText{"u", "m", "t"}, R"({"contents":[{"uri":"u","mimeType":"m","text":"t"}]})",
       R"({"resultType":"complete","contents":[{"uri":"u","mimeType":"m","text":"t"}],"ttlMs":0,"cacheScope":"private",META})"},
      {PromptText{"d", "t"},
       R"({"description":"d","messages":[{"role":"user","content":{"type":"text","text":"t"}}]})",
       R"({"resultType":"complete","description":"d","messages":[{"role":"user","content":{"type":"text","text":"t"}}],META})"},
  };
  const std::string info = R"({"name":"cloche","title":"Cloche","version":")" CLOCHE_VERSION R"("})";
  const auto expanded = [&](std::string text) {
    const std::pair<std::string, std::string> words[] = {
        {"META", R"("_meta":{"io.modelcontextprotocol/serverInfo":INFO})"}, {"INFO", info}};
    for (const auto& [word, meaning] : words) {
      if (const size_t at = text.find(word); at != std::string::npos) text.replace(at, word.size(), meaning);
    }
    return write_result("1", text);
  };
  for (const auto& row : rows) {
    EXPECT_EQ(handshake::write_response("1", row.response), expanded(row.handshake));
    EXPECT_EQ(stateless::write_response("1", row.response), expanded(row.stateless));
  }
}

// Its code is the other era's; here it is one of bad params.
TEST(Codecs, AResourceThatIsNotThere) {
  const Response missing = RpcError{RpcError::resource_not_found, "m"};
  EXPECT_NE(handshake::write_response("1", missing).find("-32002"), std::string::npos);
  EXPECT_NE(stateless::write_response("1", missing).find("-32602"), std::string::npos);
}

TEST(Codecs, TheQuestionAndTheAnswer) {
  const std::string wanted = stateless::write_response("1", InputRequired{"may it?", "s"});
  EXPECT_NE(wanted.find(R"("resultType":"input_required")"), std::string::npos);
  EXPECT_NE(
      wanted.find(
          R"("inputRequests":{"approval":{"method":"elicitation/create","params":{"mode":"form","message":"may it?")"),
      std::string::npos);
  EXPECT_NE(wanted.find(R"("requestState":"s")"), std::string::npos);
  const std::pair<const char*, Reply> rows[] = {
      {R"({"action":"accept","content":{"answer":"once"}})", Reply::once},
      {R"({"action":"accept","content":{"answer":"session"}})", Reply::session},
      {R"({"action":"accept","content":{"answer":"no"}})", Reply::no},
      {R"({"action":"accept","content":{"answer":"yes"}})", Reply::no},
      {R"({"action":"accept","content":{"answer":true}})", Reply::no},
      {R"({"action":"accept","content":{}})", Reply::no},
      {R"({"action":"accept"})", Reply::no},
      {R"({"action":"decline","content":{"answer":"once"}})", Reply::no},
      {R"({"action":"decline"})", Reply::no},
      {R"({"action":"cancel"})", Reply::none},
      {R"({"action":"cancel","content":{"answer":"once"}})", Reply::none},
      {R"({"action":"ACCEPT","content":{"answer":"once"}})", Reply::none},
      {R"({"action":1,"content":{"answer":"once"}})", Reply::none},
      {R"({"content":{"answer":"once"}})", Reply::none},
      {"null", Reply::none},
      {"[]", Reply::none},
  };
  for (const auto& [text, reply] : rows) EXPECT_EQ(choice_of(read_json(text, "").value()), reply) << text;
}

}  // namespace
}  // namespace cloche::mcp
