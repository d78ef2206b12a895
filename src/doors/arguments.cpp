#include "doors/arguments.hpp"

#include <charconv>
#include <functional>
#include <optional>
#include <string_view>

#include "policy/declared_hosts.hpp"

namespace cloche {
namespace {

using Value = const std::string&;

struct Option {
  std::string_view name;
  bool takes_value;
  Result<void> (*apply)(RunArguments& arguments, Value value);
};

Error not_built(const std::string& what, const std::string& instead) {
  return refusal(what + " is not part of this build", instead);
}

// Whether a profile of another name exists is for those to say who read the configuration.
Result<void> set_profile(RunArguments& arguments, Value value) {
  return set_profile_of(arguments.request, value);
}

Result<void> add_grant(RunArguments& arguments, Value value, bool writable) {
  arguments.request.grants.push_back(TRY(parse_grant(value, writable)));
  return {};
}

Result<void> add_variable(RunArguments& arguments, Value value) {
  const size_t equals = value.find('=');
  Pass pass{.name = value.substr(0, equals)};
  if (equals != std::string::npos) pass.value = value.substr(equals + 1);
  if (pass.name.empty()) return usage_error("-e " + value + " is not NAME or NAME=VALUE");
  arguments.request.environment.push_back(std::move(pass));
  return {};
}

Result<void> set_isolation(RunArguments& arguments, Value value) {
  arguments.isolation = TRY(rung_of_word(value));
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

template <LimitId id>
Result<void> apply_limit(RunArguments& arguments, Value value) {
  arguments.request.said_limits.push_back(id);
  return set_limit(arguments.request.limits, info_of(id), value);
}

Result<void> add_net(RunArguments& arguments, Value value) {
  return declare_host(arguments.request.hosts, value);
}

Result<void> add_net_any(RunArguments& arguments, Value) { return declare_any_host(arguments.request.hosts); }

Result<void> set_net_host(RunArguments& arguments, Value) {
  arguments.request.network = Network::of_host;
  return {};
}

Result<void> note_place(RunArguments& arguments, Value) {
  ++arguments.places;
  return {};
}

template <auto member>
Result<void> keep(RunArguments& arguments, Value value) {
  if (value.empty()) return usage_error("a flag has an empty value");
  arguments.*member = std::string(value);
  return {};
}

const Option options[] = {
    {"--help", false,
     [](RunArguments& a, Value) -> Result<void> {
       a.help = true;
       return {};
     }},
    {"-h", false,
     [](RunArguments& a, Value) -> Result<void> {
       a.help = true;
       return {};
     }},
    {"--json", false,
     [](RunArguments& a, Value) -> Result<void> {
       a.json = true;
       return {};
     }},
    {"--dry-run", false,
     [](RunArguments& a, Value) -> Result<void> {
       a.dry_run = true;
       return {};
     }},
    {"--raw", false,
     [](RunArguments& a, Value) -> Result<void> {
       a.raw = true;
       return {};
     }},
    {"--profile", true, set_profile},
    {"--workspace", true,
     [](RunArguments& a, Value v) -> Result<void> {
       a.request.workspace = v;
       return {};
     }},
    {"-C", true,
     [](RunArguments& a, Value v) -> Result<void> {
       a.request.directory = v;
       return {};
     }},
    {"--ro", true, [](RunArguments& a, Value v) { return add_grant(a, v, false); }},
    {"--rw", true, [](RunArguments& a, Value v) { return add_grant(a, v, true); }},
    {"-e", true, add_variable},
    {"--env", true, add_variable},
    {"--toolchains", true,
     [](RunArguments& a, Value v) -> Result<void> {
       a.request.toolchains = v;
       return {};
     }},
    {"--allow-protected", true,
     [](RunArguments& a, Value v) -> Result<void> {
       if (v.empty()) return usage_error("--allow-protected needs a path");
       a.request.allow_protected.emplace_back(v);
       return {};
     }},
    {"--view", true, set_view},
    {"--grant", true, set_grant},
    {"--isolation", true, set_isolation},
    {"--backend", true, set_backend},
    {"--status-fd", true, set_status_fd},
    {"--timeout", true, apply_limit<LimitId::wall>},
    {"--cpu", true, apply_limit<LimitId::cpu>},
    {"--memory", true, apply_limit<LimitId::memory>},
    {"--pids", true, apply_limit<LimitId::processes>},
    {"--nofile", true, apply_limit<LimitId::open_files>},
    {"--fsize", true, apply_limit<LimitId::file_size>},
    {"--disk", true, apply_limit<LimitId::disk>},
    {"--files", true, apply_limit<LimitId::new_files>},
    {"--tmp", true, apply_limit<LimitId::tmp>},
    {"--output", true, apply_limit<LimitId::output>},
    {"--net", true, add_net},
    {"--net-any", false, add_net_any},
    {"--net-host", false, set_net_host},
    {"--net-connections", true, apply_limit<LimitId::net_connections>},
    {"--net-bytes", true, apply_limit<LimitId::net_bytes>},
    {"--net-idle", true, apply_limit<LimitId::net_idle>},
    {"--net-time", true, apply_limit<LimitId::net_time>},
    {"--skill", true, keep<&RunArguments::skill>},
    {"--run", true, keep<&RunArguments::run>},
    {"--task", true, keep<&RunArguments::task>},
    {"--call", true, keep<&RunArguments::call>},
    {"--home", true, note_place},
    {"--config-home", true, note_place},
    {"--state-home", true, note_place},
    {"--uid-range", true, note_place},
};

const Option* find_option(std::string_view name) {
  for (const auto& option : options) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

}  // namespace

Result<Rung> rung_of_word(const std::string& word) {
  if (const auto rung = rung_named(word)) return *rung;
  return usage_error("--isolation " + word + ": no such rung",
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
  // A seatbelt profile is refused with the name of the nearest, by those who can read it.
  if (!is_profile_name(name) && !name.ends_with(".sb"))
    return usage_error("--profile " + name + " is not the name of a profile", "see cloche profiles list");
  request.profile_name = name;
  request.profile = shipped_profile(name).value_or(Profile::readonly);
  return {};
}

namespace {

// What --isolation and --backend come to together.
Result<void> settle_rung(RunArguments& arguments) {
  RunRequest& request = arguments.request;
  std::optional<Rung> of_backend;
  if (request.backend) of_backend = rung_of(*request.backend);
  if (arguments.oci) of_backend = Rung::container;
  request.rung = arguments.isolation.value_or(of_backend.value_or(Rung::namespaces));
  if (arguments.isolation || of_backend) request.isolation = request.rung;
  const std::string name(name_of(request.rung));
  if (of_backend && *of_backend != request.rung)
    return usage_error("this backend is on the rung " + std::string(name_of(*of_backend)) + ", not on " +
                       name);
  if (request.rung == Rung::permissive) {
    return refusal("the rung permissive is for functions of the embedding program and never runs a program",
                   "use --isolation subprocess or higher");
  }
  if (backends_of(request.rung).empty())
    return not_built("the rung " + name, "use --isolation gvisor or lower");
  return {};
}

}  // namespace

Result<RunArguments> parse_run(std::span<char* const> words, std::string_view command) {
  RunArguments arguments;
  size_t at = 0;
  while (at < words.size()) {
    const std::string word = words[at];
    if (word == "--") {
      ++at;
      break;
    }
    if (word.size() < 2 || word[0] != '-') break;  // the command begins
    const bool is_long = word.starts_with("--");
    const size_t equals = is_long ? word.find('=') : std::string::npos;
    const std::string name = word.substr(0, equals);
    const Option* option = find_option(name);
    if (option == nullptr)
      return usage_error("unknown flag " + name,
                         "see " + std::string(command) + " --help, and put -- before the command");
    std::optional<std::string> value;
    if (equals != std::string::npos) value = word.substr(equals + 1);
    if (!option->takes_value && value) return usage_error(name + " takes no value");
    if (option->takes_value && !value) {
      if (++at == words.size())
        return usage_error(name + " needs a value", "see " + std::string(command) + " --help");
      value = words[at];
    }
    TRY(option->apply(arguments, value.value_or("")));
    ++arguments.flags;
    ++at;
  }
  if (arguments.help) return arguments;
  if (arguments.call) {
    if (at < words.size() || arguments.flags != 1 + arguments.places)
      return usage_error("--call ID stands alone: everything else was said when the hook judged it");
    return arguments;
  }
  if (arguments.places != 0)
    return usage_error("--home, --config-home, --state-home and --uid-range are for --call",
                       "set HOME, XDG_CONFIG_HOME, XDG_STATE_HOME or CLOCHE_UID_RANGE");
  TRY(settle_rung(arguments));
  // Who names a host, or wants the host's own network, wants the profile that has one, unless he or a file of
  // the configuration says otherwise.
  const bool networked = !arguments.request.hosts.empty() || arguments.request.network == Network::of_host;
  if (networked && arguments.request.profile_name.empty())
    arguments.request.profile = Profile::workspace_write;
  arguments.request.argv.assign(words.begin() + static_cast<long>(at), words.end());
  if (arguments.request.argv.empty())
    return usage_error("no command", std::string(command) + " [flags] -- CMD ARG...");
  return arguments;
}

}  // namespace cloche
