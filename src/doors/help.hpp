// The texts of --help, each with examples.
#pragma once

#include <string>

namespace cloche {

std::string main_help();
std::string run_help();
std::string doctor_help();
std::string explain_help();
std::string test_help();
std::string new_help();
std::string log_help();
std::string profiles_help();
std::string config_help();
std::string wrap_help();
std::string mcp_help();
std::string approve_help();
std::string hook_help();

}  // namespace cloche
