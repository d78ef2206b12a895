#include "base/text/shell_parts.hpp"

#include <algorithm>
#include <iterator>

#include "base/lists.hpp"
#include "base/text/ascii.hpp"
#include "base/text/command_words.hpp"
#include "base/text/pieces.hpp"

namespace cloche {
namespace {

constexpr size_t most_pieces = 1000;

template <size_t size>
bool is_one_of(const std::string_view (&list)[size], std::string_view word) {
  return contains(list, word);
}

// Where a command begins these are no programs.
constexpr std::string_view reserved[] = {"!",    "[[",     "]]",   "{",    "}",     "case", "coproc",   "do",
                                         "done", "elif",   "else", "esac", "fi",    "for",  "function", "if",
                                         "in",   "select", "then", "time", "until", "while"};

// Builtins that act on the shell itself, and that no system has as programs
// (but for show).
constexpr std::string_view of_the_shell[] = {
    ".",        "alias",    "bg",      "bind",     "break",   "builtin", "caller", "cd",     "command",
    "compgen",  "complete", "compopt", "continue", "declare", "dirs",    "disown", "enable", "eval",
    "exec",     "exit",     "export",  "fc",       "fg",      "getopts", "hash",   "help",   "history",
    "jobs",     "let",      "local",   "logout",   "mapfile", "popd",    "pushd",  "read",   "readarray",
    "readonly", "return",   "set",     "shift",    "shopt",   "source",  "trap",   "type",   "typeset",
    "ulimit",   "umask",    "suspend", "times",    "unalias", "unset",   "wait"};

bool is_builtin_that_acts(std::string_view word) {
  return is_one_of(of_the_shell, word) || word == "kill" || word == "[";
}

bool is_blank(char c) { return c == ' ' || c == '\t'; }

bool is_plain(char c) {
  constexpr std::string_view more = "@%+=:,./-_^]";
  return ascii::is_letter_or_digit(c) || static_cast<unsigned char>(c) >= 0x80 ||
         more.find(c) != std::string_view::npos;
}

std::string quoted(std::string_view word) {
  std::string out = "'";
  for (char c : word) c == '\'' ? out += "'\\''" : out += c;
  return out + "'";
}

// printf assigns with -v and %n; other conversions than these are not needed
// for plain text.
bool is_harmless_printf(const std::vector<std::string>& argv) {
  if (argv.size() < 2 || argv[1].starts_with('-')) return false;
  const std::string& format = argv[1];
  for (size_t at = format.find('%'); at != std::string::npos; at = format.find('%', at + 2)) {
    const char kind = at + 1 < format.size() ? format[at + 1] : '\0';
    if (kind != 's' && kind != 'd' && kind != '%') return false;
  }
  return true;
}

// test evaluates the subscript of what it is told to be a variable.
bool is_harmless_test(const std::vector<std::string>& argv) {
  return std::ranges::none_of(argv, [](const std::string& word) {
    return word == "-v" || word == "-R" || word.find('[') != std::string::npos;
  });
}

// Whether the words are a command of their own: a program's, or a builtin's
// that changes nothing for others.
bool is_command(const std::vector<std::string>& argv) {
  const std::string& name = argv.front();
  if (is_one_of(reserved, name) || is_builtin_that_acts(name)) return false;
  if (name.starts_with('%') || !problem_of(argv).empty()) return false;  // %1 is a job of the shell's
  if (name == "printf") return is_harmless_printf(argv);
  if (name == "test") return is_harmless_test(argv);
  return true;
}

class PartsReader {
 public:
  explicit PartsReader(std::string_view text) : text_(text) {}

  std::optional<ShellParts> run() {
    while (good_ && at_ < text_.size()) step();
    if (good_) end_word();
    if (good_ && !argv_.empty()) end_command("");
    if (!good_ || wants_command_ || parts_.commands.empty() || !streams_.empty()) return std::nullopt;
    return std::move(parts_);
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
    } else if (c == '>' || c == '<' || c == '&' || c == '|' || c == ';' || c == '\n') {
      operation(c);
    } else if (is_plain(c)) {
      begin_word();
      if (c == '=' && argv_.empty()) return fail();  // an assignment, or looks like one
      word_ += c;
      ++at_;
    } else {
      fail();
    }
  }

  void fail() { good_ = false; }
  bool next_is(std::string_view what) const { return text_.substr(at_).starts_with(what); }

  void begin_word() { in_word_ = true; }
  void end_word() {
    if (!in_word_) return;
    argv_.push_back(std::move(word_));
    word_.clear();
    in_word_ = false;
    bare_ = true;
    wants_command_ = false;
  }

  void single_quoted() {
    begin_word();
    bare_ = false;
    const size_t end = text_.find('\'', at_ + 1);
    if (end == std::string_view::npos) return fail();
    word_ += text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
  }

  void double_quoted() {
    begin_word();
    bare_ = false;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '$' || text_[at_] == '`') return fail();
      if (text_[at_] == '\\') {
        const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
        if (next == '\n') return fail();
        if (next == '"' || next == '\\' || next == '$' || next == '`') ++at_;
      }
      word_ += text_[at_];
    }
    if (at_ >= text_.size()) return fail();
    ++at_;
  }

  void escaped() {
    begin_word();
    bare_ = false;
    if (at_ + 1 >= text_.size() || text_[at_ + 1] == '\n') return fail();
    word_ += text_[at_ + 1];
    at_ += 2;
  }

  void operation(char c) {
    if (c == '>' || c == '<' || next_is("&>")) return redirection();
    end_word();
    if (next_is("&&") || next_is("||")) {
      const std::string both(text_.substr(at_, 2));
      at_ += 2;
      return end_command(" " + both + " ", Joins::needs_next);
    }
    if (c == '&' || next_is("|&") || next_is(";;") || next_is(";&")) return fail();
    ++at_;
    if (c == '|') return end_command(" | ", Joins::needs_next);
    if (c == ';') return end_command("; ");
    if (!argv_.empty() || !streams_.empty()) return end_command("\n");
  }

  // [0-2]> /dev/null, [0-2]>&[0-2], < /dev/null and &> /dev/null.
  void redirection() {
    std::string stream;
    if (in_word_ && bare_ && word_.find_first_not_of("0123456789") == std::string::npos) {
      if (word_.size() != 1 || word_[0] > '2') return fail();
      stream = std::move(word_);
      word_.clear();
      in_word_ = false;
    } else {
      end_word();
    }
    if (next_is("&>")) {
      if (!stream.empty()) return fail();  // "2&>x" is a background command to some
      at_ += 2;
      return next_is(">") ? fail() : to_null("&>");
    }
    const bool reads = text_[at_] == '<';
    ++at_;
    if (next_is("&")) return reads ? fail() : into_stream(stream + ">&");
    if (!reads && next_is(">")) {
      ++at_;
      return to_null(stream + ">>");
    }
    if (next_is("<") || next_is(">") || next_is("|") || next_is("(")) return fail();
    to_null(stream + (reads ? "<" : ">"));
  }

  void into_stream(const std::string& how) {
    ++at_;
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (c < '0' || c > '2') return fail();
    ++at_;
    if (!is_end_of_word()) return fail();
    streams_ += " " + how + c;
  }

  void to_null(const std::string& how) {
    constexpr std::string_view null = "/dev/null";
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    if (!next_is(null)) return fail();
    at_ += null.size();
    if (!is_end_of_word()) return fail();
    streams_ += " " + how + std::string(null);
  }

  bool is_end_of_word() const {
    return at_ == text_.size() || is_blank(text_[at_]) || text_[at_] == '\n' || text_[at_] == ';' ||
           text_[at_] == '|' || next_is("&&");
  }

  enum class Joins { freely, needs_next };
  void end_command(const std::string& joined_by, Joins joins = Joins::freely) {
    if (argv_.empty() || !is_command(argv_)) return fail();
    for (size_t i = 0; i < argv_.size(); ++i) parts_.rendering += (i > 0 ? " " : "") + quoted(argv_[i]);
    parts_.rendering += streams_ + joined_by;
    parts_.commands.push_back(std::move(argv_));
    argv_.clear();
    streams_.clear();
    wants_command_ = joins == Joins::needs_next;
  }

  std::string_view text_;
  size_t at_ = 0;
  bool good_ = true;
  ShellParts parts_;
  std::vector<std::string> argv_;
  std::string streams_;  // the redirections of this command
  std::string word_;
  bool in_word_ = false;
  bool bare_ = true;            // nothing of the word was quoted
  bool wants_command_ = false;  // && || and | have one on their right
};

// Without what stands before a command's name: blanks, quotes, words that lead
// in another, assignments.
std::string_view without_lead(std::string_view piece) {
  constexpr std::string_view leads[] = {"exec", "command", "builtin", "nohup", "env",
                                        "sudo", "time",    "nice",    "eval"};
  for (;;) {
    const size_t begin = piece.find_first_not_of(" \t\r\"'`\\$");
    piece.remove_prefix(std::min(begin, piece.size()));
    const size_t end = std::min(piece.find_first_of(" \t"), piece.size());
    const std::string_view word = piece.substr(0, end);
    const bool leads_in = is_one_of(reserved, word) || is_one_of(leads, word) ||
                          (word.find('=') != std::string_view::npos && word[0] != '-');
    if (!leads_in || end == piece.size()) return piece;
    piece.remove_prefix(end);
  }
}

}  // namespace

std::optional<ShellParts> shell_parts(std::string_view text) {
  if (text.size() > max_command_bytes || text.find('\0') != std::string_view::npos) return std::nullopt;
  return PartsReader(text).run();
}

std::optional<std::vector<std::string>> shell_pieces(std::string_view text) {
  std::vector<std::string> pieces;
  while (!text.empty()) {
    const std::string_view piece = without_lead(take_until(text, ";&|\n(){}`"));
    const size_t last = piece.find_last_not_of(" \t\r");
    if (last != std::string_view::npos) pieces.emplace_back(piece.substr(0, last + 1));
    if (pieces.size() > most_pieces) return std::nullopt;
  }
  return pieces;
}

bool is_shell_word(std::string_view word) {
  return is_one_of(reserved, word) || is_one_of(of_the_shell, word);
}

}  // namespace cloche
