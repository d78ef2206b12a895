// Tests about change sets: a state directory of the test's own, and the operator's commands on it.
#pragma once

#include "tools/fixture.hpp"

namespace cloche::test {

class Changes : public Tools {
 protected:
  // With a state directory of the test's own: the sets in it are this test's alone.
  Ran words_here(const Words& given, Command how = {}) const {
    how.env["XDG_STATE_HOME"] = scene_root() / "own-state";
    return cloche_words(given, how);
  }
  Ran write_by(const std::string& writes, const std::string& script) const {
    return words_here({"run", "--writes", writes, "--", "sh", "-c", script});
  }
  void SetUp() override {
    scene().write("own-state/.keep", "", 0600);
    fs::permissions(scene_root() / "own-state", fs::perms::owner_all);
  }
  std::string text_of(const std::string& name) const { return read_file(workspace() / name); }
  bool is_there(const std::string& name) const { return fs::exists(fs::symlink_status(workspace() / name)); }
  // What `cloche changes --json` lists.
  std::vector<Json> sets() const {
    const Ran ran = words_here({"changes", "--json"});
    EXPECT_TRUE(exited(ran, 0));
    const auto json = parse_json(ran.out);
    if (!json) ADD_FAILURE() << ran.out;
    return json ? (*json)["sets"].array : std::vector<Json>();
  }
};

}  // namespace cloche::test
