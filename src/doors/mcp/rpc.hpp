// JSON-RPC 2.0 as MCP has it: what one message is, and the bytes of ours. Pure. What a message means is for
// the codecs of the two eras (handshake_codec.hpp, stateless_codec.hpp).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json_text.hpp"
#include "base/json/json_writer.hpp"

namespace cloche::mcp {

inline constexpr size_t max_message_bytes = size_t{8} << 20;
inline constexpr size_t max_id_bytes = 1024;
inline constexpr JsonLimits message_limits{.bytes = max_message_bytes, .comments = JsonComments::refused};

struct RpcError {
  enum Code : int {
    parse_error = -32700,
    invalid_request = -32600,
    method_not_found = -32601,
    invalid_params = -32602,
    internal_error = -32603,
    resource_not_found = -32002,   // of the handshake's era alone
    unsupported_version = -32022,  // of the stateless era alone
  };
  Code code = internal_error;
  std::string message = {};  // one sentence
  std::string data = {};     // JSON; empty: there is none
};

RpcError bad_params(std::string message);

struct Incoming {
  enum class Kind { request, notification, response, bad };

  Kind kind = Kind::bad;
  std::string id = {};      // as JSON; empty: it has none, or none that could be read
  std::string method = {};  // of a request or a notification
  JsonValue params = {};    // of these: an object, or null
  JsonValue result = {};    // of a response that is no error and well-formed; else null
  RpcError problem = {};    // of a bad one
  bool asks = false;        // of a bad one: it has a method, and so is no answer to anything

  const JsonValue* meta() const;  // params._meta, when it is an object
};

// What a line holds. A batch has several; everything else is one message, if a bad one.
struct Line {
  bool batch = false;
  std::vector<Incoming> messages = {};
};
Line read_line(std::string_view text);

// A line that was skipped, because it was longer than a message may be.
Incoming too_long();
// A batch, where there are none.
Incoming no_batches();

// Ours: one line each, without its end. An empty id is written as null: it could not be read.
std::string write_error(const std::string& id, const RpcError& error);
std::string write_result(const std::string& id, std::string_view result);
std::string write_request(const std::string& id, std::string_view method, std::string_view params);
std::string write_notification(std::string_view method, std::string_view params);

}  // namespace cloche::mcp
