#include "doors/hook/json_spans.hpp"

namespace cloche {
namespace {

bool is_one_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

size_t skip_space(std::string_view text, size_t at) {
  while (at < text.size() && is_one_of(text[at], " \t\r\n")) ++at;
  return at;
}

size_t skip_string(std::string_view text, size_t at) {
  for (++at; text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return at + 1;
}

// Of a number, true, false or null.
size_t skip_word(std::string_view text, size_t at) {
  while (at < text.size() && !is_one_of(text[at], ",:]} \t\r\n\"[{")) ++at;
  return at;
}

// Past the value that begins here.
size_t skip_value(std::string_view text, size_t at) {
  if (text[at] == '"') return skip_string(text, at);
  if (!is_one_of(text[at], "[{")) return skip_word(text, at);
  int depth = 0;
  do {
    if (text[at] == '"') {
      at = skip_string(text, at);
      continue;
    }
    depth += is_one_of(text[at], "[{") ? 1 : 0;
    depth -= is_one_of(text[at], "]}") ? 1 : 0;
    ++at;
  } while (depth > 0);
  return at;
}

JsonSpan span_at(std::string_view text, size_t begin, bool named) {
  JsonSpan span{.begin = begin, .value = begin};
  if (named) span.value = skip_space(text, skip_space(text, skip_string(text, begin)) + 1);  // past the colon
  span.end = skip_value(text, span.value);
  return span;
}

}  // namespace

size_t begin_of_json(std::string_view text) { return skip_space(text, 0); }

std::vector<JsonSpan> spans_in(std::string_view text, size_t bracket) {
  std::vector<JsonSpan> spans;
  size_t at = skip_space(text, bracket + 1);
  while (!is_one_of(text[at], "]}")) {
    spans.push_back(span_at(text, at, text[bracket] == '{'));
    at = skip_space(text, spans.back().end);
    if (text[at] == ',') at = skip_space(text, at + 1);
  }
  return spans;
}

std::optional<JsonSpan> member_span(std::string_view text, size_t object, std::string_view name) {
  for (const auto& span : spans_in(text, object))
    if (text.substr(span.begin + 1, skip_string(text, span.begin) - span.begin - 2) == name) return span;
  return std::nullopt;
}

std::string cut_span(std::string_view text, size_t bracket, size_t which) {
  const auto spans = spans_in(text, bracket);
  const bool first = which == 0;
  const bool last = which + 1 == spans.size();
  // Up to the next, or from the one before; of the only one the space around it as well.
  const size_t from = !last ? spans[which].begin : first ? bracket + 1 : spans[which - 1].end;
  const size_t to = !last   ? spans[which + 1].begin
                    : first ? skip_space(text, spans[which].end)
                            : spans[which].end;
  return std::string(text.substr(0, from)) + std::string(text.substr(to));
}

}  // namespace cloche
