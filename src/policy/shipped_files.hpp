// The files of share/ that the programs read when they need one, compiled in as texts: command shapes,
// profiles with their examples, the agents' own tools. No file beside the programs is read for them.
#pragma once

#include <span>
#include <string_view>

namespace cloche {

struct ShippedFile {
  std::string_view name;  // "share/commands/full.json"
  std::string_view text;
};

std::span<const ShippedFile> shipped_files();
// Of this name, which is in the table.
std::string_view shipped_text(std::string_view name);

}  // namespace cloche
