// For tests: a text compared whole with a file in tests/golden. After a change that is meant,
// CLOCHE_UPDATE_GOLDEN=1 writes the files anew.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace cloche {

// The compact JSON with one element a line, so that a diff shows the entry that changed.
inline std::string one_element_a_line(const std::string& json) {
  std::string out;
  size_t depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (quoted) {
      out += c;
      if (c == '\\') out += json[++i];
      if (c == '"') quoted = false;
      continue;
    }
    quoted = c == '"';
    const bool opens = c == '{' || c == '[';
    const bool closes = c == '}' || c == ']';
    const bool empty = closes && (json[i - 1] == '{' || json[i - 1] == '[');
    if (closes) --depth;
    if (closes && !empty && depth < 2) out += "\n" + std::string(2 * depth, ' ');
    out += c;
    if (opens) ++depth;
    const bool breaks = (opens && json[i + 1] != ']' && json[i + 1] != '}') || c == ',';
    if (breaks && depth <= 2) out += "\n" + std::string(2 * depth, ' ');
  }
  return out + "\n";
}

// The lines that only one of the two has.
inline std::string difference(const std::string& golden, const std::string& text) {
  const auto lines_of = [](const std::string& whole) {
    std::istringstream in(whole);
    std::set<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.insert(line);
    return lines;
  };
  const auto before = lines_of(golden);
  const auto after = lines_of(text);
  std::string shown;
  for (const auto& line : before) shown += after.contains(line) ? "" : "\n-" + line;
  for (const auto& line : after) shown += before.contains(line) ? "" : "\n+" + line;
  return shown;
}

inline void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(CLOCHE_GOLDEN_DIR) + "/" + name;
  if (std::getenv("CLOCHE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << text;
    return;
  }
  std::stringstream golden;
  golden << std::ifstream(path).rdbuf();
  EXPECT_TRUE(golden.str() == text) << path
                                    << " differs; when that is meant, CLOCHE_UPDATE_GOLDEN=1 writes it anew"
                                    << difference(golden.str(), text);
}

}  // namespace cloche
