#include "doors/cli/arguments.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "doors/cli/help_pages.hpp"
#include "doors/cli/options.hpp"
#include "model/network.hpp"
#include "policy/hosts/declared_hosts.hpp"
#include "policy/rules/hidden_globs.hpp"

namespace cloche {
namespace {

using Value = const std::string&;

Error not_built(const std::string& what, const std::string& instead) {
  return refusal(what + " is not part of this build", instead);
}

Result<void> add_variable(RunArguments& arguments, Value value) {
  const size_t equals = value.find('=');
  Pass pass{.name = value.substr(0, equals)};
  if (equals != std::string::npos) pass.value = value.substr(equals + 1);
  if (pass.name.empty()) return usage_error("-e " + value + " is not NAME or NAME=VALUE");
  arguments.request.environment.push_back(std::move(pass));
  return {};
}

Result<void> add_secret(RunArguments& arguments, Value value) {
  arguments.secrets.secrets.push_back(TRY(parse_secret_flag(value)));
  return {};
}

Result<void> set_isolation(RunArguments& arguments, Value value) {
  arguments.isolation = TRY(isolation_level_of_word(value));
  return {};
}

Result<void> set_backend(RunArguments& arguments, Value value) {
  arguments.request.backend = TRY(backend_of_word(value));
  arguments.oci = !arguments.request.backend;
  return {};
}

Result<void> set_view(RunArguments& arguments, Value value) {
  if (value != "host" && value != "curated")
    return usage_error("--view " + value + ": no such view", "known are curated and host");
  arguments.request.view = value == "host" ? View::host : View::curated;
  return {};
}

Result<void> set_grant(RunArguments& arguments, Value value) {
  if (value != "debug")
    return usage_error("--grant " + value + ": no such grant", "known is debug: ptrace of the own tree");
  arguments.request.debugging = true;
  return {};
}

Result<void> set_status_fd(RunArguments& arguments, Value value) {
  const auto end = value.data() + value.size();
  const auto [at, problem] = std::from_chars(value.data(), end, arguments.status_fd);
  if (problem != std::errc{} || at != end || arguments.status_fd < 1) {
    return usage_error("--status-fd " + value + " is not the number of a descriptor");
  }
  return {};
}

Result<void> add_net(RunArguments& arguments, Value value) {
  return declare_reach(arguments.request.hosts, arguments.request.ranges, value);
}

// PORT or HOST_PORT:PORT
Result<void> add_published(RunArguments& arguments, Value value) {
  const size_t colon = value.find(':');
  const auto host = read_port(std::string_view(value).substr(0, colon));
  const auto inside =
      colon == std::string::npos ? host : read_port(std::string_view(value).substr(colon + 1));
  if (!host || !inside)
    return usage_error("--publish " + value + " is not a port, or two", "write PORT or HOST_PORT:PORT");
  if (*inside == dns_port)
    return usage_error("--publish " + value + ": port 53 inside belongs to the call's own resolver");
  auto& published = arguments.request.published;
  if (std::ranges::any_of(published, [&](const PublishedPort& one) { return one.host == *host; }))
    return usage_error("--publish " + value + ": the host's port " + std::to_string(*host) +
                       " is given twice");
  if (published.size() >= most_published)
    return usage_error("--publish is given more than " + std::to_string(most_published) + " times");
  published.push_back({*host, *inside});
  return {};
}

Result<void> add_net_any(RunArguments& arguments, Value) { return declare_any_host(arguments.request.hosts); }

Result<void> set_net_host(RunArguments& arguments, Value) {
  arguments.request.network = Network::of_host;
  return {};
}

RunRequest& request_of(RunArguments& arguments) { return arguments.request; }
using Shared = RequestOptions<RunArguments, request_of>;

constexpr unsigned of_run = static_cast<unsigned>(RunCommand::run);
constexpr unsigned of_wrap = static_cast<unsigned>(RunCommand::wrap);

constexpr Option<RunArguments> box_options[] = {
    {"", "", "The sandbox that is printed:", nullptr, of_wrap},
    {"--backend", "B",
     "bwrap: one command line of bubblewrap; oci: the config.json of crun, runc and runsc; seatbelt: the "
     "command line of macOS's sandbox-exec. Required.",
     keep<&RunArguments::box>, of_wrap},
    {"--runtime", "R", "With oci: the runtime that will read it, runc (default), crun or runsc.",
     keep<&RunArguments::runtime>, of_wrap},
    {"--bundle", "DIR", "With oci: make DIR, with config.json and the root directory that belongs to it.",
     keep<&RunArguments::bundle>, of_wrap},
    {"--executor", "FILE",
     "The manifest of a tool of your own: its directory is shown read-only, and of files and network only "
     "what it declares.",
     keep<&RunArguments::executor>, of_wrap},
};

constexpr Option<RunArguments> view_options[] = {
    {"", "", "What the command sees:"},
    Shared::workspace,
    Shared::profile,
    Shared::read_only,
    Shared::writable,
    Shared::hide,
    Shared::writes,
    Shared::live,
    {"--view", "V",
     "curated (default): the system alone; host: the whole host read-only, with secrets masked.", set_view},
    {"--toolchains", "T",
     "The caller's toolchains to show: auto (default: those found), none, or names with commas: "
     "pyenv,nvm,cargo,go,uv,conda,npm,maven,pip,playwright.",
     keep<&RunArguments::request, &RunRequest::toolchains>},
    {"-C", "DIR", "Start in DIR, relative to the workspace (default: the workspace).",
     [](RunArguments& arguments, Value value) -> Result<void> {
       arguments.request.directory = value;
       return {};
     }},
    {"-e, --env", "NAME[=VALUE]",
     "Set a variable, or pass the caller's. A variable whose name looks like a secret needs a value. May be "
     "repeated.",
     add_variable},
    {"--secret", "NAME[=@FILE]",
     "Give the command the caller's variable, or what is in FILE, as NAME. No plan, record or list of "
     "processes has the value. May be repeated.",
     add_secret, of_run},
    {"--env-file", "FILE",
     "Give it the variables of FILE, lines of NAME=VALUE, in the same way. May be repeated.",
     add<&RunArguments::secrets, &SecretFlags::env_files>, of_run},
    Shared::allow_protected,
    {"--grant", "debug", "Let the command trace its own processes, as gdb and strace do.", set_grant},
    {"--skill", "FILE",
     "Give the command what this SKILL.md declares as well: directories, variables, hosts.",
     keep<&RunArguments::skill>},
    {"", "", "Its network; none without one of these flags (docs/egress.md):"},
    {"--net", "HOST[:PORT]",
     "A host by its name, on 80 and 443 or on PORT; *.NAME: all names below it; localhost:PORT: a service of "
     "the host; NAME@CIDR[:PORT]: one that leads into that private range. May be repeated.",
     add_net},
    {"--net-any", "", "Any public name on 80 and 443, and no private address.", add_net_any},
    {"--net-host", "", "The host's own network, without the network gate; the outcome says so.",
     set_net_host},
    {"--publish", "[HOST_PORT:]PORT",
     "A server of the command at PORT is reached at 127.0.0.1:HOST_PORT of the host. May be repeated.",
     add_published, of_run},
    {"", "", "Limits; each has a default and none can be switched off:"},
};

constexpr Option<RunArguments> other_options[] = {
    {"", "", "Output:"},
    {"--json", "",
     "Print one JSON object on stdout; of run: outcome, exit code, output, usage, layers and denials.",
     raise<&RunArguments::json>},
    {"--dry-run", "", "Print the plan and its digest, and run nothing.", raise<&RunArguments::dry_run>,
     of_run},
    {"--status-fd", "N", "Write the outcome as one line of JSON to the descriptor N.", set_status_fd, of_run},
    {"--raw", "",
     "Pass every escape sequence to the terminal; OSC, DCS and APC sequences are removed otherwise.",
     raise<&RunArguments::raw>, of_run},
    help_option<RunArguments>,
    {"", "", "Isolation:", nullptr, of_run},
    {"--isolation", "LEVEL", isolation_help, set_isolation},
    {"--backend", "B", backend_help, set_backend, of_run},
    {"", "", "Record:", nullptr, of_run},
    {"--run", "DIR", "Record the run in DIR; without --workspace the workspace is DIR/artifacts.",
     keep<&RunArguments::run>, of_run},
    {"--task", "ID", "Share $HOME and /tmp with the other calls of the task ID, and record the run.",
     keep<&RunArguments::task>, of_run},
    {"", "", "For a command that cloche hook has judged and filed; no other flag may be given with these:",
     nullptr, of_run},
    {"--call", "ID", "Run the filed command, once.", keep<&RunArguments::call>, of_run},
};

OptionTables<RunArguments> tables_of(RunCommand command) {
  static constexpr auto limits = limit_options<RunArguments, request_of>;
  OptionTables<RunArguments> all{{box_options, view_options, limits, other_options},
                                 static_cast<unsigned>(command)};
  if (command == RunCommand::run) all.tables.push_back(place_options<RunArguments>);
  return all;
}

std::vector<HelpRow> help_rows(RunCommand command) {
  std::vector<HelpRow> rows = rows_of(tables_of(command));
  show_defaults(rows, Limits{});
  return rows;
}

}  // namespace

Result<void> set_workspace(RunRequest& request, const std::string& value) {
  request.workspace = value;
  return {};
}

Result<void> add_read_only(RunRequest& request, const std::string& value) {
  request.grants.push_back(TRY(parse_grant(value, false)));
  return {};
}

Result<void> add_writable(RunRequest& request, const std::string& value) {
  request.grants.push_back(TRY(parse_grant(value, true)));
  return {};
}

Result<void> set_writes(RunRequest& request, const std::string& value) {
  for (const Writes writes : {Writes::commit, Writes::stage, Writes::live}) {
    request.asked_writes = writes;
    if (value == name_of(writes)) return {};
  }
  return usage_error("--writes " + value + ": no such mode", "known are commit, stage and live");
}

Result<void> set_live(RunRequest& request, const std::string&) {
  request.asked_writes = Writes::live;
  return {};
}

Result<void> allow_protected_path(RunRequest& request, const std::string& value) {
  if (value.empty()) return usage_error("--allow-protected needs a path");
  request.allow_protected.push_back(value);
  return {};
}

Result<void> add_hidden(RunRequest& request, const std::string& value) {
  const auto globs = HiddenGlobs::read({value});
  if (!globs.ok()) return usage_error("--hide " + value + ": " + globs.error().what.text());
  request.hide.push_back(value);
  return {};
}

Result<IsolationLevel> isolation_level_of_word(const std::string& word) {
  if (const auto level = level_named(word)) return *level;
  return usage_error("--isolation " + word + ": no such isolation level",
                     "known are permissive, subprocess, namespace, container, gvisor and microvm");
}

Result<std::optional<Backend>> backend_of_word(const std::string& word) {
  if (word == "oci") return std::optional<Backend>{};
  const auto backend = backend_named(word);
  if (backend && *backend != Backend::none) return backend;
  return usage_error("--backend " + word + ": no such backend",
                     "known are native, bwrap, subprocess, oci, crun, runc and runsc");
}

Result<Grant> parse_grant(const std::string& value, bool writable) {
  Grant grant{.writable = writable};
  std::string* part = &grant.source;
  for (size_t i = 0; i < value.size(); ++i) {
    if (value[i] == '\\' && i + 1 < value.size() && (value[i + 1] == ':' || value[i + 1] == '\\')) {
      *part += value[++i];
    } else if (value[i] == ':' && part == &grant.source) {
      part = &grant.target;
    } else {
      *part += value[i];
    }
  }
  const char* flag = writable ? "--rw" : "--ro";
  if (grant.source.empty() || (part == &grant.target && grant.target.empty())) {
    return usage_error(std::string(flag) + " " + value + " is not SRC or SRC:DST");
  }
  return grant;
}

Result<void> set_profile_of(RunRequest& request, const std::string& name) {
  // A seatbelt profile is refused where its text can be read, with the name of the nearest.
  if (!is_profile_name(name) && !name.ends_with(".sb"))
    return usage_error("--profile " + name + " is not the name of a profile", "see cloche profiles list");
  request.profile_name = name;
  request.profile = shipped_profile(name).value_or(Profile::readonly);
  return {};
}

Result<void> settle_isolation_level(RunArguments& arguments) {
  RunRequest& request = arguments.request;
  std::optional<IsolationLevel> of_backend;
  if (request.backend) of_backend = level_of(*request.backend);
  if (arguments.oci) of_backend = IsolationLevel::container;
  request.level = arguments.isolation.value_or(of_backend.value_or(IsolationLevel::namespaces));
  if (arguments.isolation || of_backend) request.isolation = request.level;
  const std::string name(name_of(request.level));
  if (of_backend && *of_backend != request.level)
    return usage_error("this backend has the isolation level " + std::string(name_of(*of_backend)) +
                       ", not " + name);
  if (request.level == IsolationLevel::permissive) {
    return refusal(
        "the isolation level permissive is for functions of the embedding program and never runs a program",
        "use --isolation subprocess or higher");
  }
  if (backends_of(request.level).empty())
    return not_built("the isolation level " + name, "use --isolation gvisor or lower");
  return {};
}

Result<RunArguments> read_run_words(std::span<char* const> words, RunCommand command) {
  const std::string name = command == RunCommand::run ? "cloche run" : "cloche wrap";
  RunArguments arguments;
  const auto others = TRY(read_options(arguments, words, tables_of(command), OptionsEnd::first_word,
                                       "see " + name + " --help, and put -- before the command"));
  arguments.request.argv.assign(others.begin(), others.end());
  // A host, or the host's own network, selects the profile with a network, unless a flag or the configuration
  // names another.
  const bool networked = !arguments.request.hosts.empty() || arguments.request.network == Network::of_host;
  if (networked && arguments.request.profile_name.empty())
    arguments.request.profile = Profile::workspace_write;
  return arguments;
}

Result<RunArguments> parse_run(std::span<char* const> words) {
  RunArguments arguments = TRY(read_run_words(words, RunCommand::run));
  if (arguments.help) return arguments;
  if (arguments.call) {
    const RunArguments alone{.call = arguments.call, .places = arguments.places};
    if (arguments != alone)
      return usage_error(
          "--call ID takes no other flag and no command: the hook has judged it with all of them");
    return arguments;
  }
  if (arguments.places != 0)
    return usage_error("--home, --config-home, --state-home and --uid-range are for --call",
                       "set HOME, XDG_CONFIG_HOME, XDG_STATE_HOME or CLOCHE_UID_RANGE");
  TRY(settle_isolation_level(arguments));
  if (arguments.request.argv.empty())
    return usage_error("no command is given", "cloche run [flags] -- CMD ARG...");
  return arguments;
}

HelpPage run_help() {
  return {.usage = "cloche run [flags] -- CMD ARG...",
          .about =
              "Runs CMD in fresh namespaces with a read-only system, a private /tmp and $HOME, no network "
              "but loopback, an environment of its own, a default-deny system call filter and Landlock. The "
              "workspace is the only directory of the host that CMD can write to.",
          .rows = help_rows(RunCommand::run),
          .notes =
              "Exit codes: the command's own; 124 wall clock; 137 another limit; 125 Cloche itself failed; "
              "126 refused, or not executable; 127 not found; 128+n ended by signal n; 2 bad usage.",
          .examples = {"cloche run --workspace ./proj -- python3 build.py",
                       "cloche run --ro ~/data --rw ./out --timeout 30s --memory 512M --pids 64 -- ./job",
                       "cloche run --net pypi.org --net '*.pythonhosted.org' -- pip download requests",
                       "cloche run --isolation gvisor -- python3 untrusted.py",
                       "cloche run --dry-run --json -- make test"}};
}

HelpPage wrap_help() {
  return {
      .usage = "cloche wrap --backend B [flags] -- CMD ARG...",
      .about =
          "Prints the command line or configuration with which another sandbox enforces the plan of CMD, "
          "and runs nothing. What that sandbox lacks (the system call filter, Landlock, limits) "
          "cloche-jail --inner adds inside it; a layer that neither enforces is named on stderr. 'cloche run "
          "--backend bwrap|oci|runsc' runs CMD in that sandbox and supervises it.",
      .rows = help_rows(RunCommand::wrap),
      .notes =
          "The wall clock and the limits on output and on the growth of the workspace need a "
          "supervisor: only 'cloche run' enforces them.\n"
          "\n"
          "bwrap shows files such as /etc/passwd that are not the host's own. wrap stores their texts by "
          "SHA-256, readable for you alone, in texts/ of Cloche's state directory "
          "($XDG_STATE_HOME/cloche, or ~/.local/state/cloche).\n"
          "\n"
          "Exit codes: 0 printed; 126 refused by a gate; 125 Cloche itself failed; 2 bad usage.",
      .examples = {"cloche wrap --backend bwrap -- make test",
                   "cloche wrap --backend bwrap --executor tools/notes/manifest.json -- python3 tool.py",
                   "cloche wrap --backend oci --bundle ./box -- make test && runc run -b ./box box1",
                   "cloche wrap --backend seatbelt --profile readonly -- make -n"}};
}

}  // namespace cloche
