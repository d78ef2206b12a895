// One tool call on its way to a decision, as plain values. Each default is the strict one: what was not
// filled in grants nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/text/command_words.hpp"
#include "model/facts.hpp"
#include "model/limits.hpp"
#include "model/plan.hpp"
#include "model/run_request.hpp"
#include "model/verdict.hpp"

namespace cloche {

// Who asks. An operator's own command (`cloche run`) is no tool call: some gates have nothing to say about
// it.
enum class Asks { model, operators };

// As it came, not yet understood and never changed.
struct ToolCall {
  std::string tool = {};
  std::string arguments = {};  // JSON
  Asks by = Asks::model;
};

// Which argv shapes a command may have, narrowest first.
enum class CommandProfile { passive, full, any };
std::string_view name_of(CommandProfile profile);
std::optional<CommandProfile> command_profile(std::string_view name);

// The operator's level for the whole session.
enum class Autonomy { readonly, supervised, full };
std::string_view name_of(Autonomy autonomy);
std::optional<Autonomy> autonomy(std::string_view name);

// What a file tool would do in the workspace, as a plain value: understood by tools/, judged by the gates,
// carried out through WorkspaceAccess. Nothing of it has been looked up yet.
struct FileAction {
  enum class Kind { write, edit, read, list, search };

  Kind kind = Kind::read;
  std::string path = {};      // as written, relative to the workspace; of list and search empty: all of it
  std::string content = {};   // of write the whole new file; of edit what comes in
  std::string replaced = {};  // of edit: what goes out; it must be there exactly once
  std::string pattern = {};   // of search RE2's; of list a glob, empty: everything
  uint64_t offset = 0;        // of read: the first byte
  uint64_t limit = 256ULL << 10;  // of read: how many bytes at most
};

constexpr bool changes_files(FileAction::Kind kind) {
  return kind == FileAction::Kind::write || kind == FileAction::Kind::edit;
}

std::string_view name_of(FileAction::Kind kind);
// For plans: what it does and where; new contents by their hash.
std::string to_json(const FileAction& action);

// A piece of an earlier result.
struct Recall {
  std::string call_id = {};
  uint64_t offset = 0;
  uint64_t limit = 64 << 10;
};

std::string to_json(const Recall& recall);

// A function of the embedding program, and what it is given.
struct FunctionCall {
  std::string name = {};
  std::string arguments = {};  // JSON
};
std::string to_json(const FunctionCall& call);

// An address that is fetched by a program of Cloche's own, which sees nothing but its network.
struct Fetch {
  std::string url = {};   // as it is asked for
  std::string host = {};  // NAME:PORT, all that it may reach
};

// The program that argv names.
struct Command {};

// What a permitted call becomes: what it does, and what its tool or its shape adds to the confinement.
struct Launch {
  std::vector<std::string> argv = {};      // empty: nothing is started, and the gateway itself acts
  std::vector<Variable> environment = {};  // over everything else
  std::vector<std::string> pass_env = {};  // names of the caller's variables that stay
  std::string directory = {};              // empty: the workspace
  // Words that may name files of the workspace which it reads, runs or interprets; an approval covers what is
  // in them.
  std::vector<std::string> named_files = {};
  bool noexec = true;           // nothing that can be written, and nothing in the workspace, executes
  bool system_programs = true;  // from the system's PATH and the operator's tool_path alone
  bool fresh_home = true;       // its own $HOME and /tmp, even within a task
  bool readonly = true;         // writes nothing, whatever the sandbox profile would let it
  bool network = false;         // reaches the hosts that are declared; else none
  std::optional<uint64_t> timeout_ms = {};

  WorkspaceUse workspace = WorkspaceUse::shown;
  std::vector<Grant> grants = {};         // what an executor's capabilities come to
  std::optional<Script> script = {};      // a text of the model's that is run, shown where argv says
  std::optional<std::string> input = {};  // for its stdin
  std::optional<Limits> narrower = {};    // of each limit the smaller one counts
  std::variant<Command, FileAction, Recall, FunctionCall, Fetch> does = {};

  template <typename Deed>
  const Deed* as() const {
    return std::get_if<Deed>(&does);
  }
};

// What a tool understood of a call: what it would touch, and what it asks for.
struct Intent {
  enum class Form { none, text, words };  // how a command was given: nothing runs, `cmd`, `argv`

  std::string tool = {};     // its one name, aliases resolved; empty: there is no such tool
  std::string problem = {};  // why the arguments make no sense; then nothing below means anything
  Form form = Form::none;
  std::vector<std::string> argv = {};
  std::vector<ShellOperator> operators = {};  // what a shell would have acted on in `cmd`
  // Of a command that only a shell runs, its text: it has operators, lines, or
  // a word of the shell's. Nothing below `any` starts it; under `any`
  // run_as_script() makes a script of it.
  std::optional<std::string> shell_text = {};
  std::optional<std::string> cwd = {};  // where it starts, relative to the workspace; without: at its top
  std::string starts_in = ".";          // where it starts without cwd, in the same spelling
  std::optional<CommandProfile> profile = {};   // a narrower one than it could have
  std::optional<CommandProfile> in_force = {};  // of run_shell: the one that it has, once that is known
  std::optional<uint64_t> timeout_ms = {};      // a shorter one than it could have
  std::optional<std::string> input = {};        // for its stdin
  std::vector<std::string> hosts = {};          // NAME or NAME:PORT
  // What a tool that is no command of the model's would start or do, the same for every profile.
  std::optional<Launch> launch = {};
  std::map<std::string, std::string, std::less<>> arguments = {};  // of such a tool, as rules see them
  bool opaque = false;  // what it runs cannot be judged: it needs code:exec, and
                        // only the sandbox answers for it
  // Of opaque text: the argument that has it, and its commands where a shell's
  // text can be taken apart.
  std::string text_argument = {};
  std::optional<std::vector<std::vector<std::string>>> parts = {};
  bool shells = false;  // a shell runs it, and no other interpreter
};

// What the operator, the skill and the door leave a call. A call never has more, whatever it asks for.
struct Ceilings {
  CommandProfile commands = CommandProfile::passive;
  CommandProfile unasked = CommandProfile::passive;  // for a call that names no profile
  // Unset is "every shipped tool"; an empty list is none at all.
  std::optional<std::vector<std::string>> loadout = std::vector<std::string>{};
  std::vector<std::string> pass_env = {};
  bool network = false;  // whether the sandbox profile has any
  std::vector<std::string> hosts =
      {};                            // what is declared: NAME, *.NAME, each with :PORT or without; * is any
  std::string declared_by = {};      // for sentences: "skill x, needs_network"; empty: the operator
  std::string network_problem = {};  // why there is no host, where a skill asks for some without a name
  Autonomy level = Autonomy::readonly;
  std::vector<std::string> executors = {};  // the user's own tools, known beside the shipped ones
  bool writes = false;                      // whether the sandbox profile lets anything be written
  bool execute = false;                     // code:exec: whether what cannot be judged may run
};

// A path as it was written in a call, and what it means on this host now.
struct OperandFact {
  std::string written = {};
  std::string resolved = {};  // absolute, every link followed; of what is not there, where it would be
  FileFact::Kind kind = FileFact::Kind::absent;
  std::string problem = {};  // why it could not be resolved
  bool rooted = true;        // the host has the first directory that it goes through: /usr of /usr/x
};

// The one look at the world that a decision rests on.
struct CallFacts {
  std::string workspace = {};                // resolved; empty: there is none, and every path lies outside
  std::vector<std::string> read_roots = {};  // granted by the operator, where the command sees them
  std::vector<OperandFact> operands = {};
  std::optional<OperandFact> cwd = {};  // of a call that says where it starts

  // Where relative paths are counted from.
  const std::string& directory() const { return cwd && cwd->problem.empty() ? cwd->resolved : workspace; }
};

struct Case {
  std::string reach = {};  // of an operator's command: what of the network it has, for those who read
  ToolCall call = {};
  Intent intent = {};
  Ceilings ceilings = {};
  CallFacts facts = {};
  // These two gates read schemas and rule files; here is what they said.
  Verdict schema = {GateId::schema, Decision::deny, "the arguments were not checked"};
  Verdict rules = {GateId::rules, Decision::deny, "the rules were not asked"};
  // What a file tool's path comes to, and what autonomy asks; both are judged with what tools know.
  Verdict action = {GateId::path, Decision::deny, "the path was not judged"};
  std::vector<std::string> secrets = {};  // names of those that an operator's command is given
  std::vector<std::string> asks = {};     // sentences: why autonomy wants a question
  bool unasked = false;                   // of a tool about which the skill says that it need not ask
  std::optional<Decision> answer = {};    // of the approver; only ever to the question of this very case
};

}  // namespace cloche
