#include "store/layers/conflicts.hpp"

#include <sys/mman.h>

#include "store/layers/layer_entry.hpp"
#include "store/layers/layers_fixture.hpp"
#include "store/layers/open_writers.hpp"

namespace cloche {
namespace {

using Lines = std::vector<std::string>;

std::string word_of(std::string_view what) {
  constexpr std::pair<std::string_view, const char*> words[] = {
      {conflict::changed, "changed"},
      {conflict::created, "created"},
      {conflict::deleted, "deleted"},
      {conflict::directory_replaced, "directory-replaced"},
      {conflict::open_for_writing, "open-for-writing"},
      {conflict::clock_was_set, "clock-was-set"},
      {conflict::unreadable, "unreadable"}};
  for (const auto& [sentence, word] : words)
    if (sentence == what) return word;
  return std::string(what);
}

// The lower layer is made first, then the call starts, then the test plays the call and the host.
struct Conflicted : Layers {
  CallStart began;
  OwnedFd marks = sys::open(scratch.path, O_RDONLY | O_DIRECTORY).value();
  std::vector<HeldIndex> indexes = {};

  void start() {
    auto marked = mark_start(marks.get());
    ASSERT_TRUE(marked.ok());
    began = marked.value();
  }
  Lines conflicts(const ReadChanges& changes) const {
    const TreeLayers trees[] = {tree()};
    const auto found = find_conflicts(trees, changes.set, began, indexes);
    EXPECT_TRUE(found.ok());
    Lines lines;
    for (const Conflict& conflict : found.value())
      lines.push_back(word_of(conflict.what) + " " + conflict.path);
    return lines;
  }
  Lines conflicts() const { return conflicts(read()); }
};

TEST(Conflicts, NoneWithoutTheHost) {
  Conflicted layers;
  layers.directory("d");
  layers.below("a", "1");
  layers.below("gone", "1");
  layers.below("d/in", "1");
  layers.start();
  layers.above("a", "2");
  layers.above("d/in", "2");
  layers.above("new", "2");
  layers.whiteout("gone");
  EXPECT_EQ(layers.conflicts(), Lines());
}

TEST(Conflicts, ChangedAndDeletedByTheCallAndChangedByTheHost) {
  Conflicted layers;
  std::filesystem::create_directories(layers.lower + "tree/sub");
  for (const char* name : {"a", "b", "other", "tree/sub/deep"}) layers.below(name, "1");
  layers.start();
  layers.above("a", "22");
  layers.whiteout("b");
  layers.whiteout("tree");
  write_text(layers.lower + "a", "333");
  ASSERT_EQ(::chmod((layers.lower + "b").c_str(), 0600), 0);
  write_text(layers.lower + "tree/sub/deep", "3");  // moves no directory's time
  write_text(layers.lower + "other", "3");          // the call has nothing to do with it
  EXPECT_EQ(layers.conflicts(), Lines({"changed a", "changed b", "changed tree/sub/deep"}));
}

TEST(Conflicts, TimesThatTheHostSetBack) {
  Conflicted layers;
  layers.below("a", "1");
  layers.start();
  layers.above("a", "2");
  layers.below("a", "3");
  EXPECT_EQ(layers.conflicts(), Lines({"changed a"}));
}

TEST(Conflicts, CreatedInADirectoryThatTheCallDeleted) {
  Conflicted layers;
  ASSERT_EQ(::mkdir((layers.lower + "d").c_str(), 0755), 0);
  layers.start();
  layers.whiteout("d");
  layers.below("d/new", "1");
  EXPECT_EQ(layers.conflicts(), Lines({"changed d", "changed d/new"}));
}

TEST(Conflicts, CreatedByBoth) {
  Conflicted layers;
  layers.start();
  layers.above("same", "1");
  layers.above("other", "1");
  layers.above("late", "1");
  layers.below("other", "2");
  write_text(layers.lower + "same", "1");
  const ReadChanges changes = layers.read();
  layers.below("late", "1");
  EXPECT_EQ(layers.conflicts(changes), Lines({"created late", "changed other"}));
}

TEST(Conflicts, DeletedByTheHost) {
  Conflicted layers;
  layers.below("a", "1");
  layers.below("late", "1");
  layers.directory("d");
  layers.start();
  layers.above("a", "2");
  layers.above("late", "2");
  layers.above("d/new", "2");
  for (const char* name : {"a", "d"}) set_attribute(layers.upper + name, "user.overlay.origin", "");
  std::filesystem::remove(layers.lower + "a");
  std::filesystem::remove(layers.lower + "d");
  const ReadChanges changes = layers.read();
  std::filesystem::remove(layers.lower + "late");
  EXPECT_EQ(layers.conflicts(changes), Lines({"deleted a", "deleted d", "deleted late"}));
}

TEST(Conflicts, OtherNamesInTheSameDirectory) {
  Conflicted layers;
  layers.directory("d");
  layers.below("d/a", "1");
  layers.start();
  layers.above("d/a", "2");
  layers.above("d/new", "2");
  write_text(layers.lower + "d/lock", "");
  std::filesystem::remove(layers.lower + "d/lock");
  EXPECT_EQ(layers.conflicts(), Lines());
}

TEST(Conflicts, DirectoryOnTheWayWasReplaced) {
  Conflicted layers;
  std::filesystem::create_directories(layers.upper + "src/deep");
  std::filesystem::create_directories(layers.lower + "src/deep");
  std::filesystem::create_directories(layers.lower + "prepared/deep");
  layers.below("src/deep/a", "1");
  layers.below("prepared/deep/a", "1");
  layers.start();
  layers.above("src/deep/a", "2");
  std::filesystem::rename(layers.lower + "src", layers.lower + "old");
  std::filesystem::rename(layers.lower + "prepared", layers.lower + "src");
  EXPECT_EQ(layers.conflicts(), Lines({"directory-replaced src"}));
}

TEST(Conflicts, NewFilesBesideThoseOfTheHost) {
  Conflicted layers;
  layers.directory("src");
  layers.below("src/a", "1");
  layers.start();
  layers.above("src/new", "1");
  write_text(layers.lower + "src/host", "1");
  write_text(layers.lower + "host", "1");
  EXPECT_EQ(layers.conflicts(), Lines());
  layers.above("src/a", "2");  // which may be that of another directory by now
  EXPECT_EQ(layers.conflicts(), Lines({"directory-replaced src"}));
}

// As the kernel does for root.
void note_origin(const Conflicted& layers, const std::string& directory) {
  alignas(file_handle) char room[sizeof(file_handle) + MAX_HANDLE_SZ] = {};
  auto* handle = reinterpret_cast<file_handle*>(room);
  handle->handle_bytes = MAX_HANDLE_SZ;
  int mount = 0;
  ASSERT_EQ(::name_to_handle_at(AT_FDCWD, (layers.lower + directory).c_str(), handle, &mount, 0), 0);
  std::string note = std::string("\0\xfb", 2) + static_cast<char>(21 + handle->handle_bytes) + '\0';
  note += static_cast<char>(handle->handle_type) + std::string(16, '\0');
  note.append(reinterpret_cast<const char*>(handle->f_handle), handle->handle_bytes);
  set_attribute(layers.upper + directory, "user.overlay.origin", note);
}

TEST(Conflicts, ADirectoryThatTheKernelHasNoted) {
  Conflicted layers;
  layers.directory("src");
  layers.below("src/a", "1");
  std::filesystem::create_directories(layers.lower + "prepared");
  layers.below("prepared/a", "1");
  layers.start();
  layers.above("src/a", "2");
  note_origin(layers, "src");
  write_text(layers.lower + "src/host", "1");
  write_text(layers.lower + "host", "1");
  EXPECT_EQ(layers.conflicts(), Lines());
  std::filesystem::rename(layers.lower + "src", layers.lower + "old");
  std::filesystem::rename(layers.lower + "prepared", layers.lower + "src");
  write_text(layers.lower + "src/host", "1");
  EXPECT_EQ(layers.conflicts(), Lines({"directory-replaced src"}));
}

// What the host changed in such a directory is said too: an operator who decides on it has to see that.
TEST(Conflicts, BeneathADirectoryThatMayBeAnother) {
  Conflicted layers;
  layers.directory("src");
  layers.below("src/a", "1");
  layers.start();
  layers.above("src/a", "2");
  write_text(layers.lower + "src/a", "33");
  write_text(layers.lower + "src/host", "1");
  write_text(layers.lower + "host", "1");
  EXPECT_EQ(layers.conflicts(), Lines({"directory-replaced src", "changed src/a"}));
}

TEST(Conflicts, DirectoryOnTheWayIsALinkByNow) {
  Conflicted layers;
  layers.directory("src");
  layers.below("src/a", "1");
  layers.start();
  layers.above("src/a", "2");
  const ReadChanges changes = layers.read();
  std::filesystem::rename(layers.lower + "src", layers.lower + "old");
  ASSERT_EQ(::symlink("old", (layers.lower + "src").c_str()), 0);
  EXPECT_EQ(layers.conflicts(changes), Lines({"directory-replaced src"}));
}

TEST(Conflicts, WhatIsBeneathNewDirectories) {
  Conflicted layers;
  layers.below("was file", "1");
  layers.start();
  std::filesystem::create_directories(layers.upper + "new/sub");
  std::filesystem::create_directories(layers.upper + "was file");
  layers.above("new/sub/a", "1");
  layers.above("was file/a", "1");
  EXPECT_EQ(layers.conflicts(), Lines());
}

TEST(Conflicts, OpenForWritingOutside) {
  Conflicted layers;
  for (const char* name : {"log", "database", "mapped", "read"}) layers.below(name, "1");
  layers.start();
  if (!grants_leases(layers.upper_fd.get())) GTEST_SKIP() << "skipped: no leases on this file system";
  layers.above("log", "2");
  layers.above("read", "2");
  layers.whiteout("database");
  layers.whiteout("mapped");
  const auto log = sys::open(layers.lower + "log", O_WRONLY | O_APPEND).value();
  const auto database = sys::open(layers.lower + "database", O_RDWR).value();
  const auto reader = sys::open(layers.lower + "read", O_RDONLY).value();
  auto mapped = sys::open(layers.lower + "mapped", O_RDWR).value();
  void* mapping = ::mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_SHARED, mapped.get(), 0);
  ASSERT_NE(mapping, MAP_FAILED);
  mapped.reset();
  EXPECT_EQ(layers.conflicts(),
            Lines({"open-for-writing database", "open-for-writing log", "open-for-writing mapped"}));
  ::munmap(mapping, 1);
}

TEST(Conflicts, EverythingWhenTheClockWasSet) {
  Conflicted layers;
  layers.start();
  layers.above("a", "1");
  layers.above("b", "1");
  layers.began.clock_offset_ns -= 3'600'000'000'000;
  EXPECT_EQ(layers.conflicts(), Lines({"clock-was-set a", "clock-was-set b"}));
}

// An index of one entry; its stat data is one number.
std::string index_with(char stat_data, char object) {
  std::string text = "DIRC" + std::string("\0\0\0\2\0\0\0\1", 8);
  text += std::string(24, stat_data) + std::string("\0\0\x81\xa4", 4) + std::string(12, stat_data);
  return text + std::string(20, object) + std::string("\0\1a", 3) + std::string(1, '\0') +
         std::string(20, '#');
}

TEST(Conflicts, IndexThatTheHostOnlyRefreshed) {
  Conflicted layers;
  layers.directory(".git");
  layers.below(".git/HEAD", "ref: refs/heads/main\n");
  layers.below(".git/index", index_with('1', 'a'));
  layers.indexes.push_back(hold_index(0, layers.lower_fd.get(), ".git/index"));
  layers.start();
  const auto host_writes = [&](const std::string& index) {
    layers.below(".git/index.lock", index);
    std::filesystem::rename(layers.lower + ".git/index.lock", layers.lower + ".git/index");
  };
  layers.above(".git/index", index_with('2', 'b'));
  host_writes(index_with('3', 'a'));
  const ReadChanges changes = layers.read();
  EXPECT_EQ(layers.conflicts(changes), Lines());
  host_writes(index_with('4', 'a'));  // since the list was read
  EXPECT_EQ(layers.conflicts(changes), Lines());
  // A commit that met it takes what it is now, once for each time that it was written.
  const TreeLayers trees[] = {layers.tree()};
  ChangeSet set = changes.set;
  std::filesystem::last_write_time(layers.lower + ".git/index",
                                   std::filesystem::file_time_type::clock::now());
  const auto now = [&] { return take_refreshed_indexes(trees, set, layers.began, layers.indexes); };
  EXPECT_EQ(now(), IndexesNow::refreshed);
  EXPECT_EQ(now(), IndexesNow::as_read);
  host_writes(index_with('3', 'c'));
  EXPECT_EQ(now(), IndexesNow::none);
  EXPECT_EQ(layers.conflicts(changes), Lines({"changed .git/index"}));
  host_writes(index_with('3', 'b'));  // staged the same
  EXPECT_EQ(layers.conflicts(changes), Lines());
}

}  // namespace
}  // namespace cloche
