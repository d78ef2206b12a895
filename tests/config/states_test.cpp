// What holds when a variable or a file that Cloche takes settings from is absent, empty, relative, unreadable
// or something else than it should be: the rows of docs/configuration.md, "What holds when a setting is
// missing", each at every front end. In a mount namespace of its own, because the rows need another /etc:
// with accounts whose homes are in the scene, and sometimes with a managed file.
#include <unistd.h>

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <vector>

#include "config/fixture.hpp"

namespace cloche::test {
namespace {

enum class Holds {
  rules,    // the user's rule denies the command
  nothing,  // there is no user's file, so the command runs
  refused,  // every call is refused because of the setting, and doctor says so
};

struct Row {
  const char* name;
  std::string setup = "";          // as the identity, in the scene's directory: account/ config/ workspace/
  std::string administrator = "";  // the same as root, with the other /etc in etc/
  std::string variables = "HOME=$PWD/account XDG_STATE_HOME=$STATE";
  Holds holds = Holds::rules;
  std::string says = "";                           // by whom refuses
  std::optional<Holds> of_root = std::nullopt;     // who can read everything
  std::optional<Holds> of_hook = std::nullopt;     // which takes no place from a variable
  std::optional<Holds> of_command = std::nullopt;  // of `run`, which some settings are not for
};

const char* const deny = R"({"permissions": {"default": "allow", "rules": [
  {"tool": "run_shell", "args": {"cmd": "touch"}, "action": "deny", "match": ["touch made"]},
  {"tool": "Bash", "args": {"command": "touch"}, "action": "deny"}]}})";

const char* const talk =
    R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run_shell","arguments":{"argv":["touch","made"]}}}
)";

// Sets one row up in a fresh copy of the scene, and asks every front end. The programs that are covered are
// other backends: doctor would try each, which takes long, and no row is about them.
const char* const ask_all = R"sh(
set -e
rm -rf $ROW
cp -a base $ROW
cd $ROW
$BECOME mkdir -p $STATE
sed -i "s,/ROW/account:,/$ROW/account:," etc/passwd
$BECOME sh -ec "$SETUP"
eval "$ADMINISTRATOR"
mount --bind etc /etc
for slow in runc crun runsc bwrap; do
  if command -v $slow > found; then mount --bind /dev/null "$(cat found)"; fi
done
eval "VARIABLES=\"$VARIABLES\""
set +e
cloche() { (cd workspace && exec $BECOME env -i PATH="$PATH" $VARIABLES $CLOCHE "$@"); }
hear() {
  echo "== $1"
  shift
  "$@" 2>&1
  code=$?
  echo
  echo "code $code"
  test -e workspace/made && echo MADE
  rm -f workspace/made
}
# As a client does: its end of the talk stays open until the answer is there, or the server has ended.
converse() {
  rm -f ended
  : > answers
  { cat workspace/talk; until test -e ended || grep -q '"id":2' answers; do sleep 0.02; done; } |
    { cloche mcp > answers 2>&1; code=$?; : > ended; cat answers; exit $code; }
}
hear run cloche run -- touch made
hear call cloche call run_shell '{"argv": ["touch", "made"]}' --commands any
hear mcp converse
hear explain cloche explain run -- touch made
hear doctor cloche doctor
VARIABLES="$VARIABLES CLAUDE_PROJECT_DIR=$PWD/workspace"
echo "{\"session_id\": \"$$\", \"transcript_path\": \"/x\", \"cwd\": \"$PWD/workspace\", \"permission_mode\": \"default\",
  \"hook_event_name\": \"PreToolUse\", \"tool_name\": \"Bash\", \"tool_input\": {\"command\": \"touch made\"}}" > call.json
hear hook cloche hook --state-home $STATE < call.json
)sh";

// How one front end answered.
struct Heard {
  int code = -1;
  bool made = false;
  std::string said;
};

class States : public Configured {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "skipped: only root can show another /etc";
    scene().write("base/account/.config/cloche/config.json", deny);
    scene().write("base/file", "a file");
    scene().write("base/workspace/talk", talk);
    for (const char* name : {"base/other/.keep", "base/config/.keep"}) scene().write(name, "");
    const std::string id = as() == As::nobody ? "65534" : "0";
    const Ran copied = run({.argv = {"sh", "-c",
                                     "set -e; mkdir base/etc; "  // what a command needs; all would take long
                                     "for name in group hosts ld.so.cache ld.so.conf ld.so.conf.d; do "
                                     "if test -e /etc/$name; then cp -a /etc/$name base/etc; fi; done; "
                                     "echo passwd: files > base/etc/nsswitch.conf; "
                                     "awk -F: -v OFS=: -v id=" +
                                         id + " -v home=\"$PWD/ROW/account\" " +
                                         "'$3 == id { $6 = home } { print }' /etc/passwd > base/etc/passwd"},
                            .cwd = root()});
    ASSERT_TRUE(exited(copied, 0)) << copied.err;
  }

  // In `place`, a directory beside the others. The program is Cloche's, or one that the row has there.
  std::unique_ptr<Started> begin(const Row& row, const std::string& place, const std::string& program) const {
    const std::string become =
        as() == As::nobody ? "setpriv --reuid 65534 --regid 65534 --clear-groups" : "env";
    return std::make_unique<Started>(
        Command{.argv = {"unshare", "-m", "sh", "-c", ask_all},
                .cwd = root(),
                .env = {{"BECOME", become},
                        {"ROW", place},
                        {"SETUP", row.setup},
                        {"ADMINISTRATOR", row.administrator},
                        {"VARIABLES", row.variables},
                        {"CLOCHE", program.empty() ? cloche() : (root() / place / program).string()},
                        {"STATE",
                         state_home(as()) + "/" + place}},  // doctor makes its views anew, for others as well
                .deadline = std::chrono::seconds(120)});
  }

  static std::map<std::string, Heard> hear(Started& asked) {
    const Ran ran = asked.finish();
    std::map<std::string, Heard> heard;
    std::istringstream lines(ran.out);
    Heard* now = nullptr;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("== ")) now = &heard[line.substr(3)];
      if (now == nullptr) continue;
      if (line == "MADE") now->made = true;
      if (line.starts_with("code ") && now->code < 0) now->code = std::stoi(line.substr(5));
      now->said += line + "\n";
    }
    EXPECT_EQ(heard.size(), 6U) << ran.out << ran.err;
    return heard;
  }

  // Several rows at a time: doctor mostly waits.
  void check(std::span<const Row> rows) const {
    constexpr size_t at_once = 4;
    std::vector<std::unique_ptr<Started>> asked(rows.size());
    for (size_t i = 0; i < rows.size() + at_once; ++i) {
      if (i >= at_once) check(rows[i - at_once], *asked[i - at_once]);
      if (i < rows.size()) asked[i] = begin(rows[i], "row" + std::to_string(i % at_once), "");
    }
  }

  void check(const Row& row, Started& asked) const {
    SCOPED_TRACE(row.name);
    for (const auto& [front, heard] : hear(asked)) {
      SCOPED_TRACE(front);
      const bool of_command = front == "run" || front == "explain";
      Holds holds = as() == As::self && row.of_root ? *row.of_root : row.holds;
      if (of_command && row.of_command) holds = *row.of_command;
      if (front == "hook" && row.of_hook) holds = *row.of_hook;
      const bool runs = front == "run" || front == "call" || front == "mcp";
      EXPECT_EQ(heard.made, runs && holds == Holds::nothing) << heard.said;
      if (front == "doctor") {
        EXPECT_EQ(heard.code != 0, holds == Holds::refused) << heard.said;
      } else if (front == "hook") {
        const char* said[] = {R"("permissionDecision":"deny")", R"("permissionDecision":"allow")",
                              "cloche: "};
        EXPECT_EQ(heard.code, holds == Holds::refused ? 2 : 0) << heard.said;
        EXPECT_TRUE(contains(heard.said, said[static_cast<int>(holds)])) << heard.said;
      } else if (front != "mcp") {
        EXPECT_EQ(heard.code, holds == Holds::nothing ? 0 : holds == Holds::rules ? 126 : 125) << heard.said;
      } else {
        EXPECT_EQ(contains(heard.said, R"("id":2)"), holds != Holds::refused) << heard.said;
      }
      // What the hook says reaches a model, which hears of no place and no setting.
      const std::string says = front == "hook" ? "tell the user" : row.says;
      EXPECT_TRUE(holds != Holds::refused || contains(heard.said, says)) << heard.said;
    }
  }
};
FOR_EVERYONE(States);

// getent as it would answer from a directory service; the file does not have the account. It is asked in the
// workspace, and none of the caller's variables reach it.
const std::string other_source =
    "sed -i '/:\\(0\\|65534\\):/d' etc/passwd; cat > getent <<'END'\n#!/bin/sh\n"
    "test \"$1\" = passwd || exit 2; test -z \"$XDG_STATE_HOME\" || exit 3; cd ..; ";
const std::string other_source_end = "\nEND\nchmod 755 getent; mount --bind getent /usr/bin/getent";

TEST_P(States, OfHome) {
  const Row rows[] = {
      {.name = "the account's own"},
      {.name = "absent", .variables = "XDG_STATE_HOME=$STATE"},
      {.name = "empty", .variables = "HOME= XDG_STATE_HOME=$STATE"},
      {.name = "absent, and no account",
       .administrator = "sed -i '/:\\(0\\|65534\\):/d' etc/passwd",
       .variables = "XDG_STATE_HOME=$STATE",
       .holds = Holds::refused,
       .says = "not known whose configuration holds"},
      {.name = "absent, and the account is in another source of the database",
       .administrator = other_source + "echo \"seen:x:$2:0::$PWD/account:/bin/sh\"" + other_source_end,
       .variables = "XDG_STATE_HOME=$STATE"},
      {.name = "absent, and another source has two answers",
       .administrator = other_source + "for i in 1 2; do echo \"seen:x:$2:0::$PWD/account:/bin/sh\"; done" +
                        other_source_end,
       .variables = "XDG_STATE_HOME=$STATE",
       .holds = Holds::refused,
       .says = "not known whose configuration holds"},
      {.name = "absent, and another source fails",
       .administrator =
           other_source + "echo \"seen:x:$2:0::$PWD/account:/bin/sh\"; exit 1" + other_source_end,
       .variables = "XDG_STATE_HOME=$STATE",
       .holds = Holds::refused,
       .says = "not known whose configuration holds"},
      {.name = "absent, no account, another place of configuration",
       .administrator = "sed -i '/:\\(0\\|65534\\):/d' etc/passwd",
       .variables = "XDG_CONFIG_HOME=$PWD/account/.config XDG_STATE_HOME=$STATE",
       .holds = Holds::refused,
       .says = "not known whose configuration holds"},
      {.name = "absent, and the account's is relative",
       .administrator = "sed -i 's,:[^:]*/account:,:account:,' etc/passwd",
       .variables = "XDG_STATE_HOME=$STATE",
       .holds = Holds::refused,
       .says = "not known whose configuration holds"},
      {.name = "absent, and the account's has slashes and dots that say nothing",
       .administrator = "sed -i 's,:\\([^:]*\\)/account:,:/\\1/./account/:,' etc/passwd",
       .variables = "XDG_STATE_HOME=$STATE"},
      {.name = "another user's, and the account's has a slash at its end",
       .administrator = "chown 12345 other; sed -i 's,/account:,/account/:,' etc/passwd",
       .variables = "HOME=$PWD/other XDG_STATE_HOME=$STATE",
       .holds = Holds::refused,
       .says = "belongs to another user",
       .of_hook = Holds::rules},
      {.name = "the account's own, with slashes and dots that say nothing",
       .variables = "HOME=/$PWD/./account/"},
      {.name = "in /proc",
       .variables = "HOME=/proc/self XDG_STATE_HOME=$STATE",
       .holds = Holds::refused,
       .says = "lies in /proc",
       .of_hook = Holds::rules},
      {.name = "relative, and no place of state",
       .variables = "HOME=../account",
       .holds = Holds::refused,
       .says = "HOME=../account",
       .of_hook = Holds::rules},
      {.name = "not there, and no place of state",
       .variables = "HOME=$PWD/none",
       .holds = Holds::refused,
       .says = "would not hold",
       .of_hook = Holds::rules},
      {.name = "relative",
       .variables = "HOME=../account XDG_STATE_HOME=$STATE",
       .holds = Holds::refused,
       .says = "HOME=../account",
       .of_hook = Holds::rules},
      {.name = "relative, another place of configuration",
       .variables = "HOME=account XDG_CONFIG_HOME=$PWD/account/.config XDG_STATE_HOME=$STATE",
       .holds = Holds::refused,
       .says = "HOME=account",
       .of_hook = Holds::rules},
      {.name = "a file",
       .variables = "HOME=$PWD/file XDG_STATE_HOME=$STATE",
       .holds = Holds::refused,
       .says = "is no directory",
       .of_hook = Holds::rules},
      {.name = "not there",
       .variables = "HOME=$PWD/none XDG_STATE_HOME=$STATE",
       .holds = Holds::refused,
       .says = "would not hold",
       .of_hook = Holds::rules},
      {.name = "not there, and the account's own", .setup = "rm -r account", .holds = Holds::nothing},
      {.name = "another directory of the caller's",
       .variables = "HOME=$PWD/other XDG_STATE_HOME=$STATE",
       .holds = Holds::nothing,
       .of_hook = Holds::rules},
      {.name = "closed",
       .setup = "cp -r account/.config other; chmod 000 other",
       .variables = "HOME=$PWD/other XDG_STATE_HOME=$STATE",
       .holds = Holds::refused,
       .says = "/other",
       .of_root = Holds::rules,
       .of_hook = Holds::rules},
      {.name = "another user's",
       .administrator = "chown 12345 other",
       .variables = "HOME=$PWD/other XDG_STATE_HOME=$STATE",
       .holds = Holds::refused,
       .says = "belongs to another user",
       .of_hook = Holds::rules},
      {.name = "another user's, with a file of that user's",
       .setup = "mkdir -p other/.config/cloche; echo {} > other/.config/cloche/config.json",
       .administrator = "rm -r account; chown -R 12345 other",
       .variables = "HOME=$PWD/other XDG_STATE_HOME=$STATE",
       .holds = Holds::refused,
       .says = "belongs to another user",
       .of_hook = Holds::nothing},
      {.name = "a link into the workspace",
       .setup = "mkdir workspace/h; cp -r account/.config workspace/h; ln -s workspace/h link",
       .variables = "HOME=$PWD/link XDG_STATE_HOME=$STATE",
       .holds = Holds::refused,
       .says = "in the workspace",
       .of_hook = Holds::rules},
  };
  check(rows);
}

TEST_P(States, OfThePlaceOfConfiguration) {
  const std::string base = "HOME=$PWD/other XDG_STATE_HOME=$STATE XDG_CONFIG_HOME=";
  const std::string own = "cp -r account/.config/cloche config; ";
  const Row rows[] = {
      {.name = "named", .setup = own, .variables = base + "$PWD/config"},
      {.name = "named, and no home",
       .setup = own,
       .variables = "XDG_CONFIG_HOME=$PWD/config XDG_STATE_HOME=$STATE"},
      {.name = "empty", .variables = "HOME=$PWD/account XDG_STATE_HOME=$STATE XDG_CONFIG_HOME="},
      {.name = "relative",
       .setup = own,
       .variables = base + "../config",
       .holds = Holds::refused,
       .says = "XDG_CONFIG_HOME=../config",
       .of_hook = Holds::rules},
      {.name = "with ..",
       .setup = own,
       .variables = base + "$PWD/other/../config",
       .holds = Holds::refused,
       .says = "XDG_CONFIG_HOME=",
       .of_hook = Holds::rules},
      {.name = "with slashes and dots that say nothing", .setup = own, .variables = base + "/$PWD/./config/"},
      {.name = "another user's",
       .administrator = "chown 12345 config",
       .variables = "HOME=$PWD/account XDG_STATE_HOME=$STATE XDG_CONFIG_HOME=$PWD/config",
       .holds = Holds::refused,
       .says = "belongs to another user",
       .of_hook = Holds::rules},
      {.name = "another user's, who has the home as well",
       .administrator = "mkdir other/.config; chown -R 12345 other",
       .variables = base + "$PWD/other/.config",
       .holds = Holds::refused,
       .says = "belongs to another user",
       .of_hook = Holds::rules},
      {.name = "not there, in another user's home",
       .administrator = "chown 12345 other",
       .variables = base + "$PWD/other/.config",
       .holds = Holds::refused,
       .says = "belongs to another user",
       .of_hook = Holds::rules},
      {.name = "another user's, and there is nothing to pass over",
       .administrator = "rm -r account/.config; chown 12345 config",
       .variables = "HOME=$PWD/account XDG_STATE_HOME=$STATE XDG_CONFIG_HOME=$PWD/config",
       .holds = Holds::nothing},
      {.name = "a file",
       .variables = base + "$PWD/file",
       .holds = Holds::refused,
       .says = "/file/cloche",
       .of_hook = Holds::rules},
      {.name = "not there",
       .variables = base + "$PWD/none",
       .holds = Holds::nothing,
       .of_hook = Holds::rules},
      {.name = "a link that leads nowhere",
       .setup = "ln -s none link",
       .variables = base + "$PWD/link",
       .holds = Holds::refused,
       .says = "/link",
       .of_hook = Holds::rules},
      {.name = "closed",
       .setup = own + "chmod 000 config",
       .variables = base + "$PWD/config",
       .holds = Holds::refused,
       .says = "/config/cloche",
       .of_root = Holds::rules,
       .of_hook = Holds::rules},
      {.name = "a link into the workspace",
       .setup = own + "mv config workspace/c; ln -s workspace/c config",
       .variables = base + "$PWD/config",
       .holds = Holds::refused,
       .says = "in the workspace",
       .of_hook = Holds::rules},
  };
  check(rows);
}

TEST_P(States, OfThePlaceOfState) {
  const std::string base = "HOME=$PWD/account XDG_STATE_HOME=";
  const Row rows[] = {
      {.name = "absent", .variables = "HOME=$PWD/account"},
      {.name = "empty", .variables = base},
      {.name = "with slashes and dots that say nothing", .variables = base + "/$PWD/./account/state/"},
      {.name = "relative",
       .variables = base + "../state",
       .holds = Holds::refused,
       .says = "XDG_STATE_HOME=../state",
       .of_hook = Holds::rules},
      {.name = "with ..",
       .variables = base + "$PWD/other/../state",
       .holds = Holds::refused,
       .says = "XDG_STATE_HOME=",
       .of_hook = Holds::rules},
      {.name = "in the workspace",
       .variables = base + "$PWD/workspace/state",
       .holds = Holds::refused,
       .says = "in the workspace",
       .of_hook = Holds::rules},
      {.name = "a link into the workspace",
       .setup = "mkdir workspace/s; ln -s workspace/s link",
       .variables = base + "$PWD/link",
       .holds = Holds::refused,
       .says = "in the workspace",
       .of_hook = Holds::rules},
  };
  check(rows);
}

TEST_P(States, OfTheManagedFile) {
  const std::string folder = "mkdir etc/cloche; ";
  const std::string file = "etc/cloche/config.json";
  const Row rows[] = {
      {.name = "the directory alone", .administrator = folder},
      {.name = "says nothing", .administrator = folder + "echo {} > " + file},
      {.name = "empty",
       .administrator = folder + ": > " + file,
       .holds = Holds::refused,
       .says = "/etc/cloche/config.json"},
      {.name = "no JSON",
       .administrator = folder + "echo {{ > " + file,
       .holds = Holds::refused,
       .says = "/etc/cloche/config.json"},
      {.name = "closed",
       .administrator = folder + "echo {} > " + file + "; chmod 000 " + file,
       .holds = Holds::refused,
       .says = "/etc/cloche/config.json",
       .of_root = Holds::rules},
      {.name = "its directory closed",
       .administrator = folder + "echo {} > " + file + "; chmod 000 etc/cloche",
       .holds = Holds::refused,
       .says = "/etc/cloche",
       .of_root = Holds::rules},
      {.name = "a directory",
       .administrator = folder + "mkdir " + file,
       .holds = Holds::refused,
       .says = "/etc/cloche/config.json"},
      {.name = "a link that leads nowhere",
       .administrator = folder + "ln -s none " + file,
       .holds = Holds::refused,
       .says = "/etc/cloche/config.json"},
      {.name = "its directory is a file",
       .administrator = ": > etc/cloche",
       .holds = Holds::refused,
       .says = "/etc/cloche"},
      {.name = "its directory leads nowhere",
       .administrator = "ln -s none etc/cloche",
       .holds = Holds::refused,
       .says = "/etc/cloche"},
      {.name = "another user's",
       .administrator = folder + "echo {} > " + file + "; chown 12345 " + file,
       .holds = Holds::refused,
       .says = "belongs to another user"},
  };
  check(rows);
}

// Of the user's and of the project's file alike.
TEST_P(States, OfTheUsersAndTheProjectsFile) {
  for (const std::string folder : {"account/.config/cloche", "workspace/.cloche"}) {
    SCOPED_TRACE(folder);
    const std::string fresh = "rm -rf " + folder + "; mkdir -p " + folder + "; ";
    const std::string file = folder + "/config.json";
    const std::string name = file.substr(file.find('/'));
    const bool projects = folder.starts_with("workspace");
    const Holds without = projects ? Holds::rules : Holds::nothing;
    const Row rows[] = {
        {.name = "absent", .setup = fresh, .holds = without},
        {.name = "empty", .setup = fresh + ": > " + file, .holds = Holds::refused, .says = name},
        {.name = "no JSON", .setup = fresh + "echo {{ > " + file, .holds = Holds::refused, .says = name},
        {.name = "closed",
         .setup = fresh + "echo {} > " + file + "; chmod 000 " + file,
         .holds = Holds::refused,
         .says = name,
         .of_root = without},
        {.name = "its directory closed",
         .setup = fresh + "echo {} > " + file + "; chmod 000 " + folder,
         .holds = Holds::refused,
         .says = folder.substr(folder.find('/')),
         .of_root = without},
        {.name = "a directory", .setup = fresh + "mkdir " + file, .holds = Holds::refused, .says = name},
        {.name = "a link that leads nowhere",
         .setup = fresh + "ln -s none " + file,
         .holds = Holds::refused,
         .says = name},
        {.name = "its directory is a file",
         .setup = "rm -rf " + folder + "; : > " + folder,
         .holds = Holds::refused,
         .says = folder.substr(folder.find('/'))},
        {.name = "its directory leads nowhere",
         .setup = "rm -rf " + folder + "; ln -s none " + folder,
         .holds = Holds::refused,
         .says = folder.substr(folder.find('/'))},
    };
    check(rows);
  }
}

TEST_P(States, OfDirectoriesThatTheUsersFileNames) {
  for (const std::string key : {"profiles_dir", "executors_dir", "tool_path"}) {
    SCOPED_TRACE(key);
    // $PWD and the quotes of JSON, through the shells of the row.
    const auto named = [&](const std::string& place) {
      const std::string value = "\\\"$PWD/" + place + "\\\"";
      return "echo \"{\\\"" + key + "\\\": " + (key == "tool_path" ? "[" + value + "]" : value) +
             "}\" > account/.config/cloche/config.json";
    };
    const bool tools = key == "executors_dir";
    const auto unused = tools ? std::optional(Holds::nothing) : std::nullopt;  // a command calls no executor
    const Row rows[] = {
        {.name = "a directory", .setup = "rm other/.keep; " + named("other"), .holds = Holds::nothing},
        {.name = "not there",
         .setup = named("none"),
         .holds = Holds::refused,
         .says = "/none",
         .of_command = unused},
        {.name = "a file",
         .setup = named("file"),
         .holds = Holds::refused,
         .says = "/file",
         .of_command = unused},
        {.name = "closed",
         .setup = named("other") + "; chmod 000 other",
         .holds = Holds::refused,
         .says = "/other",
         .of_root = Holds::nothing,
         .of_command = unused},
        {.name = "a link into the workspace",
         .setup = "mkdir workspace/d; ln -s workspace/d link; " + named("link"),
         .holds = Holds::refused,
         .says = "/link"},
    };
    check(rows);
  }
}

// Talks to `cloche mcp` as a client does: its end of the talk stays open until the answer is there, or the
// server has ended. The server ends a call soon after its input closes, however slow the machine is.
const char* const patient_client = R"sh(
scratch=$(mktemp -d)
: > $scratch/answers
{ cat; until test -e $scratch/ended || grep -q '"id":2' $scratch/answers; do sleep 0.02; done; } |
  { "$0" mcp > $scratch/answers 2>&1; : > $scratch/ended; }
cat $scratch/answers
rm -r $scratch
)sh";

// The two variables that are switches. What is open shows no filter of system calls.
TEST_P(States, OfTheSwitches) {
  const char* const held = "Seccomp:\t2";
  const char* const open = "Seccomp:\t0";
  const char* const refused = "means nothing";
  const struct {
    std::map<std::string, std::string> variables;
    const char* command;  // what run and call say
    const char* mcp;
  } rows[] = {
      {{}, held, held},
      {{{"CLOCHE_SANDBOX", ""}}, held, held},
      {{{"CLOCHE_SANDBOX", "on"}}, held, held},
      {{{"CLOCHE_SANDBOX", "off"}}, open, held},
      {{{"CLOCHE_SANDBOX", "of"}}, refused, refused},
      {{{"CLOCHE_SANDBOX", "off"}, {"CLOCHE_REQUIRE_SANDBOX", ""}}, open, held},
      {{{"CLOCHE_SANDBOX", "off"}, {"CLOCHE_REQUIRE_SANDBOX", "0"}}, open, held},
      {{{"CLOCHE_SANDBOX", "off"}, {"CLOCHE_REQUIRE_SANDBOX", "1"}}, held, held},
      {{{"CLOCHE_SANDBOX", "off"}, {"CLOCHE_REQUIRE_SANDBOX", "yes"}}, held, held},
      {{{"CLOCHE_SANDBOX", "off"}, {"CLOCHE_REQUIRE_SANDBOX", "nonsense"}}, held, held},
  };
  std::string talks = talk;
  const std::string touch = R"(["touch","made"])";
  talks.replace(talks.find(touch), touch.size(), R"(["cat","/proc/self/status"])");
  for (const auto& row : rows) {
    std::string trace;
    for (const auto& [name, value] : row.variables) trace += name + "=" + value + " ";
    SCOPED_TRACE(trace);
    const Ran ran = cloche_words({"run", "--", "cat", "/proc/self/status"}, row.variables);
    EXPECT_TRUE(contains(ran.out + ran.err, row.command)) << ran.out << ran.err;
    const Ran call =
        cloche_words({"call", "run_shell", R"({"argv": ["cat", "/proc/self/status"]})", "--commands", "any"},
                     row.variables);
    EXPECT_TRUE(contains(call.out + call.err, row.command)) << call.out << call.err;
    Command server{.argv = {"sh", "-c", patient_client, cloche()},
                   .as = as(),
                   .cwd = workspace(),
                   .env = row.variables,
                   .input = talks};
    server.env.emplace("XDG_CONFIG_HOME", (root() / "config").string());
    server.env.emplace("XDG_STATE_HOME", state_home(as()));
    const Ran mcp = run(server);
    std::string said = mcp.out + mcp.err;
    for (size_t at = said.find("\\t"); at != std::string::npos; at = said.find("\\t"))
      said.replace(at, 2, "\t");
    EXPECT_TRUE(contains(said, row.mcp)) << said;
  }
}

}  // namespace
}  // namespace cloche::test
