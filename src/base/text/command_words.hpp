// One line of command text into the words of an argv, by the quoting of POSIX
// and nothing more: no variable, no glob, no tilde is expanded. What a shell
// would have acted on is reported, so that a gate can refuse it instead of
// passing it on as plain text. Splits as Python's shlex.split does, but for \$
// and \` within double quotes, which are $ and ` to a shell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/text/visible_text.hpp"

namespace cloche {

// A piece of text that a shell would not have taken as data: unquoted, or $ and
// ` within double quotes.
struct ShellOperator {
  enum class Kind {
    pipe,
    redirect,
    heredoc,
    sequence,
    background,
    expansion,
    glob,
    home,
    assignment,
    group,
    line_break,
    braces,
    comment,
    tab
  };
  Kind kind = Kind::pipe;
  std::string text;   // as written: "&&", "$", "FOO="
  size_t offset = 0;  // in the command text
  bool quoted = false;

  bool operator==(const ShellOperator&) const = default;
};

struct SplitWords {
  std::vector<std::string> words = {};
  std::vector<ShellOperator> operators = {};  // in the order written
  std::string problem = {};                   // why there are no words; empty: they are good
};

inline constexpr size_t max_argv_bytes = 64 << 10;  // every word with the NUL that ends it
inline constexpr size_t max_argv_words = 4096;
inline constexpr size_t max_command_bytes =
    6 * max_argv_bytes;  // each argv that passes has a quoting that does

SplitWords split_words(std::string_view text);

// Why no text of several lines may be a command: what hides in it. Empty: a
// shell may read it.
std::string problem_of_lines(std::string_view text);

// Whether it is text of lines, which no argv is.
bool has_lines(std::string_view text);
// Whether a tab in a word is all that keeps a text from being the words of a command: a shell may read it.
bool has_tab_in_word(std::string_view text);

// Why these words cannot be a command: what split_words would have said of any
// spelling of them. Empty: they can, and so can what quote_words makes of them.
std::string problem_of(const std::vector<std::string>& argv);

// The one spelling of an argv: split_words gives the same words back without operators, or says what
// problem_of says.
std::string quote_words(const std::vector<std::string>& argv);

// The same for advice that a person copies to a shell: a name in it is one word, whatever a command called
// the file, and what is not visible is written out.
std::string words_to_copy(const std::vector<std::string>& argv);
// Of a file that has hard links.
std::string commands_for_one_name(const std::string& file);

}  // namespace cloche
