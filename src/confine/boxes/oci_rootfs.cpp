#include "confine/boxes/oci_rootfs.hpp"

#include <set>

#include "base/sys/path.hpp"
#include "confine/boxes/box_parts.hpp"

namespace cloche {

bool is_part_of_root(const ViewEntry& entry) {
  return entry.kind == EntryKind::tmpfs && entry.access == Access::read;
}

bool lies_in_root(const ConfinementPlan& plan, const ViewEntry& entry) {
  const ViewEntry* holder = holder_of(plan, entry);
  return holder == nullptr || (is_part_of_root(*holder) && lies_in_root(plan, *holder));
}

bool lies_in_proc(const ConfinementPlan& plan, const ViewEntry& entry) {
  const ViewEntry* holder = holder_of(plan, entry);
  return holder != nullptr && holder->kind == EntryKind::proc;
}

namespace {

bool lies_in_host_tree(const ConfinementPlan& plan, const ViewEntry& entry) {
  const ViewEntry* holder = holder_of(plan, entry);
  return holder != nullptr && (holder->kind == EntryKind::tree || lies_in_host_tree(plan, *holder));
}

class Rootfs {
 public:
  Rootfs(const ConfinementPlan& plan, BoxKernel kernel)
      : plan_(plan), for_gofer_(kernel == BoxKernel::gvisor) {}

  std::vector<RootfsEntry> entries() {
    for (const auto& entry : plan_.view) {
      if (is_made_in_dev(entry)) continue;
      if (lies_in_root(plan_, entry)) {
        add(entry);
      } else if (is_placed_by_gofer(entry)) {
        add_place(entry);
      }
    }
    if (has_dev(plan_)) add_directory("/dev", 0755);
    const ViewEntry jail{.target = jail_inside(plan_)};
    if (lies_in_root(plan_, jail) || for_gofer_) add_file(jail.target, "", 0644);
    return std::move(entries_);
  }

 private:
  using Kind = RootfsEntry::Kind;

  void add(const ViewEntry& entry) {
    // Beneath a tmpfs of the runtime's own, which makes what it mounts there.
    if (has_dev(plan_) && is_beneath("/dev", entry.target)) {
      if (is_placed_by_gofer(entry)) add_place(entry);
      return;
    }
    switch (entry.kind) {
      case EntryKind::link:
        add_parents(entry.target);
        entries_.push_back({Kind::link, entry.target, entry.source, 0777});
        return;
      case EntryKind::text: return add_file(entry.target, entry.content, entry.mode);
      case EntryKind::tree: return add_place(entry);
      case EntryKind::directory: return add_directory(entry.target, entry.mode);
      // The user who makes the root directory owns it, and need not be the one that the command runs as: what
      // is the command's own alone elsewhere is there for it to read.
      case EntryKind::tmpfs:
        return add_directory(entry.target,
                             is_part_of_root(entry) || for_gofer_ ? entry.mode | 0555U : entry.mode);
      case EntryKind::proc:
      case EntryKind::terminals:
      case EntryKind::queues: return add_directory(entry.target, 0755);
    }
  }

  // A tree or a text that it binds, and no place for it in a tree of the host's.
  bool is_placed_by_gofer(const ViewEntry& entry) const {
    const bool bound = entry.kind == EntryKind::tree || entry.kind == EntryKind::text;
    return for_gofer_ && bound && !lies_in_host_tree(plan_, entry) && !lies_in_proc(plan_, entry);
  }

  void add_place(const ViewEntry& entry) {
    const bool file = entry.file || entry.kind == EntryKind::text;
    file ? add_file(entry.target, "", 0644) : add_directory(entry.target, 0755);
  }

  void add_parents(const std::string& path) {
    const std::string parent(parent_of(path));
    if (parent != "/") add_directory(parent, 0755);
  }

  void add_directory(const std::string& path, unsigned mode) {
    if (!made_.insert(path).second) return;
    add_parents(path);
    entries_.push_back({Kind::directory, path, {}, mode});
  }

  void add_file(const std::string& path, const std::string& content, unsigned mode) {
    add_parents(path);
    entries_.push_back({Kind::file, path, content, mode});
  }

  const ConfinementPlan& plan_;
  bool for_gofer_;
  std::vector<RootfsEntry> entries_;
  std::set<std::string> made_;
};

}  // namespace

std::vector<RootfsEntry> rootfs_entries(const ConfinementPlan& plan, BoxKernel kernel) {
  return Rootfs(plan, kernel).entries();
}

std::vector<size_t> texts_beside_rootfs(const ConfinementPlan& plan) {
  std::vector<size_t> texts = texts_in(plan);
  std::erase_if(texts, [&](size_t at) { return lies_in_root(plan, plan.view[at]); });
  return texts;
}

}  // namespace cloche
