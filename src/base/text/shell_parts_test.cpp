#include "base/text/shell_parts.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "base/text/command_words.hpp"

namespace cloche {
namespace {

std::string joined(const std::vector<std::vector<std::string>>& commands) {
  std::string text;
  for (const auto& argv : commands) text += (text.empty() ? "" : " / ") + quote_words(argv);
  return text;
}

TEST(ShellParts, PlainWordsHaveParts) {
  const std::pair<const char*, const char*> rows[] = {
      {"git status", "git status"},
      {"git status;", "git status"},
      {"a && b || c; d | e", "a / b / c / d / e"},
      {"a\nb\n\n c ", "a / b / c"},
      {"a &&\n b |\n\n c", "a / b / c"},
      {"echo 'a;b' \"c d\" e\\ f", "echo 'a;b' 'c d' 'e f'"},
      {R"(echo "a\"b\\c\$d\`e\f")", R"(echo 'a"b\c$d`e\f')"},
      {"make 2>/dev/null", "make"},
      {"make >/dev/null 2>&1 && ./run", "make / ./run"},
      {"make >& 2", nullptr},
      {"make >&2 </dev/null", "make"},
      {"make &> /dev/null", "make"},
      {"make >>/dev/null", "make"},
      {"a2>/dev/null", "a2"},
      {"echo 'it'\"'\"'s'", R"(echo 'it'"'"'s')"},
      {"env A=1 b=2 c", "env A=1 b=2 c"},
      {"printf '%s\\n' x", R"(printf '%s\n' x)"},
      {"test -f x && echo yes", "test -f x / echo yes"},
      {"''x", "x"},
      {"echo ''", "echo ''"},
      {"echo a=b ./c=d", "echo a=b ./c=d"},
  };
  for (const auto& [text, parts] : rows) {
    const auto found = shell_parts(text);
    EXPECT_EQ(found.has_value(), parts != nullptr) << text;
    if (!found || parts == nullptr) continue;
    EXPECT_EQ(joined(found->commands), parts) << text;
    const auto again = shell_parts(found->rendering);
    ASSERT_TRUE(again) << found->rendering;
    EXPECT_EQ(again->commands, found->commands);
    EXPECT_EQ(again->rendering, found->rendering);
  }
  EXPECT_EQ(shell_parts("a 'b' && c >/dev/null 2>&1; d")->rendering, "'a' 'b' && 'c' >/dev/null 2>&1; 'd'");
}

TEST(ShellParts, AllElseIsOpaque) {
  for (const char* text :
       {"", " ", "\n", ";", "a;;b", "; a", "a && ", "a |", "| a", "a & b", "a &", "a |& b", "a ||| b",
        // expansions, patterns, groups, comments
        "echo $X", "echo \"$X\"", "echo `x`", "echo \"`x`\"", "echo $(x)", "echo *", "echo a?", "echo [a]",
        "ls ~", "echo {a,b}", "(a)", "{ a; }", "a # b", "! a", "echo !x", "echo a\\\nb", "echo \"a\\\nb\"",
        "echo 'a\nb'",
        // redirections
        "a > x", "a < x", "a >| /dev/null", "a <> /dev/null", "a << E", "a <<< x", "a <(b)", "a >(b)",
        "a 3>/dev/null", "a 2>&-", "a >&x", "a >/dev/nullx", "a > /dev/'null'", ">/dev/null",
        "a >/dev/null;>/dev/null", "a 2>&1x", "a >/dev/null>x", "a <&0", "a 12>/dev/null",
        "a > /dev/null/../x",
        // assignments, functions, reserved words
        "A=1", "A=1 b", "A+=1 b", "a() { b; }", "function a { b; }", "if a; then b; fi",
        "for x in y; do a; done", "while a; do b; done", "case a in b) c;; esac", "time a", "[[ a ]]",
        "coproc a", "a; then b", "'if' x",
        // builtins
        "cd x && a", "export A", "hash -p x y", "eval a", "exec a", ". x", "source x", "alias a=b", "unset x",
        "set -x", "command a", "builtin a", "enable -f x y", "trap a EXIT", "read x", "type a", "let x",
        "shopt -s x", "exit", "'cd' x", "c\\d x", "test -v 'a[$(x)]'", "test 'a[$(x)]' -eq 1", "test -R x",
        "printf -v x y", "printf -vx y", "printf '%n' PATH", "printf '%5n' PATH", "printf -- x",
        "printf '%(x)T'", "printf '%*d' 1 2", "printf %", "'[' -v x ']'", "%1", "kill 1", "wait",
        // quotes and bytes
        "echo 'a", "echo \"a", "echo a\\", "''", "echo \xff", "echo \xe2\x80\xae", "echo a\rb", "echo 'a\tb'",
        "echo \x01"})
    EXPECT_FALSE(shell_parts(text)) << text;
  EXPECT_FALSE(shell_parts(std::string("a\0b", 3)));
  EXPECT_FALSE(shell_parts("a " + std::string(max_command_bytes, 'x')));
}

TEST(ShellParts, PiecesOfOpaqueTextAreFoundByTheirLetters) {
  const std::pair<const char*, std::vector<std::string>> rows[] = {
      {"true; git push \"$X\"", {"true", "git push \"$X\""}},
      {"X=1 git push", {"git push"}},
      {"if x; then git push; fi", {"x", "git push", "fi"}},
      {"(git push)", {"git push"}},
      {"echo $(git push)", {"echo $", "git push"}},
      {"echo `git push`", {"echo", "git push"}},
      {"sudo git push & x", {"git push", "x"}},
  };
  for (const auto& [text, pieces] : rows) EXPECT_EQ(shell_pieces(text), pieces) << text;
  EXPECT_FALSE(shell_pieces([] {
    std::string text;
    for (int i = 0; i < 2000; ++i) text += "a;";
    return text;
  }()));
}

// What bash itself says, on this host.
class Bash : public testing::Test {
 protected:
  Bash() {
    directory_ = std::filesystem::temp_directory_path() / ("cloche-parts-" + std::to_string(::getpid()));
    std::filesystem::create_directories(directory_ / "bin");
    // Each program writes its words, a line each in brackets, and ends as its
    // name says.
    for (const char* name : {"a", "b", "no", "x-y"}) {
      write("bin/" + std::string(name),
            "#!/bin/bash\nline=\"<${0##*/}>\"\nfor word; do line+=\"<$word>\"; "
            "done\n"
            "echo \"$line\" >> \"$LOG\"\n" +
                std::string(std::string_view(name) == "no" ? "exit 1\n" : "exit 0\n"));
      std::filesystem::permissions(directory_ / "bin" / name, std::filesystem::perms::owner_all);
    }
  }
  ~Bash() override { std::filesystem::remove_all(directory_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ / name, std::ios::binary) << text;
  }
  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(directory_ / name, std::ios::binary).rdbuf();
    return text.str();
  }
  bool parses(const std::string& text) const {
    write("script", text);
    return std::system(("bash -n " + (directory_ / "script").string() + " 2>/dev/null").c_str()) == 0;
  }
  // What the text starts, sorted: the order within a pipe is bash's.
  std::vector<std::string> started(const std::string& text) const {
    write("script", text);
    write("log", "");
    const std::string here = directory_.string();
    (void)!std::system(("cd " + here + " && env -i PATH=" + here + "/bin LOG=" + here +
                        "/log $(command -v bash) --noprofile --norc script "
                        "</dev/null >/dev/null 2>&1")
                           .c_str());
    std::vector<std::string> lines;
    std::istringstream log(read("log"));
    for (std::string line; std::getline(log, line);) lines.push_back(line);
    std::sort(lines.begin(), lines.end());
    return lines;
  }
  std::filesystem::path directory_;
};

std::string as_logged(const std::vector<std::string>& argv) {
  std::string line;
  for (const auto& word : argv) line += "<" + word + ">";
  return line;
}

TEST_F(Bash, StartsExactlyThePartsOfRandomText) {
  if (std::system("command -v bash >/dev/null 2>&1") != 0) GTEST_SKIP() << "skipped: no bash";
  constexpr std::array pieces = {
      "a",     "b",       "no",  "x-y",   " ",  " ",     " ",    " && ",    "||",         ";",    "|", "\n",
      "'",     "\"",      "\\",  "2>",    ">",  "&",     "&1",   ">&2",     "/dev/null",  "=",    "A", "1",
      "2",     "$X",      "é",   "#",     "%s", "-v",    "test", "printf ", "echo ",      "cd .", "{", "}",
      "(",     ")",       "if ", "then ", "fi", "time ", "!",    "~",       "*",          "[",    "]", "<",
      "'a b'", "\"c d\"", "\\ ", "exec ", "a ", "b ",    "; ",   " 2>&1",   " >/dev/null"};
  std::mt19937 random(20260817);
  const auto pick = [&](size_t most) { return random() % most; };
  int with_parts = 0;
  for (int round = 0; round < 60'000; ++round) {
    std::string text = "a";
    for (size_t length = 1 + pick(9); length > 0; --length) text += pieces[pick(pieces.size())];
    const auto parts = shell_parts(text);
    if (!parts) continue;
    ++with_parts;
    if (with_parts % 64 != 0) continue;  // a process each
    ASSERT_TRUE(parses(text)) << text;
    const auto by_text = started(text);
    EXPECT_EQ(by_text, started(parts->rendering)) << text << "\n--\n" << parts->rendering;
    std::vector<std::string> known;
    for (const auto& argv : parts->commands) known.push_back(as_logged(argv));
    for (const auto& line : by_text)
      EXPECT_NE(std::find(known.begin(), known.end(), line), known.end()) << line << " of " << text;
  }
  EXPECT_GT(with_parts, 1000);
}

TEST_F(Bash, HasNoBuiltinThatActsUnseen) {
  if (std::system("command -v bash >/dev/null 2>&1") != 0) GTEST_SKIP() << "skipped: no bash";
  (void)!std::system(("bash -c 'compgen -b; compgen -k' > " + (directory_ / "names").string()).c_str());
  std::istringstream names(read("names"));
  size_t count = 0;
  for (std::string name; std::getline(names, name); ++count) {
    const bool harmless = name == ":" || name == "true" || name == "false" || name == "echo" ||
                          name == "pwd" || name == "printf" || name == "test";
    EXPECT_EQ(shell_parts(quote_words({name, "x"})).has_value(), harmless) << name;
  }
  EXPECT_GT(count, 50U);
}

}  // namespace
}  // namespace cloche
