// The words of `cloche run` and `cloche wrap`, from argv to a request, and their help.
#pragma once

#include <span>
#include <string>

#include "base/result.hpp"
#include "doors/cli/options.hpp"
#include "doors/cli/secret_flags.hpp"
#include "model/run_request.hpp"

namespace cloche {

struct RunArguments {
  RunRequest request;
  bool help = false;
  bool dry_run = false;
  bool json = false;
  bool raw = false;
  int status_fd = -1;
  std::optional<IsolationLevel> isolation = {};  // --isolation; request.level follows from it and the backend
  bool oci = false;                              // --backend oci: crun or runc
  SecretFlags secrets = {};                      // not read yet
  std::vector<NamedFile> secret_files = {};      // once they are
  // What makes it a recorded run.
  std::optional<std::string> run = {};
  std::optional<std::string> task = {};
  std::optional<std::string> skill = {};

  // The id of a command that a hook has filed. Only the flags for the operator's directories may be given
  // with it, and agent_environment.hpp has read those.
  std::optional<std::string> call = {};
  size_t places = 0;  // how many of those flags there are

  // Of `cloche wrap` alone.
  std::optional<std::string> box = {};  // --backend there
  std::optional<std::string> runtime = {};
  std::optional<std::string> executor = {};  // a manifest
  std::optional<std::string> bundle = {};    // a directory to make

  bool operator==(const RunArguments&) const = default;
};

// SRC or SRC:DST. A colon that belongs to SRC is written \: so that a path can hold one.
Result<Grant> parse_grant(const std::string& value, bool writable);

// --profile. Until a custom one is read, the strictest stands in its place.
Result<void> set_profile_of(RunRequest& request, const std::string& name);

Result<IsolationLevel> isolation_level_of_word(const std::string& word);
Result<void> set_workspace(RunRequest& request, const std::string& value);
Result<void> add_read_only(RunRequest& request, const std::string& value);
Result<void> add_writable(RunRequest& request, const std::string& value);
Result<void> set_writes(RunRequest& request, const std::string& value);
Result<void> set_live(RunRequest& request, const std::string& value);
Result<void> allow_protected_path(RunRequest& request, const std::string& value);
Result<void> add_hidden(RunRequest& request, const std::string& value);
// None for "oci": crun or runc, whichever works here.
Result<std::optional<Backend>> backend_of_word(const std::string& word);

// The help of flags that the commands with a call have too.
inline constexpr std::string_view profile_help =
    "The sandbox profile: readonly, workspace-write-no-network (default), workspace-write, or one of yours; "
    "see cloche profiles.";
inline constexpr std::string_view writes_help =
    "How what is written reaches the project: commit, judged when the command has ended; stage, when you say "
    "so (cloche "
    "changes apply); live, at once. The default is commit.";
inline constexpr std::string_view isolation_help =
    "The lowest isolation level to accept: subprocess, namespace (default), container or gvisor. A level "
    "that this host lacks is refused.";
inline constexpr std::string_view backend_help =
    "The program that builds the sandbox; it sets the isolation level: native (default), bwrap, subprocess, "
    "oci (crun or runc, whichever works), crun, runc or runsc.";

// The flags that commands with a call have too. `request` is where a command keeps what is asked for.
template <typename Arguments, RunRequest& (*request)(Arguments&)>
struct RequestOptions {
  using Row = Option<Arguments>;
  template <Result<void> (*store)(RunRequest&, const std::string&)>
  static Result<void> into(Arguments& arguments, const std::string& value) {
    return store(request(arguments), value);
  }

  static constexpr Row workspace{"--workspace", "DIR", "Work in DIR (default: the working directory).",
                                 into<set_workspace>};
  static constexpr Row profile{"--profile", "P", profile_help, into<set_profile_of>};
  static constexpr Row read_only{
      "--ro", "SRC[:DST]",
      "Show a file or directory of the host, read-only, as DST or by its own path. A "
      "colon in a path is written \\:. May be repeated.",
      into<add_read_only>};
  static constexpr Row writable{"--rw", "SRC[:DST]", "The same, writable.", into<add_writable>};
  static constexpr Row writes{"--writes", "W", writes_help, into<set_writes>};
  static constexpr Row live{"--live", "", "Short for --writes live.", into<set_live>};
  static constexpr Row allow_protected{"--allow-protected", "PATH",
                                       "Let commands change PATH, a member of the protected set (git hooks, "
                                       ".envrc, .vscode, ...). May be repeated.",
                                       into<allow_protected_path>};
  static constexpr Row hide{
      "--hide", "PATTERN",
      "Hide what PATTERN matches in the workspace and in granted directories: it can be "
      "neither read nor changed. .env is the one at the top, '**/.env' any; in quotes, because the shell "
      "expands it otherwise. May be repeated.",
      into<add_hidden>};
};

// Which command's flags are taken.
enum class RunCommand : unsigned { run = 1, wrap = 2 };

// The options and the command's argv. The isolation level is not settled yet.
Result<RunArguments> read_run_words(std::span<char* const> words, RunCommand command);
// The level that --isolation and --backend give together; an Error where they disagree.
Result<void> settle_isolation_level(RunArguments& arguments);

// `words` are those after "run".
Result<RunArguments> parse_run(std::span<char* const> words);

}  // namespace cloche
