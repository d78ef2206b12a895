// ChangeFacts: what the judge of changes has to know beyond the change set itself: what stands around the
// changed paths, what is in the few files that git reads, and where links and pointers lead. Looked up once
// (store/changes/change_facts.hpp); the judge sees nothing else of the world.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/change_set.hpp"
#include "policy/protected/protected_directory.hpp"

namespace cloche {

// What the path of a tree's root says about the names in it.
struct TreeMeaning {
  Trail trail = {};
  GitPart part = GitPart::none;
  std::string covered_by = {};  // the reason, when the root itself is, or lies in, a member
};

// A directory that was there before the call and holds a change, or leads to one.
struct DirectoryAround {
  struct Name {
    std::string name;
    NameKind kind = NameKind::other;
  };
  unsigned mode = 0;
  std::vector<Name> names = {};  // as they were; only those that mean something to git
};

// Where a link, or a file of git's that holds a path, leads in the end.
struct PathEnd {
  enum class Place {
    inside,   // a tree of the call, whether or not anything is there
    outside,  // `where.path` is absolute then
    nowhere,  // in a circle
    unknown,  // it could not be followed
  };
  Place place = Place::unknown;
  TreePath where = {};

  bool operator==(const PathEnd&) const = default;
};

// Of a git directory what was in it before the call: judged when a change makes a git directory of it, or
// leads git there.
struct GitContents {
  std::optional<std::string> config = {};
  bool has_hooks = false;         // other than the samples of git init
  bool has_known_hooks = false;   // by names that git runs
  bool has_linked_hooks = false;  // or a linked config: wherever that leads
  bool is_repository = false;     // it was one, by HEAD, objects and refs
  bool has_others = false;        // other members, or what could not be read
};

// What a configuration of git, or a link that is a member, has the host execute.
struct ExecutedPath {
  enum class Kind { file, directory };  // of a directory everything in it
  TreePath where = {};
  Kind kind = Kind::file;
  std::string reason = {};
};

// Of an access control list: a user or a group that it names.
struct AclEntry {
  bool is_group = false;
  bool is_default = false;  // it is for what will be made in the directory
  unsigned id = 0;
  unsigned permissions = 0;

  auto operator<=>(const AclEntry&) const = default;
};

struct AttributeFacts {
  std::vector<AclEntry> acl = {};  // after the call
  std::vector<AclEntry> acl_then =
      {};                         // of the file before the call, and what the directory around it hands on
  bool has_capabilities = false;  // of a program
  bool is_unknown = false;        // they could not be read
};

struct ChangeFacts {
  std::optional<std::string> too_much = {};  // which bound was met: then nothing of the set is judged
  std::vector<TreeMeaning> trees = {};
  std::map<TreePath, DirectoryAround> directories = {};
  std::map<TreePath, std::string> texts_before = {};  // of members that are judged by what is in them
  std::map<TreePath, std::string> texts_after = {};
  std::map<TreePath, std::string> digests_before = {};  // of members, to tell what only moved
  std::map<TreePath, std::string> digests_after = {};
  std::map<TreePath, PathEnd> links = {};            // created or changed ones
  std::map<TreePath, PathEnd> pointers_before = {};  // .git files and links, commondir, gitdir
  std::map<TreePath, PathEnd> pointers_after = {};
  // Of a changed configuration: where its core.worktree leads, if the checkout there leads back to it.
  std::map<TreePath, PathEnd> working_trees = {};
  // Changed configurations with a remote in Cloche's own directory.
  std::set<TreePath> unjudged_remotes = {};
  std::set<TreePath> sha256_indexes = {};  // changed ones of a repository whose objects have long names
  // Changed files MERGE_RR of a repository whose working tree is the directory around its .git.
  std::set<TreePath> usual_working_trees = {};
  // What git of the host will copy and overwrite: the paths in each MERGE_RR around the changes, as the call
  // left it.
  std::set<TreePath> to_be_resolved = {};
  std::map<TreePath, GitContents> git_contents = {};
  // By checkout: the git directories that it had before the call, and those that these share.
  std::map<TreePath, std::set<TreePath>> git_directories = {};
  std::set<std::string> repositories_outside = {};  // likewise, by their absolute paths
  std::vector<ExecutedPath> executed = {};
  std::map<TreePath, AttributeFacts> attributes = {};  // of what has any of these
  // Files of the first tree before the call, without those in generated directories. Counting stops where it
  // is certain that the call deleted no more than half of them.
  uint64_t files_counted = 0;
};

// Directories that tools fill and users delete every day: what is deleted in them is no loss to ask about.
bool is_generated_directory(std::string_view name);

}  // namespace cloche
