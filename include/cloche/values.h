// The values of the library: what a gateway is opened with, what a call is, and what came of it. Plain data,
// with no pointer into Cloche: a program copies, keeps and passes them between threads as it likes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <cloche/version.h>

namespace cloche {
namespace v1 {

// Why Cloche could not do something. A call that was refused, or whose program failed, is no Error but a
// CallResult.
struct Error {
  enum class Kind {
    usage,          // what the program gave cannot be read: a value that does not exist, a wrong limit
    configuration,  // it can be read and not granted: a workspace that must not be one, a configuration file
    missing_layer,  // this host cannot keep a promise that is required
    system,         // a system call failed
    interrupted,    // a part of Cloche was ended from outside: the same may succeed next time
    internal,       // a bug in Cloche, or no memory
  };
  Kind kind = Kind::internal;
  std::string what = {};  // one sentence: what happened and why
  std::string fix = {};   // what to do next; may be empty
};

// A value or an Error.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit by design
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit by design

  bool ok() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }
  // Only where ok() says so: std::variant throws std::bad_variant_access otherwise.
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T value() && { return std::get<0>(std::move(state_)); }
  // Only where ok() does not.
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

// One limit of every call: {"timeout", "30s"}, {"memory", "512M"}. The names are those of the flags of
// `cloche call`, without the dashes.
struct Limit {
  std::string name;
  std::string value;
};

// A function of the program that a model can call as a tool: judged by every gate and recorded, but in this
// process and with no sandbox. So only for code that touches nothing but its arguments.
struct Function {
  std::string name;
  std::string description = {};
  std::string input_schema = {};   // JSON Schema 2020-12, as text; empty: any object
  std::string output_schema = {};  // the same; empty: any JSON
  // From the arguments as JSON, valid by the input schema, to JSON by the output schema. From any thread that
  // makes a call. What it throws is an error for the model.
  std::function<std::string(const std::string& arguments)> run = {};
};

// Who is asked where a rule or the autonomy wants a person's yes.
enum class Asked {
  nobody,     // the answer is no, unless the call has an Approver of its own
  terminal,   // the person at the terminal of this process; without one the answer is no
  operators,  // the same; without a terminal the question waits for `cloche approve`
};

// What a gateway is opened with. Where nothing is said, the configuration of the user and of the host says,
// and else the default, which is the strict one. Nothing here loosens what the host's configuration forbids.
struct Options {
  std::optional<std::string> workspace = {};  // the project; without one `run`'s, or the working directory
  // The directory of the record; without `workspace` calls work in its artifacts/. Without it: a new run in
  // Cloche's state directory.
  std::optional<std::string> run = {};
  // Calls of one task share a $HOME and a /tmp and, where `run` is not given, a record, by whichever gateway.
  std::optional<std::string> task = {};
  bool record = true;  // false: nothing is written down, and there is no task

  std::optional<std::string> profile = {};    // readonly, workspace-write-no-network, or one of yours
  std::optional<std::string> autonomy = {};   // readonly, supervised or full
  std::optional<std::string> commands = {};   // the most that run_shell runs: passive, full or any
  std::optional<std::string> writes = {};     // how they reach the project: commit, stage or live
  std::optional<std::string> isolation = {};  // the lowest level to accept: namespace, container, ...
  std::optional<std::string> skill = {};      // a SKILL.md that says what calls may use
  std::optional<std::string> executors = {};  // a directory of tools of your own
  std::vector<std::string> read_only = {};    // SRC or SRC:DST of the host, to be shown; as --ro
  std::vector<std::string> writable = {};     // the same, writable; as --rw
  std::vector<std::string> hide = {};         // patterns of files that no call reads
  std::vector<std::string> pass_env = {};     // names of variables that calls get
  std::vector<std::string> net = {};          // hosts that calls may reach; as --net
  std::vector<Limit> limits = {};
  // What has no member here: flags of `cloche call`, a word each, as "--hide=.env"; and of `cloche mcp`,
  // whose calls begin sooner, "--pool=N" and "--warm=python3".
  std::vector<std::string> flags = {};
  std::vector<Function> functions = {};

  Asked asked = Asked::nobody;

  // Where cloche-jail and its companions are; without it where the library was installed with them.
  std::optional<std::string> programs = {};
  // "NAME=VALUE": where Cloche finds the user's directories and what `pass_env` names. Without it: the
  // environment of the process, copied when the gateway is opened.
  std::optional<std::vector<std::string>> environment = {};
  // Each in place of a variable: HOME, XDG_CONFIG_HOME (the user's configuration is in its cloche/) and
  // XDG_STATE_HOME (Cloche's state is in its cloche/).
  std::optional<std::string> home = {};
  std::optional<std::string> config_home = {};
  std::optional<std::string> state_home = {};
};

// One call of a tool, as a model asks for it.
struct Call {
  std::string tool;
  std::string arguments = "{}";          // JSON, exactly as the model wrote it: it may be wrong
  std::optional<std::string> task = {};  // without one: that of the options
  std::optional<std::string> role = {};  // who asks, for the record; without it "agent"
  int cancel = -1;                       // a descriptor: the call is ended once it can be read
  bool json = false;                     // fill CallResult::json as well
};

// What became of the files that a call wrote.
struct Changes {
  std::string set = {};      // the id by which `cloche changes` knows them; empty: nothing is stored
  std::string summary = {};  // for the operator: "1 created, 1 withheld (...)"; empty: nothing was written
  bool is_whole = true;      // all of it is in the project
  bool conflicts = false;    // the host or another call changed the same files, so nothing is
};

struct CallResult {
  enum class End { exited, signaled, timeout, limit, refused, not_found, not_executable, failed };
  End end = End::failed;
  int exit_code = 125;       // as of `cloche call`: 126 refused, 124 timeout, 125 Cloche failed
  std::string text = {};     // exactly what the model is to read; bounded, and harmless to a terminal
  std::string json = {};     // with Call::json: all of it, as `cloche call --json` prints it
  std::string call_id = {};  // in the record
  std::string run_id = {};
  Changes changes = {};
  // For the operator, never for the model:
  std::string reason = {};                // why it did not end well, where that says more than the text does
  std::vector<std::string> denials = {};  // what was denied, and the command went on
  std::vector<std::string> notes = {};

  bool is_error() const noexcept { return end != End::exited || exit_code != 0; }
};
// "exited", "refused", ...
const char* name_of(CallResult::End end) noexcept;

}  // namespace v1
}  // namespace cloche
