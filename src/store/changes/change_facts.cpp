#include "store/changes/change_facts.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/sys/sys.hpp"
#include "policy/changes/changed_directories.hpp"
#include "policy/protected/folded_name.hpp"
#include "policy/protected/git_config.hpp"
#include "policy/protected/git_index.hpp"
#include "policy/protected/git_resolutions.hpp"
#include "store/changes/change_attributes.hpp"
#include "store/changes/git_around.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

constexpr size_t most_strategy_bytes = 8192;

// Whether git or the protected set may care for a name, wherever it is.
bool has_meaning(const std::string& name) {
  if (is_name_of_git(name)) return true;
  const NameMatch match = match_name({}, name);
  return match.member != nullptr || !match.trail.empty() || (name.size() >= 4 && folded_name(name) == ".git");
}

// A row of the protected set may have several names, and so may a place in a git directory: below a name that
// begins one every name counts.
bool lies_below_meaning(std::string_view path) {
  while (!path.empty()) {
    const size_t slash = path.find('/');
    if (has_meaning(std::string(path.substr(0, slash)))) return true;
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }
  return false;
}

constexpr const char* too_slow = "there was not enough time to judge them";

class Collector {
 public:
  Collector(const ChangeSet& set, const std::vector<TreeLayers>& layers, const GitSources& git,
            const ChangeFactLimits& limits)
      : set_(set),
        layers_(layers),
        limits_(limits),
        directories_(set, facts_),
        trees_(set, layers, directories_),
        git_(set, trees_, directories_, git, facts_) {}

  ChangeFacts collect();

 private:
  void add_directories();
  void add_directory(const TreePath& where);
  void add_change(const Change& change);
  void add_member(const Change& change, const Membership& member);
  void add_text(const Change& change, size_t most);
  void add_index(const Change& change);
  void add_attributes(const Change& change);
  std::vector<AclEntry> handed_on(const Change& change);
  void add_digests();
  bool is_suspicious(const Change& change);
  void count_files();
  int parent_in_upper(const Change& change);
  void stop(const char* why) {
    if (!facts_.too_much) facts_.too_much = why;
  }

  const ChangeSet& set_;
  const std::vector<TreeLayers>& layers_;
  const ChangeFactLimits& limits_;
  ChangeFacts facts_;  // before what refers to it
  ChangedDirectories directories_;
  BeforeAndAfter trees_;
  GitAround git_;
  uint64_t names_ = 0;
  size_t texts_ = 0;
  std::optional<TreePath> held_;  // the directory of the upper layer that is open
  OwnedFd held_fd_;
};

void Collector::add_directory(const TreePath& where) {
  if (sys::monotonic_ms() >= limits_.until_ms) return stop(too_slow);
  if (facts_.directories.size() >= limits_.directories)
    return stop("the call changed too many directories to be judged");
  const OpenedDirectory opened = open_directory(layers_[where.tree].lower, where.path);
  if (opened.barrier == Barrier::absent) return;
  struct stat seen {};
  if (opened.barrier != Barrier::none || ::fstat(opened.fd.get(), &seen) != 0)
    return stop("a directory around the changes cannot be read");
  DirectoryAround around{.mode = seen.st_mode & 07777U};
  const bool takes_all = lies_below_meaning(where.path);
  const bool read = for_each_name(opened.fd.get(), [&](const dirent& entry) {
    if (++names_ > limits_.names) stop("the directories around the changes hold too many names");
    if (takes_all || has_meaning(entry.d_name))
      around.names.push_back({entry.d_name, kind_in(opened.fd.get(), entry)});
    return !facts_.too_much;
  });
  if (!read) stop("a directory around the changes cannot be read");
  facts_.directories.emplace(where, std::move(around));
}

// Of a directory that came, went or was replaced every name is in the set. The top of each tree is looked at
// also where nothing changed beneath it: the repository there may name what changed in another tree.
void Collector::add_directories() {
  std::set<TreePath> seen;
  const auto look = [&](const TreePath& where) {
    if (facts_.too_much || !seen.insert(where).second) return false;
    const Change* own = directories_.find(where.tree, where.path);
    const bool is_listed = own != nullptr && !(is_directory(own->before) && is_directory(own->after));
    if (!is_listed) add_directory(where);
    return !where.path.empty();
  };
  for (size_t tree = 0; tree < set_.trees.size(); ++tree) look({tree, ""});
  for (const auto& change : set_.changes)
    for (TreePath at = change.around(); look(at);) at.path.resize(directory_in(at.path).size());
}

void Collector::add_text(const Change& change, size_t most) {
  const TreePath where = change.where();
  if (facts_.texts_after.contains(where) || facts_.texts_before.contains(where)) return;
  if (++texts_ > limits_.texts) return stop("the call changed too many files of git's to be judged");
  if (is_kind(change.before, FileKind::file)) {
    if (auto text = trees_.read(where, Side::before, most)) facts_.texts_before[where] = *std::move(text);
  }
  if (is_kind(change.after, FileKind::file)) {
    if (auto text = trees_.read(where, Side::after, most)) facts_.texts_after[where] = *std::move(text);
  }
}

// What it was before says nothing: every path in it counts.
void Collector::add_index(const Change& change) {
  const TreePath where = change.where();
  if (!is_kind(change.after, FileKind::file) || facts_.texts_after.contains(where)) return;
  if (++texts_ > limits_.texts) return stop("the call changed too many files of git's to be judged");
  if (auto text = trees_.read(where, Side::after, max_git_index_bytes))
    facts_.texts_after[where] = *std::move(text);
  git_.add_index(change);
}

void Collector::add_member(const Change& change, const Membership& member) {
  switch (member.rule) {
    case MemberRule::git_config:
      add_text(change, max_git_config_bytes);
      git_.add_working_tree(change);
      git_.add_remotes(change);
      break;
    case MemberRule::git_todo: add_text(change, max_rebase_todo_bytes); break;
    case MemberRule::git_strategy: add_text(change, most_strategy_bytes); break;
    case MemberRule::git_index: add_index(change); break;
    case MemberRule::git_resolutions:
      add_text(change, max_merge_rr_bytes);
      git_.add_resolutions(change);
      break;
    case MemberRule::git_link:
    case MemberRule::git_pointer:
      if (++texts_ > limits_.texts) return stop("the call changed too many files of git's to be judged");
      git_.add_pointer(change, member.rule == MemberRule::git_link ? "gitdir: " : "");
      break;
    case MemberRule::always:
      if (is_gitmodules(name_in(change.path))) add_text(change, max_git_config_bytes);
      break;
    default: break;
  }
}

int Collector::parent_in_upper(const Change& change) {
  TreePath around = change.around();
  if (held_ != around) {
    held_fd_ = open_descendant(layers_[change.tree].upper, around.path, O_PATH | O_DIRECTORY);
    held_ = std::move(around);
  }
  return held_fd_.get();
}

// What the directory around a new file hands on: its default list, to the file and, of a directory, further.
std::vector<AclEntry> Collector::handed_on(const Change& change) {
  const int around = parent_in_upper(change);
  std::vector<AclEntry> entries = rights_of(around, ".").acl;
  std::erase_if(entries, [](const AclEntry& entry) { return !entry.is_default; });
  const size_t count = entries.size();
  for (size_t i = 0; i < count; ++i) {
    AclEntry own = entries[i];
    own.is_default = false;
    entries.push_back(own);
  }
  return entries;
}

void Collector::add_attributes(const Change& change) {
  const FileKind kind = change.after->kind;
  const bool has_rights = kind == FileKind::file || kind == FileKind::directory;
  const bool may_differ = change.kind == ChangeKind::created || change.differs.attributes ||
                          change.differs.kind || change.differs.contents;
  if (!has_rights || !may_differ || change.path.empty()) return;
  const int around = parent_in_upper(change);
  const std::string name(name_in(change.path));
  RightsOfFile now = around >= 0 ? rights_of(around, name) : RightsOfFile{.is_unknown = true};
  if (now.acl.empty() && !now.has_capabilities && !now.is_unknown) return;
  AttributeFacts facts{
      .acl = std::move(now.acl), .has_capabilities = now.has_capabilities, .is_unknown = now.is_unknown};
  if (around >= 0) facts.acl_then = handed_on(change);
  if (change.before) {
    const OwnedFd lower =
        open_descendant(layers_[change.tree].lower, directory_in(change.path), O_PATH | O_DIRECTORY);
    const RightsOfFile then = lower ? rights_of(lower.get(), name) : RightsOfFile{};
    facts.acl_then.insert(facts.acl_then.end(), then.acl.begin(), then.acl.end());
  }
  facts_.attributes.emplace(change.where(), std::move(facts));
}

void Collector::add_change(const Change& change) {
  for (const Side side : {Side::before, Side::after}) {
    if (!(side == Side::before ? change.before : change.after)) continue;
    if (const auto member = directories_.membership(change.tree, change.path, side))
      add_member(change, *member);
  }
  const bool is_link = is_kind(change.after, FileKind::link) || is_kind(change.before, FileKind::link);
  if (is_link && folded_name(name_in(change.path)) == ".git") git_.add_pointer(change, "gitdir: ");
  if (!change.after) return;
  const TreePath where = change.where();
  if (change.after->kind == FileKind::link)
    facts_.links[where] = trees_.follow(trees_.absolute(where), Side::after);
  add_attributes(change);
}

bool Collector::is_suspicious(const Change& change) {
  const Side side = change.kind == ChangeKind::deleted ? Side::before : Side::after;
  if (directories_.membership(change.tree, change.path, side)) return true;
  return std::any_of(facts_.executed.begin(), facts_.executed.end(), [&](const ExecutedPath& place) {
    return place.where.tree == change.tree && is_at_or_below(place.where.path, change.path);
  });
}

// Of members, and of files that could be the same by name and size: has one only moved?
void Collector::add_digests() {
  using Look = std::pair<std::string_view, uint64_t>;
  struct CameOrWent {
    const Change& change;
    Look look;
    bool is_deleted;
  };
  std::vector<CameOrWent> files;
  std::set<Look> deleted;
  std::set<Look> created;
  for (const auto& change : set_.changes) {
    const bool is_deleted = change.kind == ChangeKind::deleted;
    const auto& state = is_deleted ? change.before : change.after;
    if (change.kind == ChangeKind::changed || !is_kind(state, FileKind::file)) continue;
    files.push_back({change, {name_in(change.path), state->size}, is_deleted});
    (is_deleted ? deleted : created).insert(files.back().look);
  }
  if (deleted.empty() || created.empty()) return;
  std::set<Look> wanted;
  for (const auto& [change, look, is_deleted] : files)
    if (deleted.contains(look) && created.contains(look) && is_suspicious(change)) wanted.insert(look);
  uint64_t bytes_left = limits_.digested_bytes;
  for (const auto& [change, look, is_deleted] : files) {
    if (!wanted.contains(look)) continue;
    auto digest = trees_.digest(change.where(), is_deleted ? Side::before : Side::after, bytes_left);
    auto& digests = is_deleted ? facts_.digests_before : facts_.digests_after;
    if (digest) digests[change.where()] = *std::move(digest);
  }
}

// Only as far as it takes to know that the deleted ones are no more than half of them.
void Collector::count_files() {
  const auto is_counted = [](const Change& change) {
    return change.tree == 0 && change.kind == ChangeKind::deleted && !is_directory(change.before);
  };
  const auto deleted =
      static_cast<uint64_t>(std::count_if(set_.changes.begin(), set_.changes.end(), is_counted));
  if (deleted == 0) return;
  uint64_t steps_left = 8 * deleted + 1000;
  std::vector<std::string> waiting = {""};
  while (!waiting.empty() && facts_.files_counted < 2 * deleted && steps_left > 0) {
    const std::string at = std::move(waiting.back());
    waiting.pop_back();
    const OwnedFd fd = open_descendant(layers_[0].lower, at, directory_flags);
    if (!fd) continue;
    for_each_name(fd.get(), [&](const dirent& entry) {
      if (kind_in(fd.get(), entry) != NameKind::directory) {
        ++facts_.files_counted;
      } else if (!is_generated_directory(entry.d_name)) {
        waiting.push_back(joined(at, entry.d_name));
      }
      return --steps_left > 0 && facts_.files_counted < 2 * deleted;
    });
  }
}

ChangeFacts Collector::collect() {
  for (const auto& tree : set_.trees) {
    RootMeaning meaning = meaning_of_tree(tree.path);
    if (are_hooks_of_repository(tree.path)) meaning.covered_by = "git runs what is in it";
    facts_.trees.push_back({std::move(meaning.trail), meaning.part, std::string(meaning.covered_by)});
  }
  add_directories();
  if (facts_.too_much) return std::move(facts_);
  git_.add_repositories();
  git_.add_made_repositories();
  git_.add_led_by_links();
  for (const auto& change : set_.changes) {
    if (sys::monotonic_ms() >= limits_.until_ms) stop(too_slow);
    if (facts_.too_much) return std::move(facts_);
    add_change(change);
  }
  git_.add_contents();
  add_digests();
  count_files();
  return std::move(facts_);
}

}  // namespace

Result<ChangeFacts> look_around_changes(const ChangeSet& set, const std::vector<TreeLayers>& layers,
                                        const GitSources& git, const ChangeFactLimits& limits) {
  if (layers.size() != set.trees.size()) return Error{.what = "the layers are not those of the change set"};
  return Collector(set, layers, git, limits).collect();
}

}  // namespace cloche
