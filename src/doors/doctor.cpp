#include <string>

#include "base/json.hpp"
#include "doors/help.hpp"
#include "doors/print.hpp"
#include "doors/run_command.hpp"
#include "gateway/diagnose.hpp"

namespace cloche {
namespace {

constexpr Rung all_rungs[] = {Rung::permissive, Rung::subprocess, Rung::namespaces,
                              Rung::container,  Rung::gvisor,     Rung::microvm};

std::string as_json(const Diagnosis& diagnosis) {
  JsonWriter out(JsonWriter::Layout::indented);
  out.begin_object().member("active", diagnosis.active).member("bwrap_available", !diagnosis.bwrap.empty());
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
    const bool built = rung == Rung::namespaces;
    out.key(name_of(rung)).begin_object().member("available", built && diagnosis.active);
    out.member("why", built ? (diagnosis.active ? "native" : diagnosis.problem) : "not part of this build")
        .end_object();
  }
  out.end_object().member("proof", diagnosis.proof).member("problem", diagnosis.problem);
  out.member("misconfiguration", diagnosis.misconfiguration);
  diagnosis.overshoot_bytes ? out.member("memory_overshoot_bytes", *diagnosis.overshoot_bytes)
                            : out.key("memory_overshoot_bytes").null();
  return out.end_object().text() + "\n";
}

std::string as_text(const Diagnosis& diagnosis) {
  std::string text;
  for (const auto& layer : diagnosis.layers) {
    std::string line = layer.enforced ? "  holds    " : "  MISSING  ";
    line += name_of(layer.id);
    line.resize(30, ' ');
    line += layer.enforced ? layer.by : layer.fix;
    text += line + "\n";
    if (layer.enforced) text += std::string(30, ' ') + "proven by: " + layer.proof + "\n";
  }
  if (diagnosis.overshoot_bytes) {
    text += "  note     memory is watched, not charged: the worst overshoot of three tries was " +
            std::to_string(*diagnosis.overshoot_bytes >> 20) +
            " MiB; a delegated cgroup would make it exact\n";
  }
  if (diagnosis.disabled_via_env) {
    text +=
        "  note     CLOCHE_SANDBOX is set to off: this build has no such switch, and commands are isolated "
        "all the same\n";
  }
  if (!diagnosis.misconfiguration.empty())
    text += "  MISCONFIGURED: every call is refused: " + on_one_line(diagnosis.misconfiguration) + "\n";
  text += "  rungs    namespace (native)" +
          std::string(diagnosis.active ? " is here" : " is NOT usable here") +
          "; permissive, subprocess, container, gvisor and microvm are not part of this build\n";
  text += diagnosis.active
              ? "Everything that the default needs holds on this host (proof " + diagnosis.proof + ").\n"
              : "Commands are refused on this host: " + diagnosis.problem + "\n";
  return text;
}

}  // namespace

int doctor_door(std::span<char* const> words, const Environment& environment,
                const ConfigurationCheck& check) {
  bool json = false;
  for (const std::string word : words) {
    if (word == "--json") {
      json = true;
    } else if (word == "--help" || word == "-h") {
      print(doctor_help());
      return 0;
    } else {
      complain("unknown argument " + word + "; see cloche doctor --help");
      return 2;
    }
  }
  auto installation = find_installation(environment);
  if (!installation.ok()) {
    complain(describe(installation.error()));
    return 125;
  }
  Diagnosis diagnosis = diagnose(environment, installation.value());
  if (check) diagnosis.misconfiguration = check(installation.value());
  print(json ? as_json(diagnosis) : as_text(diagnosis));
  return diagnosis.active && diagnosis.misconfiguration.empty() ? 0 : 1;
}

}  // namespace cloche
