// What the everyday and the run suite share: a fixture with a scene for each identity, ways to run something
// inside, and answers that show everything a command said when it did not do what was expected.
//
// With EVERYDAY_BARE=1 in the environment `inside` runs the same command without Cloche: the control that
// shows that the programs work on this host, so that what fails otherwise is Cloche's.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/harness.hpp"

namespace cloche::test {

constexpr unsigned nobody = 65534;

// A program on the harness's fixed search path.
bool installed(const std::string& program);

bool contains(const std::string& text, const std::string& part);
std::string last_line(const std::string& text);

// Exit code `code`, whatever was printed.
::testing::AssertionResult exited(const Ran& ran, int code);
// Exit code 0 and exactly `text` on stdout.
::testing::AssertionResult printed(const Ran& ran, const std::string& text);
// One of `codes`, and a sentence on stderr that has each of `words`.
::testing::AssertionResult refused(const Ran& ran, const std::vector<int>& codes,
                                   const std::vector<std::string>& words);

class Everyday : public ::testing::TestWithParam<As> {
 protected:
  As as() const { return GetParam(); }
  bool is_root() const;
  fs::path workspace() const { return scene_.workspace(); }
  Scene& scene() { return scene_; }

  // Writes a file into the workspace; gives its path.
  std::string file(const std::string& name, const std::string& text, unsigned mode = 0644);

  // `cloche run` with the workspace as working directory and no flags. `how` may set input, env, cwd,
  // deadline.
  Command command(const std::vector<std::string>& argv, Command how = {}) const;
  Ran inside(const std::vector<std::string>& argv, const Command& how = {}) const;
  Ran bash(const std::string& script, const Command& how = {}) const;
  Ran python(const std::string& script, const Command& how = {});

  // The same identity without Cloche, in the workspace: to set a stage and to look at it afterwards.
  Ran outside(const std::string& script) const;

 private:
  Scene scene_{GetParam()};
};

bool bare();

}  // namespace cloche::test

#define FOR_EVERYONE(suite)                                                              \
  INSTANTIATE_TEST_SUITE_P(As, suite, ::testing::ValuesIn(::cloche::test::identities()), \
                           [](const ::testing::TestParamInfo<::cloche::test::As>& who) { \
                             return std::string(::cloche::test::name_of(who.param));     \
                           })

#define NEEDS(program) \
  if (!::cloche::test::installed(program)) GTEST_SKIP() << "skipped: " << (program) << " is not installed"
