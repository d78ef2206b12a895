#include "approved/front_ends.hpp"

#include <regex>
#include <set>

#include "everyday/conversation.hpp"

namespace cloche::test {
namespace {

const std::string elicits = R"({"elicitation":{"form":{}}})";
const std::string yes = R"({"action":"accept","content":{"answer":"once"}})";

std::string skill_with(const std::string& hosts) {
  return "---\nname: s\ndescription: d\ntool_loadout: [run_shell]\nneeds_network: [" + hosts + "]\n---\n";
}

std::string profile_with(const std::string& more) {
  return R"({"extends": "workspace-write-no-network")" + more + "}";
}

std::string configuration(const std::string& writes, const std::string& action, const std::string& open_files,
                          const std::string& enabled = "true") {
  const std::string rule = R"("action": ")" + action + R"(", "reason": "it is )" + action + R"("})";
  return R"({"permissions": {"default": "allow", "rules": [{"tool": "run_shell", )" + rule +
         R"(, {"tool": "run_script", )" + rule +
         R"(]}, "commands": "any", "tool_path": ["@/tools"], "profiles_dir": "@/profiles",
         "default_profile": "mine", "limits": {"nofile": )" +
         open_files + R"(}, "enabled": )" + enabled + R"(, "writes": ")" + writes + R"("})";
}

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Went by_exit(const Ran& ran) { return {ran.exit_code == 125 || ran.exit_code == 126, ran.out + ran.err}; }

std::string arguments_of(const Stage& stage, const Asked& asked) {
  std::string list;
  for (const auto& word : stage.placed(asked.argv)) list += (list.empty() ? "" : ", ") + quoted(word);
  const std::string cwd = asked.directory.empty() ? "" : R"(, "cwd": )" + quoted(asked.directory);
  return R"({"argv": [)" + list + "]" + cwd + "}";
}

Words call_words(const Stage& stage, const Asked& asked) {
  return joined({"call", "run_shell", arguments_of(stage, asked), "--commands", "any", "--workspace",
                 stage.path("workspace")},
                stage.placed(asked.flags));
}

// On the level that has no mount view: the jail says the trees to Landlock instead of mounting them.
Words subprocess_words(const Stage& stage, const Asked& asked) {
  return run_words(stage, {asked.argv, joined({"--isolation", "subprocess"}, asked.flags), asked.directory});
}

using WordsOf = Words (*)(const Stage&, const Asked&);

template <WordsOf words_of>
Went at_terminal(Stage& stage, const Asked& asked, const Window& window) {
  Conversation terminal(stage.command(words_of(stage, asked)), Over::terminal);
  EXPECT_TRUE(terminal.hear("else: no > ")) << terminal.heard();
  const size_t question = terminal.heard().size();
  window();
  terminal.send("y\r");
  Ran ran = terminal.finish();
  ran.out.erase(0, question);
  return by_exit(ran);
}

template <WordsOf words_of>
Went filed(Stage& stage, const Asked& asked, const Window& window) {
  const Command command = stage.command(words_of(stage, asked));
  stage.approve(by_exit(run(command)).said);
  window();
  return by_exit(run(command));
}

// `cloche mcp` and its client.
class Session {
 public:
  Session(Stage& stage, const Asked& asked)
      : client_(stage.scene(), stage.placed(asked.flags)),
        params_(call_params("run_shell", arguments_of(stage, asked))) {}

  McpClient& client() { return client_; }
  const std::string& params() const { return params_; }
  void send(const std::string& params) {
    client_.send(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":)" + params + "}");
  }
  Went answer() {
    const Json answer = client_.answer("1");
    const std::string text = text_of(answer);
    if (answer["result"]["resultType"].string == "input_required") return {true, "asked again for approval"};
    return {code_of(answer) != 0 || text.starts_with("refused by ") || !contains(text, "exit_code: "),
            text + answer["error"]["message"].string};
  }

 private:
  McpClient client_;
  std::string params_;
};

Went mcp_elicitation(Stage& stage, const Asked& asked, const Window& window) {
  Session session(stage, asked);
  session.client().shake_hands(elicits);
  session.send(session.params());
  const auto question = session.client().receive();
  if (!question || (*question)["method"].string != "elicitation/create") {
    ADD_FAILURE() << "not asked: " << session.client().last_line();
    return {};
  }
  window();
  session.client().send(R"({"jsonrpc":"2.0","id":")" + (*question)["id"].string + R"(","result":)" + yes +
                        "}");
  return session.answer();
}

Went mcp_filed(Stage& stage, const Asked& asked, const Window& window) {
  Session session(stage, asked);
  session.client().shake_hands();
  session.send(session.params());
  stage.approve(session.answer().said);
  window();
  session.send(session.params());
  return session.answer();
}

Went mcp_stateless(Stage& stage, const Asked& asked, const Window& window) {
  Session session(stage, asked);
  session.send(stateless(session.params(), elicits));
  const Json wanted = session.client().answer("1");
  EXPECT_EQ(wanted["result"]["resultType"].string, "input_required") << session.client().last_line();
  window();
  std::string answered = session.params();
  answered.pop_back();
  answered += R"(,"requestState":")" + wanted["result"]["requestState"].string +
              R"(","inputResponses":{"approval":)" + yes + "}}";
  session.send(stateless(answered, elicits));
  return session.answer();
}

struct HookAnswer {
  std::string decision;
  std::string reason;
  std::string command = {};  // what the agent is to run
};

HookAnswer hook_says(Stage& stage, const Asked& asked, const std::string& entrypoint) {
  std::string line;
  for (const auto& word : stage.placed(asked.argv)) line += (line.empty() ? "'" : " '") + word + "'";
  const std::string workspace = stage.path("workspace");
  Command command = stage.command(
      {"hook", "--home", stage.path("home"), "--state-home", stage.command({}).env["XDG_STATE_HOME"]});
  command.env["CLAUDE_PROJECT_DIR"] = workspace;
  command.env["CLAUDE_CODE_ENTRYPOINT"] = entrypoint;
  command.input =
      R"({"session_id": )" + quoted(stage.scene().root().filename()) +
      R"(, "transcript_path": "/x", "cwd": )" +
      quoted(asked.directory.empty() ? workspace : workspace + "/" + asked.directory) +
      R"(, "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": "Bash", )" +
      R"("tool_use_id": "t", "tool_input": {"command": )" + test::quoted(line) + "}}";
  const Ran ran = run(command);
  if (ran.exit_code == 2) return {"deny", ran.err};
  EXPECT_TRUE(exited(ran, 0));
  const Json said = parse_json(ran.out).value_or(Json{})["hookSpecificOutput"];
  return {said["permissionDecision"].string, said["permissionDecisionReason"].string,
          said["updatedInput"]["command"].string};
}

// As an agent does it: by a shell.
Went carried_out(Stage& stage, const HookAnswer& said) {
  if (said.decision == "deny") return {true, said.reason};
  Command shell = stage.command({});
  shell.argv = {"sh", "-c", said.command};
  return by_exit(run(shell));
}

Went hook_ask(Stage& stage, const Asked& asked, const Window& window) {
  const HookAnswer said = hook_says(stage, asked, "cli");
  EXPECT_EQ(said.decision, "ask") << said.reason;
  window();
  return carried_out(stage, said);
}

// The hook has spent the operator's yes, and the agent has not yet started the command.
Went hook_filed(Stage& stage, const Asked& asked, const Window& window) {
  stage.approve(hook_says(stage, asked, "").reason);
  const HookAnswer said = hook_says(stage, asked, "");
  EXPECT_EQ(said.decision, "allow") << said.reason;
  window();
  return carried_out(stage, said);
}

// The operator has said yes, and the agent has not yet made the call again.
Went hook_again(Stage& stage, const Asked& asked, const Window& window) {
  stage.approve(hook_says(stage, asked, "").reason);
  window();
  return carried_out(stage, hook_says(stage, asked, ""));
}

}  // namespace

Stage::Stage(As as, const std::string& writes) : as_(as), scene_(as) {
  scene_.set("XDG_STATE_HOME", state_home(as));
  for (const std::string word : {"original", "swapped"}) {
    const fs::path top = word == "original" ? "" : word;
    for (const char* place : {"workspace", "workspace/sub", "outer/granted"})
      scene_.write(top / place / "who", word + "\n");
    for (const char* program : {"workspace/tool", "workspace/script.sh", "tools/helper"})
      fs::permissions(scene_.write(top / program, "#!/bin/sh\necho " + word + " > ran\n"), fs::perms(0755));
  }
  fs::create_symlink("outer/granted", path("link"));
  const auto write = [&](const std::string& name, const std::string& text) {
    scene_.write(name, placed(text));
  };
  write("home/.config/cloche/config.json", configuration(writes, "ask", "512"));
  write("swapped/deny.json", configuration(writes, "deny", "512"));
  write("swapped/limit.json", configuration(writes, "ask", "256"));
  write("swapped/open.json", configuration(writes, "ask", "512", "false"));
  write("swapped/project.json", R"({"permissions": {"rules": [{"tool": "*", "action": "deny"}]}})");
  write("profiles/mine.json", profile_with(""));
  write("swapped/mine.json", profile_with(R"(, "rw": ["@/outer/granted"])"));
  write("skill/SKILL.md", skill_with("one.example"));
  write("swapped/skill/SKILL.md", skill_with("one.example, two.example"));
}

std::string Stage::placed(std::string text) const {
  return std::regex_replace(text, std::regex("@/"), scene_.root().string() + "/");
}

Words Stage::placed(const Words& words) const {
  Words out;
  for (const auto& word : words) out.push_back(placed(word));
  return out;
}

Command Stage::command(const Words& words) const {
  Command command = scene_.command(words);
  command.cwd = scene_.root();
  return command;
}

Ran Stage::shell(const std::string& script, As as) const {
  Ran ran = run({.argv = {"sh", "-c", script}, .as = as, .cwd = scene_.root()});
  EXPECT_TRUE(exited(ran, 0)) << script;
  return ran;
}

Json Stage::explained(const Asked& asked) const {
  const Ran ran = run(command(joined({"explain", "--json"}, run_words(*this, asked))));
  return parse_json(ran.out).value_or(Json{});
}

Command Stage::without_cloche(const Asked& asked) const {
  return {
      .argv = joined({"sh", "-c", R"(read -r line < go; cd "workspace/$0"; PATH=$PATH:../tools exec "$@")",
                      asked.directory.empty() ? "." : asked.directory},
                     placed(asked.argv)),
      .as = as_,
      .cwd = scene_.root()};
}

void Stage::approve(const std::string& refused) const {
  std::smatch found;
  ASSERT_TRUE(std::regex_search(refused, found, std::regex("waiting for approval ([a-z0-9]+)"))) << refused;
  EXPECT_TRUE(exited(run(command({"approve", "yes", found[1]})), 0));
}

std::vector<fs::path> Stage::files_ran() const {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(scene_.root()))
    if (entry.path().filename() == "ran") files.push_back(entry.path());
  return files;
}

std::string Stage::ran() const {
  std::set<std::string> words;  // a file that is mounted elsewhere too counts once
  for (const fs::path& path : files_ran()) words.insert(read_file(path));
  std::string all;
  for (const auto& word : words) all += word;
  return all;
}

void Stage::forget_ran() const {
  for (const fs::path& path : files_ran()) fs::remove(path);
}

Json Stage::recorded() const {
  const Ran shown = run(command({"log", "show", "last", "--json"}));
  EXPECT_TRUE(exited(shown, 0));
  return parse_json(last_line(shown.out)).value_or(Json{});
}

Words run_words(const Stage& stage, const Asked& asked) {
  Words words = {"run", "--task", "t", "--workspace", stage.path("workspace")};
  words = joined(words, stage.placed(asked.flags));
  if (!asked.directory.empty()) words = joined(words, {"-C", asked.directory});
  return joined(joined(words, {"--"}), stage.placed(asked.argv));
}

const std::vector<FrontEnd>& front_ends() {
  static const std::vector<FrontEnd> all = {
      {.name = "run_terminal", .call = at_terminal<run_words>, .as_nobody = true},
      {.name = "run_filed", .call = filed<run_words>},
      {.name = "run_subprocess", .call = at_terminal<subprocess_words>, .has_view = false, .as_nobody = true},
      {.name = "call_terminal", .call = at_terminal<call_words>},
      {.name = "call_filed", .call = filed<call_words>, .as_nobody = true},
      {.name = "mcp_elicitation", .call = mcp_elicitation, .as_nobody = true},
      {.name = "mcp_filed", .call = mcp_filed},
      {.name = "mcp_stateless", .call = mcp_stateless},
      {.name = "hook_ask", .call = hook_ask, .takes_flags = false, .as_nobody = true},
      {.name = "hook_filed", .call = hook_filed, .takes_flags = false},
      {.name = "hook_again", .call = hook_again, .takes_flags = false}};
  return all;
}

}  // namespace cloche::test
