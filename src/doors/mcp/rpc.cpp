#include "doors/mcp/rpc.hpp"

#include <utility>

#include "doors/print.hpp"

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

Incoming read_response(JsonValue& message, std::string id) {
  JsonValue* result = find(message, "result");
  const bool failed = message.find("error") != nullptr;
  if (id.empty()) return invalid("a response without the id of a request");
  if ((result != nullptr) == failed) return invalid("a message is a request, a result or an error", id);
  Incoming incoming{.kind = Incoming::Kind::response, .id = std::move(id)};
  if (result != nullptr) incoming.result = std::move(*result);
  return incoming;
}

Incoming read_message(JsonValue message) {
  if (!message.is_object()) return invalid("a message is a JSON object");
  const JsonValue* written_id = message.find("id");
  std::string id = written_id != nullptr ? id_of(*written_id) : "";
  const JsonValue* version = message.find("jsonrpc");
  if (version == nullptr || !version->is_string() || version->text != "2.0")
    return invalid(R"(jsonrpc must be "2.0")", id);
  const JsonValue* method = message.find("method");
  if (method == nullptr) return read_response(message, std::move(id));
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
    line.messages.push_back(bad(RpcError::parse_error, "not JSON: " + on_one_line(value.error().what)));
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
  return invalid("a message has more than " + std::to_string(max_message_bytes >> 20) +
                 " MiB, which is the most that is read; it was skipped");
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
