// Facts: everything a plan depends on, looked up once. The planner sees this value and nothing of the world.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/shared_list.hpp"
#include "base/sys/fd.hpp"
#include "model/change_set.hpp"

namespace cloche {

struct FileFact {
  enum class Kind { absent, directory, file, link, other };
  Kind kind = Kind::absent;
  std::string path;       // absolute; for what an operator named, with every link resolved
  std::string link = {};  // what a link says
  uint64_t device = 0;
  uint64_t inode = 0;
  unsigned uid = 0;
  unsigned gid = 0;
  uint64_t mount = 0;               // the number of the one that it is on, of trees that an operator named
  bool mount_is_read_only = false;  // of these
  // Of what was named: the links on the way, and what .. was taken from. Who can write there can turn it.
  std::vector<std::string> turns = {};

  bool exists() const { return kind != Kind::absent; }
  bool operator==(const FileFact&) const = default;
};

// When a file's content, name, mode or owner last changed, by the kernel: no process can set it back.
struct ChangeTime {
  int64_t seconds = 0;
  int64_t nanoseconds = 0;
  auto operator<=>(const ChangeTime&) const = default;
};

// A name at one of the fixed places of a tree (store/protected/fixed_places.hpp), before a command that
// writes there without a layer.
struct FixedPlace {
  std::string path;  // relative to the tree
  FileState state = {};
  uint64_t device = 0;
  uint64_t inode = 0;
  bool kept = false;         // shown read-only
  bool is_executed = false;  // no member by its name: a configuration of git, or a link, names it
  std::optional<std::string> content = {};  // of a file; nothing: it is too long, or cannot be read

  bool operator==(const FixedPlace&) const = default;
};

struct FixedTree {
  std::string root;
  uint64_t device = 0;
  uint64_t inode = 0;
  std::vector<FixedPlace> places = {};  // by path
  bool is_executed = false;             // as a whole, because a configuration of git names what holds it
  std::string gap = {};                 // why not all of them were looked at

  bool operator==(const FixedTree&) const = default;
};

// Configurations of git that hold in every repository, also one that a command made.
struct GitSources {
  std::string home = {};                // what ~ stands for in them
  std::vector<std::string> files = {};  // that there may be
  // Cloche's state directory, where the homes of tasks are: a call writes there, and nothing is judged.
  std::string state = {};

  bool operator==(const GitSources&) const = default;
};

// The protected set in the trees that a command writes to without a layer.
struct GuardFacts {
  std::vector<FixedTree> trees = {};
  std::vector<std::string> allowed = {};  // what in them the operator lets it change all the same
  std::vector<FileFact> kept = {};        // of their places those that are shown read-only
  std::vector<FileFact> pinned = {};      // the git directories that these lie in: not to be renamed
  GitSources git = {};

  bool operator==(const GuardFacts&) const = default;
};

struct ToolchainFact {
  std::string name;                      // "pyenv", "cargo", ...
  std::vector<FileFact> trees;           // shown read-only where they are
  std::vector<std::string> path;         // directories for PATH
  std::vector<std::string> masked = {};  // directories in the trees that are empty in the view
  std::map<std::string, std::string> environment;
  // What leads to a cache that its programs also write to: for calls that can fetch nothing, and whose home
  // holds nothing that an earlier call fetched.
  std::map<std::string, std::string> offline = {};

  bool operator==(const ToolchainFact&) const = default;
};

// Who the caller is for git: what their own configuration says, and nothing else of it.
struct GitIdentity {
  std::string name = {};
  std::string email = {};  // either may be empty: it is not said, or not fit to be passed on

  bool operator==(const GitIdentity&) const = default;
};

struct CallerFact {
  unsigned uid = 0;
  unsigned gid = 0;
  bool privileged = false;                         // root with the capabilities to map foreign ids
  bool stuck_as_root = false;                      // root outside too, without them
  std::string home;                                // resolved; empty when there is none
  std::string path;                                // the caller's PATH, for the order of toolchains
  std::map<std::string, std::string> environment;  // of the names that -e asked for, and TERM
  GitIdentity git = {};

  bool operator==(const CallerFact&) const = default;
};

// A directory that the request names and one of Cloche's or the operator's own, which a mount makes the same.
struct MountAlias {
  enum class Of { state, configuration, kept };
  enum class Way { own_is_mount_of_named, named_is_mount_of_own };

  Of of = Of::state;
  Way way = Way::own_is_mount_of_named;
  std::string named = {};
  bool writable = false;  // the named one, for the command
  std::string own = {};

  bool operator==(const MountAlias&) const = default;
};

// What no call reads or changes of the trees that it is shown: the key `hide` and --hide.
struct HideFacts {
  std::vector<std::string> patterns = {};
  std::vector<FileFact> found = {};  // what they match now, with every link resolved
  // Of these: directories that are hidden because they could not be searched, closed or too deep.
  std::vector<std::string> unsearched = {};
  std::vector<std::string> idle = {};  // the patterns that match nothing

  bool operator==(const HideFacts&) const = default;
};

struct Facts {
  CallerFact caller;
  FileFact state;           // Cloche's own directory, which may not exist yet; no path: there is none
  FileFact workspace;       // what the operator meant, resolved
  FileFact project_config;  // .cloche in the workspace, when it is a directory
  std::optional<FileFact> git_common;   // of a worktree or submodule that names this workspace in turn
  std::vector<FileFact> git_written;    // what of it git writes for a commit there: of a submodule all
  std::vector<FileFact> grants;         // one for each of the request, in order
  std::vector<FileFact> live;           // the live paths of the request that are directories
  std::vector<FileFact> hidden;         // what of Cloche's own files no command may see
  std::vector<FileFact> own;            // likewise of what Cloche itself puts in
  std::vector<FileFact> configuration;  // where the operator's is, or would be: likewise
  std::vector<FileFact> kept;           // of the operator's word too, where a command may look and not write
  // Every directory above Cloche's own files and the project's configuration, by what it is: a host has other
  // names for some of them (bind mounts).
  std::vector<FileFact> above_own;
  // The directories of the Cloche that is running: its programs first, then what they read. Who writes there
  // decides what the next call is judged by.
  std::vector<FileFact> parts;
  std::vector<FileFact> above_parts;  // every directory above these
  // Of these and of the operator's configuration: files that have another name, which could lie in what is
  // named.
  std::vector<std::string> with_other_names;
  SharedList<FileFact> system;   // /usr, /bin, ...
  SharedList<FileFact> etc;      // the curated files that exist
  SharedList<FileFact> root;     // entries of /, for the host view
  SharedList<FileFact> secrets;  // what exists of the secret set, for the host view
  HideFacts hide;
  GuardFacts guard;  // the protected set in what can be written
  std::vector<MountAlias> mount_aliases;
  std::vector<FileFact> mounts_below;    // host mounts in the operator's trees, when they must be covered
  SharedList<ToolchainFact> toolchains;  // those that were found
  // How the host finds names, where a command shares its network: what /etc/hosts and /etc/resolv.conf are.
  FileFact hosts_file;
  FileFact resolver_file;

  bool operator==(const Facts&) const = default;
};

// The one look at the world that a decision rests on, with what was looked at held open: what stands at a
// name later is something else.
struct Observation {
  Facts facts = {};
  std::vector<OwnedFd> held = {};  // the workspace first

  int workspace() const { return held.empty() ? -1 : held.front().get(); }
};

}  // namespace cloche
