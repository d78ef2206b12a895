#include "tools/answer/model_text.hpp"

#include <algorithm>

namespace cloche {
namespace {

constexpr std::string_view brackets = "\"'`([{<";

// Where a word begins behind quotes and brackets.
std::string_view bare(std::string_view word) {
  const size_t begin = word.find_first_not_of(brackets);
  return begin == std::string_view::npos ? std::string_view() : word.substr(begin);
}

bool is_place(std::string_view word) {
  if (word.size() > 1 && (word[0] == '/' || word[0] == '~')) return true;
  return word.find(".json") != std::string_view::npos || word.find(".md:") != std::string_view::npos ||
         word.find("/.cloche") != std::string_view::npos || word.starts_with(".cloche");
}

bool is_setting(std::string_view word) { return word.starts_with("--") && word.size() > 2; }

// The word with what it names replaced; its brackets and the punctuation behind it stay.
std::string with_name(std::string_view word, std::string_view name) {
  const size_t begin = word.size() - bare(word).size();
  const size_t end = word.find_last_not_of("\"'`)]}>,;:.");
  const size_t behind = end == std::string_view::npos ? word.size() : end + 1;
  return std::string(word.substr(0, begin)) + std::string(name) + std::string(word.substr(behind));
}

Outcome refused(const Verdict& verdict, std::string reason) {
  Outcome outcome;
  outcome.end = End::refused;
  outcome.exit_code = 126;
  outcome.reason = std::move(reason);
  if (!verdict.rule.empty()) outcome.advice += " (" + verdict.rule + ")";
  if (!verdict.fix.empty()) outcome.advice += "; " + verdict.fix;
  outcome.denials.push_back({verdict.gate, outcome.reason, outcome.advice});
  return outcome;
}

std::string beginning_of(const Verdict& verdict) {
  return "refused by " + std::string(name_of(verdict.gate)) + ": " + verdict.reason.text();
}

}  // namespace

std::string refusal_text(const Verdict& verdict) {
  return beginning_of(verdict) + (verdict.instead.empty() ? "" : "; " + verdict.instead.text());
}

std::string without_places(std::string_view sentence) {
  std::string text;
  while (!sentence.empty()) {
    const size_t end = std::min(sentence.find(' '), sentence.size());
    const std::string_view word = sentence.substr(0, end);
    const std::string_view meant = bare(word);
    text += is_place(meant)     ? with_name(word, "[a path]")
            : is_setting(meant) ? with_name(word, "[a setting]")
                                : std::string(word);
    sentence.remove_prefix(end);
    if (sentence.empty()) break;
    text += ' ';
    sentence.remove_prefix(1);
  }
  return text;
}

std::string failure_text(const Error& error) {
  return without_places(error.what.text()) + "; if that stays so, tell the user";
}

std::string correction_text(const Error& error) { return describe(error); }

std::string reason_for_model(const Outcome& outcome) {
  return outcome.end == End::failed ? without_places(outcome.reason.text()) : outcome.reason.text();
}

Outcome for_model(Outcome outcome) {
  outcome.reason = reason_for_model(outcome);
  outcome.advice = {};
  for (auto& denial : outcome.denials) denial.advice = {};
  return outcome;
}

const std::string& operators_fix(const Verdict& verdict) {
  return (verdict.fix.empty() ? verdict.instead : verdict.fix).text();
}

Outcome refused_by(const Verdict& verdict) { return refused(verdict, refusal_text(verdict)); }

Outcome refused_command(const Verdict& verdict) {
  Outcome outcome = refused(verdict, beginning_of(verdict));
  if (verdict.fix.empty() && !verdict.instead.empty()) outcome.advice += "; " + verdict.instead;
  return outcome;
}

}  // namespace cloche
