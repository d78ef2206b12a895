#include "doors/cli/wrap_command.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

using Backend = WrapArguments::Backend;
using Runtime = WrapArguments::Runtime;

Result<WrapArguments> parse(std::vector<std::string> words) {
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  return parse_wrap(pointers);
}

TEST(WrapArguments, TakesItsOwnFlagsAndThoseOfRun) {
  const auto parsed =
      parse({"--ro", "/data", "--backend", "oci", "--runtime=runsc", "--executor", "m.json", "--bundle",
             "box", "--profile", "readonly", "--json", "--", "ls", "--backend", "x"});
  ASSERT_TRUE(parsed.ok()) << parsed.error().what;
  const WrapArguments& arguments = parsed.value();
  EXPECT_EQ(arguments.backend, Backend::oci);
  EXPECT_EQ(arguments.runtime, Runtime::runsc);
  EXPECT_EQ(arguments.run.executor, "m.json");
  EXPECT_EQ(arguments.run.bundle, "box");
  EXPECT_TRUE(arguments.run.json);
  EXPECT_EQ(arguments.run.request.grants.size(), 1U);
  EXPECT_EQ(arguments.run.request.argv, (std::vector<std::string>{"ls", "--backend", "x"}))
      << "what stands after -- is the command's";
}

TEST(WrapArguments, ACommandMayEndAsFlagsDo) {
  const auto parsed = parse({"--backend", "bwrap", "--", "git", "checkout", "--"});
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed.value().run.request.argv, (std::vector<std::string>{"git", "checkout", "--"}));
}

struct Row {
  std::vector<std::string> words;
  const char* what;  // a part of the error
};

TEST(WrapArguments, RefusesWhatMakesNoSense) {
  const Row rows[] = {
      {{}, "--backend is missing"},
      {{"--backend", "bwrap"}, "no command"},
      {{"--backend", "bwrap", "--"}, "no command"},
      {{"--backend", "bwrap", "--executor", "--"}, "no command"},
      {{"--"}, "--backend is missing"},
      {{"--", "ls"}, "--backend is missing"},
      {{"--backend", "docker", "--", "ls"}, "no such backend"},
      {{"--backend=", "--", "ls"}, "empty value"},
      {{"--backend", "oci", "--runtime", "kata", "--", "ls"}, "no such runtime"},
      {{"--backend", "bwrap", "--runtime", "runc", "--", "ls"}, "are for --backend oci"},
      {{"--backend", "bwrap", "--bundle", "b", "--", "ls"}, "are for --backend oci"},
      {{"--backend", "bwrap", "--task", "t", "--", "ls"}, "unknown flag --task"},
      {{"--backend", "bwrap", "--dry-run", "--", "ls"}, "unknown flag --dry-run"},
      {{"--backend", "bwrap", "--no-such", "--", "ls"}, "unknown flag"},
  };
  for (const auto& [words, what] : rows) {
    const auto parsed = parse(words);
    ASSERT_FALSE(parsed.ok()) << what;
    EXPECT_NE(parsed.error().what.text().find(what), std::string::npos) << parsed.error().what;
    EXPECT_EQ(parsed.error().cause, Cause::usage) << what;
    EXPECT_EQ(parsed.error().fix.text().find("cloche run"), std::string::npos)
        << "the usage of another command";
  }
}

}  // namespace
}  // namespace cloche
