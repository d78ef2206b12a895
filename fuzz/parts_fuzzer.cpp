// Feeds text to what takes a shell's text apart. Parts must be commands that can be one, and the rendering
// must have the same parts, be its own rendering, and hold nothing unquoted but what joins them. That bash
// reads it so is tested beside it (src/base/text/shell_parts_test.cpp).
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/text/command_words.hpp"
#include "base/text/shell_parts.hpp"

namespace {

void require(bool truth) {
  if (!truth) std::abort();
}

// What is left of the rendering without its quoted words.
std::string unquoted(std::string_view text) {
  std::string left;
  bool in_quotes = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!in_quotes && text[i] == '\\') {
      ++i;  // '\'' is a quote within a word
    } else if (text[i] == '\'') {
      in_quotes = !in_quotes;
    } else if (!in_quotes) {
      left += text[i];
    }
  }
  require(!in_quotes);
  return left;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cloche;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)shell_pieces(text);
  const auto parts = shell_parts(text);
  if (!parts) return 0;
  require(!parts->commands.empty());
  for (const auto& argv : parts->commands) {
    require(problem_of(argv).empty());
    require(!is_shell_word(argv.front()));
  }
  const std::string left = unquoted(parts->rendering);
  require(left.find_first_not_of(" &|;\n<>/devnul012") == std::string::npos);
  const auto again = shell_parts(parts->rendering);
  require(again && again->commands == parts->commands && again->rendering == parts->rendering);
  return 0;
}
