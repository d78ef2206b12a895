// What a client can want of this server and what it gets, as plain values that no era of the protocol and no
// transport shows in. The codecs make the first of messages and messages of the second.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json/json_text.hpp"
#include "doors/mcp/rpc.hpp"
#include "tools/answer/reply.hpp"

namespace cloche::mcp {

// The words of RFC 5424, the least important first.
enum class LogLevel { debug, info, notice, warning, error, critical, alert, emergency };
std::optional<LogLevel> log_level(std::string_view name);
std::string_view name_of(LogLevel level);

// What comes along with every request, or was agreed on at the handshake.
struct Terms {
  bool elicits = false;              // the client can put a form before its user
  std::optional<LogLevel> log = {};  // the least that it wants to be told; none: nothing
  std::string progress_token = {};   // as JSON; empty: it wants no progress
};

struct Initialize {
  std::string version = {};
  bool elicits = false;
};
struct Ping {};
struct SetLevel {
  LogLevel level = LogLevel::info;
};
struct Discover {};
struct Listen {};
struct List {
  std::string_view name = {};  // "tools", ...: the member of the result
  std::string cursor = {};
};
struct ReadResource {
  std::string uri = {};
};
struct GetPrompt {
  std::string name = {};
};
struct CallTool {
  std::string name = {};
  std::string arguments = "{}";             // JSON
  std::optional<std::string> state = {};    // what an earlier answer gave the client to bring back
  std::optional<JsonValue> responses = {};  // to what that answer asked for
};

using Request =
    std::variant<Initialize, Ping, SetLevel, Discover, Listen, List, ReadResource, GetPrompt, CallTool>;

struct Understood {
  Request request;
  Terms terms = {};
};
using Reading = std::variant<Understood, RpcError>;

struct Empty {};
struct Welcome {  // to initialize and server/discover
  std::string version = {};
  std::string instructions = {};
};
struct Page {                           // of a list
  std::string_view name = {};           // "tools", ...
  std::vector<std::string> items = {};  // JSON
  std::string next = {};                // the cursor of the next page; empty: this is the last
};
struct ResourceText {
  std::string uri = {};
  std::string mime = {};
  std::string text = {};
};
struct PromptText {
  std::string description = {};
  std::string text = {};
};
struct ToolResult {
  std::string text = {};
  std::string structured = {};  // a JSON object; empty: none
  ShownImage image = {};
  bool is_error = false;
  std::string meta = {};  // a JSON object
};
// A person has to be asked, and only the client can: it calls again with the answer.
struct InputRequired {
  std::string message = {};
  std::string state = {};
};

using Response =
    std::variant<RpcError, Empty, Welcome, Page, ResourceText, PromptText, ToolResult, InputRequired>;

}  // namespace cloche::mcp
