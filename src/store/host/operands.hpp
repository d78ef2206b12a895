// Where the paths of a call lead, looked up once before the decision and for the words of the verdict. When
// the call runs, the kernel opens them, and follows nothing out of the workspace.
#pragma once

#include <string>
#include <vector>

#include "model/call.hpp"

namespace cloche {

// A tree of the host that the command sees, at its own path or at another one.
struct ShownTree {
  std::string source = {};  // on the host, resolved
  std::string target = {};  // absolute and plain
};

// One path as written, relative to `directory` (absolute and resolved). Links are followed by hand, component
// by component, so that a path whose end is missing still says where it would be. Every doubt is a problem,
// which a gate refuses: too many links, a directory that cannot be searched, the process's own view of itself
// in /proc. What lies beneath a shown tree's target is looked up in its source, and resolved in the
// command's view: a link in there leads where it would lead the command.
OperandFact observe_operand(const std::string& directory, const std::string& written,
                            const std::vector<ShownTree>& trees = {});

std::vector<OperandFact> observe_operands(const std::string& directory,
                                          const std::vector<std::string>& written,
                                          const std::vector<ShownTree>& trees = {});

}  // namespace cloche
