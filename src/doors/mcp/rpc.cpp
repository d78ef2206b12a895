#include "doors/mcp/rpc.hpp"

#include <algorithm>
#include <utility>

#include "doors/cli/print.hpp"

namespace cloche::mcp {
namespace {

Incoming bad(RpcError::Code code, std::string message, std::string id = {}) {
  Incoming incoming;
  incoming.id = std::move(id);
  incoming.problem = {code, std::move(message)};
  return incoming;
}

Incoming invalid(std::string message, std::string id = {}) {
  return bad(RpcError::invalid_request, std::move(message), std::move(id));
}

// A string or a whole number, in one spelling: 1 and 1.0 are one id. Empty: it is none that MCP allows.
std::string id_of(const JsonValue& value) {
  if (value.is_number() && value.whole) return std::to_string(value.integer);
  if (value.is_string() && value.text.size() <= max_id_bytes) return json_quote(value.text);
  return {};
}

JsonValue* find(JsonValue& object, std::string_view name) {
  for (auto& member : object.members) {
    if (member.name == name) return &member.value;
  }
  return nullptr;
}

// A malformed response is still one: the call that waits for it gets an empty result, and a response is never
// answered itself.
Incoming read_response(JsonValue& message, std::string id) {
  Incoming incoming{.kind = Incoming::Kind::response, .id = std::move(id)};
  JsonValue* result = find(message, "result");
  if (result != nullptr && message.find("error") == nullptr) incoming.result = std::move(*result);
  return incoming;
}

Incoming asking(Incoming bad) {
  bad.asks = true;
  return bad;
}

bool has_version(const JsonValue& message) {
  const JsonValue* version = message.find("jsonrpc");
  return version != nullptr && version->is_string() && version->text == "2.0";
}

Incoming read_request(JsonValue& message, std::string id) {
  const JsonValue* written_id = message.find("id");
  const JsonValue* method = message.find("method");
  if (!has_version(message)) return invalid(R"(jsonrpc must be "2.0")", id);
  if (!method->is_string()) return invalid("method must be a string", id);
  if (written_id != nullptr && id.empty())
    return invalid("id must be an integer or a string of at most " + std::to_string(max_id_bytes) + " bytes");
  JsonValue* params = find(message, "params");
  if (params != nullptr && !params->is_object()) return invalid("params must be an object", id);
  Incoming incoming{.kind = written_id != nullptr ? Incoming::Kind::request : Incoming::Kind::notification,
                    .id = std::move(id),
                    .method = method->text};
  if (params != nullptr) incoming.params = std::move(*params);
  return incoming;
}

Incoming read_message(JsonValue message) {
  if (!message.is_object()) return invalid("a message is a JSON object");
  const JsonValue* written_id = message.find("id");
  std::string id = written_id != nullptr ? id_of(*written_id) : "";
  if (message.find("method") != nullptr) return asking(read_request(message, std::move(id)));
  const bool answers = message.find("result") != nullptr || message.find("error") != nullptr;
  if (!answers) return invalid("a message is a request, a result or an error", std::move(id));
  if (!has_version(message)) message.members.clear();
  return read_response(message, std::move(id));
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return text;
}

// A string with its quotes, at the front of text; empty: it has no end.
std::string_view string_at_front(std::string_view text) {
  for (size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '"') return text.substr(0, at + 1);
    if (text[at] == '\\') ++at;
  }
  return {};
}

// The value of a member that is a string or a number; of others a piece that is neither.
std::string_view scalar_at_front(std::string_view text) {
  if (text.starts_with('"')) return string_at_front(text);
  return text.substr(0, std::min(text.find_first_of(",} \t\r\n"), text.size()));
}

// What is known of an object that could not be read but is complete: it holds half a surrogate pair, or more
// than the limits allow. Its sender waits for an answer, or has given one.
struct Refused {
  std::string id = {};  // empty: there is none, or more than one
  bool asks = false;
  bool answers = false;
};

// Which member begins here; nothing where the string is a value.
std::string_view value_behind(std::string_view text) {
  const std::string_view colon = without_blanks(text);
  return colon.starts_with(':') ? without_blanks(colon.substr(1)) : std::string_view();
}

Refused look_at_refused(std::string_view text) {
  Refused seen;
  size_t depth = 0;
  text = without_blanks(text);
  if (!text.starts_with('{')) return {};
  while (!text.empty()) {
    const char c = text.front();
    const std::string_view string = c == '"' ? string_at_front(text) : text.substr(0, 1);
    if (string.empty()) return {};
    text.remove_prefix(string.size());
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return without_blanks(text).empty() ? seen : Refused();
    const std::string_view behind = depth == 1 && c == '"' ? value_behind(text) : std::string_view();
    if (behind.empty()) continue;
    seen.asks = seen.asks || string == R"("method")";
    seen.answers = seen.answers || string == R"("result")" || string == R"("error")";
    if (string != R"("id")") continue;
    const auto value = read_json(scalar_at_front(behind), "", message_limits);
    if (!value.ok() || !seen.id.empty()) return {};
    seen.id = id_of(value.value());
  }
  return {};
}

Incoming read_refused(std::string_view text, const std::string& why) {
  Refused seen = look_at_refused(text);
  if (seen.answers && !seen.asks) return {.kind = Incoming::Kind::response, .id = std::move(seen.id)};
  Incoming refused = bad(RpcError::parse_error, "not JSON: " + on_one_line(why), std::move(seen.id));
  refused.asks = seen.asks;
  return refused;
}

}  // namespace

RpcError bad_params(std::string message) { return {RpcError::invalid_params, std::move(message)}; }

const JsonValue* Incoming::meta() const {
  const JsonValue* found = params.find("_meta");
  return found != nullptr && found->is_object() ? found : nullptr;
}

Line read_line(std::string_view text) {
  Line line;
  auto value = read_json(text, "", message_limits);
  if (!value.ok()) {
    line.messages.push_back(read_refused(text, value.error().what.text()));
    return line;
  }
  line.batch = value.value().is_array();
  if (!line.batch) {
    line.messages.push_back(read_message(std::move(value).value()));
    return line;
  }
  JsonValue array = std::move(value).value();
  for (auto& item : array.items) line.messages.push_back(read_message(std::move(item)));
  if (array.items.empty()) line.messages.push_back(invalid("an empty batch"));
  return line;
}

Incoming too_long() {
  return invalid("a message is longer than the limit of " + std::to_string(max_message_bytes >> 20) +
                 " MiB, and was skipped");
}

Incoming no_batches() {
  return invalid("this version of MCP has no batches: send each message on a line of its own");
}

std::string write_error(const std::string& id, const RpcError& error) {
  JsonWriter out;
  out.begin_object().member("jsonrpc", "2.0").key("id").raw(id.empty() ? "null" : id);
  out.key("error").begin_object().member("code", static_cast<int>(error.code));
  out.member("message", error.message);
  if (!error.data.empty()) out.key("data").raw(error.data);
  return out.end_object().end_object().take();
}

std::string write_result(const std::string& id, std::string_view result) {
  JsonWriter out;
  out.reserve(result.size() + id.size() + 40);
  out.begin_object().member("jsonrpc", "2.0").key("id").raw(id).key("result").raw(result);
  return out.end_object().take();
}

std::string write_request(const std::string& id, std::string_view method, std::string_view params) {
  JsonWriter out;
  out.begin_object().member("jsonrpc", "2.0").key("id").raw(id).member("method", method);
  return out.key("params").raw(params).end_object().take();
}

std::string write_notification(std::string_view method, std::string_view params) {
  JsonWriter out;
  out.begin_object().member("jsonrpc", "2.0").member("method", method);
  return out.key("params").raw(params).end_object().take();
}

}  // namespace cloche::mcp
