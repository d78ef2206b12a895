#include "policy/authority/path_trust.hpp"

#include "base/sys/path.hpp"
#include "base/text/command_words.hpp"
#include "base/text/visible_text.hpp"

namespace cloche {
namespace {

// In a sticky directory a user can move only the user's own files.
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
  if (fact.others_write)
    return refusal(fact.path + " can be written by every user", words_to_copy({"chmod", "o-w", fact.path}));
  if (!writers.group && fact.group_writes && fact.gid != 0)
    return refusal(fact.path + " can be written by the group " + std::to_string(fact.gid),
                   words_to_copy({"chmod", "g-w", fact.path}));
  return {};
}

// A pipe or a device could block, or give each reader something else.
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

Result<void> judge_length(const std::string& path, bool is_longer, size_t most_bytes) {
  if (!is_longer) return {};
  return refusal(path + " is longer than " + std::to_string(most_bytes) + " bytes", "make it shorter");
}

Result<void> judge_path_owners(const PathOwners& path, const Writers& writers) {
  TRY(judge_above(path.above, writers));
  for (const auto& [link, above] : path.links) {
    TRY(judge_owner(link, writers));
    TRY(judge_above(above, writers));
  }
  return {};
}

Result<void> judge_crossing(const std::string& what, const CrossingFact& fact) {
  if (fact.crossing == Crossing::there || fact.crossing == Crossing::absent) return {};
  if (fact.ends_in)
    return refusal(what + " lies in the workspace " + fact.workspace + ", where a command could change it",
                   "move it, or name another workspace");
  return refusal(what + " is reached through the workspace " + fact.workspace +
                     (fact.crossing == Crossing::through_mount ? ", by a mount" : "") +
                     ", where a command could lead it elsewhere",
                 "name " + fact.end + " itself if that is meant");
}

Result<void> judge_configuration_crossing(const std::string& path, const CrossingFact& fact) {
  const std::string lies = "the configuration " + path + " lies in the workspace " + fact.workspace;
  if (fact.crossing == Crossing::through_workspace)
    return refusal(lies + ", where an agent can write it",
                   "use another workspace, or move the configuration");
  if (fact.crossing == Crossing::through_mount)
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

Result<void> judge_symlinks_crossed(const std::string& named, const FileFact& found, bool writable,
                                    const std::vector<std::string>& written) {
  for (const auto& root : written) {
    // What a call could put there itself it may as well point to.
    if (!writable && is_beneath(root, found.path)) continue;
    for (const auto& turn : found.turns) {
      // From the root itself .. leads where the operator has put it: no call can move what it is in.
      if (turn != root && is_beneath(root, turn))
        return refusal(named + " is reached through " + turn + ", where calls can write, so any of them " +
                           "decides where it leads",
                       "name " + found.path + " itself if that is meant");
    }
  }
  return {};
}

Result<std::string> judge_home(const HomeFacts& facts) {
  if (facts.written.empty())
    return refusal("HOME is not set and the passwd database has no home for the user id " +
                       std::to_string(facts.user) + ", so it is not known whose configuration holds",
                   "set HOME to your home directory");
  const std::string home = "HOME=" + shown(facts.written, 200);
  if (facts.in_proc)
    return refusal(home + " lies in /proc, so it is not known whose configuration holds",
                   "set HOME to your home directory");
  if (!facts.passed_over.empty())
    return refusal("XDG_CONFIG_HOME=" + shown(facts.config_home, 200) +
                       " belongs to another user, and the configuration in " + facts.passed_over +
                       " would not hold",
                   "unset it; with sudo, use sudo -H without -E");
  if (facts.path == facts.account) return facts.path;
  const bool there = facts.kind == FileFact::Kind::directory;
  if (!there && (facts.account.empty() || facts.kind != FileFact::Kind::absent))
    return refusal(home + " is no directory, so it is not known whose configuration holds",
                   "set HOME to your home directory, or unset it");
  if ((!there || facts.of_another_user) && facts.account_is_configured)
    return refusal(home + (there ? " belongs to another user" : " is not there") +
                       ", and the configuration in " + facts.account + " would not hold",
                   "set HOME to " + facts.account + "; with sudo, use sudo -H");
  return facts.path;
}

}  // namespace cloche
