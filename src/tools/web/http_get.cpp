#include "tools/web/http_get.hpp"

#include "base/lists.hpp"
#include "tools/answer/model_text.hpp"

#include <algorithm>

#include "base/json/json_writer.hpp"
#include "base/text/command_words.hpp"
#include "base/text/utf8.hpp"
#include "model/network.hpp"
#include "tools/argument_reader.hpp"
#include "tools/web/web_address.hpp"

namespace cloche {
namespace {

// What one answer of a mebibyte needs; its time is the call's.
Limits fetch_limits() {
  Limits limits;
  limits.cpu_s = 10;
  limits.memory_bytes = 256ULL << 20;
  limits.processes = 16;
  limits.file_bytes = 1ULL << 20;
  limits.tmp_bytes = 1ULL << 20;
  limits.output_bytes = most_fetched_bytes + (64ULL << 10);
  limits.net_connections = 8;
  limits.net_bytes = 8ULL << 20;
  return limits;
}

// A character that was cut by our own limit is none of the server's faults.
bool is_text(const FetchAnswer& answer) {
  std::string_view body = answer.body;
  if (answer.truncated) body.remove_suffix(utf8::unfinished_tail(body));
  return is_utf8(body);
}

std::string notes_about(const FetchAnswer& answer) {
  std::string notes;
  if (answer.truncated)
    notes += "\n[the body is longer than " + show_size(most_fetched_bytes) + ": the rest was not fetched]";
  if (!is_text(answer)) notes += "\n[the body is not UTF-8: what is none of it is shown as U+FFFD]";
  return notes;
}

}  // namespace

ToolSpec http_get_spec() {
  ToolSpec spec{.name = "http_get", .title = "Fetch a web address"};
  spec.input_schema =
      R"({"type": "object", "additionalProperties": false, "required": ["url"], "properties": {
    "url": {"type": "string", "maxLength": 8192, "description": "http:// or https://, no user name in it"}}})";
  spec.output_schema =
      R"({"type": "object", "required": ["status", "body"], "properties": {
    "status": {"type": "integer"}, "body": {"type": "string"},
    "url": {"type": "string", "description": "where redirects have led"},
    "content_type": {"type": "string"},
    "truncated": {"type": "boolean", "description": "whether the body is longer than what was fetched"},
    "utf8": {"type": "boolean", "description": "whether the body is shown as it came"}}})";
  spec.annotations = {.read_only = true, .destructive = false, .idempotent = true, .open_world = true};
  return spec;
}

void understand_http_get(const JsonValue& arguments, Intent& intent) {
  ArgumentReader reader(arguments, intent.problem);
  const std::string url = reader.text("url");
  if (!reader.finish()) return;
  const WebAddress address = read_web_address(url);
  if (!address.problem.empty()) {
    intent.problem = address.problem;
    return;
  }
  intent.hosts = {address.host};
  intent.arguments["url"] = address.url;  // rules see what is asked for, however it was written
  intent.timeout_ms = most_fetch_ms;
  Launch launch;
  launch.argv = {std::string(fetcher_inside), address.url};
  if (address.is_localhost()) launch.argv.push_back(dotted(localhost_offset));
  launch.does = Fetch{address.url, address.host};
  launch.workspace = WorkspaceUse::hidden;
  launch.narrower = fetch_limits();
  launch.network = true;
  launch.readonly = false;  // of nothing at all: a profile that only reads has no network
  intent.launch = std::move(launch);
}

std::string http_get_arguments(const std::string& url) {
  JsonWriter out;
  return out.begin_object().member("url", url).end_object().text();
}

bool is_redirect(const FetchAnswer& answer) {
  constexpr int redirects[] = {301, 302, 303, 307, 308};
  return !answer.location.empty() && contains(redirects, answer.status);
}

std::optional<std::string> problem_of_redirect(const std::string& from, const std::string& to, int followed) {
  if (to == unreadable_location)
    return "the redirect from " + shown(from, 200) +
           " is refused: its address is too long or holds characters that no address has";
  const std::string way = "the redirect from " + shown(from, 200) + " to " + shown(to, 200);
  if (followed >= most_redirects)
    return way + " is refused: " + std::to_string(most_redirects) + " were followed already";
  const WebAddress next = read_web_address(to);
  if (!next.problem.empty()) return way + " is refused: it leads to no http or https address";
  if (read_web_address(from).secure && !next.secure) return way + " is refused: it gives up https";
  return {};
}

ToolReply show_fetched(const Fetched& fetched) {
  const FetchAnswer& answer = fetched.answer;
  std::string text = "status: " + std::to_string(answer.status);
  if (fetched.redirects > 0) text += "\nurl: " + fetched.url;
  if (!answer.type.empty()) text += "\ntype: " + answer.type;
  text += "\nbody: " + answer.body + notes_about(answer);
  return {.text = std::move(text)};
}

std::string fetched_json(const Fetched& fetched, const OutputBudget& budget) {
  const FetchAnswer& answer = fetched.answer;
  JsonWriter out;
  out.begin_object().member("status", answer.status);
  out.member("body", within_budget(neutralised(answer.body), budget));
  if (fetched.redirects > 0) out.member("url", fetched.url);
  if (!answer.type.empty()) out.member("content_type", answer.type);
  out.member("truncated", answer.truncated).member("utf8", is_text(answer));
  return out.end_object().text();
}

std::string redirects_were_late() {
  return "its redirects took longer than " + show_duration_ms(most_fetch_ms);
}

std::string why_not_fetched(const Outcome& outcome, const std::optional<FetchAnswer>& answer) {
  for (const auto& denial : outcome.denials) {
    if (is_by_egress(denial)) return denial.what.text();
  }
  if (!outcome.network_failures.empty()) return outcome.network_failures.front();
  if (outcome.end != End::exited) return "http_get failed: " + reason_for_model(outcome);
  if (answer && !answer->problem.empty()) return "http_get failed: " + answer->problem;
  return "http_get failed: what fetches gave no answer that can be read";
}

}  // namespace cloche
