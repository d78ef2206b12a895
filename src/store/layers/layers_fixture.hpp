// For unit tests: an upper and a lower layer that are made by hand, as an overlay would leave them.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/scratch.hpp"
#include "base/sys/sys.hpp"
#include "store/layers/layer_reader.hpp"

namespace cloche {

inline void write_text(const std::string& path, std::string_view text) {
  const auto fd = sys::open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  ASSERT_TRUE(fd.ok()) << path;
  ASSERT_TRUE(sys::write_all(fd.value().get(), text).ok());
}

// Of all files that a test does not date itself: two layers then agree.
inline void set_time(const std::string& path, int64_t seconds = 1'000'000'000) {
  const timespec times[2] = {{seconds, 0}, {seconds, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW), 0) << path;
}

inline void set_attribute(const std::string& path, const std::string& name, std::string_view value) {
  ASSERT_EQ(::lsetxattr(path.c_str(), name.c_str(), value.data(), value.size(), 0), 0) << path << " " << name;
}

struct Layers {
  Scratch scratch;
  std::string lower = scratch.path + "/lower/";
  std::string upper = scratch.path + "/upper/";
  OwnedFd lower_fd;
  OwnedFd upper_fd;

  Layers() {
    for (const std::string& layer : {lower, upper}) EXPECT_EQ(::mkdir(layer.c_str(), 0755), 0);
    lower_fd = sys::open(lower, O_RDONLY | O_DIRECTORY).value();
    upper_fd = sys::open(upper, O_RDONLY | O_DIRECTORY).value();
  }
  // What a test closed has to be opened before it can be removed.
  ~Layers() {
    open_tree(lower);
    open_tree(upper);
  }
  Layers(const Layers&) = delete;
  Layers& operator=(const Layers&) = delete;

  static void open_tree(const std::string& directory) {
    ::chmod(directory.c_str(), 0755);
    std::error_code failed;
    for (std::filesystem::directory_iterator entry(directory, failed), end; entry != end;
         entry.increment(failed)) {
      if (failed) return;
      if (entry->is_directory(failed) && !entry->is_symlink(failed)) open_tree(entry->path().string());
    }
  }

  // In both layers, equal.
  void directory(const std::string& path) const {
    for (const std::string& layer : {lower, upper}) ASSERT_EQ(::mkdir((layer + path).c_str(), 0755), 0);
  }
  void below(const std::string& path, std::string_view text) const { dated(lower + path, text); }
  void above(const std::string& path, std::string_view text) const { dated(upper + path, text); }
  void whiteout(const std::string& path) const {
    ASSERT_EQ(::mknod((upper + path).c_str(), S_IFCHR, makedev(0, 0)), 0);
  }
  static void dated(const std::string& path, std::string_view text) {
    write_text(path, text);
    set_time(path);
  }

  TreeLayers tree() const {
    return {
        {scratch.path + "/lower", 1, 2}, lower_fd.get(), upper_fd.get(), OverlayAttributes::user_namespace};
  }
  ReadChanges read(const ReadLimits& limits = {}) const {
    const TreeLayers trees[] = {tree()};
    auto read = read_changes(trees, limits);
    EXPECT_TRUE(read.ok()) << (read.ok() ? "" : describe(read.error()));
    return read.ok() ? std::move(read).value() : ReadChanges{};
  }
  // "created a", "changed b contents times", "deleted c/d": all of it, in order.
  std::vector<std::string> list(const ReadLimits& limits = {}) const {
    const ReadChanges read_now = read(limits);
    for (const ReadFinding& finding : read_now.findings)
      ADD_FAILURE() << name_of(finding.problem) << finding.path << finding.what;
    std::vector<std::string> lines;
    for (const Change& change : read_now.set.changes) lines.push_back(line_of(change));
    return lines;
  }
  static std::string line_of(const Change& change) {
    std::string line = std::string(name_of(change.kind)) + " " + change.path;
    if (change.differs.kind) line += " kind";
    if (change.differs.contents) line += " contents";
    if (change.differs.mode) line += " mode";
    if (change.differs.owner) line += " owner";
    if (change.differs.times) line += " times";
    if (change.differs.attributes) line += " attributes";
    return line;
  }
};

}  // namespace cloche
