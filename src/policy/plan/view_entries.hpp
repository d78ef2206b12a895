// The entries that a view is made of: each kind of them, those that every view has, and those of the grants.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "model/facts.hpp"
#include "model/plan.hpp"
#include "model/run_request.hpp"

namespace cloche::view {

// What the host has there, found as `fact` says.
ViewEntry tree(const FileFact& fact, std::string target, Access access, std::string why);
// Something the operator owns and shows on purpose.
ViewEntry owned_tree(const FileFact& fact, std::string target, Access access, std::string why);
// At its own path: a link as a link, a directory with the mounts below it.
ViewEntry as_on_host(const FileFact& fact, Access access, std::string_view why);
ViewEntry link(std::string target, std::string says, std::string why);
ViewEntry text(std::string target, std::string content, std::string why);
ViewEntry memory(std::string target, uint64_t size_bytes, Access access, std::string why);
// An empty directory: what was granted below it can be reached, and nothing listed.
ViewEntry mask(std::string target, std::string why);
ViewEntry empty_file(std::string target, std::string why);

// The system's own trees and a curated /etc, read-only.
void add_system(ConfinementPlan& plan, const Facts& facts);
// The host as it is, read-only, with the secret set masked. What is private in the curated view is private
// here too.
Result<void> add_host(ConfinementPlan& plan, const Facts& facts);
// One user, one group, no network, by the files that libc reads.
void add_identity(ConfinementPlan& plan, const Facts& facts);
// /proc, /dev, /tmp, a home and an empty /run.
void add_private(ConfinementPlan& plan, const RunRequest& request);
// Before the grants are added: of the curated view what would have to be made within one, or in the
// workspace. The operator's tree is shown as it is, and nothing is written or linked in a directory of the
// host.
void give_way_to_grants(ConfinementPlan& plan, const RunRequest& request, const Facts& facts);

// A grant by a link is shown by its own name and by the one that was written, which scripts and
// configurations go on to use. As a tree of its own there: what guards the one guards the other too. Without
// a mount view the link itself is there.
void add_symlink_grants(ConfinementPlan& plan, const RunRequest& request, const Facts& facts);

// Where the command sees a grant, of which `fact` is what was found.
std::string shown_at(const Grant& grant, const FileFact& fact);

// The grant in or under which this path of the view lies, so that nothing of ours can be put there; null:
// none.
const Grant* granted_over(const RunRequest& request, const Facts& facts, std::string_view path);

}  // namespace cloche::view
