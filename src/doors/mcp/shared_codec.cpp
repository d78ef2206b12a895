#include "doors/mcp/shared_codec.hpp"

#include <array>
#include <utility>

#include "base/text/base64.hpp"
#include "doors/cli/print.hpp"

namespace cloche::mcp {
namespace {

constexpr std::array<std::string_view, 8> level_names = {"debug", "info",     "notice", "warning",
                                                         "error", "critical", "alert",  "emergency"};

using Read = std::variant<Request, RpcError>;

const std::string* text_of(const JsonValue& params, std::string_view name) {
  const JsonValue* value = params.find(name);
  return value != nullptr && value->is_string() ? &value->text : nullptr;
}

Read read_list(std::string_view name, const JsonValue& params) {
  const JsonValue* cursor = params.find("cursor");
  if (cursor == nullptr) return Request(List{name});
  if (!cursor->is_string() || cursor->text.empty()) return bad_params("cursor must be one that a list gave");
  return Request(List{name, cursor->text});
}

Read read_call(const JsonValue& params) {
  const std::string* name = text_of(params, "name");
  if (name == nullptr) return bad_params("tools/call needs the name of a tool");
  CallTool call{.name = *name};
  if (const JsonValue* arguments = params.find("arguments")) {
    if (!arguments->is_object()) return bad_params("arguments must be an object");
    call.arguments = to_json(*arguments);
  }
  return Request(std::move(call));
}

Read read_resource(const JsonValue& params) {
  const std::string* uri = text_of(params, "uri");
  if (uri == nullptr) return bad_params("resources/read needs a uri");
  return Request(ReadResource{*uri});
}

Read read_prompt(const JsonValue& params) {
  const std::string* name = text_of(params, "name");
  if (name == nullptr) return bad_params("prompts/get needs the name of a prompt");
  return Request(GetPrompt{*name});
}

struct Method {
  std::string_view name;
  Read (*read)(const JsonValue& params);
};
constexpr Method methods[] = {
    {"tools/list", [](const JsonValue& params) { return read_list("tools", params); }},
    {"tools/call", read_call},
    {"resources/list", [](const JsonValue& params) { return read_list("resources", params); }},
    {"resources/templates/list",
     [](const JsonValue& params) { return read_list("resourceTemplates", params); }},
    {"resources/read", read_resource},
    {"prompts/list", [](const JsonValue& params) { return read_list("prompts", params); }},
    {"prompts/get", read_prompt},
};

void write_text(JsonWriter& out, std::string_view text) {
  out.begin_object().member("type", "text").member("text", text).end_object();
}

void write_image(JsonWriter& out, const ShownImage& image) {
  out.begin_object().member("type", "image").member("data", base64(image.bytes));
  out.member("mimeType", image.type).end_object();
}

// One writer for each kind of reply; the others have nothing to say.
struct MembersWriter {
  JsonWriter& out;

  void operator()(const RpcError&) const {}
  void operator()(const Empty&) const {}
  void operator()(const InputRequired&) const {}
  void operator()(const Welcome& welcome) const {
    out.key("capabilities").begin_object();
    for (const auto* name : {"logging", "prompts", "resources", "tools"})
      out.key(name).begin_object().end_object();
    out.end_object();
    if (!welcome.instructions.empty()) out.member("instructions", welcome.instructions);
  }
  void operator()(const Page& page) const {
    out.key(page.name).begin_array();
    for (const auto& item : page.items) out.raw(item);
    out.end_array();
    if (!page.next.empty()) out.member("nextCursor", page.next);
  }
  void operator()(const ResourceText& resource) const {
    out.key("contents").begin_array().begin_object().member("uri", resource.uri);
    out.member("mimeType", resource.mime).member("text", resource.text).end_object().end_array();
  }
  void operator()(const PromptText& prompt) const {
    if (!prompt.description.empty()) out.member("description", prompt.description);
    out.key("messages").begin_array().begin_object().member("role", "user").key("content");
    write_text(out, prompt.text);
    out.end_object().end_array();
  }
  void operator()(const ToolResult& result) const {
    out.key("content").begin_array();
    write_text(out, result.text);
    if (result.image.is_there()) write_image(out, result.image);
    out.end_array();
    if (!result.structured.empty()) out.key("structuredContent").raw(result.structured);
    out.member("isError", result.is_error);
  }
};

}  // namespace

std::optional<LogLevel> log_level(std::string_view name) {
  for (size_t i = 0; i < level_names.size(); ++i) {
    if (level_names[i] == name) return static_cast<LogLevel>(i);
  }
  return std::nullopt;
}

std::string_view name_of(LogLevel level) { return level_names[static_cast<size_t>(level)]; }

std::optional<Read> read_shared(const Incoming& incoming) {
  for (const auto& method : methods) {
    if (method.name == incoming.method) return method.read(incoming.params);
  }
  return std::nullopt;
}

bool elicits_forms(const JsonValue* capabilities) {
  const JsonValue* elicitation = capabilities != nullptr ? capabilities->find("elicitation") : nullptr;
  if (elicitation == nullptr || !elicitation->is_object()) return false;
  return elicitation->members.empty() || elicitation->find("form") != nullptr;
}

std::string progress_token_of(const Incoming& incoming) {
  const JsonValue* meta = incoming.meta();
  const JsonValue* token = meta != nullptr ? meta->find("progressToken") : nullptr;
  if (token == nullptr || token->text.size() > max_id_bytes) return {};
  return token->is_string() || (token->is_number() && token->whole) ? to_json(*token) : "";
}

RpcError no_such_method(const std::string& method) {
  return {RpcError::method_not_found, "no method " + on_one_line(method.substr(0, 100))};
}

void write_members(JsonWriter& out, const Response& response) { std::visit(MembersWriter{out}, response); }

void write_server_info(JsonWriter& out) {
  out.begin_object().member("name", "cloche").member("title", "Cloche").member("version", CLOCHE_VERSION);
  out.end_object();
}

std::string elicitation_params(const std::string& message) {
  JsonWriter out;
  out.begin_object().member("mode", "form").member("message", message).key("requestedSchema");
  out.raw(
      R"({"type":"object","properties":{"answer":{"type":"string","title":"May this run?",)"
      R"("description":"once: this very call; session: also when it comes again, unchanged","enum":["no","once","session"]}},)"
      R"("required":["answer"]})");
  return out.end_object().take();
}

Reply choice_of(const JsonValue& result) {
  const JsonValue* action = result.find("action");
  const JsonValue* content = result.find("content");
  const JsonValue* answer = content != nullptr ? content->find("answer") : nullptr;
  if (action == nullptr || !action->is_string()) return Reply::none;
  if (action->text != "accept") return action->text == "decline" ? Reply::no : Reply::none;
  if (answer == nullptr || !answer->is_string()) return Reply::no;
  if (answer->text == "once") return Reply::once;
  return answer->text == "session" ? Reply::session : Reply::no;
}

}  // namespace cloche::mcp
