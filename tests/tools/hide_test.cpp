// The key `hide` for tool calls: the file tools, which see no mount, hide the same paths as the sandbox; and
// what the operator looks at later has no contents of them.
#include "tools/changes_fixture.hpp"

namespace cloche::test {
namespace {

class HiddenFiles : public Changes {
 protected:
  void SetUp() override {
    Changes::SetUp();
    file(".env", "SECRET\n");
    file("sub/.env", "SECRET\n");
    file("keys/a", "SECRET\n");
    file("plain", "no secret: SECRETS\n");
    EXPECT_TRUE(exited(outside("ln -s .env link; ln -s keys way"), 0));
  }
  Answer hidden(const Call& what, Words flags = {}) const {
    flags.insert(flags.end(), {"--hide", "**/.env", "--hide", "keys"});
    Command how;
    how.env["XDG_STATE_HOME"] = scene_root() / "own-state";
    return call(what, flags, how);
  }
};
FOR_EVERYONE(HiddenFiles);

TEST_P(HiddenFiles, NoFileToolReadsOrWritesThem) {
  const struct {
    const char* tool;
    std::string arguments;
  } rows[] = {
      {"read_artifact", R"({"path": ".env"})"},
      {"read_artifact", R"({"path": "./sub//.env"})"},
      {"read_artifact", R"({"path": ".ENV"})"},
      {"read_artifact", R"({"path": "link"})"},
      {"read_artifact", R"({"path": "way/a"})"},
      {"read_artifact", R"({"path": "keys/a"})"},
      {"list_artifacts", R"({"path": "keys"})"},
      {"list_artifacts", R"({"path": "way"})"},
      {"search_artifacts", R"({"pattern": "S", "path": "keys"})"},
      {"write_artifact", R"({"path": "keys/new", "content": "x"})"},
      {"edit_artifact", R"({"path": "keys/a", "old": "S", "new": "x"})"},
  };
  for (const auto& row : rows) {
    const Answer answer = hidden({row.tool, row.arguments});
    EXPECT_NE(answer.exit_code(), 0) << row.tool << row.arguments << answer.result();
    EXPECT_FALSE(contains(answer.ran.out, "SECRET")) << row.tool << row.arguments << answer.ran.out;
    EXPECT_FALSE(contains(answer.result(), "--hide")) << answer.result();
  }
  EXPECT_EQ(read_file(workspace() / "keys/a"), "SECRET\n");
  EXPECT_FALSE(fs::exists(workspace() / "keys/new"));
  EXPECT_TRUE(contains(call({"read_artifact", R"({"path": "link"})"}).result(), "SECRET"));  // the control
}

TEST_P(HiddenFiles, ListsHaveTheNameAndSearchesNothing) {
  const std::string list = hidden({"list_artifacts", "{}"}).result();
  EXPECT_TRUE(contains(list, ".env (hidden)\n") && contains(list, "keys (hidden)\n") &&
              contains(list, "sub/.env (hidden)"))
      << list;
  EXPECT_FALSE(contains(list, "keys/a")) << list;
  const std::string found = hidden({"search_artifacts", R"({"pattern": "SECRET"})"}).result();
  EXPECT_EQ(found.substr(0, 6), "plain:") << found;
  EXPECT_FALSE(contains(found, "env") || contains(found, "keys")) << found;
}

TEST_P(HiddenFiles, SoItIsForWhatIsStagedOfATask) {
  const Words of_task = {"--task", "t", "--writes", "stage"};
  EXPECT_EQ(hidden({"write_artifact", R"({"path": "new", "content": "x"})"}, of_task).exit_code(), 0);
  for (const char* path : {".env", "link", "way/a", "sub/.env"}) {
    const Answer answer = hidden({"read_artifact", R"({"path": ")" + std::string(path) + "\"}"}, of_task);
    EXPECT_FALSE(contains(answer.ran.out, "SECRET")) << path << answer.ran.out;
  }
  const std::string found = hidden({"search_artifacts", R"({"pattern": "SECRET"})"}, of_task).result();
  EXPECT_EQ(found.substr(0, 6), "plain:") << found;
  EXPECT_FALSE(contains(found, "env") || contains(found, "keys")) << found;
}

TEST_P(HiddenFiles, ADiffHasNoContentsOfThem) {
  file(".cloche/config.json", R"({"hide": ["token"]})");
  const Ran ran = words_here({"run", "--writes", "commit", "--hide", "other", "--", "sh", "-c",
                              "echo CONTENT > token; echo CONTENT > other; echo fine > fine"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_FALSE(is_there("token") || is_there("other"));
  const std::string diff = words_here({"diff", "last"}).out;
  EXPECT_TRUE(contains(diff, "+fine")) << diff;
  EXPECT_TRUE(contains(diff, "Contents hidden")) << diff;
  EXPECT_FALSE(contains(diff, "CONTENT")) << diff;
}

}  // namespace
}  // namespace cloche::test
