#include "tools/http_get.hpp"

#include "tools/argument_reader.hpp"

namespace cloche {
namespace {

// HOST or HOST:PORT of an http or https address; empty: it is none. What it means is the network gate's
// business; user:password@ is refused, because a log would show it.
std::string host_of(std::string_view url) {
  const bool secure = url.starts_with("https://");
  if (!secure && !url.starts_with("http://")) return {};
  url.remove_prefix(secure ? 8 : 7);
  std::string host(url.substr(0, url.find_first_of("/?#\\")));
  if (host.find('@') != std::string::npos) return {};
  if (!host.empty() && host.find(':') == std::string::npos) host += secure ? ":443" : ":80";
  return host;
}

}  // namespace

ToolSpec http_get_spec() {
  ToolSpec spec{.name = "http_get", .title = "Fetch a web address"};
  spec.description =
      "Fetches one http or https address with GET. Only hosts that the skill declares in needs_network can "
      "be "
      "reached, never private or local addresses. Where no host is declared every fetch is refused: then do "
      "without, and do not try again with other addresses.";
  spec.input_schema =
      R"({"type": "object", "additionalProperties": false, "required": ["url"], "properties": {
    "url": {"type": "string", "maxLength": 8192, "description": "http:// or https://, no user name in it"}}})";
  spec.output_schema =
      R"({"type": "object", "required": ["status", "body"], "properties": {
    "status": {"type": "integer"}, "body": {"type": "string"}}})";
  spec.annotations = {.read_only = true, .destructive = false, .idempotent = true, .open_world = true};
  return spec;
}

void understand_http_get(const JsonValue& arguments, Intent& intent) {
  ArgumentReader reader(arguments, intent.problem);
  const std::string url = reader.text("url");
  if (!reader.finish()) return;
  const std::string host = host_of(url);
  if (host.empty()) {
    intent.problem = "url is not http://HOST... or https://HOST... without a user name";
    return;
  }
  intent.hosts = {host};
  intent.launch = Launch{};
}

}  // namespace cloche
