#include "doors/cli/help_pages.hpp"

#include <gtest/gtest.h>

#include "doors/cli/completions.hpp"
#include "doors/cli/manual_page.hpp"

namespace cloche {
namespace {

using Texts = std::vector<std::string>;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const HelpPage sample = {.usage = "cloche sample one|two [flags]\ncloche sample [three]",
                         .about = "Does it.\n.It's `good`.",
                         .rows = {{"list", "List them."},
                                  {"show ID", "Show it."},
                                  {"", "Where:"},
                                  {"-e, --env NAME[=VALUE]", "A path is C:\\~. And more."}},
                         .notes = "First.\n\nSecond.",
                         .examples = {"cloche sample 'x'"}};

TEST(HelpPages, ARowIsReadByItsNamesAndItsValue) {
  const struct {
    const char* left;
    Texts names;
    const char* value;
  } rows[] = {
      {"", {}, ""},
      {"--json", {"--json"}, ""},
      {"-h, --help", {"-h", "--help"}, ""},
      {"-e, --env NAME[=VALUE]", {"-e", "--env"}, "NAME[=VALUE]"},
      {"--publish [HOST_PORT:]PORT", {"--publish"}, "[HOST_PORT:]PORT"},
      {"--grant debug", {"--grant"}, "debug"},
      {"check [NAME|FILE]...", {"check"}, "[NAME|FILE]..."},
      {"show RUN [CALL]", {"show"}, "RUN [CALL]"},
  };
  for (const auto& row : rows) {
    const HelpNames found = names_of({row.left, ""});
    EXPECT_EQ(found.names, row.names) << row.left;
    EXPECT_EQ(found.value, row.value) << row.left;
  }
}

TEST(HelpPages, TheActionsOfACommandAreThoseOfItsRowsAndItsUsage) {
  EXPECT_EQ(action_words(sample), (Texts{"list", "show", "one", "two"}));
  EXPECT_EQ(action_words(config_help()), (Texts{"check"}));
  EXPECT_EQ(action_words(explain_help()), (Texts{"run", "call"}));
  EXPECT_EQ(action_words(new_help()), (Texts{"skill", "executor", "rule"}));
  EXPECT_EQ(action_words(run_help()), Texts{});
}

TEST(HelpPages, EachCommandHasAWholePage) {
  EXPECT_EQ(command_helps().size(), 17U);
  for (const auto& command : command_helps()) {
    const HelpPage page = command.page();
    EXPECT_TRUE(page.usage.starts_with("cloche " + std::string(command.name))) << command.name;
    EXPECT_TRUE(command.help.ends_with('.')) << command.name;
    EXPECT_FALSE(page.about.empty()) << command.name;
    EXPECT_FALSE(page.examples.empty()) << command.name;
    EXPECT_TRUE(has(text_of(page), "-h, --help")) << command.name;
    EXPECT_TRUE(has(text_of(main_help()), "\n  " + std::string(command.name))) << command.name;
  }
}

TEST(ManualPage, HasAllOfThePage) {
  EXPECT_EQ(manual_page("cloche-sample", "Show a sample.", sample, "1.2.3"),
            ".TH CLOCHE-SAMPLE 1 \"\" \"cloche 1.2.3\" \"Cloche\"\n"
            ".nh\n.ad l\n"
            ".SH NAME\ncloche\\-sample \\- Show a sample\n"
            ".SH SYNOPSIS\n.nf\ncloche sample one|two [flags]\ncloche sample [three]\n.fi\n"
            ".SH DESCRIPTION\nDoes it.\n.PP\n\\&.It\\(aqs \\(gagood\\(ga.\n"
            ".SH OPTIONS\n"
            ".TP\n\\fBlist\\fR\nList them.\n"
            ".TP\n\\fBshow\\fR \\fIID\\fR\nShow it.\n"
            ".SS Where:\n"
            ".TP\n\\fB\\-e\\fR, \\fB\\-\\-env\\fR \\fINAME[=VALUE]\\fR\nA path is C:\\e\\(ti. And more.\n"
            ".SH NOTES\nFirst.\n.PP\nSecond.\n"
            ".SH EXAMPLES\n.RS 4\n.nf\ncloche sample \\(aqx\\(aq\n.fi\n.RE\n"
            ".SH SEE ALSO\n.BR cloche (1)\n");
}

TEST(ManualPage, TheMainOneLeadsToAllOthers) {
  const std::string page = main_manual_page("1.2.3");
  for (const auto& command : command_helps())
    EXPECT_TRUE(has(page, ".BR cloche\\-" + std::string(command.name) + " (1)")) << command.name;
}

// What the shells do with them is tested where the shells are (tests/install).
TEST(Completions, KnowEveryFlagOfEveryCommand) {
  const std::string bash = bash_completion();
  const std::string zsh = zsh_completion();
  const std::string fish = fish_completion();
  for (const auto& command : command_helps()) {
    const std::string name(command.name);
    EXPECT_TRUE(has(bash, "\n    " + name + ")\n")) << name;
    EXPECT_TRUE(has(zsh, "\n    " + name + ")\n")) << name;
    for (const auto& row : command.page().rows) {
      for (const auto& flag : names_of(row).names) {
        if (!is_flag(flag)) continue;
        EXPECT_TRUE(has(bash, flag)) << name << " " << flag;
        EXPECT_TRUE(has(zsh, "'" + flag + ":")) << name << " " << flag;
        const std::string in_fish =
            flag.starts_with("--") ? " -l " + flag.substr(2) : " -s " + flag.substr(1);
        EXPECT_TRUE(has(fish, in_fish)) << name << " " << flag;
      }
    }
  }
}

}  // namespace
}  // namespace cloche
