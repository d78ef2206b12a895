#include "doors/library/read_values.hpp"

#include <functional>

#include "base/json/json_text.hpp"
#include "base/json/json_writer.hpp"
#include "base/text/visible_text.hpp"
#include "model/names.hpp"

namespace cloche {
namespace {

// A call's own limit, twice, and what a text in a text takes for its escapes.
constexpr JsonLimits value_limits{.bytes = size_t{4} << 20, .comments = JsonComments::refused};

using Texts = std::vector<std::string>;

Error wrong(std::string_view name, const std::string& what) {
  return usage_error(std::string(name) + " is not " + what);
}

Result<void> read(std::optional<std::string>& into, std::string_view name, const JsonValue& value) {
  if (!value.is_string()) return wrong(name, "a text");
  into = value.text;
  return {};
}

Result<void> read(bool& into, std::string_view name, const JsonValue& value) {
  if (!value.is_boolean()) return wrong(name, "true or false");
  into = value.truth;
  return {};
}

Result<void> read(Texts& into, std::string_view name, const JsonValue& value) {
  if (!value.is_array()) return wrong(name, "a list of texts");
  for (const auto& item : value.items) {
    if (!item.is_string()) return wrong(name, "a list of texts");
    into.push_back(item.text);
  }
  return {};
}

Result<void> read(std::vector<v1::Limit>& into, std::string_view name, const JsonValue& value) {
  if (!value.is_object()) return wrong(name, "an object");
  for (const auto& member : value.members) {
    if (!member.value.is_string() && !member.value.is_number())
      return wrong(member.name, "a text like \"30s\" or \"512M\"");
    into.push_back({member.name, member.value.text});  // of a number as it was written
  }
  return {};
}

// The environment.
Result<void> read(std::optional<Texts>& into, std::string_view name, const JsonValue& value) {
  if (!value.is_object()) return wrong(name, "an object of names and values");
  into.emplace();
  for (const auto& member : value.members) {
    if (!member.value.is_string()) return wrong(member.name, "a text");
    into->push_back(member.name + "=" + member.value.text);
  }
  return {};
}

constexpr std::string_view asked_names[] = {"nobody", "terminal", "operators"};

Result<void> read(v1::Asked& into, std::string_view name, const JsonValue& value) {
  const auto asked = value_in<v1::Asked>(asked_names, value.text);
  if (!value.is_string() || !asked) return wrong(name, "\"nobody\", \"terminal\" or \"operators\"");
  into = *asked;
  return {};
}

Result<void> read(int& into, std::string_view name, const JsonValue& value) {
  if (!value.is_number() || !value.whole || value.integer < 0 || value.integer > (1 << 20))
    return wrong(name, "the number of a descriptor");
  into = static_cast<int>(value.integer);
  return {};
}

template <typename Values>
struct Row {
  std::string_view name;
  Result<void> (*store)(Values& values, std::string_view name, const JsonValue& value);
};

template <auto member, typename Values>
Result<void> into(Values& values, std::string_view name, const JsonValue& value) {
  return read(values.*member, name, value);
}

using v1::Options;
constexpr Row<Options> option_rows[] = {
    {"workspace", into<&Options::workspace>},
    {"run", into<&Options::run>},
    {"task", into<&Options::task>},
    {"record", into<&Options::record>},
    {"profile", into<&Options::profile>},
    {"autonomy", into<&Options::autonomy>},
    {"commands", into<&Options::commands>},
    {"writes", into<&Options::writes>},
    {"isolation", into<&Options::isolation>},
    {"skill", into<&Options::skill>},
    {"executors", into<&Options::executors>},
    {"read_only", into<&Options::read_only>},
    {"writable", into<&Options::writable>},
    {"hide", into<&Options::hide>},
    {"pass_env", into<&Options::pass_env>},
    {"net", into<&Options::net>},
    {"limits", into<&Options::limits>},
    {"flags", into<&Options::flags>},
    {"asked", into<&Options::asked>},
    {"programs", into<&Options::programs>},
    {"environment", into<&Options::environment>},
    {"home", into<&Options::home>},
    {"config_home", into<&Options::config_home>},
    {"state_home", into<&Options::state_home>},
};

Result<void> store_tool(v1::Call& call, std::string_view, const JsonValue& value) {
  if (!value.is_string()) return wrong("tool", "a text");
  call.tool = value.text;
  return {};
}

// A text is what the model wrote, and may be no JSON: the schema gate says so.
Result<void> store_arguments(v1::Call& call, std::string_view, const JsonValue& value) {
  call.arguments = value.is_string() ? value.text : to_json(value);
  return {};
}

using v1::Call;
constexpr Row<Call> call_rows[] = {
    {"tool", store_tool},        {"arguments", store_arguments},  {"task", into<&Call::task>},
    {"role", into<&Call::role>}, {"cancel", into<&Call::cancel>},
};

template <typename Values, size_t count>
Result<Values> read_object(std::string_view json, const std::string& what, const Row<Values> (&rows)[count]) {
  const JsonValue object = TRY(read_json(json, what, value_limits));
  if (!object.is_object()) return wrong(what, "a JSON object");
  Values values;
  for (const auto& member : object.members) {
    const Row<Values>* found = nullptr;
    for (const auto& row : rows) found = row.name == member.name ? &row : found;
    if (found == nullptr) return usage_error(what + ": unknown member " + json_quote(shown(member.name, 80)));
    TRY(found->store(values, found->name, member.value));
  }
  return values;
}

}  // namespace

Result<Options> read_options(std::string_view json) { return read_object(json, "options", option_rows); }

Result<Call> read_call(std::string_view json) {
  Call call = TRY(read_object(json, "call", call_rows));
  if (call.tool.empty()) return usage_error("call: there is no tool", R"(write {"tool": "run_shell", ...})");
  return call;
}

std::string error_json(const v1::Error& error) {
  constexpr std::string_view kinds[] = {"usage",  "configuration", "missing_layer",
                                        "system", "interrupted",   "internal"};
  JsonWriter out;
  out.begin_object().key("error").begin_object();
  out.member("kind", name_in<v1::Error::Kind::internal>(kinds, error.kind));
  return out.member("message", error.what).member("fix", error.fix).end_object().end_object().take();
}

std::string question_json(const v1::Question& question) {
  JsonWriter out;
  out.begin_object().member("digest", question.digest).member("text", question.text);
  return out.member("afterwards", question.afterwards).end_object().take();
}

}  // namespace cloche
