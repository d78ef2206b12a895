// What git on the host executes in a tree because a configuration says so, wherever that configuration lies:
// in a repository of the tree, in one around it or that it is a worktree of, or in the operator's own, which
// holds in every repository. With what they include, to the depth that git goes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/sys/environment.hpp"
#include "model/facts.hpp"
#include "policy/protected/git_config_paths.hpp"

namespace cloche {

struct NamedPlace {
  std::string path;  // absolute, as written
  PlaceKind kind;
  std::string pointer = {};  // of a repository or a checkout: the file or link that names it
};

// The operator's own: the system's and the user's, by every name that git has for them.
GitSources find_git_sources(const Environment& environment, const std::string& home,
                            const std::string& state);

// Every link followed.
bool leads_to_directory(const std::string& path);

// A directory of hooks that is not in the tree at `root` may hold links that lead there.
void add_links_of_hooks_outside(const std::string& root, std::vector<NamedPlace>& places);

class GitPlaces {
 public:
  explicit GitPlaces(const GitSources& own);

  // Of the repository that `tree` is checked out from: by its `.git`, be that a directory, a file or a link.
  std::vector<NamedPlace> of_checkout(const std::string& tree, const std::string& dot_git = ".git") const;
  // What the operator's own configurations say for a checkout at `tree`, whether or not one is there.
  std::vector<NamedPlace> of_own(const std::string& tree) const;
  // What the configuration of a git directory, and the operator's own, say for a checkout at `tree`.
  std::vector<NamedPlace> of_led_checkout(const std::string& tree, const std::string& git) const;
  // Of a git directory that is found by what is in it: a bare one, or a submodule's or worktree's part.
  std::vector<NamedPlace> of_git_directory(const std::string& directory) const;
  // Of checkouts that `root` lies in or is one of, and of the operator's own for whatever repository; with
  // these files themselves, which may lie in the tree or be links that lead there.
  std::vector<NamedPlace> around(const std::string& root) const;

 private:
  // What configurations say, before it is known for which working tree.
  struct Read {
    std::vector<ExecutedPlace> said = {};   // hooks and programs
    std::vector<NamedPlace> included = {};  // files, that were read as well
    std::string working_tree = {};          // absolute
    size_t files = 0;
  };
  void read(const std::string& file, int depth, Read& found) const;
  void add(const Read& found, const std::string& tree, std::vector<NamedPlace>& places) const;
  void add_hooks(const Read& found, const std::string& git, std::vector<NamedPlace>& places) const;
  static void add_own_of_outside(const std::string& checkout, const std::string& root,
                                 std::vector<NamedPlace>& places);
  std::string place(const std::string& said, const std::string& base) const;
  std::string home_of(std::string_view user) const;

  std::string home_;
  std::vector<std::string> own_files_;
  mutable std::optional<std::string> users_;  // /etc/passwd, once a user is asked for
  Read own_;
};

}  // namespace cloche
