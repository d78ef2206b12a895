// The fixture of the configuration suite: commands of Cloche's in the workspace, with a configuration that
// the test writes.
#pragma once

#include <string>
#include <vector>

#include "everyday/support.hpp"
#include "run/json.hpp"

namespace cloche::test {

using Words = std::vector<std::string>;

class Configured : public Everyday {
 protected:
  void user_file(const std::string& text) { scene().write("config/cloche/config.json", text); }
  void project_file(const std::string& text) { scene().write("workspace/.cloche/config.json", text); }
  std::string user_path() const { return (root() / "config/cloche/config.json").string(); }
  std::string project_path() const { return (workspace() / ".cloche/config.json").string(); }
  fs::path root() const { return workspace().parent_path(); }

  Ran cloche_words(const Words& words, const std::map<std::string, std::string>& variables = {}) const {
    Command command{.argv = {cloche()}, .as = as(), .cwd = workspace(), .env = variables};
    command.argv.insert(command.argv.end(), words.begin(), words.end());
    command.env.emplace("XDG_CONFIG_HOME", (root() / "config").string());
    command.env.emplace("XDG_STATE_HOME", state_home(as()));
    return run(command);
  }
  Ran shell(const std::string& script, Words flags = {}) const {
    flags.insert(flags.begin(), "run");
    for (const char* word : {"--", "sh", "-c"}) flags.emplace_back(word);
    flags.push_back(script);
    return cloche_words(flags);
  }
  Json json_of(const Words& words) const {
    const Ran ran = cloche_words(words);
    auto json = parse_json(ran.out);
    EXPECT_TRUE(json) << ran.out << ran.err;
    return json.value_or(Json{});
  }
};

}  // namespace cloche::test
