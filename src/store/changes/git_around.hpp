// What git makes of the places around the changes: which repositories there are, what their configurations
// have the host execute, and what was in a directory that a change makes a git directory of.
#pragma once

#include <optional>
#include <string>

#include "model/facts.hpp"
#include "policy/changes/change_facts.hpp"
#include "store/changes/before_and_after.hpp"
#include "store/protected/git_places.hpp"

namespace cloche {

class GitAround {
 public:
  GitAround(const ChangeSet& set, const BeforeAndAfter& trees, ChangedDirectories& directories,
            const GitSources& sources, ChangeFacts& facts)
      : set_(set),
        trees_(trees),
        directories_(directories),
        places_(sources),
        home_(sources.home),
        state_(sources.state),
        facts_(facts) {}

  // Of the checkouts and git directories in facts.directories, and those around the trees.
  void add_repositories();
  void add_made_repositories();
  // Members in these directories that are links, or hold some: what they lead to is executed too.
  void add_led_by_links();
  // Where changed pointers and configurations lead.
  void add_pointer(const Change& change, std::string_view key);
  void add_working_tree(const Change& config);
  void add_remotes(const Change& config);
  // How the objects of its repository are named.
  void add_index(const Change& index);
  // Whether its paths begin at the directory around its .git.
  void add_resolutions(const Change& merge_rr);
  // Directories that become git directories, and those that changed pointers lead to.
  void add_contents();

 private:
  void add_places(const TreePath& checkout, const std::vector<NamedPlace>& found);
  void add_repository(const TreePath& checkout, const std::string& path);
  void add_made_checkout(const Change& change);
  std::string git_led_to(const PathEnd& end) const;
  PathEnd end_of_dot_git(const TreePath& checkout) const;
  void add_parts_of_repository(const TreePath& git);
  std::optional<std::vector<DirectoryAround::Name>> names_in(const TreePath& where);
  void add_links_in(const TreePath& directory, std::string_view reason);
  std::vector<std::string> to_be_resolved_in(const TreePath& git) const;
  bool says_no_working_tree(const TreePath& config) const;
  void add_executed(const std::string& path, ExecutedPath::Kind kind, const std::string& reason);
  void add_led(const TreePath& link, std::string_view reason);
  PathEnd end_of_pointer(const Change& change, Side side, std::string_view key) const;
  void add_contents_of(const PathEnd& end);
  void stop(const char* why) { facts_.too_much = why; }
  GitContents contents_of(const TreePath& directory) const;

  const ChangeSet& set_;
  const BeforeAndAfter& trees_;
  ChangedDirectories& directories_;
  const GitPlaces places_;  // the operator's own configurations are read once
  const std::string& home_;
  const std::string& state_;
  ChangeFacts& facts_;
  size_t repositories_ = 0;
  size_t links_looked_for_ = 0;
};

}  // namespace cloche
