#include <iterator>
#include <string>

#include "base/json/json_writer.hpp"
#include "doors/changes/stored_sets_text.hpp"
#include "doors/cli/options.hpp"
#include "doors/cli/print.hpp"
#include "doors/commands.hpp"
#include "gateway/checks/diagnose.hpp"

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
  out.member("notes", diagnosis.notes);
  diagnosis.overshoot_bytes ? out.member("memory_overshoot_bytes", *diagnosis.overshoot_bytes)
                            : out.key("memory_overshoot_bytes").null();
  return out.end_object().text() + "\n";
}

std::string as_text(const Diagnosis& diagnosis) {
  std::string text = layers_as_text(diagnosis);
  if (diagnosis.overshoot_bytes) {
    text += "  NOTE     the memory limit is enforced by watching: the worst overshoot of three tries was " +
            std::to_string(*diagnosis.overshoot_bytes >> 20) +
            " MiB; with a delegated cgroup the limit is exact\n";
  }
  for (const auto& note : diagnosis.notes) text += "  NOTE     " + on_one_line(note) + "\n";
  text += faults_as_text(diagnosis);
  text += levels_as_text(diagnosis);
  if (diagnosis.in_force == Backend::none)
    return text + "ISOLATION IS OFF by the operator's own switch: NOTHING CONFINES A COMMAND.\n";
  if (!diagnosis.active && diagnosis.in_force)
    return text + "The default does not work on this host (" + diagnosis.problem +
           "); the configuration gives a command " + std::string(name_of(*diagnosis.in_force)) +
           " instead.\n";
  if (!diagnosis.active)
    return text + "The default is refused on this host: " + diagnosis.problem + "\n" +
           strongest_level_here(diagnosis);
  const std::string proof = " (proof " + diagnosis.proof + ").\n";
  const std::string although = ", although this host has everything that the default needs" + proof;
  if (is_refused(diagnosis)) return text + "Every call is refused" + although;
  if (!diagnosis.profile_faults.empty())
    return text + "Some calls are refused (see MISCONFIGURED above)" + although;
  return text + "Everything that the default needs holds on this host" + proof;
}

struct DoctorArguments {
  bool json = false;
  bool help = false;
};
constexpr Option<DoctorArguments> options[] = {
    {"--json", "", "Print one JSON object on stdout.", raise<&DoctorArguments::json>},
    help_option<DoctorArguments>};

std::string doctor_help() {
  return text_of(HelpPage{.usage = "cloche doctor [--json]",
                          .about =
                              "Runs the self-proof on this host. Shows each layer of the default isolation "
                              "level with the mechanism that enforces it and the checks that proved it, "
                              "or what would provide it; then every isolation level, with the backends "
                              "that work here. Exit code 0 when every layer that the default needs holds "
                              "and no configuration refuses calls, 1 otherwise.",
                          .rows = rows_of<DoctorArguments>(options),
                          .examples = {"cloche doctor", "cloche doctor --json | python3 -m json.tool"}});
}

}  // namespace

int doctor_command(std::span<char* const> words, const Environment& environment) {
  DoctorArguments arguments;
  const auto others = read_options(arguments, words, options, OptionsEnd::dashes, "see cloche doctor --help");
  if (others.ok() && arguments.help) return print_all(doctor_help(), 0);
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
  print(arguments.json ? as_json(diagnosis) : as_text(diagnosis));
  return diagnosis.active && !is_refused(diagnosis) && diagnosis.profile_faults.empty() ? 0 : 1;
}

}  // namespace cloche
