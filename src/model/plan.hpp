// ConfinementPlan: one value that is the whole confinement of one command. A default-constructed one is the
// strictest: nothing is visible, nothing may be written, there is no network and no environment, and every
// layer of the isolation level namespace is required. Code adds to it; it never has to remember to take away.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/shared_list.hpp"
#include "model/backend.hpp"
#include "model/layers.hpp"
#include "model/limits.hpp"

namespace cloche {

enum class EntryKind { directory, link, text, tree, tmpfs, proc, terminals, queues };
std::string_view name_of(EntryKind kind);

// What a program may do beneath an entry. The mount flags and the Landlock rule both come from it.
enum class Access {
  none,       // a mask: seen as empty
  read,       // files and directories
  run,        // and execute
  write,      // and change, never execute
  write_run,  // and both
  device,     // a harmless device node
};
std::string_view name_of(Access access);

// What `why` says of an entry that keeps a member of the protected set from being changed.
inline constexpr std::string_view why_protected = "the protected set";

// Why an entry is there, as far as a backend without a mount view has to know.
enum class EntryRole {
  shown,   // part of what the command sees
  placed,  // put where a command looks for it by Cloche itself: a task's home, a script
};

// How what a command writes reaches the trees of the host; from the strictest on. The operator alone chooses.
enum class Writes {
  stage,   // an operator lets it in after the command has ended
  commit,  // it is judged when the command has ended, and then moved there
  live,    // at once
};
std::string_view name_of(Writes writes);

struct ViewEntry {
  EntryKind kind = EntryKind::directory;
  Access access = Access::read;
  std::string target;        // absolute, in the view
  std::string source = {};   // of a tree on the host; of a link what it says
  std::string content = {};  // of a text
  unsigned mode = 0755;
  uint64_t size_bytes = 0;  // of a tmpfs; of a writable tree: how large it may become, 0: by growth alone
  bool file = false;        // of a tree: a file or a device node, not a directory
  bool copied = false;      // of a tree: small and still, so a copy as of the start of the call will do
  EntryRole role = EntryRole::shown;
  bool recursive = false;  // with the host's mounts below it
  bool layered = false;    // of a writable tree: writes go to a layer of the call's own above it
  bool owned = false;      // the operator's own tree: under root it is idmapped to the sandbox's id
  // A directory that Cloche makes where it is missing. An explanation comes before that, so the digest names
  // the path and no inode; an approval covers the inode too.
  bool made_on_demand = false;
  uint64_t device = 0;  // what was judged; the jail checks that it is still that
  uint64_t inode = 0;
  uint64_t mount = 0;  // of the operator's trees: the number of the host's mount that it is on; 0: not known
  unsigned owner_uid = 0;
  unsigned owner_gid = 0;
  std::string why = {};  // the reason it is allowed
};

struct Variable {
  std::string name;
  std::string value;
};

// A variable whose value the command alone sees: no JSON, record or question has it. In its place stands the
// fingerprint, an HMAC with a key of the state directory (store/sealed/fingerprints.hpp). The same secret has
// the same one, and no reader without the key can try values on it.
struct Secret {
  std::string name;
  std::string value;
  std::string fingerprint = {};

  bool operator==(const Secret&) const = default;
};

// Whose network a command has: one of its own, in which declared hosts are reached by name, or the host's
// whole one, which an operator alone chooses.
enum class Network { own, of_host };

// A port of the command's own network that the host's loopback leads to.
struct PublishedPort {
  uint16_t host = 0;
  uint16_t inside = 0;

  bool operator==(const PublishedPort&) const = default;
};
// "8080:3000"
std::string to_text(const PublishedPort& port);

struct ConfinementPlan {
  IsolationLevel level = IsolationLevel::namespaces;
  std::vector<LayerId> required = required_by(IsolationLevel::namespaces);
  Backend backend = Backend::native;  // of that level
  std::vector<std::string> argv;
  std::string action = {};  // of a call that starts no program: what the gateway itself does, as JSON
  std::string directory = "/";
  Writes writes = Writes::live;
  std::string workspace;       // the tree whose growth is limited; empty: none
  SharedList<ViewEntry> view;  // parents before children
  std::vector<Variable> environment;
  std::vector<Secret> secrets = {};  // of the environment as well; no name is in both
  std::vector<std::string> hosts;    // NAME:PORT and the like (model/network.hpp); empty: no network at all
  std::vector<std::string> ranges;   // NAME@CIDR:PORT: where some of them may lead besides
  std::vector<PublishedPort> published;  // which servers of the command the host's loopback reaches
  Network network = Network::own;
  std::string declared = {};  // who declared them, for sentences; no part of the JSON or the digest
  Limits limits;
  std::vector<LimitSource> lowered_by = {};  // for sentences as well
  unsigned inside_uid = 1000;
  unsigned inside_gid = 1000;
  unsigned umask = 022;
  bool terminal = false;   // a pseudo terminal of ours instead of pipes
  bool debugging = false;  // ptrace of the own tree
  bool plain_directory =
      false;  // no link leads to `directory`, which was judged: one that does by now refuses
};

// NAME=VALUE of all variables, with the values of secrets: for the start of the command, never to be shown or
// stored.
std::vector<std::string> environment_words(const ConfinementPlan& plan);

// Canonical JSON: equal plans give equal bytes.
std::string to_json(const ConfinementPlan& plan);
// "sha256:..." over that JSON, and the exact bytes of what it cannot carry.
std::string digest_of(const ConfinementPlan& plan);

// All that a digest is taken of but the command, for a caller with many commands in the same surroundings.
struct RenderedPlan {
  std::string before = {};  // of the JSON what stands before the command
  std::string after = {};   // and behind it
  std::string exact = {};   // the exact bytes of what JSON cannot carry
};
RenderedPlan render_around_command(const ConfinementPlan& plan);
// The digest of the plan that was rendered, with this command.
std::string digest_of(const RenderedPlan& around, const std::vector<std::string>& argv);

// The programs that a name may mean: itself when it has a slash, else each directory of the plan's PATH.
std::vector<std::string> program_candidates(const ConfinementPlan& plan, const std::string& name);
inline std::vector<std::string> program_candidates(const ConfinementPlan& plan) {
  return program_candidates(plan, plan.argv.front());
}

// In what each entry of a view lies: in the root itself, in a tree of the host's, or in memory of its own.
enum class Holder { root, host_tree, memory };

class Holders {
 public:
  // The plan must outlive this.
  explicit Holders(const ConfinementPlan& plan);
  Holder of(const ViewEntry& entry) const;

 private:
  std::map<std::string_view, Holder> by_target_;
};

}  // namespace cloche
