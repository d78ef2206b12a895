// Files of --env-file line by line, and which word stands where several give a name. No refusal has a value.
#include "doors/cli/secret_flags.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "base/scratch.hpp"

namespace cloche {
namespace {

using Lines = std::vector<Secret>;

TEST(EnvFile, HasAVariableInEachLine) {
  struct Row {
    std::string text;
    Lines variables;
  };
  const Row rows[] = {
      {"", {}},
      {"\n\n  \t\n# A=1\n  # B=2\n", {}},
      {"A=1", {{"A", "1"}}},
      {"A=1\n_b2=x\n", {{"A", "1"}, {"_b2", "x"}}},
      {"A=", {{"A", ""}}},
      {"A=b=c==", {{"A", "b=c=="}}},
      {"A=a b\tc", {{"A", "a b\tc"}}},
      {"A=a#b", {{"A", "a#b"}}},
      {"A=#b", {{"A", "#b"}}},
      {R"(A=$HOME `id` ${B} \n)", {{"A", R"($HOME `id` ${B} \n)"}}},
      {R"(A=it's)", {{"A", "it's"}}},
      {R"(A="a # b ")", {{"A", "a # b "}}},
      {R"(A='a "b" \n $C ')", {{"A", R"(a "b" \n $C )"}}},
      {R"(A="it's")", {{"A", "it's"}}},
      {R"(A="")", {{"A", ""}}},
      {"A=\xff\x01", {{"A", "\xff\x01"}}},
      {"MY_TOKEN=x\nAWS_SECRET_ACCESS_KEY=y", {{"MY_TOKEN", "x"}, {"AWS_SECRET_ACCESS_KEY", "y"}}},
  };
  for (const auto& [text, variables] : rows) {
    const auto read = read_env_file(text, "f");
    ASSERT_TRUE(read.ok()) << text << read.error().what.text();
    EXPECT_EQ(read.value(), variables) << text;
  }
}

TEST(EnvFile, RefusesALineThatReadersUnderstandInDifferentWays) {
  const std::string rows[] = {"hunter2",
                              "export A=hunter2",
                              " A=hunter2",
                              "A =hunter2",
                              "A= hunter2",
                              "A=hunter2 ",
                              "A=hunter2\t",
                              "A=hunter2 # note",
                              "A=hunter2\t#note",
                              "A=\"hunter2",
                              "A='hunter2",
                              "A=\"hunter2\" ",
                              "A=\"hunter2\" # c",
                              "A=\"hunter2\"x",
                              "A=\"a\"hunter2\"",
                              "A='a'hunter2'",
                              "A=\"",
                              "A=\"hunter2\\n\"",
                              "A=hunter2\r",
                              "1A=hunter2",
                              "=hunter2",
                              "A-B=hunter2",
                              "OK=hunter2",
                              "PATH=hunter2",
                              "HOME=hunter2",
                              "TMPDIR=hunter2",
                              "hunter2=",
                              std::string("A=h\0", 4)};
  for (const auto& line : rows) {
    const auto read = read_env_file("OK=1\n\n" + line + "\nB=2\n", "dir/f.env");
    if (line == "hunter2=") {  // a name is no value, and this one is good
      EXPECT_TRUE(read.ok());
      continue;
    }
    ASSERT_FALSE(read.ok()) << line;
    const std::string said = describe(read.error());
    EXPECT_TRUE(said.starts_with("dir/f.env:3: ")) << line << ": " << said;
    EXPECT_EQ(said.find("hunter2"), std::string::npos) << said;
  }
}

TEST(SecretFile, LosesOneNewlineAtItsEnd) {
  struct Row {
    std::string text;
    std::string value;
  };
  const Row rows[] = {{"", ""}, {"a", "a"}, {"a\n", "a"}, {"a\n\n", "a\n"}, {"\na b \r\n", "\na b \r"}};
  for (const auto& [text, value] : rows) EXPECT_EQ(read_secret_file(text, "f").value(), value);
  EXPECT_FALSE(read_secret_file(std::string("a\0b", 3), "f").ok());
}

TEST(SecretFlag, IsANameAndNeverAValue) {
  EXPECT_EQ(parse_secret_flag("A").value(), (SecretFlag{"A"}));
  EXPECT_EQ(parse_secret_flag("A=@a=b").value(), (SecretFlag{"A", "a=b"}));
  for (const char* word : {"A=hunter2", "A=", "A=@", "=hunter2", "", "hunter-2", "PATH", "HOME=@f"}) {
    const auto flag = parse_secret_flag(word);
    ASSERT_FALSE(flag.ok()) << word;
    EXPECT_EQ(describe(flag.error()).find("hunter"), std::string::npos) << word;
  }
}

class ReadSecrets : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(scratch.path + "/" + name) << text;
    return scratch.path + "/" + name;
  }
  Result<void> read(const SecretFlags& flags) {
    char* block[] = {caller.data(), nullptr};
    auto read = read_secrets(flags, Environment(block), request);
    if (!read.ok()) return read.error();
    files = std::move(read).value();
    return {};
  }

  Scratch scratch;
  std::string caller = "MINE=callers";
  RunRequest request;
  std::vector<NamedFile> files;
};

TEST_F(ReadSecrets, OneStandsOverTheOther) {
  request.environment = {{.name = "B", .value = "flag"}, {.name = "C", .value = "flag"}, {.name = "D_TOKEN"}};
  const auto first = file("first", "A=1\nB=1\nC=1\nD_TOKEN=1\n");
  const auto second = file("second", "A=2\n");
  ASSERT_TRUE(read({{first, second}, {{"C", file("c", "3\n")}, {"MINE"}}}).ok());
  EXPECT_EQ(request.secrets, (Lines{{"D_TOKEN", "1"}, {"A", "2"}, {"C", "3"}, {"MINE", "callers"}}));
}

TEST_F(ReadSecrets, SayHowAFileWasReached) {
  const auto plain = file("plain", "1");
  const std::string link = scratch.path + "/link";
  ASSERT_EQ(::symlink("plain", link.c_str()), 0);
  ASSERT_TRUE(read({{}, {{"A", plain}, {"B", link}}}).ok());
  const NamedFile direct{"--secret A=@" + plain, {.path = plain}};
  const NamedFile linked{"--secret B=@" + link, {.path = plain, .turns = {link}}};
  EXPECT_EQ(files, (std::vector<NamedFile>{direct, linked}));
}

TEST_F(ReadSecrets, WaitsForADescriptor) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  OwnedFd reader(ends[0]);
  ASSERT_EQ(::write(ends[1], "piped\n", 6), 6);
  ::close(ends[1]);
  ASSERT_TRUE(read({{}, {{"A", "/dev/fd/" + std::to_string(reader.get())}}}).ok());
  EXPECT_EQ(request.secrets, (Lines{{"A", "piped"}}));
}

TEST_F(ReadSecrets, WhatIsMissingOrTwiceRefuses) {
  const SecretFlags rows[] = {
      {{}, {{"UNSET"}}},           {{}, {{"MINE"}, {"MINE"}}},     {{}, {{"A", scratch.path + "/none"}}},
      {{}, {{"A", scratch.path}}}, {{scratch.path + "/none"}, {}}, {{scratch.path}, {}}};
  for (const auto& flags : rows) EXPECT_FALSE(read(flags).ok());
}

}  // namespace
}  // namespace cloche
