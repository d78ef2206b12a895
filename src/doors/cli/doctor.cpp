#include "doors/cli/doctor.hpp"

#include <iterator>
#include <string>

#include "base/json/json_writer.hpp"
#include "base/lists.hpp"
#include "doors/changes/stored_sets_text.hpp"
#include "doors/cli/help_pages.hpp"
#include "doors/cli/options.hpp"
#include "doors/cli/print.hpp"
#include "doors/commands.hpp"
#include "gateway/launch/pool_counts.hpp"

namespace cloche {
namespace {

constexpr IsolationLevel all_levels[] = {IsolationLevel::permissive, IsolationLevel::subprocess,
                                         IsolationLevel::namespaces, IsolationLevel::container,
                                         IsolationLevel::gvisor,     IsolationLevel::microvm};

struct LevelHealth {
  bool available = false;
  std::string why = {};  // which backends work, or why none does
  std::string fix = {};
};

LevelHealth health_of(const Diagnosis& diagnosis, IsolationLevel level) {
  LevelHealth health;
  if (level == IsolationLevel::permissive)
    return {false, "only for functions of an embedding program, never for a command", {}};
  if (backends_of(level).empty()) return {false, "not part of this build", {}};
  for (const auto& [backend, offer] : diagnosis.backends) {
    if (level_of(backend) != level) continue;
    if (offer.works) {
      health.why += (health.available ? ", " : "") + std::string(name_of(backend));
      health.available = true;
      health.fix.clear();
    } else if (!health.available && health.fix.empty()) {
      health.fix = offer.fix;
    }
  }
  if (health.available) return health;
  for (const auto& [backend, offer] : diagnosis.backends) {
    // Often all of a level fail for one reason.
    if (level_of(backend) != level || health.why.find(offer.why) != std::string::npos) continue;
    health.why += (health.why.empty() ? "" : "; ") + offer.why;
  }
  return health;
}

// The backends of this level that do not work, each with the reason and the fix.
std::string others_as_text(const Diagnosis& diagnosis, IsolationLevel level) {
  std::string text;
  for (const auto& [backend, offer] : diagnosis.backends) {
    if (level_of(backend) != level || offer.works) continue;
    text += "; " + named_reason(backend, offer);
    if (!offer.fix.empty()) text += ": " + offer.fix;
  }
  return on_one_line(text);
}

// The operator's configuration or switches refuse every command, whatever the host can do.
bool is_refused(const Diagnosis& diagnosis) {
  return !diagnosis.in_force || !diagnosis.misconfiguration.empty();
}

std::string levels_as_text(const Diagnosis& diagnosis) {
  std::string text = "Isolation levels:\n";
  for (IsolationLevel level : all_levels) {
    const LevelHealth health = health_of(diagnosis, level);
    std::string line = padded("  level    " + std::string(name_of(level)), 30);
    line += (health.available ? "works: " : "not here: ") + on_one_line(health.why);
    if (health.available) line += others_as_text(diagnosis, level);
    if (!health.available && !health.fix.empty()) line += "; " + on_one_line(health.fix);
    text += line + "\n";
  }
  text += "  a command gets              " +
          (is_refused(diagnosis) ? "nothing: it is refused" : std::string(name_of(*diagnosis.in_force))) +
          "\n";
  return text;
}

// Where the default does not work: the strongest level that does, and the flag for it.
std::string strongest_level_here(const Diagnosis& diagnosis) {
  for (auto level = std::rbegin(all_levels); level != std::rend(all_levels); ++level) {
    if (health_of(diagnosis, *level).available)
      return "The strongest level that works here: cloche run --isolation " + std::string(name_of(*level)) +
             "\n";
  }
  return {};
}

std::string layer_as_text(const LayerHealth& layer) {
  std::string line =
      padded((layer.enforced ? "  holds    " : "  MISSING  ") + std::string(name_of(layer.id)), 30);
  line += (layer.enforced ? layer.by : layer.fix) + "\n";
  if (layer.enforced) line += std::string(30, ' ') + "proven by: " + layer.proof + "\n";
  return line;
}

std::string layers_as_text(const Diagnosis& diagnosis) {
  std::string text = "Layers of the default isolation level:\n";
  std::string untried;
  for (const auto& layer : diagnosis.layers) {
    if (layer.tried) {
      text += layer_as_text(layer);
    } else {
      untried += " " + std::string(name_of(layer.id));
    }
  }
  if (!untried.empty()) text += "  not tried, because another layer is missing:" + untried + "\n";
  return text;
}

// The first of the faults that refuse all calls or those of one profile.
std::string first_fault(const Diagnosis& diagnosis) {
  if (!diagnosis.misconfiguration.empty() || diagnosis.profile_faults.empty())
    return diagnosis.misconfiguration;
  return diagnosis.profile_faults.front().why;
}

std::string faults_as_text(const Diagnosis& diagnosis) {
  std::string text;
  if (!diagnosis.misconfiguration.empty())
    text += "  MISCONFIGURED: every call is refused: " + on_one_line(diagnosis.misconfiguration) + "\n";
  for (const auto& [name, why] : diagnosis.profile_faults)
    text +=
        "  MISCONFIGURED: every call under the profile " + name + " is refused: " + on_one_line(why) + "\n";
  return text;
}

// ---- What a person wants to know first

struct Promise {
  std::string_view name;
  std::string_view text;  // what holds
  std::vector<LayerId> layers;
};
const std::vector<Promise>& promises() {
  static const std::vector<Promise> all = {
      {"files",
       "the system is read-only, and a command writes in its workspace alone",
       {LayerId::user_ids, LayerId::mount_view, LayerId::landlock, LayerId::no_new_privileges,
        LayerId::no_capabilities}},
      {"network",
       "a command reaches no host but those that you name",
       {LayerId::net_namespace, LayerId::syscall_filter, LayerId::landlock_scope}},
      {"secrets",
       "your home, keys, processes and environment are not there for a command",
       {LayerId::pid_namespace, LayerId::ipc_namespace, LayerId::uts_namespace, LayerId::cgroup_namespace,
        LayerId::session_keyring}},
      {"limits",
       "memory, processes, time, open files and disk are limited for all that a call starts",
       {LayerId::memory_limit, LayerId::process_limit}}};
  return all;
}

// What is wrong without the layer.
std::string_view without(LayerId layer) {
  switch (layer) {
    case LayerId::user_ids: return "a command would have your own user id";
    case LayerId::mount_view: return "a command would see every file of the host";
    case LayerId::pid_namespace: return "a command would see the processes of the host";
    case LayerId::net_namespace: return "a command would have the network of the host";
    case LayerId::ipc_namespace: return "a command would share memory and queues with the host";
    case LayerId::uts_namespace: return "a command would have the name of the host";
    case LayerId::cgroup_namespace: return "a command would see the groups of processes of the host";
    case LayerId::syscall_filter: return "a command could make every system call";
    case LayerId::landlock: return "the kernel would not check the files of a command a second time";
    case LayerId::no_new_privileges: return "a set-id program would give a command more rights";
    case LayerId::no_capabilities: return "a command would have rights of an administrator";
    case LayerId::session_keyring: return "a command would share the kernel's keyring with you";
    case LayerId::memory_limit: return "nothing would limit the memory of a call";
    case LayerId::process_limit: return "nothing would limit the processes of a call";
    case LayerId::landlock_scope: return "signals and sockets would be held in by the namespaces alone";
    case LayerId::change_set: return "what a command writes would not be judged first";
  }
  return "";
}

const LayerHealth* missing_layer(const Diagnosis& diagnosis) {
  for (const auto& layer : diagnosis.layers)
    if (layer.tried && !layer.enforced) return &layer;
  return nullptr;
}

struct Standing {
  std::string_view state;
  std::string text;
};
Standing standing_of(const Promise& promise, const Diagnosis& diagnosis) {
  if (diagnosis.in_force == Backend::none)
    return {"missing", "isolation is switched off; switch it on: unset CLOCHE_SANDBOX"};
  const LayerHealth* missing = missing_layer(diagnosis);
  if (missing != nullptr && contains(promise.layers, missing->id))
    return {"missing", std::string(without(missing->id)) +
                           (missing->fix.empty() ? ": " + diagnosis.problem : "; " + missing->fix)};
  if (!diagnosis.active) return {"unknown", "not tried: something else is missing"};
  if (!contains(promise.layers, LayerId::memory_limit) || !diagnosis.overshoot_bytes)
    return {"holds", std::string(promise.text)};
  return {"holds", std::string(promise.text) + "; memory is watched, and was exceeded for a moment by " +
                       std::to_string(*diagnosis.overshoot_bytes >> 20) +
                       " MiB at worst; to limit it exactly, with cgroup version 2: systemd-run --user "
                       "--scope -p Delegate=yes "
                       "cloche ..."};
}

std::string as_json(const Diagnosis& diagnosis) {
  JsonWriter out(JsonWriter::Layout::indented);
  const bool active = diagnosis.active && !is_refused(diagnosis) && diagnosis.in_force != Backend::none;
  out.begin_object().member("active", active).member("bwrap_available", !diagnosis.bwrap.empty());
  diagnosis.bwrap.empty() ? out.key("bwrap_path").null() : out.member("bwrap_path", diagnosis.bwrap);
  out.member("disabled_via_env", diagnosis.disabled_via_env);
  out.key("layers").begin_array();
  for (const auto& layer : diagnosis.layers) {
    out.begin_object()
        .member("name", name_of(layer.id))
        .member("enforced", layer.enforced)
        .member("by", layer.by);
    out.member("proof", layer.proof).member("fix", layer.fix).end_object();
  }
  out.end_array().key("rungs").begin_object();
  for (IsolationLevel level : all_levels) {
    const auto [available, why, fix] = health_of(diagnosis, level);
    out.key(name_of(level))
        .begin_object()
        .member("available", available)
        .member("why", why)
        .member("fix", fix);
    out.key("backends").begin_object();
    for (const auto& [backend, offer] : diagnosis.backends) {
      if (level_of(backend) != level) continue;
      out.key(name_of(backend)).begin_object().member("works", offer.works).member("why", offer.why);
      out.member("fix", offer.fix).end_object();
    }
    out.end_object().end_object();
  }
  out.end_object().member("proof", diagnosis.proof).member("problem", diagnosis.problem);
  out.member("misconfiguration", first_fault(diagnosis)).key("profile_faults").begin_array();
  for (const auto& [name, why] : diagnosis.profile_faults)
    out.begin_object().member("name", name).member("why", why).end_object();
  out.end_array();
  diagnosis.in_force ? out.member("in_force", name_of(*diagnosis.in_force)) : out.key("in_force").null();
  out.member("notes", diagnosis.notes).member("pools", diagnosis.pools);
  diagnosis.overshoot_bytes ? out.member("memory_overshoot_bytes", *diagnosis.overshoot_bytes)
                            : out.key("memory_overshoot_bytes").null();
  return out.end_object().text() + "\n";
}

std::string conclusion(const Diagnosis& diagnosis, DoctorDetail detail) {
  if (diagnosis.in_force == Backend::none)
    return "ISOLATION IS OFF by the operator's own switch: NOTHING CONFINES A COMMAND.\n";
  if (!diagnosis.active && diagnosis.in_force)
    return "The default does not work on this host (" + diagnosis.problem +
           "); the configuration gives a command " + std::string(name_of(*diagnosis.in_force)) +
           " instead.\n";
  if (!diagnosis.active)
    return "The default is refused on this host: " + diagnosis.problem + "\n" +
           strongest_level_here(diagnosis);
  const std::string proof =
      detail == DoctorDetail::all ? " (proof " + diagnosis.proof + ").\n" : std::string(".\n");
  const std::string although = ", although this host has everything that the default needs" + proof;
  if (is_refused(diagnosis)) return "Every call is refused" + although;
  if (!diagnosis.profile_faults.empty()) return "Some calls are refused (see MISCONFIGURED above)" + although;
  return "Everything that the default needs holds on this host" + proof;
}

struct DoctorArguments {
  bool verbose = false;
  bool json = false;
  bool help = false;
};
constexpr Option<DoctorArguments> options[] = {
    {"-v, --verbose", "",
     "Show each layer with its mechanism and the checks that proved it, and every isolation level.",
     raise<&DoctorArguments::verbose>},
    {"--json", "", "Print one JSON object on stdout.", raise<&DoctorArguments::json>},
    help_option<DoctorArguments>};

}  // namespace

HelpPage doctor_help() {
  return {.usage = "cloche doctor [-v] [--json]",
          .about =
              "Runs the self-proof on this host. Says first whether files, network, secrets and limits hold, "
              "or what is missing and the command that would mend it; then what in the configuration "
              "refuses calls, and what waits for you. With -v each layer of the default isolation level "
              "too, with the mechanism that enforces it and the checks that proved it, or what would "
              "provide it, and every isolation level, with the backends that work here. Exit code 0 when "
              "every layer that the default needs holds and no configuration refuses calls, 1 otherwise.",
          .rows = rows_of<DoctorArguments>(options),
          .examples = {"cloche doctor", "cloche doctor -v", "cloche doctor --json | python3 -m json.tool"}};
}

std::string doctor_text(const Diagnosis& diagnosis, DoctorDetail detail, const Screen& screen) {
  constexpr size_t states_at = 9;
  constexpr size_t texts_at = 18;
  constexpr size_t layers_at = 30;
  std::string text;
  for (const Promise& promise : promises()) {
    const Standing now = standing_of(promise, diagnosis);
    const std::string line = padded(promise.name, states_at) +
                             painted_state(screen.colour, now.state, now.state) +
                             std::string(states_at - now.state.size(), ' ') + on_one_line(now.text);
    text += fitted(line, texts_at, screen) + "\n";
  }
  if (detail == DoctorDetail::all) {
    std::string rest = "\n" + layers_as_text(diagnosis);
    if (diagnosis.overshoot_bytes) {
      rest += "  NOTE     the memory limit is enforced by watching: the worst overshoot of three tries was " +
              std::to_string(*diagnosis.overshoot_bytes >> 20) +
              " MiB; with a delegated cgroup the limit is exact\n";
    }
    for (const auto& pool : diagnosis.pools) rest += "  POOL     " + on_one_line(pool) + "\n";
    text += fitted(rest + levels_as_text(diagnosis), layers_at, screen);
  }
  std::string notes;
  for (const auto& note : diagnosis.notes) notes += "  NOTE     " + on_one_line(note) + "\n";
  notes += faults_as_text(diagnosis);
  text += fitted(notes, 11, screen) + fitted(conclusion(diagnosis, detail), 4, screen);
  if (detail == DoctorDetail::promises)
    text +=
        fitted("cloche doctor -v shows each layer, what proved it, and every isolation level.\n", 4, screen);
  return text;
}

int doctor_command(std::span<char* const> words, const Environment& environment) {
  DoctorArguments arguments;
  const auto others = read_options(arguments, words, options, OptionsEnd::dashes, "see cloche doctor --help");
  if (others.ok() && arguments.help) return print_all(text_of(doctor_help()), 0);
  if (!others.ok() || !others.value().empty()) {
    return report(others.ok() ? usage_error("unexpected argument " + std::string(others.value()[0]),
                                            "see cloche doctor --help")
                              : others.error());
  }
  const auto installation = find_installation(environment);
  if (!installation.ok()) return report(installation.error());
  Diagnosis diagnosis = diagnose(environment, installation.value());
  for (const std::string& set : staged_sets(installation.value().state))
    diagnosis.notes.push_back("waits for your answer: " + set + "; see cloche changes --all");
  diagnosis.pools = describe_pools(installation.value().state);
  const DoctorDetail detail = arguments.verbose ? DoctorDetail::all : DoctorDetail::promises;
  print(arguments.json ? as_json(diagnosis) : doctor_text(diagnosis, detail, screen_of_output(environment)));
  return diagnosis.active && !is_refused(diagnosis) && diagnosis.profile_faults.empty() ? 0 : 1;
}

}  // namespace cloche
