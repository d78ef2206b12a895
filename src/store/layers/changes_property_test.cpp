// Random histories, run once on a plain copy of a tree and once in an overlay on top of another copy. What is
// read from the overlay's upper layer must be what a comparison of the two trees finds.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <random>
#include <set>

#include "base/sys/directory.hpp"
#include "store/layers/layer_entry.hpp"
#include "store/layers/layers_fixture.hpp"

namespace cloche {
namespace {

constexpr unsigned seed = 20240519;
constexpr int histories = 400;
constexpr int steps = 24;

enum class Step {
  write,
  append,
  truncate,
  same_size,
  chmod,
  rename,
  rename_new_directory,
  unlink,
  remove_tree,
  replace_tree,
  make_directory,
  symlink,
  hard_link,
  touch,
  attribute,
  forged_attribute,
  file_by_directory,
  fifo,
  close_directory,
  touch_back,
  count,
};

struct Action {
  Step step;
  std::string path;
  std::string other;
  unsigned number;
};

std::string random_path(std::mt19937& random) {
  static const char* const names[] = {"a", "b", "c\n\xff"};
  std::string path = names[random() % 3];
  while (random() % 3 != 0 && path.size() < 12) path += std::string("/") + names[random() % 3];
  return path;
}

// Directories of the lower layer cannot be renamed on an overlay (EXDEV), so those that are have names of
// their own.
std::vector<Action> random_history(std::mt19937& random) {
  std::vector<Action> history;
  unsigned fresh = 0;
  for (int i = 0; i < steps; ++i) {
    Action action{static_cast<Step>(random() % static_cast<unsigned>(Step::count)), random_path(random),
                  random_path(random), static_cast<unsigned>(random())};
    if (action.step == Step::rename_new_directory) {
      action.path = "new" + std::to_string(fresh++);
      action.other += "/new" + std::to_string(fresh++);
    }
    history.push_back(std::move(action));
  }
  return history;
}

void put(const std::string& path, int flags, std::string_view text) {
  const OwnedFd fd(::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0644));
  if (fd) (void)sys::write_all(fd.get(), text);
}

bool is_directory(const std::string& path) {
  struct stat seen {};
  return ::lstat(path.c_str(), &seen) == 0 && S_ISDIR(seen.st_mode);
}

void date(const std::string& path, int64_t seconds) {
  const timespec times[2] = {{seconds, 0}, {seconds, 0}};
  ::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW);
}

// A step that cannot be done is not done, in both trees alike.
void play(const Action& action, const std::string& root) {
  const std::string path = root + action.path;
  const std::string other = root + action.other;
  const std::string text = "text " + std::to_string(action.number % 1000);
  const auto remove_all = [&] {
    std::error_code ignored;
    if (is_directory(path)) std::filesystem::remove_all(path, ignored);
  };
  switch (action.step) {
    case Step::write: return put(path, O_CREAT | O_TRUNC, text);
    case Step::append: return put(path, O_APPEND, text);
    case Step::truncate: return (void)::truncate(path.c_str(), action.number % 12);
    case Step::same_size: return put(path, 0, "X");
    case Step::chmod: return (void)::chmod(path.c_str(), 0700 | (action.number & 077U));
    case Step::rename:
      if (!is_directory(path)) ::rename(path.c_str(), other.c_str());
      return;
    case Step::rename_new_directory:
      ::mkdir(path.c_str(), 0755);
      put(path + "/in", O_CREAT, text);
      return (void)::rename(path.c_str(), other.c_str());
    case Step::unlink: return (void)::unlink(path.c_str());
    case Step::remove_tree: return remove_all();
    case Step::replace_tree:
      remove_all();
      ::mkdir(path.c_str(), 0755);
      return put(path + "/a", O_CREAT, text);
    case Step::make_directory: return (void)::mkdir(path.c_str(), 0750);
    case Step::symlink: return (void)::symlink(text.c_str(), path.c_str());
    case Step::hard_link: return (void)::link(path.c_str(), other.c_str());
    case Step::touch: return date(path, 1'000'000'000 + action.number % 2);
    case Step::attribute: return (void)::lsetxattr(path.c_str(), "user.x", text.data(), action.number % 4, 0);
    case Step::forged_attribute: return (void)::lsetxattr(path.c_str(), "user.overlay.opaque", "y", 1, 0);
    case Step::file_by_directory:
      if (::unlink(path.c_str()) == 0) ::mkdir(path.c_str(), 0755);
      return;
    case Step::fifo: return (void)::mkfifo(path.c_str(), 0600);
    case Step::close_directory:
      if (is_directory(path)) ::chmod(path.c_str(), 0);
      return;
    case Step::touch_back: put(path, 0, "Y"); return date(path, 1'000'000'000);
    case Step::count: return;
  }
}

void make_tree(std::mt19937& random, const std::string& root) {
  ::mkdir(root.c_str(), 0755);
  std::vector<std::string> made;
  for (int i = 0; i < 30; ++i) {
    const std::string path = root + random_path(random);
    switch (random() % 6) {
      case 0:
      case 1: ::mkdir(path.c_str(), random() % 2 == 0 ? 0755 : 0700); break;
      case 2: (void)::symlink("elsewhere", path.c_str()); break;
      case 3: (void)::lsetxattr(path.c_str(), "user.x", "1", 1, 0); [[fallthrough]];
      default: put(path, O_CREAT, "text " + std::to_string(random() % 1000)); break;
    }
    made.push_back(path);
  }
  for (const std::string& path : made) date(path, 1'000'000'000);
}

struct Seen {
  FileState state;
  std::string bytes;
  std::map<std::string, std::string> attributes;
};

// The comparison has a reader of its own: by paths, and with the right to open what is closed.
void look(const std::string& root, const std::string& path, std::map<std::string, Seen>& into) {
  const std::string whole = root + path;
  struct stat found {};
  ASSERT_EQ(::lstat(whole.c_str(), &found), 0) << whole;
  Seen seen;
  seen.state = state_of({AT_FDCWD, whole.c_str()}, found);
  if (S_ISDIR(found.st_mode)) ::chmod(whole.c_str(), 0700);
  if (S_ISREG(found.st_mode)) seen.bytes = sys::read_file(whole).value();
  char value[64];
  const ssize_t length = ::lgetxattr(whole.c_str(), "user.x", value, sizeof value);
  if (length >= 0) seen.attributes["user.x"] = std::string(value, static_cast<size_t>(length));
  into.emplace(path, std::move(seen));
  if (!S_ISDIR(found.st_mode)) return;
  for (const std::string& name : names_in(whole)) look(root, path.empty() ? name : path + "/" + name, into);
}

// What two runs cannot have in common: the time of a write, the times of directories, and how many names a
// file has, because a copy that the overlay made has none of its other names.
FileState plain(FileState state) {
  constexpr int64_t the_present = 1'500'000'000'000'000'000;
  if (state.kind == FileKind::directory || state.modified_ns > the_present) state.modified_ns = 0;
  state.names = 1;
  return state;
}

std::string line_of(Change change) {
  std::string line = Layers::line_of(change);
  for (const auto& state : {change.before, change.after}) {
    if (!state) continue;
    const FileState it = plain(*state);
    line += " [" + std::string(name_of(it.kind)) + " " + std::to_string(it.mode) + " " +
            std::to_string(it.uid) + " " + std::to_string(it.size) + " " + std::to_string(it.modified_ns) +
            " " + it.link + "]";
  }
  return line;
}

Difference difference(const Seen& before, const Seen& after) {
  Difference differs;
  differs.mode = before.state.mode != after.state.mode;
  differs.kind = before.state.kind != after.state.kind;
  if (differs.kind) {
    differs.contents = true;
    return differs;
  }
  differs.contents = before.bytes != after.bytes || before.state.link != after.state.link;
  differs.times =
      before.state.kind != FileKind::directory && before.state.modified_ns != after.state.modified_ns;
  differs.attributes = before.attributes != after.attributes;
  return differs;
}

std::vector<std::string> compare_trees(const std::string& before, const std::string& after) {
  std::map<std::string, Seen> old_tree;
  std::map<std::string, Seen> new_tree;
  look(before, "", old_tree);
  look(after, "", new_tree);
  std::set<std::string> paths;
  for (const auto& [path, seen] : old_tree) paths.insert(path);
  for (const auto& [path, seen] : new_tree) paths.insert(path);
  std::vector<std::string> lines;
  for (const std::string& path : paths) {
    const auto was = old_tree.find(path);
    const auto is = new_tree.find(path);
    Change change{0, path, ChangeKind::changed};
    if (was != old_tree.end()) change.before = was->second.state;
    if (is != new_tree.end()) change.after = is->second.state;
    if (!change.before) change.kind = ChangeKind::created;
    if (!change.after) change.kind = ChangeKind::deleted;
    if (change.kind == ChangeKind::changed) change.differs = difference(was->second, is->second);
    if (change.kind != ChangeKind::changed || change.differs.any()) lines.push_back(line_of(change));
  }
  return lines;
}

bool write_own(const char* file, const std::string& text) {
  const OwnedFd fd(::open(file, O_WRONLY | O_CLOEXEC));
  return fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// Exit codes of the process that plays.
constexpr int played = 0;
constexpr int no_namespace = 40;
constexpr int no_overlay = 41;

bool enter_namespaces(OverlayAttributes attributes) {
  const std::string uid = "0 " + std::to_string(::geteuid()) + " 1";
  const std::string gid = "0 " + std::to_string(::getegid()) + " 1";
  if (attributes == OverlayAttributes::user_namespace) {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    if (!write_own("/proc/self/uid_map", uid) || !write_own("/proc/self/setgroups", "deny") ||
        !write_own("/proc/self/gid_map", gid))
      return false;
  } else if (::unshare(CLONE_NEWNS) != 0) {
    return false;
  }
  return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

bool mount_overlay(OverlayAttributes attributes, const std::string& base) {
  std::string options = "lowerdir=" + base + "/lower,upperdir=" + base + "/upper,workdir=" + base + "/work";
  options += ",redirect_dir=nofollow,metacopy=off,index=off,xino=off,volatile";
  if (attributes == OverlayAttributes::user_namespace) options += ",userxattr";
  return ::mount("overlay", (base + "/merged").c_str(), "overlay", 0, options.c_str()) == 0;
}

std::string base_of(const std::string& place, int history) { return place + "/" + std::to_string(history); }

// In a process of its own, because both runs must have the same rights over files, and those of the mount.
int play_all(const std::string& place, OverlayAttributes attributes) {
  ::umask(022);
  if (!enter_namespaces(attributes)) return no_namespace;
  for (int i = 0; i < histories; ++i) {
    const std::string base = base_of(place, i);
    ::mkdir(base.c_str(), 0755);
    for (const char* part : {"/upper", "/work", "/merged"}) ::mkdir((base + part).c_str(), 0755);
    for (const char* part : {"/lower/", "/plain/"}) {
      std::mt19937 tree(seed + static_cast<unsigned>(i));
      make_tree(tree, base + part);
    }
    if (!mount_overlay(attributes, base)) return no_overlay;
    for (const char* part : {"/plain/", "/merged/"}) {
      std::mt19937 random(seed * 31 + static_cast<unsigned>(i));
      for (const Action& action : random_history(random)) play(action, base + part);
    }
    if (::umount2((base + "/merged").c_str(), 0) != 0) return no_overlay;
  }
  return played;
}

void expect_exact_list(const std::string& base, OverlayAttributes attributes, ChangeCounts& all) {
  const auto lower = sys::open(base + "/lower", O_RDONLY | O_DIRECTORY).value();
  const auto upper = sys::open(base + "/upper", O_RDONLY | O_DIRECTORY).value();
  const TreeLayers trees[] = {{{}, lower.get(), upper.get(), attributes}};
  const auto read = read_changes(trees, {});
  ASSERT_TRUE(read.ok()) << describe(read.error());
  for (const ReadFinding& finding : read.value().findings)
    ADD_FAILURE() << name_of(finding.problem) << " " << finding.path << " " << finding.what;
  std::vector<std::string> lines;
  for (const Change& change : read.value().set.changes) lines.push_back(line_of(change));
  EXPECT_EQ(lines, compare_trees(base + "/lower/", base + "/plain/"));
  const ChangeCounts counts = count(read.value().set);
  all.created += counts.created;
  all.changed += counts.changed;
  all.deleted += counts.deleted;
}

// What the process that plays exited with.
int run_histories_in(const std::string& place, OverlayAttributes attributes) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(play_all(place, attributes));
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) != played) return WEXITSTATUS(status);
  ChangeCounts all;
  for (int i = 0; i < histories && !testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE("history " + std::to_string(i) + " of seed " + std::to_string(seed));
    expect_exact_list(base_of(place, i), attributes, all);
  }
  // Histories of which every step failed would prove nothing.
  for (const uint64_t counted : {all.created, all.changed, all.deleted}) EXPECT_GT(counted, 100U);
  return played;
}

// In memory where that can be: a busy disk takes forty times as long. Before Linux 6.6 a tmpfs has no
// attributes for an overlay.
void run_histories(OverlayAttributes attributes) {
  testing::Test::RecordProperty("seed", static_cast<int>(seed));
  int code = no_overlay;
  for (const std::string& parent : {std::string("/dev/shm/"), testing::TempDir()}) {
    std::string place = parent + "cloche-unit-XXXXXX";
    if (::mkdtemp(place.data()) == nullptr) continue;
    code = run_histories_in(place, attributes);
    Layers::open_tree(place);
    std::filesystem::remove_all(place);
    if (code != no_overlay) break;
  }
  if (code == no_namespace) GTEST_SKIP() << "skipped: no user or mount namespaces";
  if (code == no_overlay) GTEST_SKIP() << "skipped: no overlay can be mounted here";
  EXPECT_EQ(code, played);
}

TEST(ChangesProperty, ListIsTheDifferenceOfTheTrees) { run_histories(OverlayAttributes::user_namespace); }

TEST(ChangesProperty, ListIsTheDifferenceOfTheTreesAsRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "skipped: only root mounts an overlay without a user namespace";
  run_histories(OverlayAttributes::privileged);
}

}  // namespace
}  // namespace cloche
