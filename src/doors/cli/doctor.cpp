#include <iterator>
#include <string>

#include "base/json/json_writer.hpp"
#include "doors/cli/options.hpp"
#include "doors/cli/run_command.hpp"
#include "doors/print.hpp"
#include "gateway/checks/diagnose.hpp"

namespace cloche {
namespace {

constexpr Rung all_rungs[] = {Rung::permissive, Rung::subprocess, Rung::namespaces,
                              Rung::container,  Rung::gvisor,     Rung::microvm};

struct RungHealth {
  bool available = false;
  std::string why = {};  // which backends work, or why none does
  std::string fix = {};
};

RungHealth health_of(const Diagnosis& diagnosis, Rung rung) {
  RungHealth health;
  if (rung == Rung::permissive)
    return {false, "only for functions of an embedding program, never for a command", {}};
  if (backends_of(rung).empty()) return {false, "not part of this build", {}};
  for (const auto& [backend, offer] : diagnosis.backends) {
    if (rung_of(backend) != rung) continue;
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
    // Often all of a rung fail for one reason.
    if (rung_of(backend) != rung || health.why.find(offer.why) != std::string::npos) continue;
    health.why += (health.why.empty() ? "" : "; ") + offer.why;
  }
  return health;
}

// Beside those that work, for whoever would like to have them: why, and what gives them.
std::string others_as_text(const Diagnosis& diagnosis, Rung rung) {
  std::string text;
  for (const auto& [backend, offer] : diagnosis.backends) {
    if (rung_of(backend) != rung || offer.works) continue;
    text += "; " + named_reason(backend, offer);
    if (!offer.fix.empty()) text += ": " + offer.fix;
  }
  return on_one_line(text);
}

// Whatever the host can do: what the operator has configured or switched asks for something else.
bool is_refused(const Diagnosis& diagnosis) {
  return !diagnosis.in_force || !diagnosis.misconfiguration.empty();
}

std::string rungs_as_text(const Diagnosis& diagnosis) {
  std::string text;
  for (Rung rung : all_rungs) {
    const RungHealth health = health_of(diagnosis, rung);
    std::string line = "  rung     " + std::string(name_of(rung));
    line.resize(30, ' ');
    line += (health.available ? "works: " : "not here: ") + on_one_line(health.why);
    if (health.available) line += others_as_text(diagnosis, rung);
    if (!health.available && !health.fix.empty()) line += "; " + on_one_line(health.fix);
    text += line + "\n";
  }
  text += "  a command gets              " +
          (is_refused(diagnosis) ? "nothing: it is refused" : std::string(name_of(*diagnosis.in_force))) +
          "\n";
  return text;
}

// For whoever cannot have the default: the strongest rung that he can have, in the words that ask for it.
std::string way_out(const Diagnosis& diagnosis) {
  for (auto rung = std::rbegin(all_rungs); rung != std::rend(all_rungs); ++rung) {
    if (health_of(diagnosis, *rung).available)
      return "What works here, by your choice: cloche run --isolation " + std::string(name_of(*rung)) + "\n";
  }
  return {};
}

std::string layer_as_text(const LayerHealth& layer) {
  std::string line = layer.enforced ? "  holds    " : "  MISSING  ";
  line += name_of(layer.id);
  line.resize(30, ' ');
  line += (layer.enforced ? layer.by : layer.fix) + "\n";
  if (layer.enforced) line += std::string(30, ' ') + "proven by: " + layer.proof + "\n";
  return line;
}

std::string layers_as_text(const Diagnosis& diagnosis) {
  std::string text;
  std::string untried;
  for (const auto& layer : diagnosis.layers) {
    if (layer.tried) {
      text += layer_as_text(layer);
    } else {
      untried += " " + std::string(name_of(layer.id));
    }
  }
  if (!untried.empty()) text += "  not tried, because that one is missing:" + untried + "\n";
  return text;
}

// Whether all calls are refused or those of one profile: for whoever asks only whether something is wrong.
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
  for (Rung rung : all_rungs) {
    const auto [available, why, fix] = health_of(diagnosis, rung);
    out.key(name_of(rung))
        .begin_object()
        .member("available", available)
        .member("why", why)
        .member("fix", fix);
    out.key("backends").begin_object();
    for (const auto& [backend, offer] : diagnosis.backends) {
      if (rung_of(backend) != rung) continue;
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
  out.key("notes").begin_array();
  for (const auto& note : diagnosis.notes) out.value(note);
  out.end_array();
  diagnosis.overshoot_bytes ? out.member("memory_overshoot_bytes", *diagnosis.overshoot_bytes)
                            : out.key("memory_overshoot_bytes").null();
  return out.end_object().text() + "\n";
}

std::string as_text(const Diagnosis& diagnosis) {
  std::string text = layers_as_text(diagnosis);
  if (diagnosis.overshoot_bytes) {
    text += "  note     memory is watched, not charged: the worst overshoot of three tries was " +
            std::to_string(*diagnosis.overshoot_bytes >> 20) +
            " MiB; a delegated cgroup would make it exact\n";
  }
  for (const auto& note : diagnosis.notes) text += "  NOTE     " + on_one_line(note) + "\n";
  text += faults_as_text(diagnosis);
  text += rungs_as_text(diagnosis);
  if (diagnosis.in_force == Backend::none)
    return text + "ISOLATION IS OFF by the operator's own switch: NOTHING HOLDS.\n";
  if (!diagnosis.active && diagnosis.in_force)
    return text + "The default does not work on this host (" + diagnosis.problem +
           "); by the operator's own word a command gets " + std::string(name_of(*diagnosis.in_force)) +
           " instead.\n";
  if (!diagnosis.active)
    return text + "The default is refused on this host: " + diagnosis.problem + "\n" + way_out(diagnosis);
  const std::string holds =
      "verything that the default needs holds on this host (proof " + diagnosis.proof + ")";
  if (is_refused(diagnosis)) return text + "Every call is refused, although e" + holds + ".\n";
  if (!diagnosis.profile_faults.empty())
    return text + "Some calls are refused (see MISCONFIGURED above), although e" + holds + ".\n";
  return text + "E" + holds + ".\n";
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
                          .about = "Runs the self-proof on this host and shows each layer: what keeps it, "
                                   "what proved it, and what would provide it where it is missing. Exit code "
                                   "0 when every layer that the default needs holds, 1 otherwise.",
                          .rows = rows_of(OptionTables<DoctorArguments>{{options}}),
                          .examples = {"cloche doctor", "cloche doctor --json | python3 -m json.tool"}});
}

}  // namespace

int doctor_door(std::span<char* const> words, const Environment& environment) {
  DoctorArguments arguments;
  const auto others = read_options(arguments, words, OptionTables<DoctorArguments>{{options}},
                                   OptionsEnd::dashes, "see cloche doctor --help");
  if (others.ok() && arguments.help) return print_all(doctor_help(), 0);
  if (!others.ok() || !others.value().empty()) {
    complain(others.ok() ? "unknown argument " + std::string(others.value()[0]) + "; see cloche doctor --help"
                         : describe(others.error()));
    return 2;
  }
  auto installation = find_installation(environment);
  if (!installation.ok()) {
    complain(describe(installation.error()));
    return 125;
  }
  const Diagnosis diagnosis = diagnose(environment, installation.value());
  print(arguments.json ? as_json(diagnosis) : as_text(diagnosis));
  return diagnosis.active && !is_refused(diagnosis) && diagnosis.profile_faults.empty() ? 0 : 1;
}

}  // namespace cloche
