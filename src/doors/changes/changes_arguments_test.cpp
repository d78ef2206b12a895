#include "doors/changes/changes_arguments.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

struct ParseRow {
  ChangesCommand command;
  std::vector<std::string> words;
  std::string answer;  // "action word paths ours theirs flags", or the refusal
};

std::string listed(std::string_view name, const std::vector<std::string>& paths) {
  std::string text;
  for (const auto& path : paths) text += " " + std::string(name) + "=" + path;
  return text;
}

std::string parsed(std::vector<std::string> words, ChangesCommand command) {
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  const auto read = parse_changes_words(pointers, command);
  if (!read.ok()) return (read.error().cause == Cause::usage ? "usage: " : "") + read.error().what.text();
  const ChangesArguments& arguments = read.value();
  if (arguments.help) return "help";
  constexpr const char* names[] = {"list", "show", "diff", "apply", "drop", "undo"};
  return std::string(names[static_cast<int>(arguments.action)]) + " word=" + arguments.word +
         listed("only", arguments.paths) + listed("ours", arguments.ours) +
         listed("theirs", arguments.theirs) + (arguments.all ? " all" : "") +
         (arguments.stat ? " stat" : "") + (arguments.no_pager ? " plain" : "") +
         (arguments.dry_run ? " dry" : "") + (arguments.json ? " json" : "");
}

TEST(ChangesArguments, AreReadByTheTable) {
  using enum ChangesCommand;
  const ParseRow rows[] = {
      {changes, {}, "list word="},
      {changes, {"--all", "--json"}, "list word= all json"},
      {changes, {"list", "--all"}, "list word= all"},
      {changes, {"list", "x"}, "usage: unexpected argument 'x'"},
      {changes, {"show"}, "show word="},
      {changes, {"show", "x-1"}, "show word=x-1"},
      {changes, {"show", "x-1", "y"}, "usage: unexpected argument 'y'"},
      {changes, {"show", ""}, "usage: a word is empty"},
      {changes, {"diff", "--stat", "--no-pager"}, "diff word= stat plain"},
      {changes, {"apply", "x-1", "--only", ".envrc", "--only=a b"}, "apply word=x-1 only=.envrc only=a b"},
      {changes, {"apply", "--ours", "a", "--theirs", "b"}, "apply word= ours=a theirs=b"},
      {changes, {"apply", "--only", ""}, "usage: a flag has an empty value"},
      {changes, {"drop", "--ours", "a"}, "usage: unknown flag --ours"},
      {changes, {"show", "--all"}, "usage: unknown flag --all"},
      {changes, {"undo"}, "usage: unknown action 'undo'"},
      {changes, {"--help"}, "help"},
      {changes, {"apply", "-h"}, "help"},
      {diff, {}, "diff word="},
      {diff, {"last", "a", "b/c", "--stat"}, "diff word=last only=a only=b/c stat"},
      {diff, {"last", "--", "-a"}, "diff word=last only=-a"},
      {diff, {"last", ""}, "usage: a word is empty"},
      {diff, {"--dry-run"}, "usage: unknown flag --dry-run"},
      {diff, {"--only", "a"}, "usage: unknown flag --only"},
      {undo, {}, "undo word="},
      {undo, {"run1/c-0007", "old.py", "--dry-run", "--json"}, "undo word=run1/c-0007 only=old.py dry json"},
      {undo, {"--stat"}, "usage: unknown flag --stat"},
  };
  for (const auto& row : rows) EXPECT_EQ(parsed(row.words, row.command), row.answer);
}

TEST(ChangesArguments, TheHelpNamesEveryFlagThatIsRead) {
  const std::pair<ChangesCommand, std::vector<std::string>> rows[] = {
      {ChangesCommand::changes, {"--only", "--ours", "--theirs", "--all", "--stat", "--no-pager", "--json"}},
      {ChangesCommand::diff, {"--stat", "--no-pager", "--json"}},
      {ChangesCommand::undo, {"--dry-run", "--json", "own Edit tool"}}};
  for (const auto& [command, words] : rows) {
    const std::string help = text_of(changes_help(command));
    for (const auto& word : words) EXPECT_NE(help.find(word), std::string::npos) << word;
    EXPECT_NE(help.find("Exit code 0; 1 for a conflict"), std::string::npos);
  }
}

}  // namespace
}  // namespace cloche
