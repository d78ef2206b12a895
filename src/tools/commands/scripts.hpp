// run_python {code, timeout_s?} and run_script {code, interpreter, timeout_s?}: code of the model's own. What
// it does cannot be judged beforehand. run_python has an empty directory, small limits and nothing of the
// workspace; run_script works in the workspace, is called opaque, and needs code:exec.
#pragma once

#include "base/json/json_text.hpp"
#include "model/call.hpp"
#include "model/tool.hpp"

namespace cloche {

ToolSpec run_python_spec();
ToolSpec run_script_spec();

// Fills the intent's launch, or its problem. The arguments have been read; their schema may not have been
// checked.
void understand_python(const JsonValue& arguments, Intent& intent);
// A command of run_shell that only a shell runs, as what run_script would make of its text.
void run_as_script(Intent& intent);

void understand_script(const JsonValue& arguments, Intent& intent);

}  // namespace cloche
