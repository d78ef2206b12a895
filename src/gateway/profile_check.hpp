// Whether a profile does what its examples say, found out by running each through the same path as any
// command, in a throwaway workspace with a file notes.txt in it.
#pragma once

#include <string>
#include <vector>

#include "base/environment.hpp"
#include "base/result.hpp"
#include "gateway/run.hpp"
#include "policy/profiles.hpp"

namespace cloche {

// What an example came to; `fault` is empty when it did what was expected. Pure.
std::string fault_of(const ProfileExample& example, const Outcome& outcome);

struct ExampleAnswer {
  std::string place;  // file:line
  ProfileExample example;
  std::string fault = {};
};

// An error means that nothing could be tried.
Result<std::vector<ExampleAnswer>> check_profile(const SandboxProfile& profile,
                                                 const Environment& environment,
                                                 const Installation& installation);

}  // namespace cloche
