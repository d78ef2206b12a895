// What the names in one directory are to the protected set: which of them are members, and which directories
// lead further. Pure: a walk gives it names, on the way before a command and on the way after it.
//
// A git directory is known by its name, .git, or by having HEAD, objects and refs, which git asks of every
// one: a bare repository, a submodule's in .git/modules, one that a .git file or a link points to. What has
// these names may be a part of another one as well, and is judged as both. One without a HEAD may be the
// common part of others, which have one; or a directory of sources with such names. So of that only a file
// `config` and hooks by the names that git runs are judged: git comes there by a `commondir` alone, and has a
// HEAD wherever it lets one lead.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/protected/protected_names.hpp"

namespace cloche {

enum class NameKind { directory, link, other };

// How a member is judged that a command made or changed.
enum class MemberRule {
  always,           // it has no business there
  git_config,       // by what is in it: git init and git clone write one
  git_hooks,        // by the names in it: git init copies samples
  git_remotes,      // by there being any: git has long written none
  git_link,         // by where it leads: worktrees and submodules have one, into the same tree
  git_pointer,      // likewise, of a worktree's own part of the repository
  git_todo,         // by what is in it: a rebase that stopped leaves one
  git_strategy,     // likewise, for rebase-merge/strategy and sequencer/opts
  git_index,        // by the paths in it
  git_resolutions,  // MERGE_RR: by the paths in it
  inner_link,       // git makes none there, except HEAD long ago, and writes through those that it finds
};

struct MemberName {
  std::string name;
  NameKind kind = NameKind::other;
  MemberRule rule = MemberRule::always;
  std::string_view reason = {};
};

// What a directory is to git, as far as its parent can say.
enum class GitPart {
  none,
  dot_git,
  info,
  objects,
  worktrees,
  worktree,
  rebase,
  sequencer,
  modules,       // the one of that name, or below it and no git directory: git may make one of it
  module_hooks,  // of what is none yet; or a submodule of that name
  likely_hooks,  // of a directory without a HEAD, which may be one of sources: only the names that git runs
  inside
};

struct SubdirectoryName {
  std::string name;
  Trail trail = {};
  GitPart part = GitPart::none;
};

class DirectoryNames {
 public:
  DirectoryNames(Trail trail, GitPart part) : trail_(std::move(trail)), part_(part) {}

  void add(std::string_view name, NameKind kind);
  void settle();  // after the last name

  bool is_git_directory() const { return is_git_; }
  bool is_common_part() const { return is_common_; }
  bool is_worktree_part() const { return is_worktree_; }  // by its place, or by what is in it
  // Under which name it has a .git, be that a directory, a file or a link; empty: it has none.
  const std::string& dot_git() const { return dot_git_; }
  const std::vector<MemberName>& members() const { return members_; }
  const std::vector<SubdirectoryName>& subdirectories() const { return subdirectories_; }

 private:
  struct GitName {
    std::string_view meaning;  // as in the table
    std::string name;
    NameKind kind;
  };
  bool has(std::string_view meaning) const;
  bool may_be_sources() const { return part_ == GitPart::none || part_ == GitPart::likely_hooks; }
  void settle_git_directory();
  void settle_likely_directory();
  void settle_likely_hooks();
  void settle_rebase();
  void settle_working_state();
  void settle_worktree();
  void settle_part();
  void settle_modules();
  void settle_links();
  void settle_inside(bool is_git_part);
  void add_member(const GitName& found, MemberRule rule, std::string_view reason);
  // Whatever is called so: which of several spellings the host's file system takes is not known here.
  void add_members(std::string_view meaning, MemberRule rule, std::string_view reason);

  Trail trail_;
  GitPart part_;
  bool is_git_ = false;
  bool is_common_ = false;
  bool is_worktree_ = false;
  std::string dot_git_;
  std::vector<GitName> git_names_;
  std::vector<GitName> unknown_names_;  // where git alone keeps anything
  std::vector<std::string> links_;      // members only where git writes
  std::vector<std::string> files_;      // members only where hooks are; gathered nowhere else
  std::vector<MemberName> members_;
  std::vector<SubdirectoryName> subdirectories_;
};

// What the way to the root of a tree gives the names in it: one that is a user's .config itself holds what
// .config/fish means, and one that is a .git has hooks.
struct RootMeaning {
  Trail trail = {};
  GitPart part = GitPart::none;
  std::string_view covered_by = {};   // the reason, when the root itself is or lies in a member
  std::string_view counts_from = {};  // the end of its path that says all this
};
// Agents keep whole checkouts in `worktrees` of their own directory (.claude/worktrees/NAME): one of these is
// a project like any other.
RootMeaning meaning_of_root(std::string_view root);
bool holds_checkouts(std::string_view directory);

// Of what a git directory holds. A checkout may lie in a bare repository too, and has any other name.
bool is_name_of_git(std::string_view name);

// Whether a HEAD that is a link says what git itself has it say.
bool is_symbolic_head(std::string_view name, std::string_view says);

// Of a hook that git runs, or that a later git may: none of them has a dot, and files of sources do.
bool is_hook(std::string_view name);

// Of a hook that git never runs: git init copies these.
bool is_sample_hook(std::string_view name);

}  // namespace cloche
