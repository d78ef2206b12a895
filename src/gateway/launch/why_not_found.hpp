// Why a program was not found inside: it is on no PATH there, not in the view, or there without what would
// interpret it. Looks at the host, and at nothing that the command has made.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "model/facts.hpp"
#include "model/plan.hpp"

namespace cloche {

struct NotFound {
  std::string why = {};     // one sentence about argv[0]; empty: the host has none either
  std::string advice = {};  // how it ends for the operator alone
};

// `callers_path` is the PATH outside.
NotFound why_not_found(const ConfinementPlan& plan, const std::string& callers_path);

// Where on the host a program and the first directory lie. None: the host has nothing there.
// `name` is a word that the plan's command or script would start.
// A file of the view as the host knows it, and the tree of the plan that shows it.
struct ShownFile {
  std::string tree;
  std::string path;
};
std::optional<ShownFile> file_on_host(const ConfinementPlan& plan, const std::string& path);
std::optional<ShownFile> program_on_host(const ConfinementPlan& plan, const std::string& name);
// Whether what stands at a path of the host stands at the same path of the view, or leads to it.
bool is_same_in_view(const ConfinementPlan& plan, const std::string& path);
std::optional<std::string> directory_on_host(const ConfinementPlan& plan);

// Refuses a plan whose first directory is certainly not there. One behind a link is the jail's to find.
Result<void> judge_directory(const ConfinementPlan& plan);

// Holds the directory that the command starts in, where that lies in a tree that was judged. One that is not
// there, or that the view does not show, has the number of no file: the jail enters none.
FileFact hold_directory(const ConfinementPlan& plan, std::vector<OwnedFd>& held);

}  // namespace cloche
