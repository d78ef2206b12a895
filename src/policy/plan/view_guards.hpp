// What is kept out of a view, or from being changed in it, whatever was granted; and the order of its
// entries.
#pragma once

#include <vector>

#include "base/result.hpp"
#include "model/facts.hpp"
#include "model/plan.hpp"

namespace cloche::view {

// A host mount in an operator's tree came along only because an ordinary user cannot clone without it.
void cover_mounts(ConfinementPlan& plan, const Facts& facts);

// Whether it is one of Cloche's own, or lies in one.
bool is_own_file(const Facts& facts, const FileFact& fact);

// Proofs and records are no command's to see, whatever was granted around them; and nothing in them can be
// granted, by whatever name. In a tree that can be written they may only lie right at its root.
Result<void> hide_own_files(ConfinementPlan& plan, const Facts& facts);

// What the operator hides (`hide`) is seen as empty and cannot be opened, wherever it is shown. In trees that
// are written live, no directory on the way to it can be renamed: the next call would not find it.
Result<void> hide_files(ConfinementPlan& plan, const Facts& facts, Writes writes);

// What the project says about commands is not a command's to change or to take away, wherever it is shown.
Result<void> keep_project_config(ConfinementPlan& plan, const Facts& facts);

// Nothing that can be written is, holds or lies in a directory of the operator's word: a level without mounts
// could not keep one apart, and there is no need to grant what is around it.
Result<void> keep_operators_word(const ConfinementPlan& plan, const Facts& facts);

// The Cloche that is running is not a command's to change: it is there to read and to run, and nothing on the
// way to it can be renamed. Where a box has no mounts to keep it with, such a tree is refused; and so is a
// workspace that holds one of its programs, by a link, without the others.
Result<void> keep_parts(ConfinementPlan& plan, const Facts& facts);

// What the host executes later is there to read and to run, wherever it is shown; and where something in it
// was granted by name, that is as well.
void keep_protected(ConfinementPlan& plan, const Facts& facts);

// Parents before children; of two entries for one place the later one, which is the more deliberate, wins. A
// link gives way to what lies below it: a workspace in /var/tmp makes that a directory.
void put_in_order(std::vector<ViewEntry>& view);

}  // namespace cloche::view
