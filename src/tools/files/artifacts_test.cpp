// The file tools: what they say of themselves, what a call means and which paths are refused.
#include "tools/files/artifacts.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "policy/gates/gates.hpp"
#include "policy/schema/json_schema.hpp"
#include "tools/files/recall.hpp"

namespace cloche {
namespace {

using Kind = FileAction::Kind;

JsonValue json(const std::string& text) {
  auto value = read_json(text, "test", call_limits);
  EXPECT_TRUE(value.ok()) << text;
  return value.ok() ? std::move(value).value() : JsonValue{};
}

FileCall parse(const std::string& tool, const std::string& arguments) {
  return parse_file_call(tool, json(arguments), "/home/u/ws");
}

TEST(ArtifactTools, AreShippedAndTheirSchemasCompile) {
  const auto& shipped = shipped_tools();
  std::vector<ToolSpec> specs = artifact_tools();
  specs.push_back(recall_tool());
  EXPECT_EQ(specs.size(), 6U);
  for (const auto& spec : specs) {
    EXPECT_NE(std::find(shipped.begin(), shipped.end(), spec.name), shipped.end()) << spec.name;
    for (const auto& text : {spec.input_schema, spec.output_schema})
      EXPECT_TRUE(JsonSchema::compile(json(text), spec.name).ok()) << spec.name;
    EXPECT_FALSE(spec.annotations.open_world);
    EXPECT_EQ(spec.annotations.read_only, !spec.annotations.destructive);
  }
}

TEST(ArtifactTools, TheSchemasSayTheLimitsThatAreKept) {
  const auto number = [](const ToolSpec& spec, const std::string& argument, const std::string& keyword) {
    return static_cast<uint64_t>(
        json(spec.input_schema).find("properties")->find(argument)->find(keyword)->integer);
  };
  EXPECT_EQ(number(artifact_tools()[2], "limit", "maximum"), most_read_bytes);
  EXPECT_EQ(number(artifact_tools()[2], "limit", "default"), FileAction{}.limit);
  EXPECT_EQ(number(recall_tool(), "limit", "default"), Recall{}.limit);
  const JsonValue list = json(artifact_tools()[3].output_schema);
  EXPECT_EQ(list.find("properties")->find("entries")->find("maxItems")->integer, int64_t{most_listed});
  const JsonValue search = json(artifact_tools()[4].output_schema);
  EXPECT_EQ(search.find("properties")->find("matches")->find("maxItems")->integer, int64_t{most_matches});
}

TEST(ArtifactArguments, BecomeAnAction) {
  const FileAction write = parse("write_artifact", R"({"path": "./out//a.md", "content": "x"})").action;
  EXPECT_EQ(write.kind, Kind::write);
  EXPECT_EQ(write.path, "out/a.md");
  EXPECT_EQ(write.content, "x");
  const FileAction edit = parse("edit_artifact", R"({"path": "a", "old": "x", "new": ""})").action;
  EXPECT_EQ(edit.kind, Kind::edit);
  EXPECT_EQ(edit.replaced, "x");
  EXPECT_EQ(edit.content, "");
  const FileAction read = parse("read_artifact", R"({"path": "a", "offset": 5, "limit": 7})").action;
  EXPECT_EQ(read.offset, 5U);
  EXPECT_EQ(read.limit, 7U);
  EXPECT_EQ(parse("list_artifacts", "{}").action.path, "");
  EXPECT_EQ(parse("list_artifacts", R"({"path": ".", "glob": "*.py"})").action.pattern, "*.py");
  EXPECT_EQ(parse("search_artifacts", R"({"pattern": "a+"})").action.pattern, "a+");
  EXPECT_EQ(normalised_arguments(write).at("path"), "out/a.md") << "a rule sees one spelling";
}

TEST(ArtifactArguments, AnAbsolutePathInTheWorkspaceIsItsRelativeOneForReading) {
  const std::pair<std::string, std::string> rows[] = {{"/home/u/ws/src/a", "src/a"},
                                                      {"/home/u/ws", ""},
                                                      {"/home/u/ws/", ""},
                                                      {"/home/u/ws2/a", "/home/u/ws2/a"},
                                                      {"/etc/passwd", "/etc/passwd"},
                                                      {"//home//u/./ws/a", "a"},
                                                      {"/home/u/ws/../x", "../x"},
                                                      {"src/", "src"}};
  for (const auto& [written, path] : rows)
    EXPECT_EQ(parse("list_artifacts", "{\"path\": \"" + written + "\"}").action.path, path) << written;
  EXPECT_EQ(parse("write_artifact", R"({"path": "/home/u/ws/a", "content": ""})").action.path,
            "/home/u/ws/a");
}

TEST(ArtifactArguments, WhatMakesNoSenseIsAProblem) {
  struct Row {
    const char* tool;
    const char* arguments;
    const char* problem;
  };
  const Row rows[] = {
      {"run_shell", "{}", "not a file tool"},
      {"write_artifact", "[]", "not an object"},
      {"write_artifact", R"({"path": "a"})", "content is missing"},
      {"write_artifact", R"({"content": "a"})", "path is missing"},
      {"write_artifact", R"({"path": 1, "content": "a"})", "path is not a text"},
      {"write_artifact", R"({"path": "a", "content": null})", "content is not a text"},
      {"write_artifact", R"({"path": "a", "content": "b", "mode": "0777"})", "unknown argument mode"},
      {"edit_artifact", R"({"path": "a", "old": "", "new": "b"})", "old is empty"},
      {"edit_artifact", R"({"path": "a", "old": "b", "new": "b"})", "the same text"},
      {"read_artifact", R"({"path": "a", "offset": -1})", "offset is not"},
      {"read_artifact", R"({"path": "a", "limit": 0})", "limit is not"},
      {"read_artifact", R"({"path": "a", "limit": 1048577})", "limit is not"},
      {"read_artifact", R"({"path": "a", "limit": 1.5})", "limit is not"},
      {"read_artifact", R"({"path": "a", "limit": "5"})", "limit is not"},
      {"list_artifacts", R"({"glob": "{a"})", "glob: a brace"},
      {"search_artifacts", "{}", "pattern is missing"},
      {"search_artifacts", R"({"pattern": ""})", "pattern is empty"},
      {"search_artifacts", R"-({"pattern": "("})-", "RE2"},
      {"search_artifacts", R"-({"pattern": "(?=a)"})-", "no lookaround"},
      {"search_artifacts", R"-({"pattern": "((a{100}){100})"})-", "pattern"},
      {"search_artifacts", R"-({"pattern": "(abcdefgh){900}"})-", "too large"},
  };
  for (const auto& row : rows) {
    const std::string problem = parse(row.tool, row.arguments).problem;
    EXPECT_NE(problem.find(row.problem), std::string::npos) << row.arguments << ": " << problem;
  }
}

Verdict judge(Kind kind, const std::string& path, Dotfiles dotfiles = Dotfiles::refuse,
              std::string_view workspace = "/w") {
  FileAction action;
  action.kind = kind;
  action.path = path;
  return judge_file(action, dotfiles, {{"tools", "a part"}}, workspace);
}

TEST(ArtifactPaths, TheWayToTheWorkspaceCounts) {
  for (const char* workspace : {"/p/.git", "/p/.git/hooks", "/p/.GIT/x"})
    EXPECT_EQ(judge(Kind::write, "a", Dotfiles::allow, workspace).decision, Decision::deny) << workspace;
  for (const char* workspace : {"/p", "/p/.github", "/p/.claude/worktrees/a"})
    EXPECT_EQ(judge(Kind::write, "a", Dotfiles::allow, workspace).decision, Decision::allow) << workspace;
  EXPECT_EQ(judge(Kind::read, "a", Dotfiles::allow, "/p/.git").decision, Decision::allow);
}

TEST(ArtifactPaths, RefusedForEveryTool) {
  const std::pair<std::string, std::string> rows[] = {
      {"/etc/passwd", "/etc/passwd"},
      {"..", "goes up"},
      {"../x", "goes up"},
      {"a/../b", "goes up"},
      {"a/..", "goes up"},
      {std::string("a\0b", 3), "NUL"},
      {"a\nb", "control character"},
      {"a\tb", "control character"},
      {"a\x1b[31m", "control character"},
      {"a\u009bb", "control character"},
      {"a\u202egpj.exe", "bidirectional"},
      {"a\u200bb", "invisible"},
      {"\xff", "UTF-8"},
      {std::string(256, 'a'), "255"},
      {"x/" + std::string(256, 'a') + "/y", "255"},
      {std::string(4096, 'a'), "4095"},
      {"tool_calls", "Cloche's own"},
      {"tool_calls/T-1.jsonl", "Cloche's own"},
      {"TOOL_calls/T-1.jsonl", "Cloche's own"},
      {".cloche/config.json", "Cloche's own"},
      {"sub/.cloche/x", "Cloche's own"},
  };
  for (const auto& [path, why] : rows) {
    for (const Kind kind : {Kind::write, Kind::edit, Kind::read, Kind::list, Kind::search}) {
      const Verdict verdict = judge(kind, path, Dotfiles::allow);
      EXPECT_EQ(verdict.gate, GateId::path);
      EXPECT_EQ(verdict.decision, Decision::deny) << path;
      EXPECT_NE(verdict.reason.text().find(why), std::string::npos) << verdict.reason.text();
      EXPECT_NE(verdict.instead.text(), "") << "says what to do instead: " << verdict.reason.text();
      EXPECT_EQ(verdict.reason.text().find('\x1b'), std::string::npos);
    }
  }
}

TEST(ArtifactPaths, RefusedForWriting) {
  struct Row {
    const char* path;
    Dotfiles dotfiles;
    const char* why;
  };
  const Row rows[] = {
      {"", Dotfiles::allow, "names no file"},
      {"out/", Dotfiles::allow, "names a directory"},
      {".git/HEAD", Dotfiles::allow, "is protected: what git keeps"},
      {"sub/.GIT/x", Dotfiles::refuse, "is protected"},
      {".bashrc", Dotfiles::allow, "bash runs it"},
      {"lefthook.yml", Dotfiles::refuse, "lefthook's git hook runs"},
      {".env", Dotfiles::refuse, "dot-file '.env'"},
      {"a/.hidden/b", Dotfiles::refuse, "dot-file '.hidden'"},
      {"...", Dotfiles::refuse, "dot-file"},
  };
  for (const auto& row : rows) {
    for (const Kind kind : {Kind::write, Kind::edit}) {
      const Verdict verdict = judge(kind, row.path, row.dotfiles);
      EXPECT_EQ(verdict.decision, Decision::deny) << row.path;
      EXPECT_NE(verdict.reason.text().find(row.why), std::string::npos) << verdict.reason.text();
    }
  }
  EXPECT_TRUE(judge(Kind::write, ".git/HEAD").rule.starts_with(".git share/protected.json:"));
  EXPECT_EQ(judge(Kind::write, "tools/x").rule, "tools the installation");
}

TEST(ArtifactPaths, Allowed) {
  for (const std::string path : {"a", "out/report.md", "a b/\u00e9\u4e2d.txt", "x/tool_calls/y", "a..b",
                                 "a/b..", "-n", "~", "$HOME"}) {
    for (const Kind kind : {Kind::write, Kind::edit, Kind::read, Kind::list, Kind::search})
      EXPECT_EQ(judge(kind, path).decision, Decision::allow) << path;
  }
  EXPECT_EQ(judge(Kind::write, ".env", Dotfiles::allow).decision, Decision::allow);
  for (const std::string path : {".env", ".git/config", ".bashrc"})
    EXPECT_EQ(judge(Kind::read, path).decision, Decision::allow) << "reading is not writing: " << path;
  EXPECT_EQ(judge(Kind::list, "").decision, Decision::allow);
  EXPECT_EQ(judge(Kind::read, "").decision, Decision::deny);
}

}  // namespace
}  // namespace cloche
