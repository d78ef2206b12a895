// `cloche explain`: a judgement as text and as JSON.
#pragma once

#include <string>

#include "base/json/json_writer.hpp"
#include "base/result.hpp"
#include "doors/cli/screen.hpp"
#include "gateway/judge.hpp"

namespace cloche {

// Every gate a line, then the verdict, then what would run.
std::string explain_text(const Judged& judged, const Screen& screen = {});
// "gates": [...], into an object that is open.
void write_gates(JsonWriter& out, const Judgement& judgement);
// {"decision", "reason", "gates", "plan", "plan_digest"}
std::string explain_json(const Judged& judged);
// The same keys for what could not be judged at all: denied, with the error for a reason and no gate's
// answer.
std::string explain_json(const Error& error);

}  // namespace cloche
