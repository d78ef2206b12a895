// Records as text for a person, and lists of them as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doors/cli/screen.hpp"
#include "store/record/run_log.hpp"
#include "store/record/verify_run.hpp"

namespace cloche {

std::string list_table(const std::vector<RunSummary>& runs, const Screen& screen = {});
std::string list_json(const std::vector<RunSummary>& runs);
// A line for each call, and one for each gate that did not allow it.
std::string log_table(const Log& log, const Screen& screen = {});
std::string log_line(const LoggedCall& call, const Screen& screen = {});
// Everything that the line of a call says, with its result.
std::string call_text(const JsonValue& line, std::string_view result, const Screen& screen = {});
std::string denials_table(const std::vector<LoggedDenial>& denials, const Screen& screen = {});
std::string denials_json(const std::vector<LoggedDenial>& denials);
std::string verification_text(const Verification& verification);

}  // namespace cloche
