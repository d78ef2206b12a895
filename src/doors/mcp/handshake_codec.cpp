#include "doors/mcp/handshake_codec.hpp"

#include <algorithm>
#include <array>

#include "doors/mcp/shared_codec.hpp"

namespace cloche::mcp::handshake {
namespace {

// The newest first.
constexpr std::array<std::string_view, 4> versions = {latest_version, first_to_elicit, batch_version,
                                                      "2024-11-05"};

using Read = std::variant<Request, RpcError>;

Read read_initialize(const JsonValue& params) {
  const JsonValue* version = params.find("protocolVersion");
  if (version == nullptr || !version->is_string())
    return bad_params("initialize needs protocolVersion, such as " + std::string(latest_version));
  return Request(Initialize{version->text, elicits_forms(params.find("capabilities"))});
}

Read read_level(const JsonValue& params) {
  const JsonValue* name = params.find("level");
  const auto level = name != nullptr && name->is_string() ? log_level(name->text) : std::nullopt;
  if (!level)
    return bad_params("level must be debug, info, notice, warning, error, critical, alert or emergency");
  return Request(SetLevel{*level});
}

Read read_any(const Incoming& incoming) {
  if (incoming.method == "initialize") return read_initialize(incoming.params);
  if (incoming.method == "ping") return Request(Ping{});
  if (incoming.method == "logging/setLevel") return read_level(incoming.params);
  if (auto shared = read_shared(incoming)) return *std::move(shared);
  return no_such_method(incoming.method);
}

bool fits_before_handshake(const Request& request) {
  return std::holds_alternative<Initialize>(request) || std::holds_alternative<Ping>(request);
}

}  // namespace

std::string_view agreed_version(std::string_view wanted) {
  const auto* found = std::ranges::find(versions, wanted);
  return found != versions.end() ? *found : latest_version;
}

Reading read_request(const Incoming& incoming, const Agreed& agreed) {
  Read read = read_any(incoming);
  if (auto* error = std::get_if<RpcError>(&read)) return std::move(*error);
  Request& request = std::get<Request>(read);
  if (agreed.version.empty() && !fits_before_handshake(request))
    return bad_params("send initialize first, or in params._meta what 2026-07-28 requires of every request");
  if (!agreed.version.empty() && std::holds_alternative<Initialize>(request))
    return RpcError{RpcError::invalid_request, "initialize was sent already"};
  return Understood{
      std::move(request),
      {.elicits = agreed.elicits, .log = agreed.log, .progress_token = progress_token_of(incoming)}};
}

std::string write_response(const std::string& id, const Response& response) {
  if (const auto* error = std::get_if<RpcError>(&response)) return write_error(id, *error);
  JsonWriter out;
  out.begin_object();
  if (const auto* welcome = std::get_if<Welcome>(&response)) {
    out.member("protocolVersion", welcome->version).key("serverInfo");
    write_server_info(out);
  }
  write_members(out, response);
  if (const auto* result = std::get_if<ToolResult>(&response); result != nullptr && !result->meta.empty())
    out.key("_meta").raw(result->meta);
  return write_result(id, out.end_object().text());
}

}  // namespace cloche::mcp::handshake
