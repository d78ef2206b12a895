// A function of the embedding program that a model can call: the rung `permissive`, in the same process and
// therefore only for code that the embedding program itself is, and that touches nothing but its arguments.
// It is in the loadout, judged by every gate and recorded like any other tool; only a box it has none.
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

void understand_function(const std::string& name, const std::string& arguments, Intent& intent);

}  // namespace cloche
