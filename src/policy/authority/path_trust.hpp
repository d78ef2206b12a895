// Whether a file is the operator's own: only root and its owner can have written it, can replace a link that
// leads to it, or can put another in its place, and no command can change it. Pure:
// store/trust/trusted_file.hpp looks at the files.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/facts.hpp"

namespace cloche {

// Who may write the operator's files, besides root.
struct Writers {
  unsigned owner = 0;
  bool group = false;  // where users have a group of their own, its members are the user
};

// Who owns a file or a directory, and whom its mode lets write to it.
struct OwnerFact {
  FileFact::Kind kind = FileFact::Kind::absent;
  std::string path = {};
  unsigned uid = 0;
  unsigned gid = 0;
  bool group_writes = false;
  bool others_write = false;
  bool sticky = false;  // a directory in which only its owner moves a file
};

// What a path leads through to a file: the directories above the file, the nearest first, and the links
// passed, each with the directories above it.
struct PathOwners {
  struct Link {
    OwnerFact link = {};
    std::vector<OwnerFact> above = {};
  };
  std::vector<OwnerFact> above = {};
  std::vector<Link> links = {};
};

Result<void> judge_owner(const OwnerFact& fact, const Writers& writers);
Result<void> judge_mode(const OwnerFact& fact, const Writers& writers);
Result<void> judge_regular(const OwnerFact& file);
Result<void> judge_operators_file(const OwnerFact& file, const Writers& writers);
Result<void> judge_operators_folder(const OwnerFact& folder, const Writers& writers);
// No other user can make this path lead to another file.
Result<void> judge_path_owners(const PathOwners& path, const Writers& writers);
Result<void> judge_length(const std::string& path, bool is_longer, size_t most_bytes);

// Whether a path passes the workspace. Where it ends does not say it: a link in the workspace may lead out of
// it, and a command can replace that link.
enum class Crossing { there, absent, through_workspace, through_mount };

struct CrossingFact {
  Crossing crossing = Crossing::there;
  std::string workspace = {};
  std::string end = {};  // where the path leads
  bool ends_in = false;  // in the workspace
};

// `what` begins the sentence and names the path.
Result<void> judge_crossing(const std::string& what, const CrossingFact& fact);
// Of the managed or the user's configuration file.
Result<void> judge_configuration_crossing(const std::string& path, const CrossingFact& fact);

// A file that was opened, and what a command may have to do with it.
struct OpenedFact {
  std::string path = {};
  std::string opened = {};  // where it is, every link followed
  bool in_workspace = false;
  bool has_other_names = false;
};
Result<void> judge_opened(const std::string& what, const OpenedFact& file);

// Whether no call decides where a path leads: `found` must not have been reached through a link (or out of a
// directory by ..) that lies in a directory which calls write to, unless it still lies in that directory and
// is only read. `named` is for the sentence, `written` are such directories, resolved.
Result<void> judge_symlinks_crossed(const std::string& named, const FileFact& found, bool writable,
                                    const std::vector<std::string>& written);

// Whose configuration holds. Pure: store/host/callers_home.hpp looks at the environment and the disk.
struct HomeFacts {
  unsigned user = 0;
  std::string written = {};  // HOME, or else the account's home; empty: neither is known
  std::string path = {};     // the same as a plain path
  bool in_proc = false;      // what lies there is another process's
  FileFact::Kind kind = FileFact::Kind::absent;
  bool of_another_user = false;
  std::string account = {};            // the home of the caller's account; empty: not known
  bool account_is_configured = false;  // or may be, and no variable names another place
  std::string config_home = {};        // XDG_CONFIG_HOME, where it belongs to another user
  std::string passed_over = {};  // the home whose configuration is then not read, where there may be one
};

// The home, or why it is not known whose configuration holds.
Result<std::string> judge_home(const HomeFacts& facts);

}  // namespace cloche
