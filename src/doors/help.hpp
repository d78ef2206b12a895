// The texts of --help, each with examples.
#pragma once

#include <string>

namespace cloche {

std::string main_help();
std::string run_help();
std::string doctor_help();

}  // namespace cloche
