// `cloche new skill|executor|rule NAME [--dir DIR]`: writes a working one with its test, and overwrites
// nothing.
#pragma once

#include <span>

namespace cloche {

int new_door(std::span<char* const> words);

}  // namespace cloche
