#include "base/text/command_words.hpp"

#include <algorithm>

#include "base/json/json_writer.hpp"
#include "base/text/ascii.hpp"
#include "base/text/pieces.hpp"
#include "base/text/utf8.hpp"
#include "base/text/visible_text.hpp"

namespace cloche {
namespace {

using Kind = ShellOperator::Kind;

bool is_blank(char c) { return c == ' ' || c == '\t'; }

// Between words a tab is a blank. In a word it is a control character that looks like one.
enum class Tabs { blanks, refused };

// What no spelling of a command may hold.
std::string problem_of_text(std::string_view text, Tabs tabs) {
  if (text.find('\0') != std::string_view::npos)
    return "it has a NUL byte, where every program stops reading";
  if (!is_utf8(text)) return "it is not valid UTF-8";
  while (!text.empty()) {
    const auto [code, length] = utf8::decode(text);
    if (code == '\n' || code == '\r') {
      return "it has a line break; a call is one command: put longer text into a file with write_artifact, "
             "or use "
             "run_script";
    }
    if (code == '\t' && tabs == Tabs::refused) {
      return "it has a control character, a tab in a word; put such text into a file with write_artifact, or "
             "use run_script";
    }
    if (is_control(code) && code != '\t') return "it has a control character";
    if (turns_text_around(code)) return "it has a bidirectional control character, which hides what it says";
    if (is_invisible(code)) return "it has an invisible character, which hides what it says";
    text.remove_prefix(length);
  }
  return {};
}

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  SplitWords run() {
    while (at_ < text_.size() && split_.problem.empty()) step();
    if (split_.problem.empty()) end_word();
    return std::move(split_);
  }

 private:
  void step() {
    const char c = text_[at_];
    if (is_blank(c)) {
      end_word();
      ++at_;
    } else if (c == '\'') {
      single_quoted();
    } else if (c == '"') {
      double_quoted();
    } else if (c == '\\') {
      escaped();
    } else {
      plain(c);
    }
  }

  void begin_word() {
    if (in_word_) return;
    in_word_ = true;
    word_begin_ = at_;
    bare_ = true;
  }

  void end_word() {
    if (in_word_) split_.words.push_back(std::move(word_));
    word_.clear();
    in_word_ = false;
    braces_.clear();
  }

  void single_quoted() {
    begin_word();
    bare_ = false;
    const size_t end = text_.find('\'', at_ + 1);
    if (end == std::string_view::npos) return fail("a single quote is not closed");
    word_ += text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
  }

  // A backslash in here is one only before itself, the closing quote, $ and `.
  void double_quoted() {
    begin_word();
    bare_ = false;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      constexpr std::string_view special = "\"\\$`";
      const bool escapes = text_[at_] == '\\' && at_ + 1 < text_.size() &&
                           special.find(text_[at_ + 1]) != std::string_view::npos;
      if (escapes) {
        ++at_;
      } else if (text_[at_] == '$' || text_[at_] == '`') {
        split_.operators.push_back({Kind::expansion, std::string(1, text_[at_]), at_, true});
      }
      word_ += text_[at_];
    }
    if (at_ == text_.size()) return fail("a double quote is not closed");
    ++at_;
  }

  void escaped() {
    begin_word();
    bare_ = false;
    if (at_ + 1 == text_.size()) return fail("it ends in a backslash that quotes nothing");
    word_ += text_[at_ + 1];
    at_ += 2;
  }

  void plain(char c) {
    begin_word();
    note_operator(c);
    word_ += c;
    ++at_;
  }

  // Of a doubled operator only the first character comes here with its name; the second was said with it.
  void note_operator(char c) {
    const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    const bool doubled = !split_.operators.empty() && split_.operators.back().text.size() == 2 &&
                         split_.operators.back().offset + 1 == at_;
    if (doubled) return;
    const auto note = [&](Kind kind, size_t length) {
      split_.operators.push_back({kind, std::string(text_.substr(at_, length)), at_});
    };
    switch (c) {
      case '|': return next == '|' ? note(Kind::sequence, 2) : note(Kind::pipe, 1);
      case '&': return next == '&' ? note(Kind::sequence, 2) : note(Kind::background, 1);
      case ';': return note(Kind::sequence, 1);
      case '<': return next == '<' ? note(Kind::heredoc, 2) : note(Kind::redirect, 1);
      case '>': return next == '>' ? note(Kind::redirect, 2) : note(Kind::redirect, 1);
      case '$':
      case '`': return note(Kind::expansion, 1);
      case '*':
      case '?':
      case '[': return note(Kind::glob, 1);
      case '(':
      case ')': return note(Kind::group, 1);
      case '~': return word_begin_ == at_ ? note(Kind::home, 1) : void();
      case '=': return note_assignment();
      case '#': return word_begin_ == at_ ? note(Kind::comment, 1) : void();
      case '{': braces_.push_back({at_}); return;
      case '}': return close_brace();
      case ',': return part_brace();
      case '.': return next == '.' ? part_brace() : void();
      default: return;
    }
  }

  // {a,b} and {a..b} make several words, {} and {a} are data.
  void part_brace() {
    if (!braces_.empty()) braces_.back().parted = true;
  }
  void close_brace() {
    if (braces_.empty()) return;
    const Brace brace = braces_.back();
    braces_.pop_back();
    if (!brace.parted) return;
    auto& operators = split_.operators;
    const auto behind =
        std::ranges::find_if(operators, [&](const ShellOperator& one) { return one.offset > brace.offset; });
    operators.insert(behind, {Kind::braces, "{", brace.offset});
  }

  // NAME=value is an assignment only where the program would stand, and only with nothing of NAME quoted.
  void note_assignment() {
    if (!split_.words.empty() || !bare_ || !ascii::is_variable_name(word_)) return;
    split_.operators.push_back({Kind::assignment, word_ + "=", word_begin_});
  }

  void fail(std::string why) {
    split_ = {};
    split_.problem = std::move(why);
  }

  struct Brace {
    size_t offset = 0;
    bool parted = false;  // by a comma or two dots
  };

  std::string_view text_;
  size_t at_ = 0;
  SplitWords split_;
  std::vector<Brace> braces_;  // of this word, open so far
  std::string word_;
  size_t word_begin_ = 0;
  bool in_word_ = false;
  bool bare_ = true;  // nothing of the word so far was quoted
};

bool needs_no_quotes(std::string_view word) {
  constexpr std::string_view safe = "@%+=:,./-_";  // as shlex.quote has it
  return !word.empty() && std::ranges::all_of(word, [&](char c) {
    return ascii::is_letter_or_digit(c) || safe.find(c) != std::string_view::npos;
  });
}

// A program word with = in it is quoted, or it would read as an assignment.
std::string quote_word(std::string_view word, bool program) {
  if (needs_no_quotes(word) && !(program && word.find('=') != std::string_view::npos))
    return std::string(word);
  std::string out = "'";
  for (char c : word) c == '\'' ? out += "'\"'\"'" : out += c;
  return out + "'";
}

}  // namespace

SplitWords split_words(std::string_view text) {
  SplitWords refused;
  if (text.size() > max_command_bytes) {
    refused.problem = "it is longer than " + std::to_string(max_command_bytes) + " bytes";
    return refused;
  }
  refused.problem = problem_of_text(text, Tabs::blanks);
  if (!refused.problem.empty()) return refused;
  SplitWords split = Splitter(text).run();
  if (!split.problem.empty()) return split;
  refused.problem = problem_of(split.words);
  return refused.problem.empty() ? split : refused;
}

std::string problem_of_lines(std::string_view text) {
  while (!text.empty()) {
    std::string_view line = take_line(text);
    if (line.ends_with('\r')) line.remove_suffix(1);  // of a line end of two characters
    if (std::string problem = problem_of_text(line, Tabs::blanks); !problem.empty()) return problem;
  }
  return {};
}

bool has_lines(std::string_view text) {
  return text.find('\n') != std::string_view::npos || text.ends_with('\r');
}

bool has_tab_in_word(std::string_view text) {
  if (text.find('\t') == std::string_view::npos || split_words(text).problem.empty()) return false;
  std::string blanks(text);
  std::ranges::replace(blanks, '\t', ' ');
  return split_words(blanks).problem.empty();
}

std::string problem_of(const std::vector<std::string>& argv) {
  if (argv.empty()) return "there is no command in it";
  if (argv.front().empty()) return "its first word, the program, is empty";
  if (argv.size() > max_argv_words) return "it has more than " + std::to_string(max_argv_words) + " words";
  size_t bytes = 0;
  for (const auto& word : argv) bytes += word.size() + 1;
  if (bytes > max_argv_bytes) return "its words are longer than " + std::to_string(max_argv_bytes) + " bytes";
  for (const auto& word : argv) {
    if (std::string problem = problem_of_text(word, Tabs::refused); !problem.empty()) return problem;
  }
  return {};
}

std::string quote_words(const std::vector<std::string>& argv) {
  std::string out;
  for (size_t i = 0; i < argv.size(); ++i) {
    if (i > 0) out += ' ';
    out += quote_word(argv[i], i == 0);
  }
  return out;
}

std::string words_to_copy(const std::vector<std::string>& argv) {
  constexpr size_t most_shown = 16384;  // a part of a command would be another one
  return shown(quote_words(argv), most_shown);
}

std::string commands_for_one_name(const std::string& file) {
  const std::string fresh = file + ".new";
  return words_to_copy({"cp", "-p", file, fresh}) + " && " + words_to_copy({"mv", fresh, file});
}

}  // namespace cloche
