// Where the programs of Cloche are for a program that has loaded libcloche.so: by where that was installed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "gateway/configuration/installation.hpp"

namespace cloche {

// The file whose mapping has this address, by the text of /proc/self/maps; empty: none. Pure.
std::string file_mapped_at(std::string_view maps, uint64_t address);

// Nothing where this code is no shared library: the programs are then where `cloche` looks for them.
// `named`: where the program says that they are.
Result<ProgramPlace> place_of_programs(const std::optional<std::string>& named);

}  // namespace cloche
