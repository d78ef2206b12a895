// Whether what lies at a path is the operator's own word: nobody but root and its owner can have written it,
// have turned a link that leads to it, or can put another in its place, and no command can change it. Pure:
// store/operators_file.hpp and store/workspace_way.hpp look at the files.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/facts.hpp"

namespace cloche {

// Who may write what an operator says, besides root.
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

// How a path leads to a file: the directories above the file, the nearest first, and the links passed.
struct WayFact {
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
// What opens the file by this path, now or later, opens nothing of another user's.
Result<void> judge_operators_way(const WayFact& way, const Writers& writers);

// Whether a path passes the workspace. Where it ends does not say it: a link in the workspace may lead out of
// it, and a command can turn that link.
enum class Reach { there, absent, through_workspace, through_mount };

struct ReachFact {
  Reach reach = Reach::there;
  std::string workspace = {};
  std::string end = {};  // where the path leads
  bool ends_in = false;  // in the workspace
};

// `what` begins the sentence and names the path.
Result<void> judge_reach(const std::string& what, const ReachFact& fact);
// Of the managed or the user's configuration file.
Result<void> judge_configuration_reach(const std::string& path, const ReachFact& fact);

// A file that was opened, and what a command may have to do with it.
struct OpenedFact {
  std::string path = {};
  std::string opened = {};  // where it is, every link followed
  bool in_workspace = false;
  bool has_other_names = false;
};
Result<void> judge_opened(const std::string& what, const OpenedFact& file);

}  // namespace cloche
