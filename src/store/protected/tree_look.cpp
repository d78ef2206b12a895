#include "store/protected/tree_look.hpp"

#include <fcntl.h>

#include <algorithm>
#include <functional>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "policy/protected/folded_name.hpp"
#include "policy/protected/protected_trees.hpp"
#include "store/protected/look_memory.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

// The names of git's in a directory, as a file system reads them that knows no case.
std::vector<std::string> names_of_git_in(int directory) {
  std::vector<std::string> names;
  for_each_name(directory, [&](const dirent& entry) {
    if (is_name_of_git(entry.d_name)) names.push_back(folded_name(entry.d_name));
    return true;
  });
  return names;
}

// By what is in it, and what would be with `next` as well.
bool would_be_git_directory(std::vector<std::string> names, std::string_view next) {
  names.push_back(folded_name(next));
  const auto has = [&](const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  return (has("objects") && has("refs")) || (has("head") && has("commondir"));
}

bool is_in_git_directory(int root, const std::string& path) {
  std::string above;
  for (const auto name : components_of(path)) {
    const OwnedFd here = open_descendant(root, above, directory_flags);
    if (!here) break;  // still to be made
    if (is_name_of_git(name) && would_be_git_directory(names_of_git_in(here.get()), name)) return true;
    above = joined(above, std::string(name));
  }
  return false;
}

const char* reason_of(LeadFact::Kind kind) {
  switch (kind) {
    case LeadFact::Kind::link: return "a link in a protected directory leads there";
    case LeadFact::Kind::hooks: return "a configuration of git has it run hooks from there";
    case LeadFact::Kind::config: return "a configuration of git includes it";
    case LeadFact::Kind::program: return "a configuration of git has it run this program";
    case LeadFact::Kind::repository:
    case LeadFact::Kind::git_directory:
    case LeadFact::Kind::common_part:
    case LeadFact::Kind::worktree_part: break;
  }
  return "git obeys what lies there";
}

}  // namespace

Result<void> look_at_tree(const std::string& root, const TreeQuery& query, TreeFacts& found,
                          std::vector<OwnedFd>& held) {
  const HeldRoot tree{root, TRY(sys::open(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW))};
  const LookMemory memory(query.state, tree.fd.get());
  const std::vector<RememberedLead> remembered = memory.leads();
  const std::function<AllLeads()> find_others = [&] {
    return find_leads(tree, {.hidden = query.hidden, .git = query.git}, memory.text());
  };
  found = {.is_complete = true};
  TRY(look_before(root, {query.hidden, query.git, find_others, remembered}, found, held));
  return {};
}

Result<std::string> why_executed(const std::string& root, const std::string& path, const TreeQuery& query) {
  const OwnedFd fd = TRY(sys::open(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  if (is_in_git_directory(fd.get(), path)) return std::string("git obeys what lies in a git directory");
  TreeFacts found;
  std::vector<OwnedFd> held;
  TRY(look_at_tree(root, query, found, held));
  const LeadFact* lead = lead_to(found.leads, root + "/" + path);
  if (lead == nullptr) return std::string();
  const char* until = " (it did before a command changed that, which counts for a month)";
  return reason_of(lead->kind) + std::string(lead->lost != 0 ? until : "");
}

}  // namespace cloche
