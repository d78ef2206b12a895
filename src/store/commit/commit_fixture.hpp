// For the unit tests of commit, recovery and undo: trees as plain values, the difference of two of them, and
// an upper layer that is made by hand.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/scratch.hpp"
#include "base/sys/directory.hpp"
#include "base/sys/sys.hpp"
#include "store/commit/commit.hpp"
#include "store/commit/tree_directories.hpp"
#include "store/layers/layer_entry.hpp"

namespace cloche {

struct Node {
  FileKind kind = FileKind::file;
  std::string text = {};  // of a file its bytes, of a link what it says
  unsigned mode = 0644;
  int64_t modified_ns = 1'600'000'000'000'000'000;  // of a file

  bool operator==(const Node&) const = default;
};
inline void PrintTo(const Node& node, std::ostream* out) {
  *out << name_of(node.kind) << " " << std::oct << node.mode << std::dec << " '" << node.text << "'";
}
using Model = std::map<std::string, Node>;

inline Node a_file(std::string text, unsigned mode = 0644) { return {FileKind::file, std::move(text), mode}; }
inline Node a_directory(unsigned mode = 0755) { return {FileKind::directory, "", mode, 0}; }
inline Node a_link(std::string text) { return {FileKind::link, std::move(text), 0777, 0}; }

inline void make_node(const std::string& path, const Node& node) {
  if (node.kind == FileKind::directory) {
    ASSERT_TRUE(::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) << path;
    return;
  }
  if (node.kind == FileKind::link) {
    ASSERT_EQ(::symlink(node.text.c_str(), path.c_str()), 0);
    return;
  }
  const OwnedFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  ASSERT_TRUE(fd) << path;
  ASSERT_TRUE(sys::write_all(fd.get(), node.text).ok());
  const timespec time{node.modified_ns / 1'000'000'000, node.modified_ns % 1'000'000'000};
  const timespec times[2] = {time, time};
  ::fchmod(fd.get(), node.mode);
  ::futimens(fd.get(), times);
}

inline void set_directory_modes(const std::string& top, const Model& model) {
  for (auto at = model.rbegin(); at != model.rend(); ++at) {
    if (at->second.kind == FileKind::directory) ::chmod((top + "/" + at->first).c_str(), at->second.mode);
  }
}

inline void make_tree(const std::string& top, const Model& model) {
  for (const auto& [path, node] : model) make_node(top + "/" + path, node);
  set_directory_modes(top, model);
}

// What its owner closed is opened for the time of reading.
inline void read_tree(const std::string& top, const std::string& below, Model& model) {
  for (const auto& name : names_in(top + "/" + below)) {
    const std::string path = below.empty() ? name : below + "/" + name;
    const std::string whole = top + "/" + path;
    struct stat seen {};
    ASSERT_EQ(::lstat(whole.c_str(), &seen), 0);
    Node node{.mode = seen.st_mode & 07777U, .modified_ns = 0};
    const unsigned closed_bits = S_ISDIR(seen.st_mode) ? 0500U : 0400U;
    const bool is_closed =
        !S_ISLNK(seen.st_mode) && is_bound_by_modes() && (node.mode & closed_bits) != closed_bits;
    if (is_closed) ::chmod(whole.c_str(), node.mode | 0700U);
    if (S_ISLNK(seen.st_mode)) {
      node.kind = FileKind::link;
      node.text = sys::read_link(whole).value();
    } else if (S_ISDIR(seen.st_mode)) {
      node.kind = FileKind::directory;
      read_tree(top, path, model);
    } else {
      node.text = sys::read_file(whole, size_t{16} << 20).value();
      node.modified_ns = seen.st_mtim.tv_sec * 1'000'000'000 + seen.st_mtim.tv_nsec;
    }
    if (is_closed) ::chmod(whole.c_str(), node.mode);
    model[path] = node;
  }
}
inline Model read_tree(const std::string& top) {
  Model model;
  read_tree(top, "", model);
  return model;
}

inline FileState state_in_model(const Node& node) {
  FileState state{.kind = node.kind, .mode = node.mode, .uid = ::geteuid(), .gid = ::getegid()};
  if (node.kind == FileKind::file) state.size = node.text.size();
  if (node.kind == FileKind::link) state.link = node.text;
  state.modified_ns = node.modified_ns;
  return state;
}

inline ChangeSet difference(const Model& before, const Model& after, size_t tree = 0) {
  ChangeSet set;
  set.trees.resize(tree + 1);
  Model both = before;
  both.insert(after.begin(), after.end());
  for (const auto& [path, unused] : both) {
    const auto old = before.find(path);
    const auto fresh = after.find(path);
    Change change{.tree = tree, .path = path};
    if (old != before.end()) change.before = state_in_model(old->second);
    if (fresh != after.end()) change.after = state_in_model(fresh->second);
    if (change.before && change.after) {
      if (old->second == fresh->second) continue;
      change.kind = ChangeKind::changed;
      change.differs.kind = change.before->kind != change.after->kind;
      change.differs.contents = old->second.text != fresh->second.text;
      change.differs.mode = change.before->mode != change.after->mode;
      change.differs.times = change.before->modified_ns != change.after->modified_ns;
    } else {
      change.kind = change.after ? ChangeKind::created : ChangeKind::deleted;
    }
    set.changes.push_back(std::move(change));
  }
  return set;
}

inline std::vector<ChangeVerdict> all_committed(const ChangeSet& set) {
  return std::vector<ChangeVerdict>(set.changes.size(), ChangeVerdict{.fate = Fate::committed});
}

// Every new entry in its place, in directories with the modes that they have in the end.
inline void make_upper(const std::string& upper, const ChangeSet& set, const Model& after) {
  Model model;
  for (const Change& change : set.changes) {
    if (!change.after) continue;
    model[change.path] = after.at(change.path);
    for (size_t slash = change.path.rfind('/'); slash != std::string::npos && slash > 0;
         slash = change.path.rfind('/', slash - 1)) {
      const std::string directory = change.path.substr(0, slash);
      model[directory] = after.at(directory);
    }
  }
  make_tree(upper, model);
}

// A project, an upper layer and an undo directory on one file system.
struct CommitScene {
  Scratch scratch;
  std::string project = scratch.path + "/project";
  std::string upper = scratch.path + "/upper";
  std::string undo = scratch.path + "/undo";
  Model before;
  Model after;
  ChangeSet set;
  OwnedFd fds[3];

  CommitScene(Model from, Model to) : before(std::move(from)), after(std::move(to)) {
    for (const auto* path : {&project, &upper, &undo}) ::mkdir(path->c_str(), 0700);
    make_tree(project, before);
    set = difference(before, after);
    struct stat seen {};
    ::stat(project.c_str(), &seen);
    set.trees[0] = {project, seen.st_dev, seen.st_ino};
    make_upper(upper, set, after);
    fds[0] = hold(project);
    fds[1] = hold(upper);
    fds[2] = hold(undo);
  }
  ~CommitScene() {
    const OwnedFd top = hold(scratch.path);
    for (const auto& name : names_in(scratch.path)) EXPECT_TRUE(remove_entry(top.get(), name).ok());
  }
  static OwnedFd hold(const std::string& path) {
    return OwnedFd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }

  CommitTree tree(Transfer transfer = Transfer::rename) const {
    return {fds[0].get(), fds[1].get(), fds[2].get(), transfer};
  }
  std::vector<Step> steps() const { return plan_steps(set, all_committed(set)).steps; }
  Committed run(const CommitOptions& options = {}, Transfer transfer = Transfer::rename) const {
    const CommitTree trees[] = {tree(transfer)};
    auto committed = commit(trees, steps(), options);
    EXPECT_TRUE(committed.ok());
    return std::move(committed).value();
  }
};

inline std::string text_of(const Committed& committed) {
  constexpr const char* ends[] = {"committed", "refused", "taken back", "stuck"};
  std::string text = ends[static_cast<size_t>(committed.end)];
  for (const auto& reason : committed.reasons) text += "\n  " + reason.text();
  return text;
}

// Small trees over few names, so that two of them have much in common.
class RandomTrees {
 public:
  explicit RandomTrees(unsigned seed) : random_(seed) {}

  unsigned below(unsigned most) { return std::uniform_int_distribution<unsigned>(0, most - 1)(random_); }

  Model next() {
    Model model;
    fill(model, "", 0);
    return model;
  }

  // Most of it is as it was.
  Model changed(const Model& old) {
    Model fresh = next();
    for (const auto& [path, node] : old) {
      const size_t slash = path.rfind('/');
      const auto parent = slash == std::string::npos ? fresh.end() : fresh.find(path.substr(0, slash));
      const bool has_place =
          slash == std::string::npos || (parent != fresh.end() && parent->second.kind == FileKind::directory);
      if (!has_place || below(3) == 0) continue;
      const auto there = fresh.find(path);
      if (there != fresh.end() && there->second.kind == FileKind::directory &&
          node.kind != FileKind::directory)
        continue;  // what is in it would lose its place
      fresh[path] = node;
    }
    return fresh;
  }

 private:
  void fill(Model& model, const std::string& directory, int depth) {
    static const std::vector<std::string> names = {"a", "b-c", "\xff\n\x01", ".git", "refs"};
    static const std::vector<unsigned> modes = {0755, 0700, 0555, 0000, 0777, 0500};
    for (const auto& name : names) {
      const std::string path = directory.empty() ? name : directory + "/" + name;
      const unsigned what = below(10);
      if (what < 4) continue;
      if (what < 7) {
        static const std::vector<unsigned> file_modes = {0644, 0600, 0444, 0000, 0755};
        model[path] =
            a_file(std::string(below(20), static_cast<char>('a' + below(26))), file_modes[below(5)]);
        model[path].modified_ns += below(1000);
      } else if (what == 7) {
        model[path] = a_link("../" + names[below(4)]);
      } else if (depth < 2) {
        model[path] = a_directory(modes[below(6)]);
        fill(model, path, depth + 1);
      }
    }
  }

  std::mt19937 random_;
};

}  // namespace cloche
