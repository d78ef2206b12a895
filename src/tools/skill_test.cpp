// Tables: what is read from a skill in both spellings, and what is refused with its line.
#include "tools/skill.hpp"

#include <gtest/gtest.h>

#include "model/limits.hpp"

#include <fstream>
#include <sstream>

namespace cloche {
namespace {

std::string listed(const std::vector<std::string>& words) {
  std::string text = "[";
  for (const auto& word : words) text += (text.size() > 1 ? " " : "") + word;
  return text + "]";
}

// Everything that was declared, on one line; what is unset is not in it.
std::string shown_skill(const Skill& skill) {
  std::string text = skill.name;
  if (skill.loadout) text += " loadout=" + listed(*skill.loadout);
  if (skill.commands) text += " commands=" + std::string(name_of(*skill.commands));
  if (skill.network)
    text += " network=" + std::string(skill.network->unnamed ? "any" : "") + listed(skill.network->hosts);
  if (skill.pass_env) text += " env=" + listed(*skill.pass_env);
  if (skill.capabilities) {
    text += " caps=[";
    for (const auto& capability : *skill.capabilities)
      text += capability.written + ">" + capability.hint + ";";
    text += "]";
  }
  for (const auto& limit : skill.limits)
    text += " " + std::string(info_of(limit.id).name) + "=" + show_limit(limit.id, limit.value);
  if (!skill.allowed_tools.empty()) text += " allowed=" + listed(skill.allowed_tools);
  for (const auto& warning : skill.warnings) text += " warning=" + warning;
  return text;
}

std::string whole(const std::string& text) {
  const auto skill = read_skill(text, "S", Trust::operators);
  return skill.ok() ? shown_skill(skill.value()) : describe(skill.error());
}

// A skill of the name x with these lines after it: they begin on line 3.
std::string answer(const std::string& lines) { return whole("---\nname: x\n" + lines + "\n---\nbody\n"); }

struct Row {
  std::string text;
  std::string answer;
};

TEST(Skill, WhereTheFrontmatterIs) {
  const Row rows[] = {
      {"---\nname: x\n---\n", "x"},
      {"---\nname: x\n---", "x"},
      {"---\r\nname: x\r\n---\r\nbody\r\n", "x"},
      {"--- \nname: x\n---\t\nbody", "x"},
      {"\xEF\xBB\xBF---\nname: x\n---\n", "x"},
      {"---\nname: x\n---\nbody\n---\nmore: [\n", "x"},
      {"---\nname: x\ndescription: |\n  a\n  --- b\n---\n", "x"},
      {"", "S:1: a skill begins with a line ---, its frontmatter, and another line ---"},
      {"# A skill\n---\nname: x\n---\n",
       "S:1: a skill begins with a line ---, its frontmatter, and another line ---"},
      {"\n---\nname: x\n---\n", "S:1: a skill begins with a line ---, its frontmatter, and another line ---"},
      {"----\nname: x\n---\n", "S:1: a skill begins with a line ---, its frontmatter, and another line ---"},
      {"---\nname: x\n", "S:1: the frontmatter has no end: a line --- is missing"},
      {"---\n---\n", "S:2: the frontmatter must be keys and values"},
      {"---\n- name\n---\n", "S:2: the frontmatter must be keys and values"},
      {"---\nname: x\n---\n\xff", "S:1: it is not UTF-8"},
      {"---\nname: x\nname: y\n---\n", "S:3: the key \"name\" is given twice"},
      {"---\nname: &a x\ndescription: *a\n---\n", "S:2: anchors (&a) are not read here"},
  };
  for (const auto& row : rows) EXPECT_EQ(whole(row.text), row.answer) << row.text;
}

TEST(Skill, IsBounded) {
  const std::string head = "---\nname: x\n---\n";
  EXPECT_EQ(whole(head + std::string(max_skill_bytes - head.size(), 'x')), "x");
  EXPECT_EQ(whole(head + std::string(max_skill_bytes - head.size() + 1, 'x')),
            "S:1: a skill has at most 65536 bytes");
}

TEST(Skill, KeysAtTheTop) {
  const Row rows[] = {
      {"tool_loadout: [run_shell, run_shell_command, my-tool]", "x loadout=[run_shell my-tool]"},
      {"tool_loadout: []", "x loadout=[]"},
      {"commands: passive", "x commands=passive"},
      {"commands: full", "x commands=full"},
      {"needs_network: false", "x network=[]"},
      {"needs_network: true", "x network=any[]"},
      {"needs_network: [api.example.org, '*.example.org:443']",
       "x network=[api.example.org *.example.org:443]"},
      {"needs_network: []", "x network=[]"},
      {"pass_env: [CI, LANG, CI]", "x env=[CI LANG]"},
      {"pass_env: []", "x env=[]"},
      {"capabilities: []", "x caps=[]"},
      {"capabilities: ['fs:read:~/notes/**', 'fs:write:./out/**', code:exec]",
       "x caps=[fs:read:~/notes/**>~/notes/**;fs:write:./out/**>./out/**;code:exec>;]"},
      {"capabilities: [{kind: fs, mode: read, hints: [~/a, ~/b]}]",
       "x caps=[fs:read:~/a>~/a;fs:read:~/b>~/b;]"},
      {"limits: {net-connections: 4, net-bytes: 10M, net-idle: 5s, net-time: 1m, timeout: 30s}",
       "x net-connections=4 net-bytes=10M net-idle=5s net-time=1m timeout=30s"},
      {"limits: {}", "x"},
      {"allowed-tools: run_shell, Bash(git:*) Bash(npm run test)",
       "x allowed=[run_shell Bash(git:*) Bash(npm run test)]"},
      {"allowed-tools: run_shell_command Bash(open", "x allowed=[run_shell]"},
      {"allowed-tools: [run_shell, 'Bash(git:*)']", "x allowed=[run_shell Bash(git:*)]"},
      {"license: MIT\ncompatibility: any\nmetadata: {author: me, version: '1'}", "x"},
      {"metadata:", "x"},
      {"color: red\nhooks: {a: [1]}",
       "x warning=S:3: unknown key \"color\" warning=S:4: unknown key \"hooks\""},
  };
  for (const auto& row : rows) EXPECT_EQ(answer(row.text), row.answer) << row.text;
}

TEST(Skill, TheSameKeysInMetadata) {
  const Row rows[] = {
      {"cloche.tool_loadout: 'run_shell, write_artifact'", "x loadout=[run_shell write_artifact]"},
      {"cloche.tool_loadout: 'run_shell write_artifact'", "x loadout=[run_shell write_artifact]"},
      {"cloche.tool_loadout: '[\"run_shell\", \"write_artifact\"]'", "x loadout=[run_shell write_artifact]"},
      {"cloche.tool_loadout: ''", "x loadout=[]"},
      {"cloche.tool_loadout: '[]'", "x loadout=[]"},
      {"cloche.commands: full", "x commands=full"},
      {"cloche.needs_network: 'true'", "x network=any[]"},
      {"cloche.needs_network: 'false'", "x network=[]"},
      {"cloche.needs_network: 'api.example.org:443'", "x network=[api.example.org:443]"},
      {"cloche.pass_env: 'CI LANG'", "x env=[CI LANG]"},
      {"cloche.capabilities: 'fs:read:~/a, code:exec'", "x caps=[fs:read:~/a>~/a;code:exec>;]"},
      {"cloche.capabilities: '[\"fs:read:~/a b\"]'", "x caps=[fs:read:~/a b>~/a b;]"},
      {"cloche.limits: 'net-connections=4, net-bytes=10M'", "x net-connections=4 net-bytes=10M"},
      {"cloche.limits: '{\"net-idle\": \"5s\"}'", "x net-idle=5s"},
      {"cloche.limits: 'net-bytes'", "S:4: limits: \"net-bytes\" is not NAME=VALUE"},
      {"cloche.limits: 'net-bytes=1 net-bytes=2'", "S:4: limits: net-bytes is given twice"},
      {"cloche.limits: '{'", "S:4: this string is not JSON"},
      {"author: [whatever]\ncloche.other: 1", "x warning=S:5: unknown key \"cloche.other\""},
      {"cloche.tool_loadout: [run_shell]", "S:4: cloche.tool_loadout must be a string (quote it), not array"},
      {"cloche.needs_network: true", "S:4: cloche.needs_network must be a string (quote it), not boolean"},
      {"cloche.tool-loadout: run_shell", "S:4: the key \"cloche.tool-loadout\" is spelt cloche.tool_loadout"},
      {"cloche.tool_loadout: '[run_shell]'", "S:4: this string is not JSON"},
      {"cloche.tool_loadout: '[1]'", "S:4: an entry of tool_loadout must be a string, not number"},
      {"cloche.commands: any", "S:4: commands: only the operator gives any, with --commands any"},
  };
  for (const auto& row : rows) {
    std::string indented = "  " + row.text;
    if (const size_t at = indented.find('\n'); at != std::string::npos) indented.insert(at + 1, "  ");
    EXPECT_EQ(answer("metadata:\n" + indented), row.answer) << row.text;
  }
}

TEST(Skill, BothSpellingsAreFineWhenTheySayTheSame) {
  struct Both {
    const char* top;
    const char* folded;
    const char* other;
    const char* answer;
  };
  const Both rows[] = {
      {"tool_loadout: [run_shell]", "cloche.tool_loadout: run_shell", "cloche.tool_loadout: ''",
       "x loadout=[run_shell]"},
      {"commands: full", "cloche.commands: full", "cloche.commands: passive", "x commands=full"},
      {"needs_network: true", "cloche.needs_network: 'true'", "cloche.needs_network: 'false'",
       "x network=any[]"},
      {"pass_env: [A, B]", "cloche.pass_env: 'A, B'", "cloche.pass_env: 'A'", "x env=[A B]"},
      {"capabilities: [code:exec]", "cloche.capabilities: code:exec", "cloche.capabilities: ''",
       "x caps=[code:exec>;]"},
      {"limits: {net-bytes: 10M}", "cloche.limits: net-bytes=10M", "cloche.limits: net-bytes=1M",
       "x net-bytes=10M"},
  };
  for (const auto& row : rows) {
    const std::string top = std::string(row.top) + "\nmetadata:\n  ";
    EXPECT_EQ(answer(top + row.folded), row.answer);
    const std::string key = std::string(row.top).substr(0, std::string(row.top).find(':'));
    EXPECT_EQ(answer(top + row.other), "S:5: " + key + " is also given at the top, with another value");
  }
}

TEST(Skill, RefusesWithTheLine) {
  const Row rows[] = {
      {"tool_loadout: run_shell", "S:3: tool_loadout must be a list of strings, not string"},
      {"tool_loadout:", "S:3: tool_loadout must be a list of strings, not null"},
      {"tool_loadout:\n- run_shell\n- 1", "S:5: an entry of tool_loadout must be a string, not number"},
      {"tool_loadout: ['run_*']", "S:3: tool_loadout: \"run_*\" is not the name of a tool"},
      {"tool_loadout: ['']", "S:3: tool_loadout: \"\" is not the name of a tool"},
      {"limits: [1]", "S:3: limits is not an object"},
      {"limits: {net-hosts: 1}", "S:3: limits: unknown limit \"net-hosts\""},
      {"limits: {net-bytes: 0}",
       "S:3: limits: --net-bytes 0: zero is not a limit; leave the flag out for the default"},
      {"limits: {net-bytes: lots}",
       "S:3: limits: --net-bytes lots is not a number; write it like 512M or 2GiB"},
      {"limits: {net-time: 1.5}",
       "S:3: limits: net-time is not a whole number or a text like \"30s\" or \"512M\""},
      {"commands: [full]", "S:3: commands must be passive or full, not array"},
      {"commands: true", "S:3: commands must be passive or full, not boolean"},
      {"commands: most", "S:3: commands must be passive or full"},
      {"commands: any", "S:3: commands: only the operator gives any, with --commands any"},
      {"needs_network: no", "S:3: needs_network must be true, false or a list of hosts, not string"},
      {"needs_network: 1", "S:3: needs_network must be true, false or a list of hosts, not number"},
      {"needs_network: ['https://a.org/']",
       "S:3: needs_network: \"https://a.org/\" is no host, a host is named alone, without a scheme, a "
       "user or a path: write it like api.example.org:443 or *.example.org"},
      {"needs_network: ['a.org:53']",
       "S:3: needs_network: \"a.org:53\" is no host, port 53 belongs to the call's own resolver, which "
       "answers "
       "every look-up: write it like api.example.org:443 or *.example.org"},
      {"needs_network: ['*']",
       "S:3: needs_network: \"*\" is no host, a wildcard stands below a name, as in *.example.org: write it "
       "like api.example.org:443 or *.example.org"},
      {"pass_env: CI", "S:3: pass_env must be a list of strings, not string"},
      {"pass_env: [A=1]", "S:3: pass_env: \"A=1\" is not the name of a variable"},
      {"pass_env: ['']", "S:3: pass_env: \"\" is not the name of a variable"},
      {"capabilities: code:exec", "S:3: capabilities must be a list, not string"},
      {"capabilities: [1]", "S:3: a capability must be a string or an object, not number"},
      {"capabilities: [fs:exec:/a]", "S:3: the capability \"fs:exec:/a\" is neither fs:read nor fs:write"},
      {"capabilities: ['fs:read:']", "S:3: the path of \"fs:read\" is empty"},
      {"capabilities: [fs:read:~other/a]",
       "S:3: the path of \"fs:read:~other/a\" names the home of another user"},
      {"capabilities: [fs:read:a/../b]", "S:3: the path of \"fs:read:a/../b\" has .. in it"},
      {"license: 1", "S:3: license must be a string, not number"},
      {"compatibility: [a]", "S:3: compatibility must be a string, not array"},
      {"description: [a]", "S:3: description must be a string, not array"},
      {"metadata: a", "S:3: metadata must be an object, not string"},
      {"allowed-tools: {a: b}", "S:3: allowed-tools must be a string or a list, not object"},
      {"allowed-tools: [1]", "S:3: an entry of allowed-tools must be a string, not number"},
      {"tool-loadout: []", "S:3: the key \"tool-loadout\" is spelt tool_loadout"},
      {"allowed_tools: a", "S:3: the key \"allowed_tools\" is spelt allowed-tools"},
      {"Commands: full", "S:3: the key \"Commands\" is spelt commands"},
  };
  for (const auto& row : rows) EXPECT_EQ(answer(row.text), row.answer) << row.text;
}

TEST(Skill, Names) {
  const auto named = [](const std::string& name) { return whole("---\nname: " + name + "\n---\n"); };
  EXPECT_EQ(named("a-1"), "a-1");
  EXPECT_EQ(named(std::string(64, 'a')), std::string(64, 'a'));
  for (const std::string& bad : {std::string(65, 'a'), std::string("A"), std::string("a_b"),
                                 std::string("a/b"), std::string("''"), std::string("'..'")})
    EXPECT_EQ(named(bad), "S:2: name must be 1 to 64 of a-z, 0-9 and -") << bad;
  EXPECT_EQ(named("12"), "S:2: name must be a string, not number");
  EXPECT_EQ(whole("---\ndescription: a\n---\n"), "S:2: name is missing");
}

TEST(Skill, TheShippedOnesLoadWithoutAWord) {
  struct Shipped {
    const char* name;
    CommandProfile commands;
  };
  for (const Shipped& shipped :
       {Shipped{"coding", CommandProfile::passive}, Shipped{"code-review", CommandProfile::full}}) {
    const std::string path = std::string(CLOCHE_SOURCE_DIR) + "/skills/" + shipped.name + "/SKILL.md";
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    const auto skill = read_skill(text.str(), path, Trust::operators);
    ASSERT_TRUE(skill.ok()) << describe(skill.error());
    EXPECT_EQ(skill.value().name, shipped.name);
    EXPECT_EQ(skill.value().commands, shipped.commands);
    EXPECT_TRUE(skill.value().warnings.empty()) << shown_skill(skill.value());
    EXPECT_TRUE(skill.value().loadout);
    EXPECT_FALSE(skill.value().description.empty());
  }
}

}  // namespace
}  // namespace cloche
