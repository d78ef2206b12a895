#include "model/fetch_answer.hpp"

#include <algorithm>

namespace cloche {
namespace {

constexpr std::string_view first_line = "cloche-fetch 1";
constexpr size_t longest_field = 8192;

bool is_plain(std::string_view text) {
  return text.size() <= longest_field &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7f; });
}

// One line a field: what a server says can begin none of its own.
std::string plain(std::string_view text) {
  std::string kept(text.substr(0, longest_field));
  for (char& c : kept) {
    if (c < ' ' || c >= 0x7f) c = '?';
  }
  return kept;
}

// "NAME VALUE", taken off the front; nothing where another line stands.
std::optional<std::string_view> take(std::string_view& text, std::string_view name) {
  const size_t end = text.find('\n');
  if (end == std::string_view::npos || !text.starts_with(name) || end <= name.size() ||
      text[name.size()] != ' ')
    return {};
  const std::string_view value = text.substr(name.size() + 1, end - name.size() - 1);
  if (!is_plain(value)) return {};
  text.remove_prefix(end + 1);
  return value;
}

std::optional<size_t> number(std::string_view text, size_t most) {
  if (text.empty() || text.size() > 9) return {};
  size_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return {};
    value = value * 10 + static_cast<size_t>(c - '0');
  }
  if (value > most) return {};
  return value;
}

std::optional<FetchAnswer> read_fields(std::string_view text) {
  constexpr size_t highest_status = 999;
  const auto status = take(text, "status");
  const auto location = take(text, "location");
  const auto type = take(text, "type");
  const auto truncated = take(text, "truncated");
  const auto body = take(text, "body");
  if (!status || !location || !type || !truncated || !body) return {};
  const auto code = number(*status, highest_status);
  const auto bytes = number(*body, most_fetched_bytes);
  if (!code || *code < 100 || !bytes || *bytes != text.size()) return {};
  if (*truncated != "yes" && *truncated != "no") return {};
  return FetchAnswer{.status = static_cast<int>(*code),
                     .location = std::string(*location),
                     .type = std::string(*type),
                     .truncated = *truncated == "yes",
                     .body = std::string(text)};
}

}  // namespace

std::string to_frame(const FetchAnswer& answer) {
  std::string text = std::string(first_line) + "\n";
  if (!answer.problem.empty()) return text + "problem " + plain(answer.problem) + "\n";
  text += "status " + std::to_string(answer.status) + "\n";
  text += "location " + std::string(is_plain(answer.location) ? answer.location : unreadable_location) + "\n";
  text += "type " + plain(answer.type) + "\n";
  text += std::string("truncated ") + (answer.truncated ? "yes" : "no") + "\n";
  return text + "body " + std::to_string(answer.body.size()) + "\n" + answer.body;
}

std::optional<FetchAnswer> read_frame(std::string_view text) {
  if (!text.starts_with(first_line) || text.size() == first_line.size() || text[first_line.size()] != '\n')
    return {};
  text.remove_prefix(first_line.size() + 1);
  if (const auto problem = take(text, "problem")) {
    if (problem->empty() || !text.empty()) return {};
    return FetchAnswer{.problem = std::string(*problem)};
  }
  return read_fields(text);
}

}  // namespace cloche
