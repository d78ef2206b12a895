// Which trees of a plan get a layer of the call's own: what the command writes there reaches the host when it
// has been judged. Pure.
#pragma once

#include "base/result.hpp"
#include "model/facts.hpp"
#include "model/plan.hpp"

namespace cloche {

// Marks every writable directory of the operator's as layered. One that lies in another is shown through that
// one's layer; where it is to be seen at another place too, two layers would hold two versions of it, and it
// is refused. Single files cannot have a layer, and are written live.
Result<void> layer_writes(ConfinementPlan& plan);

// For an ordinary user, of the host's mounts where they are known.
Result<void> judge_mounts_in_layers(const ConfinementPlan& plan, const std::vector<FileFact>& mounts);

// Shows these directories as the host has them, above the layers that they lie in.
void show_live(ConfinementPlan& plan, const std::vector<FileFact>& directories);

// Of a plan: the trees that have a layer.
std::vector<const ViewEntry*> layered_trees(const ConfinementPlan& plan);
// The writable trees and files of the operator's that have none.
std::vector<const ViewEntry*> live_trees(const ConfinementPlan& plan);

}  // namespace cloche
