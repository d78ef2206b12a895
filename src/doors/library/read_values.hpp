// The values of the library as JSON, which the C interface takes. Pure.
#pragma once

#include <cloche/approver.h>
#include <cloche/values.h>

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cloche {

Result<v1::Options> read_options(std::string_view json);
Result<v1::Call> read_call(std::string_view json);

// {"error": {"kind", "message", "fix"}}
std::string error_json(const v1::Error& error);
// {"digest", "text", "afterwards"}
std::string question_json(const v1::Question& question);

}  // namespace cloche
