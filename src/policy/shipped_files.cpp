#include "policy/shipped_files.hpp"

#include <cassert>

namespace cloche {
namespace {

#include "policy/shipped_files.inc"

}  // namespace

std::span<const ShippedFile> shipped_files() { return files; }

std::string_view shipped_text(std::string_view name) {
  for (const auto& file : files) {
    if (file.name == name) return file.text;
  }
  assert(false);
  return {};
}

}  // namespace cloche
