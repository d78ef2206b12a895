// Every key both ways: what each file may say, what two of them come to, and what a project cannot loosen.
#include "store/config/settings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace cloche {
namespace {

struct Texts3 {
  std::string managed = {};
  std::string user = {};
  std::string project = {};
};

Result<ConfigFiles> files_of(const Texts3& texts) {
  ConfigFiles files;
  const auto parse = [](const std::string& text, const char* path) -> Result<std::optional<ConfigFile>> {
    if (text.empty()) return std::optional<ConfigFile>();
    return std::optional<ConfigFile>(TRY(parse_config(text, path, settings_keys())));
  };
  files.managed = TRY(parse(texts.managed, "M"));
  files.user = TRY(parse(texts.user, "U"));
  files.project = TRY(parse(texts.project, "P"));
  return files;
}

Result<Settings> read(const Texts3& texts) {
  const ConfigFiles files = TRY(files_of(texts));
  return settings_of(files);
}

Result<Settings> read_texts(const Texts3& texts) { return read(texts); }  // where a local is named so

Settings settings(const Texts3& texts) {
  auto result = read(texts);
  EXPECT_TRUE(result.ok()) << describe(result.error());
  return result.ok() ? std::move(result).value() : Settings{};
}

std::string shown(bool value) { return value ? "true" : "false"; }
std::string shown(IsolationLevel value) { return std::string(name_of(value)); }
std::string shown(Landlock value) { return std::string(name_of(value)); }
std::string shown(Missing value) { return std::string(name_of(value)); }
std::string shown(Autonomy value) { return std::string(name_of(value)); }
std::string shown(CommandProfile value) { return std::string(name_of(value)); }
std::string shown(Writes value) { return std::string(name_of(value)); }
std::string shown(const UndoBounds& value) { return undo_json(value); }
std::string shown(const CallBounds& value) { return calls_json(value); }

// "value origin" and, for each value that lost, " <value origin"
template <auto field>
std::string told(const Settings& settings) {
  const auto& setting = settings.*field;
  std::string text = shown(setting.value) + " " + text_of(setting.origin);
  for (const auto& lost : setting.overruled) text += " <" + lost.value + " " + text_of(lost.origin);
  return text;
}

TEST(Settings, TheStrictestWordOfEachKeyWins) {
  struct Row {
    const char* managed;
    const char* user;
    const char* project;
    const char* key;
    std::string (*tell)(const Settings&);
    const char* comes_to;
  };
  const auto enabled = told<&Settings::enabled>;
  const auto off = told<&Settings::allow_sandbox_off>;
  const auto autonomy = told<&Settings::autonomy>;
  const auto commands = told<&Settings::commands>;
  const auto isolation = told<&Settings::isolation>;
  const auto missing = told<&Settings::missing>;
  const auto dotfiles = told<&Settings::dotfiles>;
  const auto writes = told<&Settings::writes>;
  const auto undo = told<&Settings::undo>;
  const auto calls = told<&Settings::calls>;
  const auto durable = told<&Settings::durable>;
  const auto record = told<&Settings::record>;
  const Row rows[] = {
      {"", "", "", "enabled", enabled, "true default"},
      {"", "false", "", "enabled", enabled, "false U:1"},
      {"false", "", "", "enabled", enabled, "false M:1"},
      {"true", "false", "", "enabled", enabled, "true M:1 <false U:1"},
      {"false", "true", "", "enabled", enabled, "true U:1 <false M:1"},
      {"", "false", "true", "enabled", enabled, "true P:1 <false U:1"},
      {"", "", "true", "enabled", enabled, "true P:1"},

      {"", "", "", "allow_sandbox_off", off, "false default"},
      {"", "true", "", "allow_sandbox_off", off, "true U:1"},
      {"false", "true", "", "allow_sandbox_off", off, "false M:1 <true U:1"},

      {"", "", "", "autonomy", autonomy, "supervised default"},
      {"", "\"full\"", "", "autonomy", autonomy, "full U:1"},
      {"\"supervised\"", "\"full\"", "", "autonomy", autonomy, "supervised M:1 <\"full\" U:1"},
      {"\"full\"", "\"readonly\"", "", "autonomy", autonomy, "readonly U:1 <\"full\" M:1"},
      {"", "\"full\"", "\"supervised\"", "autonomy", autonomy, "supervised P:1 <\"full\" U:1"},
      {"", "\"readonly\"", "\"supervised\"", "autonomy", autonomy, "readonly U:1 <\"supervised\" P:1"},
      {"", "", "\"readonly\"", "autonomy", autonomy, "readonly P:1"},
      {"\"full\"", "\"full\"", "", "autonomy", autonomy, "full M:1"},

      {"", "", "", "commands", commands, "full default"},
      {"", "\"any\"", "", "commands", commands, "any U:1"},
      {"\"full\"", "\"any\"", "", "commands", commands, "full M:1 <\"any\" U:1"},
      {"", "\"any\"", "\"passive\"", "commands", commands, "passive P:1 <\"any\" U:1"},

      {"", "", "", "isolation", isolation, "namespace default"},
      {"", "\"subprocess\"", "", "isolation", isolation, "subprocess U:1"},
      {"\"namespace\"", "\"subprocess\"", "", "isolation", isolation, "namespace M:1 <\"subprocess\" U:1"},
      {"", "\"container\"", "\"gvisor\"", "isolation", isolation, "gvisor P:1 <\"container\" U:1"},
      {"", "\"subprocess\"", "\"namespace\"", "isolation", isolation, "namespace P:1 <\"subprocess\" U:1"},

      {"", "", "", "landlock", told<&Settings::landlock>, "required default"},
      {"", "\"optional\"", "", "landlock", told<&Settings::landlock>, "optional U:1"},
      {"\"required\"", "\"optional\"", "", "landlock", told<&Settings::landlock>,
       "required M:1 <\"optional\" U:1"},
      {"", "\"optional\"", "\"required\"", "landlock", told<&Settings::landlock>,
       "required P:1 <\"optional\" U:1"},
      {"", "", "", "missing", missing, "refuse default"},
      {"", "\"degrade\"", "", "missing", missing, "degrade U:1"},
      {"\"refuse\"", "\"degrade\"", "", "missing", missing, "refuse M:1 <\"degrade\" U:1"},
      {"", "\"degrade\"", "\"refuse\"", "missing", missing, "refuse P:1 <\"degrade\" U:1"},

      {"", "", "", "writes", writes, "commit default"},
      {"", "\"commit\"", "", "writes", writes, "commit U:1"},
      {"", "", "", "calls", calls, "{\"at_once\":\"auto\",\"waiting\":\"auto\"} default"},
      {"", "{\"at_once\": 3}", "", "calls", calls, "{\"at_once\":3,\"waiting\":\"auto\"} U:1"},
      {"{\"waiting\": \"9\"}", "{\"at_once\": 3}", "", "calls", calls,
       "{\"at_once\":\"auto\",\"waiting\":9} M:1 <{\"at_once\":3,\"waiting\":\"auto\"} U:1"},
      {"", "", "", "undo", undo, "{\"count\":50000,\"bytes\":\"2G\",\"ignored_bytes\":\"4G\"} default"},
      {"", "{\"count\": 5, \"bytes\": \"1M\"}", "", "undo", undo,
       "{\"count\":5,\"bytes\":\"1M\",\"ignored_bytes\":\"4G\"} U:1"},
      {"{\"ignored_bytes\": \"1G\"}", "{\"count\": 7}", "", "undo", undo,
       "{\"count\":50000,\"bytes\":\"2G\",\"ignored_bytes\":\"1G\"} M:1 "
       "<{\"count\":7,\"bytes\":\"2G\",\"ignored_bytes\":\"4G\"} U:1"},
      {"\"commit\"", "\"live\"", "", "writes", writes, "commit M:1 <\"live\" U:1"},
      {"", "\"commit\"", "\"stage\"", "writes", writes, "stage P:1 <\"commit\" U:1"},
      {"", "", "", "dotfiles", dotfiles, "false default"},
      {"", "\"allow\"", "", "dotfiles", dotfiles, "true U:1"},
      {"\"allow\"", "\"refuse\"", "", "dotfiles", dotfiles, "false U:1 <\"allow\" M:1"},
      {"\"allow\"", "", "\"refuse\"", "dotfiles", dotfiles, "false P:1 <\"allow\" M:1"},

      {"", "", "", "durable", durable, "false default"},
      {"", "true", "", "durable", durable, "true U:1"},
      {"false", "true", "", "durable", durable, "true U:1 <false M:1"},
      {"", "", "true", "durable", durable, "true P:1"},

      {"", "", "", "record", record, "true default"},
      {"", "\"off\"", "", "record", record, "false U:1"},
      {"\"off\"", "", "", "record", record, "false M:1"},
      {"\"on\"", "\"off\"", "", "record", record, "true M:1 <\"off\" U:1"},
      {"\"off\"", "\"on\"", "", "record", record, "true U:1 <\"off\" M:1"},
      {"", "\"off\"", "\"on\"", "record", record, "true P:1 <\"off\" U:1"},
  };
  for (const auto& row : rows) {
    const auto file = [&](const std::string& value) {
      return value.empty() ? "" : "{\"" + std::string(row.key) + "\": " + value + "}";
    };
    const Settings read = settings({file(row.managed), file(row.user), file(row.project)});
    EXPECT_EQ(row.tell(read), row.comes_to)
        << row.key << ": " << row.managed << " | " << row.user << " | " << row.project;
  }
}

TEST(Settings, ABackgroundCommandWritesLiveOnlyWhereNothingStricterIsSaid) {
  struct Row {
    const char* managed;
    const char* user;
    const char* project;
    Writes writes;
  };
  const Row rows[] = {
      {"", "", "", Writes::commit},
      {"", R"({"background": "commit"})", "", Writes::commit},
      {"", R"({"background": "live"})", "", Writes::live},
      {R"({"background": "live"})", "", "", Writes::live},
      {R"({"background": "commit"})", R"({"background": "live"})", "", Writes::commit},
      {R"({"background": "live"})", R"({"background": "commit"})", "", Writes::commit},
      {"", R"({"background": "live", "writes": "commit"})", "", Writes::live},
      {"", R"({"background": "live", "writes": "stage"})", "", Writes::stage},
      {"", R"({"background": "live"})", R"({"writes": "stage"})", Writes::stage},
      {"", R"({"background": "commit", "writes": "live"})", "", Writes::live},
      {R"({"writes": "stage"})", R"({"background": "live"})", "", Writes::stage},
      {R"({"writes": "commit"})", R"({"background": "live"})", "", Writes::commit},
      {R"({"writes": "commit", "background": "live"})", "", "", Writes::commit},
      {R"({"writes": "live"})", R"({"background": "live", "writes": "commit"})", "", Writes::live},
  };
  for (const auto& row : rows) {
    const Settings read = settings({row.managed, row.user, row.project});
    EXPECT_EQ(shown(background_writes(read, read.writes.value)), shown(row.writes))
        << row.managed << row.user << row.project;
  }
}

TEST(Settings, WhatAProjectMayNotSayRefusesItsFile) {
  struct Row {
    const char* text;
    const char* says;
  };
  const Row rows[] = {
      {R"({"enabled": false})", "P:1: enabled can only be tightened by a project: true"},
      {R"({"allow_sandbox_off": true})", "P:1: allow_sandbox_off cannot be set by a project"},
      {R"({"allow_sandbox_off": false})", "cannot be set by a project"},
      {R"({"default_profile": "workspace-write"})", "P:1: default_profile can only be tightened"},
      {R"({"rules": [{"tool": "run_shell", "profile": "workspace-write"}]})",
       "P:1: rules can only be tightened by a project, and workspace-write is the widest"},
      {R"({"warm": ["python3"]})", "P:1: warm cannot be set by a project"},
      {R"({"undo": {}})", "P:1: undo cannot be set by a project"},
      {R"({"calls": {}})", "P:1: calls cannot be set by a project"},
      {R"({"profiles_dir": "/p"})", "P:1: profiles_dir cannot be set by a project"},
      {R"({"executors_dir": "/p"})", "P:1: executors_dir cannot be set by a project"},
      {R"({"autonomy": "full"})",
       R"(P:1: autonomy can only be tightened by a project: "readonly" or "supervised")"},
      {R"({"isolation": "subprocess"})",
       R"(P:1: isolation can only be tightened by a project: "microvm", "gvisor", "container" or "namespace")"},
      {R"({"landlock": "optional"})", R"(P:1: landlock can only be tightened by a project: "required")"},
      {R"({"missing": "degrade"})", R"(P:1: missing can only be tightened by a project: "refuse")"},
      {R"({"commands": "any"})", R"(commands can only be tightened by a project: "passive" or "full")"},
      {R"({"durable": false})", "P:1: durable can only be tightened by a project: true"},
      {R"({"record": "off"})", "P:1: record can only be tightened by a project: \"on\""},
      {R"({"tool_path": []})", "P:1: tool_path cannot be set by a project"},
      {"{\"changes\": [\n{\"action\": \"allow\"}]}", "P:2: changes: a project can only ask or deny"},
      {R"({"live_paths": []})", "P:1: live_paths cannot be set by a project"},
      {R"({"background": "live"})", "P:1: background cannot be set by a project"},
      {R"({"background": "commit"})", "P:1: background cannot be set by a project"},
      {R"({"dotfiles": "allow"})", R"(P:1: dotfiles can only be tightened by a project: "refuse")"},
      {R"({"secret_grants": []})", "P:1: secret_grants cannot be set by a project"},
      {R"({"approved_executors": []})", "P:1: approved_executors cannot be set by a project"},
  };
  for (const auto& row : rows) {
    const auto as_project = read({.project = row.text});
    ASSERT_FALSE(as_project.ok()) << row.text;
    EXPECT_NE(describe(as_project.error()).find(row.says), std::string::npos) << describe(as_project.error());
    EXPECT_TRUE(read({.user = row.text}).ok()) << "the user may: " << row.text;
    EXPECT_TRUE(read({.managed = row.text}).ok()) << row.text;
  }
}

TEST(Settings, TheProjectOnlyLowersThePool) {
  struct Row {
    const char* managed;
    const char* user;
    const char* project;
    std::optional<size_t> asked;
    const char* comes_to;
  };
  const Row rows[] = {
      {"", "", "", {}, "2 default"},  {"", "", "", 5, "5 --pool"},  {"", "4", "", {}, "4 U:1"},
      {"", "4", "", 1, "1 --pool"},   {"", "1", "", 6, "6 --pool"}, {"3", "4", "", {}, "3 M:1"},
      {"3", "1", "", {}, "1 U:1"},    {"3", "", "", {}, "3 M:1"},   {"0", "4", "", 8, "0 M:1"},
      {"", "4", "8", {}, "4 U:1"},    {"", "4", "1", {}, "1 P:1"},  {"", "", "0", {}, "0 P:1"},
      {"", "", "9", {}, "2 default"}, {"", "", "1", 6, "1 P:1"},
  };
  for (const auto& row : rows) {
    const auto file = [](const std::string& value) {
      return value.empty() ? "" : "{\"pool\": " + value + "}";
    };
    const Settings settings_read = settings({file(row.managed), file(row.user), file(row.project)});
    const auto pool = pool_of(settings_read, row.asked, 2);
    EXPECT_EQ(std::to_string(pool.value) + " " + text_of(pool.origin), row.comes_to);
  }
  for (const char* text : {"17", "-1", "1.5", "\"2\"", "true", "1e1"})
    EXPECT_FALSE(read({.user = "{\"pool\": " + std::string(text) + "}"}).ok()) << text;
}

TEST(Settings, EveryFileMayHideAndNoneTakesBack) {
  const auto settings =
      read({.managed = R"({"hide": ["a"]})", .user = R"({"hide": ["b"]})", .project = R"({"hide": ["c"]})"});
  ASSERT_TRUE(settings.ok()) << describe(settings.error());
  auto hidden = settings.value().hide.value;
  std::ranges::sort(hidden);
  EXPECT_EQ(hidden, (Texts{"a", "b", "c"}));
}

TEST(Settings, ABadWordRefusesWithFileAndLine) {
  struct Row {
    const char* text;
    const char* says;
  };
  const Row rows[] = {
      {"{\n\"nonsense\": 1}", "U:2: unknown key \"nonsense\""},
      {"{\"durable\": true,\n\"durable\": true}", "U:2"},
      {R"({"enabled": "yes"})", "U:1: enabled is not true or false"},
      {R"({"warm": ["ruby"]})", "U:1: warm has another program than python3"},
      {R"({"warm": ["python3:a", "python3:../b"]})",
       "U:1: warm has something else than modules after python3:"},
      {R"({"undo": 5})", "U:1: undo is not an object"},
      {R"({"calls": 5})", "U:1: calls is not an object"},
      {R"({"calls": {"at_once": 0}})", "U:1: calls.at_once is neither \"auto\" nor a number from 1 to 1024"},
      {R"({"calls": {"at_once": "many"}})",
       "U:1: calls.at_once is neither \"auto\" nor a number from 1 to 1024"},
      {R"({"calls": {"waiting": 100001}})",
       "U:1: calls.waiting is neither \"auto\" nor a number from 1 to 100000"},
      {R"({"calls": {"most": 1}})", R"(U:1: calls has an unknown member "most")"},
      {R"({"undo": {"bytes": "x"}})", "U:1: undo.bytes is no size"},
      {R"({"undo": {"count": 0}})", "U:1: undo.count is no number"},
      {R"({"undo": {"size": 1}})", R"(U:1: undo has an unknown member "size")"},
      {R"({"enabled": null})", "U:1: enabled is not true or false"},
      {R"({"autonomy": "FULL"})", R"(U:1: autonomy is not "readonly", "supervised" or "full")"},
      {R"({"autonomy": true})", "U:1: autonomy is not"},
      {R"({"commands": "all"})", R"(U:1: commands is not "passive", "full" or "any")"},
      {R"({"isolation": "bwrap"})", "U:1: isolation is not"},
      {R"({"missing": ""})", R"(U:1: missing is not "refuse" or "degrade")"},
      {R"({"dotfiles": true})", R"(U:1: dotfiles is not "refuse" or "allow")"},
      {R"({"default_profile": "../x"})", "U:1: default_profile: not the name of a profile"},
      {R"({"default_profile": 1})", "U:1: default_profile: not the name of a profile"},
      {R"({"profiles_dir": "p"})", "U:1: profiles_dir is not an absolute path"},
      {R"({"executors_dir": "/a/../b"})", "U:1: executors_dir is not an absolute path"},
      {"{\"tool_path\": [\n\"bin\"]}", "U:2: tool_path has what is no absolute path"},
      {R"({"tool_path": "/bin"})", "U:1: tool_path is not a list"},
      {R"({"background": "stage"})", R"(U:1: background is not "commit" or "live")"},
      {R"({"live_paths": ["a/../.."]})", "U:1: live_paths has what is no path below a workspace"},
      {"{\"hide\": [\".env\",\n\"/etc\"]}", "U:2: hide has what is no pattern of paths below a workspace"},
      {R"({"hide": ["a/../b"]})", "U:1: hide has what is no pattern"},
      {R"({"hide": ".env"})", "U:1: hide is not a list"},
      {R"({"secret_grants": [1]})", "U:1: secret_grants is not a list of texts"},
      {"{\"secret_grants\": [\n\"~/.ssh/*\"]}", "U:2: secret_grants has a glob: name each path"},
      {R"({"secret_grants": ["/home/u/.aws/cred[s]"]})", "U:1: secret_grants has a glob"},
      {R"({"secret_grants": ["/home/u/.ssh/id_?"]})", "U:1: secret_grants has a glob"},
      {R"({"secret_grants": [".ssh"]})", "U:1: secret_grants has what is no absolute path"},
      {R"({"secret_grants": ["~/../v/.ssh"]})", "U:1: secret_grants has what is no absolute path"},
      {"{\"approved_executors\": [\"a\",\n\"*\"]}", "U:2: approved_executors has what is no NAME or NAME@"},
      {R"({"approved_executors": ["a-*"]})", "U:1: approved_executors has what is no NAME"},
      {R"({"approved_executors": ["a@"]})", "U:1: approved_executors has what is no NAME"},
      {R"({"approved_executors": ["a@sha256:12"]})", "U:1: approved_executors has what is no NAME"},
      {R"({"rules": {}})", "U:1: rules is not a list"},
      {"{\"rules\": [\n1]}", "U:2: rules: a rule is an object with tool and profile"},
      {"{\"rules\": [\n{\"tool\": \"x\"}]}", "U:2: rules: a rule is an object with tool and profile"},
      {R"({"rules": [{"tool": "x", "profile": "readonly", "args": {}}]})", "rules: unknown key \"args\""},
      {R"({"rules": [{"tool": "", "profile": "readonly"}]})", "rules: tool is not a name, or a glob"},
      {R"({"rules": [{"tool": "x", "profile": ""}]})", "rules: not the name of a profile"},
      {R"({"changes": {}})", "U:1: changes is not a list"},
      {"{\"changes\": [\n1]}", "U:2: changes: a rule is an object"},
      {R"({"changes": [{"paths": ["a"]}]})", "U:1: changes: action is none of allow, ask, deny"},
      {R"({"changes": [{"action": "no"}]})", "U:1: changes: action is none of allow, ask, deny"},
      {"{\"changes\": [{\"action\": \"deny\",\n\"path\": [\"a\"]}]}", "U:2: unknown key \"path\""},
      {R"({"changes": [{"action": "deny", "paths": []}]})", "U:1: changes: paths is not a list of texts"},
      {R"({"changes": [{"action": "deny", "paths": "a"}]})", "U:1: changes: paths is not a list of texts"},
      {R"({"changes": [{"action": "deny", "kinds": ["made"]}]})",
       "U:1: changes: kinds is none of created, changed, deleted"},
      {R"({"changes": [{"action": "deny", "more_than": -1}]})", "changes: more_than is not a whole number"},
      {R"({"changes": [{"action": "deny", "more_than": "9"}]})", "changes: more_than is not a whole number"},
      {R"({"changes": [{"action": "ask", "per": "task"}]})", "U:1: changes: per task counts, and needs"},
      {R"({"changes": [{"action": "ask", "more_than": 1, "per": "day"}]})", "U:1: changes: per is none of"},
      {"{\"changes\": [{\"action\": \"ask\", \"paths\": [\"*.c\"], \"match\": [\"a.c\",\n\"a.h\"]}]}",
       "U:2: changes: the rule does not match its example \"a.h\""},
      {R"({"limits": []})", "U:1: limits is not an object"},
      {"{\"limits\": {\n\"ram\": 1}}", "U:2: limits: unknown limit \"ram\""},
      {"{\"limits\": {\n\"memory\": \"0\"}}", "U:2: limits: --memory 0: zero is not a limit"},
      {"{\"limits\": {\n\"memory\": \"9X\"}}", "has an unknown unit"},
      {R"({"limits": {"pids": 1.5}})", "limits: pids is not a whole number or a text"},
      {R"({"limits": {"pids": -1}})", "is not a number"},
  };
  for (const auto& row : rows) {
    const auto result = read({.user = row.text});
    ASSERT_FALSE(result.ok()) << row.text;
    EXPECT_NE(describe(result.error()).find(row.says), std::string::npos) << describe(result.error());
  }
}

TEST(Settings, PathsAreTheManagedFilesAndListsCountTogether) {
  const Settings read = settings({.managed = R"({"executors_dir": "/m", "tool_path": ["/m/bin"]})",
                                  .user = R"({"executors_dir": "/u", "tool_path": ["/u/bin"],
                                              "profiles_dir": "/u/profiles"})"});
  EXPECT_EQ(read.executors_dir.value, "/m");
  ASSERT_EQ(read.executors_dir.overruled.size(), 1U);
  EXPECT_EQ(read.executors_dir.overruled[0].value, "\"/u\"");
  EXPECT_EQ(read.profiles_dir.value, "/u/profiles");
  EXPECT_EQ(read.tool_path.value, (Texts{"/m/bin", "/u/bin"}));
  EXPECT_EQ(text_of(read.tool_path.origin), "M:1, U:1");
}

TEST(Settings, HostsOfTheOperatorCountTogetherAndAProjectOnlyRemoves) {
  const std::string managed =
      R"({"net": ["a.org", {"host": "m.corp", "addresses": ["10.1.0.0/16"], "ports": [443, 8443]}]})";
  const std::string user = R"({"net": ["b.org:8080", "a.org", "c.corp@fd12::/16:443"]})";
  const Settings read = settings({.managed = managed, .user = user});
  EXPECT_EQ(read.net.value, (Texts{"a.org", "m.corp:443", "m.corp:8443", "b.org:8080", "c.corp:443"}));
  EXPECT_EQ(read.net_ranges,
            (Texts{"m.corp@10.1.0.0/16:443", "m.corp@10.1.0.0/16:8443", "c.corp@fd12::/16:443"}));
  EXPECT_EQ(text_of(read.net.origin), "M:1, U:1");
  const struct {
    const char* project;
    Texts left;
  } rows[] = {
      {R"({"net": []})", {}},
      {R"({"net": ["evil.org"]})", {}},
      {R"({"net": ["a.org", "evil.org"]})", {"a.org"}},
      {R"({"net": ["a.org:443", "m.corp"]})", {"a.org:443", "m.corp:443"}},
  };
  for (const auto& row : rows)
    EXPECT_EQ(settings({.managed = managed, .user = user, .project = row.project}).net.value, row.left)
        << row.project;
  const struct {
    Texts3 texts;
    const char* says;
  } wrong[] = {
      {{.user = R"({"net": "a.org"})"}, "U:1: net: is not a list"},
      {{.user = R"({"net": [1]})"}, "U:1: net: an entry is a host"},
      {{.user = "{\"net\": [\n\"1.2.3.4\"]}"}, "U:2: net: "},
      {{.user = R"({"net": ["*"]})"}, "net: "},
      {{.user = R"({"net": [{"host": "a.org", "addresses": []}]})"}, "addresses are a list of texts"},
      {{.user = R"({"net": [{"host": "a.org", "addresses": ["127.0.0.0/8"]}]})"}, "no name leads there"},
      {{.user = R"({"net": [{"host": "a.org", "addresses": ["169.254.169.254/32"]}]})"},
       "no name leads there"},
      {{.user = R"({"net": [{"host": "a.org:80"}]})"}, "host is a name alone"},
      {{.user = R"({"net": [{"host": "a.org", "ports": ["80"]}]})"}, "ports are a list of numbers"},
      {{.user = R"({"net": [{"host": "a.org", "port": 80}]})"}, "unknown key"},
      {{.project = R"({"net": ["a.org@10.0.0.0/8"]})"}, "P:1: net of a project has no addresses"},
  };
  for (const auto& row : wrong) {
    const auto result = read_texts(row.texts);
    ASSERT_FALSE(result.ok()) << row.says;
    EXPECT_NE(describe(result.error()).find(row.says), std::string::npos) << describe(result.error());
  }
}

TEST(Settings, RulesOnChangesCountTogether) {
  const Settings read =
      settings({.managed = R"({"changes": [{"action": "allow", "per": "call"}]})",
                .user = R"({"changes": [{"paths": ["*.py", "/srv/**"], "kinds": ["deleted"], "more_than": 2,
                                "action": "ask", "match": ["d/a.py", "/srv/x/y"]}]})",
                .project = "{\"changes\": [\n{\"action\": \"deny\"}]}"});
  ASSERT_EQ(read.changes.size(), 3U);
  EXPECT_EQ(read.changes[0].action, Decision::allow);
  EXPECT_EQ(read.changes[1].kinds, std::vector<ChangeKind>{ChangeKind::deleted});
  EXPECT_EQ(read.changes[1].more_than, 2U);
  EXPECT_EQ(read.changes[1].paths.size(), 2U);
  EXPECT_EQ(read.changes[2].where, "P:2");
}

TEST(Settings, TheManagedValueIsRememberedBesideAStricterOne) {
  const Settings read =
      settings({.managed = R"({"autonomy": "supervised"})", .user = R"({"autonomy": "readonly"})"});
  ASSERT_TRUE(read.autonomy.managed);
  EXPECT_EQ(read.autonomy.managed->value, Autonomy::supervised);
  EXPECT_EQ(text_of(read.autonomy.managed->origin), "M:1");
  EXPECT_FALSE(read.commands.managed);
}

TEST(Settings, AFlagStandsOverTheDefaultAndUnderAFile) {
  Setting<Autonomy> standard{.value = Autonomy::supervised};
  EXPECT_EQ(with_flag(standard, {Autonomy::full}, "--autonomy").value, Autonomy::full);
  EXPECT_EQ(text_of(with_flag(standard, {Autonomy::full}, "--autonomy").origin), "--autonomy");
  EXPECT_EQ(with_flag(standard, {}, "--autonomy").value, Autonomy::supervised);
  const Setting<Autonomy> said = settings({.user = R"({"autonomy": "supervised"})"}).autonomy;
  EXPECT_EQ(with_flag(said, {Autonomy::full}, "--autonomy").value, Autonomy::supervised);
  EXPECT_EQ(with_flag(said, {Autonomy::readonly}, "--autonomy").value, Autonomy::readonly);
}

TEST(Settings, ALimitComesToTheRightNumber) {
  struct Row {
    const char* managed;
    const char* user;
    const char* project;
    const char* flag;  // of --memory; the default is 4G
    const char* comes_to;
  };
  const Row rows[] = {
      {"", "", "", "", "4G default"},
      {"", "8G", "", "", "8G U:1"},
      {"8G", "", "", "", "8G M:1"},
      {"2G", "8G", "", "", "2G M:1 <\"8G\" U:1"},
      {"8G", "2G", "", "", "2G U:1 <\"8G\" M:1"},
      {"", "", "1G", "", "1G P:1"},
      {"", "", "8G", "", "4G default <\"8G\" P:1"},
      {"", "8G", "6G", "", "6G P:1 <\"8G\" U:1"},
      {"", "2G", "6G", "", "2G U:1 <\"6G\" P:1"},
      {"2G", "", "3G", "", "2G M:1 <\"3G\" P:1"},
      {"2G", "", "1G", "", "1G P:1 <\"2G\" M:1"},
      {"", "", "", "9G", "9G --memory"},
      {"", "2G", "1G", "9G", "9G --memory <\"2G\" U:1 <\"1G\" P:1"},
      {"", "2G", "", "1G", "1G --memory <\"2G\" U:1"},
      {"3G", "2G", "", "9G", "3G M:1 <\"2G\" U:1 <\"9G\" --memory"},
      {"3G", "", "", "1G", "1G --memory <\"3G\" M:1"},
  };
  for (const auto& row : rows) {
    const auto file = [](const std::string& value) {
      return value.empty() ? "" : "{\"limits\": {\"memory\": \"" + value + "\"}}";
    };
    const Settings read = settings({file(row.managed), file(row.user), file(row.project)});
    LimitQuestion question{LimitId::memory, 4ULL << 30, {}};
    if (*row.flag != 0) question.asked = parse_size("--memory", row.flag).value();
    const Setting<uint64_t> chosen = chosen_limit(read, question);
    std::string text = show_size(chosen.value) + " " + text_of(chosen.origin);
    for (const auto& lost : chosen.overruled) text += " <" + lost.value + " " + text_of(lost.origin);
    EXPECT_EQ(text, row.comes_to) << row.managed << " | " << row.user << " | " << row.project << " | "
                                  << row.flag;
  }
}

TEST(Settings, EveryLimitHasItsNameInTheFile) {
  for (const auto& row : limit_table) {
    const std::string text = "{\"limits\": {\"" + std::string(row.name) + "\": 1048576}}";
    const Settings read = settings({.user = text});
    EXPECT_TRUE(read.limits[static_cast<size_t>(row.id)].user) << row.name;
  }
}

TEST(Settings, ModulesOfAWarmPythonStandBehindItsName) {
  const std::pair<const char*, Texts> rows[] = {{"python3", {}},
                                                {"python3:numpy", {"numpy"}},
                                                {"python3:numpy,xml.dom,_a1", {"numpy", "xml.dom", "_a1"}}};
  for (const auto& [item, modules] : rows) {
    EXPECT_EQ(fault_of_warm(item), "") << item;
    EXPECT_EQ(modules_of_warm(item), modules) << item;
  }
  for (const char* item :
       {"", "python", "python3:", "python3:,", "python3:a,", "python3:a,,b", "python3:a.", "python3:.a",
        "python3:a..b", "python3:1a", "python3:a-b", "python3:a;b", "python3:a b"})
    EXPECT_NE(fault_of_warm(item), "") << item;
}

TEST(Settings, CommentsAreFine) {
  EXPECT_TRUE(settings({.user = "{ // why\n \"durable\": true /* kept */ }"}).durable.value);
}

TEST(Settings, EveryKeyOfTheTableIsOne) {
  std::set<std::string_view> keys;
  for (const auto& row : settings_table()) {
    EXPECT_TRUE(keys.insert(row.key).second) << row.key;
    EXPECT_FALSE(row.values.empty() || row.merge.empty()) << row.key;
  }
  EXPECT_EQ(keys.size(), settings_keys().size());
}

}  // namespace
}  // namespace cloche
