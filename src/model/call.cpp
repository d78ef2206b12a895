#include "model/call.hpp"

namespace cloche {

std::string_view name_of(CommandProfile profile) {
  switch (profile) {
    case CommandProfile::passive: return "passive";
    case CommandProfile::full: return "full";
    case CommandProfile::any: return "any";
  }
  return "passive";
}

std::optional<CommandProfile> command_profile(std::string_view name) {
  for (auto profile : {CommandProfile::passive, CommandProfile::full, CommandProfile::any}) {
    if (name == name_of(profile)) return profile;
  }
  return {};
}

std::string_view name_of(Autonomy level) {
  switch (level) {
    case Autonomy::readonly: return "readonly";
    case Autonomy::supervised: return "supervised";
    case Autonomy::full: return "full";
  }
  return "readonly";
}

std::optional<Autonomy> autonomy(std::string_view name) {
  for (auto level : {Autonomy::readonly, Autonomy::supervised, Autonomy::full}) {
    if (name == name_of(level)) return level;
  }
  return {};
}

}  // namespace cloche
