// `cloche --help`: the commands. The help of each is made from the table of its options
// (doors/cli/options.hpp).
#pragma once

#include <string>

namespace cloche {

std::string main_help();

}  // namespace cloche
