#include "policy/rebase_todo.hpp"

#include <algorithm>
#include <string>

namespace cloche {
namespace {

std::string_view first_word(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  // Whatever could end a word for some version of git.
  return line.substr(0, line.find_first_of(std::string_view(" \t\r\v\f\0", 6)));
}

constexpr std::string_view key = "strategy";

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

}  // namespace

bool has_exec_line(std::string_view todo) {
  while (!todo.empty()) {
    const size_t end = std::min(todo.find('\n'), todo.size());
    const std::string_view word = first_word(todo.substr(0, end));
    if (word == "exec" || word == "x") return true;
    todo.remove_prefix(std::min(end + 1, todo.size()));
  }
  return false;
}

bool is_strategy_by_path(std::string_view text) { return text.find('/') != std::string_view::npos; }

// Git reads it as a configuration. A backslash hides characters and ends of lines, and git writes none.
bool has_strategy_by_path(std::string_view opts) {
  if (opts.find('\\') != std::string_view::npos) return true;
  const std::string text = lower(opts);
  for (size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 1)) {
    const std::string_view rest = std::string_view(text).substr(at + key.size());
    if (rest.starts_with("-option")) continue;
    if (is_strategy_by_path(rest.substr(0, rest.find('\n')))) return true;
  }
  return false;
}

}  // namespace cloche
