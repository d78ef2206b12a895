// Packages of others that tests run against, fetched with npm into the build directory.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/harness.hpp"

namespace cloche::test {

// What npm and node need of whoever runs the tests.
std::map<std::string, std::string> npm_surroundings();

// `npm WORDS` in the directory, which is made, without the packages' own scripts. Empty when it went well;
// else why not.
std::string fetch_packages(const fs::path& directory, std::vector<std::string> words);

}  // namespace cloche::test
