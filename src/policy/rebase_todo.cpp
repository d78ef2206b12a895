#include "policy/rebase_todo.hpp"

#include <algorithm>

namespace cloche {
namespace {

std::string_view first_word(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  // Whatever could end a word for some version of git.
  return line.substr(0, line.find_first_of(std::string_view(" \t\r\v\f\0", 6)));
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

}  // namespace cloche
