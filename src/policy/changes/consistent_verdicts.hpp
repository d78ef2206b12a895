// Verdicts that fit together. Each change is judged by itself first; here what depends on a withheld change
// is withheld as well. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policy/changes/changed_directories.hpp"
#include "policy/changes/moved_changes.hpp"

namespace cloche {

// The stricter of the two fates stays, with its reason.
void tighten(ChangeVerdict& verdict, Fate fate, std::string reason, std::string rule = {});

// Whether the change has its verdict only because of what becomes of another one.
bool follows_from_another(const ChangeVerdict& verdict);

void make_consistent(const ChangeSet& set, const ChangedDirectories& directories, const MovedChanges& moved,
                     std::vector<ChangeVerdict>& verdicts);

// Why a repository would be left in a state that git never writes, if the rest were committed. Nothing: none
// would.
std::optional<std::string> find_broken_repository(const ChangeSet& set, const ChangeFacts& facts,
                                                  ChangedDirectories& directories,
                                                  const std::vector<ChangeVerdict>& verdicts);

}  // namespace cloche
