// A function of the embedding program that a model can call, at the isolation level `permissive`: it runs in
// the same process, so only for code of the embedding program that touches nothing but its arguments. It is
// in the loadout, judged by every gate and recorded like any other tool, but has no sandbox.
#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"
#include "model/call.hpp"
#include "model/tool.hpp"

namespace cloche {

struct Function {
  ToolSpec spec;
  // From the arguments' JSON, valid by the input schema, to JSON by the output schema. From any thread; it
  // may throw.
  std::function<Result<std::string>(const std::string& arguments)> run;
};

}  // namespace cloche
