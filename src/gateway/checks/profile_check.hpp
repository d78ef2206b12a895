// Whether a profile can be had here, and does what its examples say, found out by running each through the
// same path as any command, in a scratch workspace with a file notes.txt in it.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/sys/environment.hpp"
#include "gateway/configuration/installation.hpp"
#include "model/outcome.hpp"
#include "policy/authority/profiles.hpp"
#include "store/config/settings.hpp"

namespace cloche {

// What an example came to; `fault` is empty when it did what was expected. Pure.
std::string fault_of(const ProfileExample& example, const Outcome& outcome);

struct ExampleAnswer {
  std::string place;  // file:line
  ProfileExample example;
  std::string fault = {};
};

// Whether a command could have this profile here, by the plan that it would get; nothing runs. An error is
// what every command under it would be refused with.
Result<void> plan_under(const SandboxProfile& profile, const Settings& settings,
                        const Environment& environment, const Installation& installation);

// An error means that nothing could be tried.
Result<std::vector<ExampleAnswer>> check_profile(const SandboxProfile& profile, const Settings& settings,
                                                 const Environment& environment,
                                                 const Installation& installation);

}  // namespace cloche
