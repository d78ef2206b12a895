#include "harness/npm.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>

namespace cloche::test {

std::map<std::string, std::string> npm_surroundings() {
  std::map<std::string, std::string> kept;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('='));
    std::string lower = name;
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (name == "PATH" || name == "HOME" || lower.starts_with("npm_config") || lower.ends_with("_proxy") ||
        lower.starts_with("node_") || lower.starts_with("ssl_"))
      kept[name] = text.substr(std::min(name.size() + 1, text.size()));
  }
  return kept;
}

std::string fetch_packages(const fs::path& directory, std::vector<std::string> words) {
  for (const char* program : {"node", "npm"}) {
    const Ran ran = run({.argv = {"/usr/bin/env", program, "--version"}, .env = npm_surroundings()});
    if (ran.exit_code != 0) return std::string(program) + " is not installed";
  }
  fs::create_directories(directory);
  words.insert(words.begin(), {"/usr/bin/env", "npm"});
  words.insert(words.end(), {"--ignore-scripts", "--no-audit", "--no-fund", "--silent"});
  const Ran ran = run({.argv = std::move(words),
                       .cwd = directory,
                       .env = npm_surroundings(),
                       .deadline = std::chrono::seconds(400)});
  return ran.exit_code == 0 ? "" : "npm could not fetch the packages: " + ran.err.substr(0, 300);
}

}  // namespace cloche::test
