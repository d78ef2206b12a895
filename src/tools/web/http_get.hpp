// http_get {url}: what it asks for, and what a model gets of the answer. What fetches is cloche-fetch, under
// the sandbox; what a redirect leads to is judged and fetched like a call of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/json_text.hpp"
#include "model/call.hpp"
#include "model/fetch_answer.hpp"
#include "model/outcome.hpp"
#include "model/tool.hpp"
#include "tools/answer/process_output.hpp"
#include "tools/answer/reply.hpp"

namespace cloche {

inline constexpr std::string_view http_get_name = "http_get";
inline constexpr int most_redirects = 5;
inline constexpr uint64_t most_fetch_ms = 10'000;  // of the whole call, redirects included

// Where the view has the program that fetches.
inline constexpr std::string_view fetcher_inside = "/.cloche/fetch";

ToolSpec http_get_spec();
void understand_http_get(const JsonValue& arguments, Intent& intent);

// The arguments of the call that a redirect is.
std::string http_get_arguments(const std::string& url);

bool is_redirect(const FetchAnswer& answer);
// Why a redirect is not even judged: a way back from https, or one too many. `followed` is how many were.
std::optional<std::string> problem_of_redirect(const std::string& from, const std::string& to, int followed);

// What the fetch at an address came to. A failed one carries the sentence.
struct Fetched {
  std::string url = {};  // the last one
  int redirects = 0;
  FetchAnswer answer = {};
};
// `text` is raw: the body as it came.
ToolReply show_fetched(const Fetched& fetched);
// By the output schema, bounded.
std::string fetched_json(const Fetched& fetched, const OutputBudget& budget);

// Why the last of them was ended: its own limit was only what the others had left of the whole.
std::string redirects_were_late();
// Of a fetch without an answer: what the model is told. A refusal of the egress is the one sentence.
std::string why_not_fetched(const Outcome& outcome, const std::optional<FetchAnswer>& answer);

}  // namespace cloche
