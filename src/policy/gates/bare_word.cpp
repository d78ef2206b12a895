#include "policy/gates/bare_word.hpp"

#include <algorithm>

#include "base/text/ascii.hpp"
#include "base/text/visible_text.hpp"

namespace cloche {
namespace {

constexpr size_t max_word_bytes = 64;

bool is_word_byte(char c) { return ascii::is_letter_or_digit(c) || c == '.' || c == '_' || c == '-'; }

Result<void> check(const char* kind, std::string_view word) {
  if (is_bare_word(word)) return {};
  return refusal(std::string("the ") + kind + " id '" + shown(word, 80) + "' is not a bare word",
                 "use up to 64 letters, digits, '.', '_' and '-', and no dot first");
}

}  // namespace

bool is_bare_word(std::string_view word) {
  return !word.empty() && word.size() <= max_word_bytes && word[0] != '.' &&
         std::ranges::all_of(word, is_word_byte);
}

Result<void> check_run_id(std::string_view id) { return check("run", id); }

Result<void> check_call_id(std::string_view id) { return check("call", id); }

Result<void> check_task_id(std::string_view id) {
  TRY(check("task", id));
  if (id.ends_with(transcript_ending))
    return refusal("the task id '" + std::string(id) + "' ends like the name of a transcript",
                   "leave .jsonl away");
  return {};
}

}  // namespace cloche
