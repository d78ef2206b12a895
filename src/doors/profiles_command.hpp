// The door `cloche profiles`: the sandbox profiles listed, shown, and their examples run.
#pragma once

#include <span>
#include <string>

#include "base/sys/environment.hpp"
#include "policy/authority/profiles.hpp"

namespace cloche {

std::string profiles_table(const Profiles& profiles);
std::string profile_text(const SandboxProfile& profile);
std::string profile_json(const SandboxProfile& profile);

int profiles_door(std::span<char* const> words, const Environment& environment);

}  // namespace cloche
