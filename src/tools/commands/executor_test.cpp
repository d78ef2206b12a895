// Tables over whole manifests: what is read, and what is refused with its line.
#include "tools/commands/executor.hpp"

#include <gtest/gtest.h>

#include "base/json/json_text.hpp"

namespace cloche {
namespace {

Result<Executor> read(const std::string& text) { return read_executor(text, "m", "/x/f", Trust::operators); }

// A manifest with one member more, or another one in the place of a required one. It is on line 2.
std::string manifest(const std::string& member) {
  const std::string key = member.substr(0, member.find(':'));
  std::string text = "{\n" + member;
  for (const char* other :
       {R"("name": "t")", R"("description": "d")", R"("input_schema": true)", R"("code": "tool.py")"})
    if (!std::string(other).starts_with(key + ":")) text += ",\n" + std::string(other);
  return text + "}";
}

std::string problem(const std::string& member) {
  const auto executor = read(manifest(member));
  return executor.ok() ? "fine" : describe(executor.error());
}

TEST(Executor, IsReadWhole) {
  const auto read_one = read(R"({
    "name": "word-count", // comments are fine
    "description": "Counts.",
    "input_schema": {"type": "object", "required": ["text"]},
    "output_schema": {"type": "object"},
    "code": "bin/tool.py",
    "capabilities": ["fs:read:./data/**", {"kind": "network", "mode": "https", "hints": ["api.example.org"]}],
    "limits": {"timeout_s": 10, "cpu": "5s", "memory": "256M", "pids": 16, "output": "1M"},
    "isolation": "namespace"
  })");
  ASSERT_TRUE(read_one.ok()) << describe(read_one.error());
  const Executor& executor = read_one.value();
  EXPECT_EQ(executor.name, "word-count");
  EXPECT_EQ(executor.folder, "/x/f");
  EXPECT_EQ(executor.code, "/x/f/bin/tool.py");
  EXPECT_EQ(executor.source, "m");
  EXPECT_EQ(executor.trust, Trust::operators);
  EXPECT_EQ(executor.input_schema, R"({"type":"object","required":["text"]})");
  EXPECT_EQ(executor.output_schema, R"({"type":"object"})");
  ASSERT_EQ(executor.capabilities.size(), 2U);
  EXPECT_EQ(executor.capabilities[1].hint, "api.example.org:443");
  EXPECT_EQ(executor.limits.wall_ms, 10'000U);
  EXPECT_EQ(executor.limits.cpu_s, 5U);
  EXPECT_EQ(executor.limits.memory_bytes, 256U << 20);
  EXPECT_EQ(executor.limits.processes, 16U);
  EXPECT_EQ(executor.limits.output_bytes, 1U << 20);
  EXPECT_EQ(executor.limits.open_files, Limits{}.open_files);
  EXPECT_EQ(executor.isolation, IsolationLevel::namespaces);
}

struct Row {
  std::string member;
  std::string answer;
};

TEST(Executor, Members) {
  const Row rows[] = {
      {R"("name": "a_b-1")", "fine"},
      {R"("name": "1a")", "m:2: name must begin with a-z and be at most 64 of a-z, 0-9, _ and -"},
      {R"("name": "Tool")", "m:2: name must begin with a-z and be at most 64 of a-z, 0-9, _ and -"},
      {R"("name": "")", "m:2: name must begin with a-z and be at most 64 of a-z, 0-9, _ and -"},
      {R"("name": 1)", "m:2: name must be a string, not number"},
      {R"("name": "run_shell")", "m:2: name: run_shell is a tool that comes with Cloche"},
      {R"("name": "run_shell_command")", "m:2: name: run_shell_command is a tool that comes with Cloche"},
      {R"("name": "http_get")", "m:2: name: http_get is a tool that comes with Cloche"},
      {R"("description": 1)", "m:2: description must be a string, not number"},
      {R"("description": "a\u001b[2Jb")", "m:2: description has a control character in it"},
      {R"("code": "../tool.py")",
       "m:2: code must be a plain path beneath the manifest's folder, like tool.py"},
      {R"("code": "/bin/sh")", "m:2: code must be a plain path beneath the manifest's folder, like tool.py"},
      {R"("code": "./tool.py")",
       "m:2: code must be a plain path beneath the manifest's folder, like tool.py"},
      {R"("code": "a//b")", "m:2: code must be a plain path beneath the manifest's folder, like tool.py"},
      {R"("code": "a/")", "m:2: code must be a plain path beneath the manifest's folder, like tool.py"},
      {R"("code": "")", "m:2: code must be a plain path beneath the manifest's folder, like tool.py"},
      {R"("code": "a\nb")", "m:2: code must be a plain path beneath the manifest's folder, like tool.py"},
      {R"("code": ["a"])", "m:2: code must be a string, not array"},
      {R"("timeout": 3)", "m:2: unknown key \"timeout\""},
      {R"("isolation": "namespace")", "fine"},
      {R"("isolation": "microvm")", "fine"},
      {R"("isolation": "none")",
       "m:2: isolation must be permissive, subprocess, namespace, container, gvisor or microvm"},
      {R"("isolation": 1)",
       "m:2: isolation must be permissive, subprocess, namespace, container, gvisor or microvm"},
  };
  for (const auto& row : rows) EXPECT_EQ(problem(row.member), row.answer) << row.member;
  EXPECT_NE(problem(R"("input_schema": {"type": "object", "unevaluatedItems": false})").find("m:2: "),
            std::string::npos);
  EXPECT_NE(problem(R"("output_schema": {"format2": 1})").find("m:2: "), std::string::npos);
  EXPECT_NE(problem(R"("input_schema": 1)").find("m:2: "), std::string::npos);
}

TEST(Executor, WhatItMustHave) {
  for (const char* key : {"name", "description", "input_schema", "code"}) {
    std::string text = "{";
    for (const Row& row : {Row{"name", R"("t")"}, Row{"description", R"("d")"}, Row{"input_schema", "true"},
                           Row{"code", R"("c")"}})
      if (row.member != key) text += (text.size() > 1 ? "," : "") + ("\"" + row.member + "\":") + row.answer;
    const auto executor = read(text + "}");
    ASSERT_FALSE(executor.ok()) << key;
    EXPECT_EQ(executor.error().what.text(), "m:1: " + std::string(key) + " is missing");
  }
  EXPECT_EQ(read("[]").error().what.text(), "m:1: a manifest must be an object");
}

TEST(Executor, LimitsOnlyNarrow) {
  const Row rows[] = {
      {R"("limits": {})", "fine"},
      {R"("limits": {"timeout": "30s", "nofile": 64, "fsize": "1M", "disk": "1M", "files": 10, "tmp": "1M"})",
       "fine"},
      {R"("limits": {"cpu_s": 2})", "fine"},
      {R"("limits": {"net-connections": 4, "net-bytes": "10M", "net-idle": "5s", "net-time": "1m"})", "fine"},
      {R"("limits": {"net-bytes": "8G"})", "m:2: limits: net-bytes can only be less than the default, 4G"},
      {R"("limits": {"timeout_s": 1.5})",
       "m:2: timeout_s must be a whole number or a string like \"30s\" or \"512M\", not number"},
      {R"("limits": {"timeout_s": true})",
       "m:2: timeout_s must be a whole number or a string like \"30s\" or \"512M\", not boolean"},
      {R"("limits": {"timeout_s": "2h"})", "m:2: limits: timeout_s can only be less than the default, 1h"},
      {R"("limits": {"memory": "64G"})", "m:2: limits: memory can only be less than the default, 4G"},
      {R"("limits": {"pids": 100000})", "m:2: limits: pids can only be less than the default, 512"},
      {R"("limits": {"timeout_s": 3, "timeout": 4})",
       "m:2: the limit timeout is given twice, under two names"},
      {R"("limits": {"speed": 3})", "m:2: unknown limit \"speed\""},
      {R"("limits": [])", "m:2: limits must be an object, not array"},
  };
  for (const auto& row : rows) EXPECT_EQ(problem(row.member), row.answer) << row.member;
  for (const char* bad : {"0", "-1", "\"\"", "\"0\"", "\"1 day\""})
    EXPECT_TRUE(
        problem(R"("limits": {"timeout_s": )" + std::string(bad) + "}").starts_with("m:2: limits: --timeout"))
        << bad;
}

// What a capability becomes: family and hint, or why it is none.
std::string capability(const std::string& json) {
  constexpr const char* families[] = {"read", "write", "network", "execute", "no_effect"};
  const auto executor = read(manifest("\"capabilities\": [" + json + "]"));
  if (!executor.ok()) return executor.error().what.text();
  std::string text;
  for (const auto& one : executor.value().capabilities)
    text +=
        (text.empty() ? "" : ", ") + std::string(families[static_cast<size_t>(one.family)]) + " " + one.hint;
  return text;
}

TEST(Executor, Capabilities) {
  const Row rows[] = {
      {R"("fs:read:~/notes/**")", "read ~/notes/**"},
      {R"("fs:write:./out")", "write ./out"},
      {R"("fs:read:/a:b")", "read /a:b"},
      {R"("network:https:api.example.org")", "network api.example.org:443"},
      {R"("network:https:api.example.org:8443")", "network api.example.org:8443"},
      {R"("network:http:*.example.org")", "network *.example.org:80"},
      {R"("network:tcp:db.example.org:5432")", "network db.example.org:5432"},
      {R"("network:api.example.org")", "network api.example.org"},
      {R"("network:api.example.org:8080")", "network api.example.org:8080"},
      {R"("code:exec")", "execute "},
      {R"("mail:send:a@b")", "no_effect a@b"},
      {R"("time:*")", "no_effect "},
      {R"({"kind": "fs", "mode": "read", "hints": ["~/notes/**", "./a"]})", "read ~/notes/**, read ./a"},
      {R"({"kind": "fs", "mode": "write", "hints": ["./a"]})", "write ./a"},
      {R"({"kind": "network", "mode": "https", "hints": ["api.example.org"]})",
       "network api.example.org:443"},
      {R"({"kind": "network", "hints": ["api.example.org"]})", "network api.example.org"},
      {R"({"kind": "code", "mode": "exec"})", "execute "},
      {R"({"kind": "mail"})", "no_effect "},
      {R"("network:tcp:db.example.org")",
       R"(m:2: the capability "network:tcp:db.example.org" names no port)"},
      {R"("network:*")",
       R"(m:2: the capability "network:*" names no host: a wildcard stands below a name, as in *.example.org; write it like network:https:api.example.org)"},
      {R"("network:https")",
       R"(m:2: the capability "network:https" names no host: it is empty; write it like network:https:api.example.org)"},
      {R"("network:https:https://a.org/")",
       R"(m:2: the capability "network:https:https://a.org/" names no host: a host is named alone, without a scheme, a user or a path; write it like network:https:api.example.org)"},
      {R"("fs")", R"(m:2: the capability "fs" is neither fs:read nor fs:write)"},
      {R"("fs:read")", R"(m:2: the path of "fs:read" is empty)"},
      {R"("fs:read:/a/[b")",
       R"(m:2: the path of "fs:read:/a/[b" has brackets that do not close or hold a slash)"},
      {R"({"kind": "fs", "mode": "read"})", "m:2: a capability of the kind fs needs hints"},
      {R"({"kind": "fs", "mode": "read", "hints": []})", "m:2: a capability of the kind fs needs hints"},
      {R"({"kind": "fs", "mode": "read", "hints": "a"})", "m:2: hints must be a list of strings, not string"},
      {R"({"kind": "fs", "mode": 1, "hints": ["a"]})", "m:2: mode must be a string, not number"},
      {R"({"mode": "read"})", "m:2: a capability needs a kind: fs, network, code, mail or time"},
      {R"({"kind": "fs", "path": "a"})", "m:2: unknown key \"path\""},
  };
  for (const auto& row : rows) EXPECT_EQ(capability(row.member), row.answer) << row.member;
  for (const char* unknown :
       {R"("gpu:use")", R"("")", R"("code:exec:python")", R"("code")", R"("CODE:exec")"})
    EXPECT_NE(capability(unknown).find("is not known; known are fs:read:PATH"), std::string::npos) << unknown;
}

}  // namespace
}  // namespace cloche
