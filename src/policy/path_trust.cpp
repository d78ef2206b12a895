#include "policy/path_trust.hpp"

namespace cloche {
namespace {

// In a sticky directory nobody moves what is not his.
Result<void> judge_above(const std::vector<OwnerFact>& above, const Writers& writers) {
  for (const auto& directory : above) {
    TRY(judge_owner(directory, writers));
    if (!directory.sticky) TRY(judge_mode(directory, writers));
  }
  return {};
}

}  // namespace

Result<void> judge_owner(const OwnerFact& fact, const Writers& writers) {
  if (fact.uid == 0 || fact.uid == writers.owner) return {};
  return refusal(fact.path + " belongs to another user, id " + std::to_string(fact.uid),
                 writers.owner == 0 ? "chown it to root" : "chown it to root or to you");
}

Result<void> judge_mode(const OwnerFact& fact, const Writers& writers) {
  if (fact.others_write) return refusal(fact.path + " can be written by everybody", "chmod o-w " + fact.path);
  if (!writers.group && fact.group_writes && fact.gid != 0)
    return refusal(fact.path + " can be written by the group " + std::to_string(fact.gid),
                   "chmod g-w " + fact.path);
  return {};
}

// A pipe or a device could keep us waiting or give every reader something else.
Result<void> judge_regular(const OwnerFact& file) {
  if (file.kind == FileFact::Kind::file) return {};
  return refusal(file.path + " is not a regular file");
}

Result<void> judge_operators_file(const OwnerFact& file, const Writers& writers) {
  TRY(judge_regular(file));
  TRY(judge_owner(file, writers));
  return judge_mode(file, writers);
}

Result<void> judge_operators_folder(const OwnerFact& folder, const Writers& writers) {
  if (folder.kind != FileFact::Kind::directory) return refusal(folder.path + " is not a directory");
  TRY(judge_owner(folder, writers));
  return judge_mode(folder, writers);
}

Result<void> judge_operators_way(const WayFact& way, const Writers& writers) {
  TRY(judge_above(way.above, writers));
  for (const auto& [link, above] : way.links) {
    TRY(judge_owner(link, writers));
    TRY(judge_above(above, writers));
  }
  return {};
}

Result<void> judge_reach(const std::string& what, const ReachFact& fact) {
  if (fact.reach == Reach::there || fact.reach == Reach::absent) return {};
  if (fact.ends_in)
    return refusal(what + " lies in the workspace " + fact.workspace + ", where a command could change it",
                   "move it, or name another workspace");
  return refusal(what + " is reached through the workspace " + fact.workspace +
                     (fact.reach == Reach::through_mount ? ", by a mount" : "") +
                     ", where a command could lead it elsewhere",
                 "name " + fact.end + " itself if that is meant");
}

Result<void> judge_configuration_reach(const std::string& path, const ReachFact& fact) {
  const std::string lies = "the configuration " + path + " lies in the workspace " + fact.workspace;
  if (fact.reach == Reach::through_workspace)
    return refusal(lies + ", where an agent can write it",
                   "use another workspace, or move the configuration");
  if (fact.reach == Reach::through_mount)
    return refusal(lies + " by a mount, and an agent can write it there",
                   "unmount it, or use another workspace");
  return {};
}

Result<void> judge_opened(const std::string& what, const OpenedFact& file) {
  if (file.has_other_names)
    return refusal(file.path + " has another name (a hard link), by which a command could widen it",
                   "give it one name, with a copy");
  if (file.in_workspace)
    return refusal(what + " " + file.opened + " lies in the workspace: a command could widen it",
                   "move it, or name another workspace");
  return {};
}

}  // namespace cloche
