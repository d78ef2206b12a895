// Numbers in sentences for a person.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cloche {

std::string count_text(uint64_t count);                             // "1,234"
std::string count_text(uint64_t count, std::string_view singular);  // "1 file", "1,234 files"
std::string size_text(uint64_t bytes);                              // "345 B", "1.2 KiB"

}  // namespace cloche
