#include "confine/boxes/bwrap.hpp"

#include <initializer_list>
#include <set>

#include "base/sys/path.hpp"
#include "jail/core/wire.hpp"

namespace cloche {
namespace {

class Renderer {
 public:
  Renderer(const ConfinementPlan& plan, const BoxParts& parts) : plan_(plan), parts_(parts) {}

  std::vector<std::string> render() {
    add_namespaces();
    add_view();
    add_surroundings();
    add({"--", jail_inside(plan_)});
    const auto inner = inner_arguments(plan_, parts_.inner);
    words_.insert(words_.end(), inner.begin(), inner.end());
    return std::move(words_);
  }

 private:
  void add(std::initializer_list<std::string> words) { words_.insert(words_.end(), words); }

  void add_namespaces() {
    add({"--unshare-user", "--unshare-ipc", "--unshare-uts", "--unshare-pid"});
    add({requires_layer(plan_, LayerId::cgroup_namespace) ? "--unshare-cgroup" : "--unshare-cgroup-try"});
    if (plan_.network == Network::own) add({"--unshare-net"});
    add({"--uid", std::to_string(plan_.inside_uid), "--gid", std::to_string(plan_.inside_gid)});
    add({"--hostname", wire::sandbox_hostname});
  }

  void add_view() {
    if (has_dev(plan_)) {
      add({"--dev", "/dev"});
      sealed_.emplace_back("/dev");
      made_.insert("/dev");
    }
    for (size_t at = 0; at < plan_.view.size(); ++at) {
      const ViewEntry& entry = plan_.view[at];
      if (is_made_in_dev(entry) || is_shown_by_its_tree(plan_, entry)) continue;
      add_parents(entry);
      add_entry(entry, at);
    }
    add({"--ro-bind", parts_.jail, jail_inside(plan_)});
    // Last, because each mount above needs a place, and bubblewrap makes it: read-only is what is in memory
    // and may not be written.
    for (const auto& target : sealed_) add({"--remount-ro", target});
    add({"--remount-ro", "/"});
  }

  // Left to itself bubblewrap makes them 0700.
  void add_parents(const ViewEntry& entry) {
    for (const auto& parent : parents_to_make(plan_, entry)) {
      if (made_.insert(parent).second) add({"--perms", "0755", "--dir", parent});
    }
    made_.insert(entry.target);
  }

  void add_entry(const ViewEntry& entry, size_t at) {
    switch (entry.kind) {
      case EntryKind::directory: return add({"--perms", octal(entry.mode), "--dir", entry.target});
      case EntryKind::link: return add({"--symlink", entry.source, entry.target});
      case EntryKind::text: return add({"--ro-bind", source_at(parts_.texts, at, ""), entry.target});
      case EntryKind::tree: return add_tree(entry, at);
      case EntryKind::tmpfs:
        add({"--perms", octal(entry.mode), "--size", std::to_string(entry.size_bytes), "--tmpfs",
             entry.target});
        if (!may_write(entry.access)) sealed_.push_back(entry.target);
        return;
      case EntryKind::proc:
        add({"--proc", entry.target});
        sealed_.push_back(entry.target);
        return;
      case EntryKind::terminals: return;  // only --dev makes them
      case EntryKind::queues:
        add({"--mqueue", entry.target});
        if (!may_write(entry.access)) sealed_.push_back(entry.target);
        return;
    }
  }

  void add_tree(const ViewEntry& entry, size_t at) {
    const std::string word = entry.access == Access::device ? "--dev-bind"
                             : may_write(entry.access)      ? "--bind"
                                                            : "--ro-bind";
    add({word, source_at(parts_.trees, at, entry.source), entry.target});
  }

  void add_surroundings() {
    add({"--clearenv"});
    for (const auto& [name, value] : plan_.environment) add({"--setenv", name, value});
    for (const auto& secret : plan_.secrets) add({"--setenv", secret.name, secret.value});
    // PWD comes along with it: bubblewrap sets it, and to the truth.
    add({"--chdir", plan_.directory});
    // As process 1 the jail reaps, and the whole call ends with it.
    add({"--cap-drop", "ALL", "--new-session", "--die-with-parent", "--as-pid-1"});
  }

  const ConfinementPlan& plan_;
  const BoxParts& parts_;
  std::vector<std::string> words_;
  std::vector<std::string> sealed_;
  std::set<std::string> made_;
};

// Bubblewrap has no noexec, so Landlock holds it, and Landlock cannot take away below what it gives. Where
// the outer tree is writable that is no loss: a copy would run there anyway.
const ViewEntry* runnable_around(const ConfinementPlan& plan, const ViewEntry& entry) {
  const bool never_runs = (entry.kind == EntryKind::tree || entry.kind == EntryKind::tmpfs) &&
                          (entry.access == Access::read || entry.access == Access::write);
  if (!never_runs) return nullptr;
  for (const auto& outer : plan.view) {
    if (&outer != &entry && outer.access == Access::run && outer.kind == EntryKind::tree &&
        is_beneath(outer.target, entry.target))
      return &outer;
  }
  return nullptr;
}

}  // namespace

std::vector<std::string> bwrap_arguments(const ConfinementPlan& plan, const BoxParts& parts) {
  return Renderer(plan, parts).render();
}

Result<void> check_bwrap_words(const std::vector<std::string>& words) {
  constexpr size_t around = 8;  // its name, --args and a number, and some to spare
  if (words.size() + around <= most_bwrap_words) return {};
  return refusal("bubblewrap takes " + std::to_string(most_bwrap_words) +
                     " words at most, and the command and what it is shown are " +
                     std::to_string(words.size()),
                 "use --backend native, or put the arguments into a file");
}

std::vector<MissingLayer> bwrap_missing(const ConfinementPlan& plan, const BoxParts& parts, Counted counted) {
  std::vector<MissingLayer> missing;
  const auto lacks = [&](LayerId layer, std::string why, std::string fix) {
    if (requires_layer(plan, layer)) missing.push_back({layer, std::move(why), std::move(fix)});
  };
  if (parts.privileged) {
    lacks(LayerId::user_ids, "run by root, bubblewrap maps the command to root itself",
          "run it as an ordinary user");
  }
  for (const auto& entry : plan.view) {
    if (const ViewEntry* outer = runnable_around(plan, entry)) {
      lacks(LayerId::mount_view,
            "bubblewrap has no noexec, and " + entry.target + " lies in " + outer->target +
                ", where programs run",
            "show it at another place with SRC:DST");
      break;
    }
  }
  if (!plan.hosts.empty()) {
    lacks(LayerId::net_namespace, "bubblewrap shares the whole network of the host or none of it",
          "leave the network out");
  }
  if (parts.inner.landlock_abi < least_landlock_abi)
    lacks(LayerId::landlock, "without Landlock nothing keeps what is writable from being executed",
          "boot Linux 5.19 or newer with landlock in the lsm= list");
  if (counted == Counted::by_none)
    lacks(LayerId::memory_limit, "the memory of a box that Cloche does not start is not counted",
          "start it in a cgroup, as systemd-run --user --scope -p MemoryMax=SIZE does");
  if (parts.privileged)
    lacks(LayerId::process_limit, "the kernel does not count the processes of root",
          "run it as an ordinary user");
  return missing;
}

}  // namespace cloche
