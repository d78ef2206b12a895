#include "doors/mcp/rpc.hpp"

#include <gtest/gtest.h>

#include "doors/mcp/framing.hpp"

namespace cloche::mcp {
namespace {

using Kind = Incoming::Kind;

struct MessageRow {
  const char* line;
  Kind kind;
  const char* id;      // as JSON
  const char* method;  // or what its problem says
};

TEST(Rpc, OneMessage) {
  const MessageRow rows[] = {
      {R"({"jsonrpc":"2.0","id":1,"method":"ping"})", Kind::request, "1", "ping"},
      {R"({"jsonrpc":"2.0","id":1.0,"method":"ping"})", Kind::request, "1", "ping"},
      {R"({"jsonrpc":"2.0","id":-7,"method":"ping","params":{}})", Kind::request, "-7", "ping"},
      {R"({"jsonrpc":"2.0","id":"a\"b","method":"ping"})", Kind::request, R"("a\"b")", "ping"},
      {R"({"jsonrpc":"2.0","id":"","method":"ping"})", Kind::request, R"("")", "ping"},
      {R"({"jsonrpc":"2.0","method":"note"})", Kind::notification, "", "note"},
      {R"({"jsonrpc":"2.0","id":3,"result":{}})", Kind::response, "3", ""},
      {R"({"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"m"}})", Kind::response, R"("x")", ""},
      // A response, however malformed, is never answered.
      {R"({"jsonrpc":"2.0","id":3,"result":{},"error":{}})", Kind::response, "3", ""},
      {R"({"jsonrpc":"2.0","result":{}})", Kind::response, "", ""},
      {R"({"id":3,"result":{}})", Kind::response, "3", ""},
      {R"({"jsonrpc":"2.0","id":"x","result":{"a":1,"a":1}})", Kind::response, R"("x")", ""},
      {R"({"jsonrpc":"2.0","id":"x","result":{"a":"\ud800"}})", Kind::response, R"("x")", ""},
      {R"({"jsonrpc":"2.0","id":3})", Kind::bad, "3", "request, a result or an error"},
      {R"({"jsonrpc":"2.0","id":null,"method":"ping"})", Kind::bad, "", "id must be"},
      {R"({"jsonrpc":"2.0","id":[],"method":"ping"})", Kind::bad, "", "id must be"},
      {R"({"jsonrpc":"2.0","id":0.5,"method":"ping"})", Kind::bad, "", "id must be"},
      {R"({"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"})", Kind::bad, "", "id must be"},
      {R"({"jsonrpc":2.0,"id":4,"method":"ping"})", Kind::bad, "4", "jsonrpc must be"},
      {R"({"jsonrpc":"2.0","id":4,"method":null})", Kind::bad, "4", "method must be"},
      {R"({"jsonrpc":"2.0","id":4,"method":"m","params":null})", Kind::bad, "4", "params must be"},
      {R"({"jsonrpc":"2.0","id":4,"method":"m","params":"p"})", Kind::bad, "4", "params must be"},
      {"7", Kind::bad, "", "a JSON object"},
      {"{", Kind::bad, "", "not JSON"},
      // Complete, and refused for what it holds: its sender gets an answer.
      {R"({"jsonrpc":"2.0","id":7,"method":"a","params":{"x":"\ud83d"}})", Kind::bad, "7", "not JSON"},
      {R"( {"params":{"id":1,"x":["]","\"}"],"y":1e999},"id" : "a\"b" , "method":"id"} )", Kind::bad,
       R"("a\"b")", "not JSON"},
      {R"({"id":7,"id":8,"method":"a"})", Kind::bad, "", "not JSON"},
      {R"({"id":7.5,"method":"\ud83d"})", Kind::bad, "", "not JSON"},
      {R"({"id":{},"method":"\ud83d"})", Kind::bad, "", "not JSON"},
      {R"({"id":7,"method":"\ud83d"} {})", Kind::bad, "", "not JSON"},
      {R"({"id":7,"method":"\ud83d")", Kind::bad, "", "not JSON"},
      {R"({"id":7,"method":"\ud83d)", Kind::bad, "", "not JSON"},
      {R"([{"id":7,"method":"\ud83d"}])", Kind::bad, "", "not JSON"},
      {"", Kind::bad, "", "not JSON"},
  };
  for (const auto& row : rows) {
    const Line line = read_line(row.line);
    ASSERT_EQ(line.messages.size(), 1U) << row.line;
    EXPECT_FALSE(line.batch) << row.line;
    const Incoming& message = line.messages[0];
    EXPECT_EQ(message.kind, row.kind) << row.line;
    EXPECT_EQ(message.id, row.id) << row.line;
    const std::string& said = row.kind == Kind::bad ? message.problem.message : message.method;
    EXPECT_NE(said.find(row.method), std::string::npos) << row.line << ": " << said;
  }
}

TEST(Rpc, OnlyAWellFormedResultIsOne) {
  const std::pair<const char*, bool> rows[] = {
      {R"({"jsonrpc":"2.0","id":3,"result":{}})", true},
      {R"({"jsonrpc":"2.0","id":3,"result":{},"error":{}})", false},
      {R"({"jsonrpc":"2.0","id":3,"error":{}})", false},
      {R"({"id":3,"result":{}})", false},
      {R"({"jsonrpc":"2.0","id":3,"result":{"x":"\ud800"}})", false},
  };
  for (const auto& [line, is_one] : rows)
    EXPECT_EQ(read_line(line).messages.at(0).result.is_object(), is_one) << line;
}

TEST(Rpc, OfABadOneWhetherItAsks) {
  const std::pair<const char*, bool> rows[] = {
      {R"({"jsonrpc":"2.0","id":4,"method":null})", true},
      {R"({"jsonrpc":"2.0","id":4,"method":"a","params":{"x":"\ud83d"}})", true},
      {R"({"jsonrpc":"2.0","id":4})", false},
      {R"({"jsonrpc":"2.0","id":4,"x":"\ud83d"})", false},
      {"7", false},
  };
  for (const auto& [line, asks] : rows) EXPECT_EQ(read_line(line).messages.at(0).asks, asks) << line;
}

TEST(Rpc, ABatchIsSeveral) {
  const Line line = read_line(R"([{"jsonrpc":"2.0","id":1,"method":"a"},7,{"jsonrpc":"2.0","method":"b"}])");
  EXPECT_TRUE(line.batch);
  ASSERT_EQ(line.messages.size(), 3U);
  EXPECT_EQ(line.messages[0].kind, Kind::request);
  EXPECT_EQ(line.messages[1].kind, Kind::bad);
  EXPECT_EQ(line.messages[2].kind, Kind::notification);
  EXPECT_EQ(read_line("[]").messages.size(), 1U);
}

TEST(Rpc, WhatIsWritten) {
  EXPECT_EQ(write_result("7", R"({"a":1})"), R"({"jsonrpc":"2.0","id":7,"result":{"a":1}})");
  EXPECT_EQ(write_error("", {RpcError::parse_error, "bad"}),
            R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"bad"}})");
  EXPECT_EQ(write_error("\"x\"", {RpcError::invalid_params, "no", "[1]"}),
            R"({"jsonrpc":"2.0","id":"x","error":{"code":-32602,"message":"no","data":[1]}})");
  EXPECT_EQ(write_request("\"c\"", "m", "{}"), R"({"jsonrpc":"2.0","id":"c","method":"m","params":{}})");
  EXPECT_EQ(write_notification("n", "{}"), R"({"jsonrpc":"2.0","method":"n","params":{}})");
}

// Whatever the pieces in which the bytes come.
TEST(Framing, LinesOfAnyPieces) {
  struct Row {
    const char* bytes;
    std::vector<std::string> lines;  // "!" is one that was too long
  };
  const Row rows[] = {
      {"a\nbb\n", {"a", "bb"}},
      {"a\r\n \n\n\t\nb\n", {"a\r", "b"}},
      {"12345678\n", {"12345678"}},
      {"123456789\nok\n", {"!", "ok"}},
      {"1234567890123456789012345\nok", {"!", "ok"}},
      {"no end", {"no end"}},
      {"far too long without an end", {"!"}},
      {"", {}},
  };
  for (const auto& row : rows) {
    for (size_t piece = 1; piece <= 30; ++piece) {
      std::vector<std::string> lines;
      const auto add = [&](const LineSplitter::Taken& line) {
        lines.emplace_back(line.too_long ? "!" : line.text);
      };
      LineSplitter splitter(8);
      std::string_view rest = row.bytes;
      while (!rest.empty()) {
        splitter.feed(rest.substr(0, piece));
        while (const auto line = splitter.next()) add(*line);
        EXPECT_FALSE(splitter.has_more());
        rest.remove_prefix(std::min(piece, rest.size()));
      }
      if (const auto line = splitter.last()) add(*line);
      EXPECT_EQ(lines, row.lines) << row.bytes << " in pieces of " << piece;
    }
  }
}

}  // namespace
}  // namespace cloche::mcp
