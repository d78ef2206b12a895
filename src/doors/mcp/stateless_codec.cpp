#include "doors/mcp/stateless_codec.hpp"

#include "doors/cli/print.hpp"
#include "doors/mcp/handshake_codec.hpp"
#include "doors/mcp/shared_codec.hpp"

namespace cloche::mcp::stateless {
namespace {

constexpr std::string_view version_key = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view capabilities_key = "io.modelcontextprotocol/clientCapabilities";
constexpr std::string_view log_key = "io.modelcontextprotocol/logLevel";
constexpr std::string_view server_key = "io.modelcontextprotocol/serverInfo";
constexpr std::string_view subscription_key = "io.modelcontextprotocol/subscriptionId";

using Read = std::variant<Request, RpcError>;

// A client that does not know the newest version may know an older one.
void write_versions(JsonWriter& out, std::string_view name) {
  out.key(name).begin_array().value(version).value(handshake::latest_version).end_array();
}

RpcError unsupported(const std::string& wanted) {
  JsonWriter data;
  data.begin_object();
  write_versions(data, "supported");
  data.member("requested", wanted).end_object();
  return {RpcError::unsupported_version, "unsupported protocol version " + on_one_line(wanted), data.take()};
}

std::variant<Terms, RpcError> read_terms(const Incoming& incoming) {
  const JsonValue* meta = incoming.meta();
  const JsonValue* said = meta != nullptr ? meta->find(version_key) : nullptr;
  if (said == nullptr || !said->is_string())
    return bad_params("params._meta needs " + std::string(version_key) + ", such as " + std::string(version));
  if (said->text != version) return unsupported(said->text.substr(0, 100));
  const JsonValue* capabilities = meta->find(capabilities_key);
  if (capabilities == nullptr || !capabilities->is_object())
    return bad_params("params._meta needs the object " + std::string(capabilities_key));
  Terms terms{.elicits = elicits_forms(capabilities), .progress_token = progress_token_of(incoming)};
  if (const JsonValue* level = meta->find(log_key)) {
    terms.log = level->is_string() ? log_level(level->text) : std::nullopt;
    if (!terms.log) return bad_params(std::string(log_key) + " is not a log level");
  }
  return terms;
}

// The two members that a call has when it comes again.
std::optional<RpcError> add_answers(CallTool& call, const JsonValue& params) {
  if (const JsonValue* state = params.find("requestState")) {
    if (!state->is_string()) return bad_params("requestState must be the string that was given");
    call.state = state->text;
  }
  if (const JsonValue* responses = params.find("inputResponses")) {
    if (!responses->is_object()) return bad_params("inputResponses must be an object");
    call.responses = *responses;
  }
  return std::nullopt;
}

Read read_any(const Incoming& incoming) {
  if (incoming.method == "server/discover") return Request(Discover{});
  if (incoming.method == "subscriptions/listen") {
    const JsonValue* wanted = incoming.params.find("notifications");
    if (wanted == nullptr || !wanted->is_object())
      return bad_params("subscriptions/listen needs notifications");
    return Request(Listen{});
  }
  auto shared = read_shared(incoming);
  if (!shared) return no_such_method(incoming.method);
  if (auto* request = std::get_if<Request>(&*shared)) {
    auto* call = std::get_if<CallTool>(request);
    if (call == nullptr) return *std::move(shared);
    if (auto error = add_answers(*call, incoming.params)) return *std::move(error);
  }
  return *std::move(shared);
}

// A list is valid as long as this process, but a client may talk to another one next; a transcript grows with
// every call.
bool may_be_cached(const Response& response) {
  return std::holds_alternative<Page>(response) || std::holds_alternative<Welcome>(response) ||
         std::holds_alternative<ResourceText>(response);
}

void write_input_required(JsonWriter& out, const InputRequired& wanted) {
  out.key("inputRequests").begin_object().key(approval_key).begin_object();
  out.member("method", "elicitation/create").key("params").raw(elicitation_params(wanted.message));
  out.end_object().end_object().member("requestState", wanted.state);
}

// Ours, and what the reply itself has to say there.
void write_meta(JsonWriter& out, const Response& response) {
  out.key("_meta").begin_object().key(server_key);
  write_server_info(out);
  if (const auto* result = std::get_if<ToolResult>(&response); result != nullptr && result->meta.size() > 2)
    out.raw(std::string_view(result->meta).substr(1, result->meta.size() - 2));
  out.end_object();
}

}  // namespace

bool speaks(const Incoming& incoming) {
  const JsonValue* meta = incoming.meta();
  return (meta != nullptr && meta->find(version_key) != nullptr) || incoming.method == "server/discover" ||
         incoming.method == "subscriptions/listen";
}

Reading read_request(const Incoming& incoming) {
  auto terms = read_terms(incoming);
  if (auto* error = std::get_if<RpcError>(&terms)) return std::move(*error);
  Read read = read_any(incoming);
  if (auto* error = std::get_if<RpcError>(&read)) return std::move(*error);
  return Understood{std::get<Request>(std::move(read)), std::get<Terms>(std::move(terms))};
}

std::string write_response(const std::string& id, const Response& response) {
  if (const auto* error = std::get_if<RpcError>(&response)) {
    RpcError said = *error;
    if (said.code == RpcError::resource_not_found) said.code = RpcError::invalid_params;  // of the other era
    return write_error(id, said);
  }
  const auto* wanted = std::get_if<InputRequired>(&response);
  JsonWriter out;
  out.begin_object().member("resultType", wanted != nullptr ? "input_required" : "complete");
  if (wanted != nullptr) write_input_required(out, *wanted);
  if (std::holds_alternative<Welcome>(response)) write_versions(out, "supportedVersions");
  write_members(out, response);
  if (may_be_cached(response)) out.member("ttlMs", 0).member("cacheScope", "private");
  write_meta(out, response);
  return write_result(id, out.end_object().text());
}

std::string write_acknowledgement(const std::string& id) {
  JsonWriter out;
  out.begin_object().key("_meta").begin_object().key(subscription_key).raw(id).end_object();
  out.key("notifications").begin_object().end_object();
  return write_notification("notifications/subscriptions/acknowledged", out.end_object().text());
}

}  // namespace cloche::mcp::stateless
