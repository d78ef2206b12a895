// Where the paths of a call lead, looked up once before the decision. The verdict explains with it; opening
// stays with the kernel, which follows nothing out of the workspace.
#pragma once

#include <string>
#include <vector>

#include "model/call.hpp"

namespace cloche {

// One path as written, relative to `directory` (absolute and resolved). Links are followed by hand, component
// by component, so that a path whose end is missing still says where it would be. Every doubt is a problem,
// which a gate refuses: too many links, a directory that cannot be searched, the process's own view of itself
// in /proc.
OperandFact observe_operand(const std::string& directory, const std::string& written);

std::vector<OperandFact> observe_operands(const std::string& directory,
                                          const std::vector<std::string>& written);

}  // namespace cloche
