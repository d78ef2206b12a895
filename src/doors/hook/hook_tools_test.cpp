// What an agent's tools come to, and what is answered.
#include "doors/hook/hook_tools.hpp"

#include <gtest/gtest.h>

#include "doors/hook/hook_reply.hpp"

namespace cloche {
namespace {

using Kind = HookTool::Kind;

HookCall call(const std::string& tool, const std::string& input) {
  return {.tool = tool, .input = read_json(input, "").value(), .directory = "/p/src", .session = "s"};
}

TEST(HookTools, WhatOursDoesTheSame) {
  struct Row {
    const char* tool;
    const char* input;
    Kind kind;
    const char* judged;
    std::vector<HookFile> files;
  };
  const Row rows[] = {
      {"Bash", R"({"command": "a | b", "timeout": 5})", Kind::command, "run_script", {}},
      {"WebFetch", R"({"url": "https://x.org/", "prompt": "p"})", Kind::fetch, "http_get", {}},
      {"Read", R"({"file_path": "/p/a"})", Kind::file, "Read", {{"read_artifact", "/p/a"}}},
      {"Write",
       R"({"file_path": "/p/a", "content": "c"})",
       Kind::file,
       "Write",
       {{"write_artifact", "/p/a", "c"}}},
      {"Edit",
       R"({"file_path": "a", "old_string": "o", "new_string": "n"})",
       Kind::file,
       "Edit",
       {{"edit_artifact", "a", "n", "o"}}},
      {"Edit",
       R"({"file_path": "a", "old_string": "", "new_string": "n"})",
       Kind::file,
       "Edit",
       {{"write_artifact", "a", "n"}}},
      {"MultiEdit",
       R"({"file_path": "a", "edits": [{"x": 1}]})",
       Kind::file,
       "MultiEdit",
       {{"write_artifact", "a", R"([{"x":1}])"}}},
      {"NotebookEdit",
       R"({"notebook_path": "a.ipynb", "new_source": "s"})",
       Kind::file,
       "NotebookEdit",
       {{"write_artifact", "a.ipynb", "s"}}},
      {"Grep", R"({"pattern": "x"})", Kind::file, "Grep", {{"search_artifacts", "/p/src"}}},
      {"Glob", R"({"pattern": "*", "path": "/etc"})", Kind::file, "Glob", {{"list_artifacts", "/etc"}}},
      {"mcp__a__b", R"({"x": 1})", Kind::foreign, "mcp__a__b", {}},
      {"Task", R"({})", Kind::unknown, "Task", {}},
      {"bash", R"({"command": "ls"})", Kind::unknown, "bash", {}},
  };
  for (const auto& row : rows) {
    const auto tool = understand_hook_tool(call(row.tool, row.input));
    ASSERT_TRUE(tool.ok()) << row.tool;
    EXPECT_EQ(tool.value().kind, row.kind) << row.tool;
    EXPECT_EQ(tool.value().judged.tool, row.judged) << row.tool;
    EXPECT_EQ(tool.value().files, row.files) << row.tool << row.input;
  }
}

TEST(HookTools, ACommandIsTheScriptByteForByte) {
  const auto tool = understand_hook_tool(call("Bash", R"({"command": "echo 'a'\n\"$b\" \\ ü"})"));
  EXPECT_EQ(tool.value().judged.arguments,
            "{\"code\":\"echo 'a'\\n\\\"$b\\\" \\\\ ü\",\"interpreter\":\"bash\"}");
}

TEST(HookTools, EveryFileOfAPatchIsJudged) {
  const auto tool = understand_hook_tool(call(
      "apply_patch",
      R"({"command": "*** Begin Patch\n*** Update File: a b\n*** Move to: ../c\r\n+ *** Add File: no\n*** Add File: d\n*** Delete File: /e\n*** End Patch"})"));
  ASSERT_TRUE(tool.ok());
  std::vector<std::string> paths;
  for (const auto& file : tool.value().files) paths.push_back(file.path);
  EXPECT_EQ(paths, (std::vector<std::string>{"a b", "../c", "d", "/e"}));
  EXPECT_FALSE(understand_hook_tool(call("apply_patch", R"({"command": "nothing"})")).ok());
}

// An absolute glob looks elsewhere than the path says, and the names before its first sign may be links.
TEST(HookTools, WhereAGlobLooksIsJudgedToo) {
  struct Row {
    const char* input;
    std::vector<std::string> paths;
  };
  const Row rows[] = {
      {R"({"pattern": "**/*.cpp"})", {"/p/src"}},
      {R"({"pattern": "lib/a/*.cpp"})", {"/p/src", "/p/src/lib/a"}},
      {R"({"pattern": "lib/*", "path": "/p/x"})", {"/p/x", "/p/x/lib"}},
      {R"({"pattern": "/etc/**"})", {"/p/src", "/etc"}},
      {R"({"pattern": "/*"})", {"/p/src", "/"}},
      {R"({"pattern": "@link/*"})", {"/p/src", "/p/src/@link"}},
  };
  for (const auto& row : rows) {
    const auto tool = understand_hook_tool(call("Glob", row.input));
    ASSERT_TRUE(tool.ok()) << row.input;
    std::vector<std::string> paths;
    for (const auto& file : tool.value().files) paths.push_back(file.path);
    EXPECT_EQ(paths, row.paths) << row.input;
  }
  for (const char* input :
       {R"({"pattern": "../*"})", R"({"pattern": "a/../../*"})", R"({"pattern": "~/.ssh/*"})",
        R"({"pattern": "{..,a}/*"})", R"({"pattern": " /etc/*"})", "{}"})
    EXPECT_FALSE(understand_hook_tool(call("Glob", input)).ok()) << input;
}

// Each of these an agent may read otherwise than it is written.
TEST(HookTools, APathThatMayBeReadOtherwiseIsRefusedForEveryTool) {
  const std::pair<const char*, const char*> tools[] = {
      {"Read", R"("file_path": )"},
      {"NotebookRead", R"("notebook_path": )"},
      {"Write", R"("content": "c", "file_path": )"},
      {"Edit", R"("old_string": "o", "new_string": "n", "file_path": )"},
      {"MultiEdit", R"("edits": [], "file_path": )"},
      {"NotebookEdit", R"("new_source": "", "notebook_path": )"},
      {"LS", R"("path": )"},
      {"Glob", R"("pattern": "*", "path": )"},
      {"Grep", R"("pattern": "x", "path": )"},
  };
  for (const auto& [tool, before] : tools) {
    for (const char* path : {R"("~/.ssh/id_rsa")", R"(" /etc/passwd")", R"("a\u00a0")"})
      EXPECT_FALSE(understand_hook_tool(call(tool, "{" + (before + std::string(path)) + "}")).ok())
          << tool << path;
    EXPECT_TRUE(understand_hook_tool(call(tool, "{" + (before + std::string(R"("/p/a")")) + "}")).ok())
        << tool;
  }
}

TEST(HookTools, WhatCannotBeJudgedIsRefused) {
  const std::pair<const char*, const char*> rows[] = {
      {"Bash", "{}"},
      {"Bash", R"({"command": ""})"},
      {"Bash", R"({"command": ["ls"]})"},
      {"Read", R"({"path": "/p/a"})"},
      {"Write", R"({"file_path": 1, "content": "c"})"},
      {"WebFetch", "{}"},
      {"Grep", R"({"pattern": "x", "path": 5})"},
  };
  for (const auto& [tool, input] : rows) EXPECT_FALSE(understand_hook_tool(call(tool, input)).ok()) << input;
}

TEST(HookTools, WhereItLeadsIsWhatIsJudged) {
  struct Row {
    HookFile file;
    const char* leads_to;
    const char* arguments;
  };
  const Row rows[] = {
      {{"read_artifact", "x"}, "/p/a/b", R"({"path":"a/b"})"},
      {{"read_artifact", "x"}, "/p", R"({"path":""})"},
      {{"list_artifacts", "x"}, "/p", "{}"},
      {{"read_artifact", "x"}, "/pq/a", R"({"path":"/pq/a"})"},
      {{"read_artifact", "/p/link"}, "/etc/passwd", R"({"path":"/etc/passwd"})"},
      {{"write_artifact", "x", "c"}, "/p/a", R"({"path":"a","content":"c"})"},
      {{"edit_artifact", "x", "n", "o"}, "/p/a", R"({"path":"a","old":"o","new":"n"})"},
  };
  for (const auto& row : rows)
    EXPECT_EQ(judged_at(row.file, "/p", row.leads_to).arguments, row.arguments) << row.leads_to;
}

TEST(HookReply, NothingThatAnAgentDoesNotKnow) {
  const std::string head = R"({"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":)";
  EXPECT_EQ(reply_no_objection(), "{}\n");
  EXPECT_EQ(reply_deny("no"), head + R"("deny","permissionDecisionReason":"Cloche: no"}})" + "\n");
  EXPECT_EQ(reply_ask("hm\n"), head + R"("ask","permissionDecisionReason":"Cloche: hm\n"}})" + "\n");
  const JsonValue input =
      read_json(R"({"a": [1.0, null], "command": "rm -rf /", "z": {"command": "x"}})", "").value();
  EXPECT_EQ(
      reply_instead(input, "/c run --call x", held_by({})),
      head +
          R"("allow","permissionDecisionReason":"Cloche: it runs in the sandbox, at the isolation level namespace",)" +
          R"("updatedInput":{"a":[1.0,null],"command":"/c run --call x","z":{"command":"x"}}}})" + "\n");
  EXPECT_EQ(reply_ask_instead(input, "/c run --call x", "no isolation"),
            head + R"("ask","permissionDecisionReason":"Cloche: no isolation. What it asks for: rm -rf /",)" +
                R"("updatedInput":{"a":[1.0,null],"command":"/c run --call x","z":{"command":"x"}}}})" +
                "\n");
}

TEST(HookReply, ALowerLevelIsNeverCalledTheSandbox) {
  struct Row {
    Advice advice;
    const char* held;
  };
  const Row rows[] = {
      {{.level = IsolationLevel::namespaces}, "it runs in the sandbox, at the isolation level namespace"},
      {{.level = IsolationLevel::container, .box_notes = {"gvisor is missing"}},
       "it runs in the sandbox, at the isolation level container; gvisor is missing"},
      {{.level = IsolationLevel::subprocess},
       "it does not run in the sandbox, but at the lower isolation level subprocess"},
      {{.level = IsolationLevel::subprocess, .box_notes = {"namespace is missing"}},
       "it does not run in the sandbox, but at the lower isolation level subprocess; namespace is missing"},
  };
  for (const auto& row : rows) EXPECT_EQ(held_by(row.advice), row.held);
}

}  // namespace
}  // namespace cloche
