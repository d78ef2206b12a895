// What members hold, before and after, where no time of change tells: by table, and on a tmpfs with writes
// that leave none.
#include "store/protected/member_contents.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "base/sys/sys.hpp"
#include "store/protected/file_system_times.hpp"
#include "store/protected/open_call.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;
using Paths = std::vector<std::string>;

Paths paths_of(const std::vector<Suspect>& suspects) {
  Paths paths;
  for (const auto& suspect : suspects) paths.push_back(suspect.path);
  return paths;
}

TEST(ChangedSince, NamesWhatDiffers) {
  struct Row {
    const char* what;
    Digests before;
    Paths members;
    Digests now;
    Paths changed;
  };
  const Row rows[] = {
      {"nothing", {}, {}, {}, {}},
      {"the same", {{".envrc", "1"}}, {".envrc"}, {{".envrc", "1"}}, {}},
      {"another content", {{".envrc", "1"}}, {".envrc"}, {{".envrc", "2"}}, {".envrc"}},
      {"a new file", {}, {".envrc"}, {{".envrc", "1"}}, {".envrc"}},
      {"gone", {{".envrc", "1"}}, {}, {}, {}},
      {"a directory without files", {}, {".vscode"}, {}, {}},
      {"a new directory", {}, {".vscode"}, {{".vscode/a", "1"}, {".vscode/b", "1"}}, {".vscode"}},
      {"one of its files",
       {{".vscode/a", "1"}, {".vscode/b", "1"}},
       {".vscode"},
       {{".vscode/a", "1"}, {".vscode/b", "2"}},
       {".vscode/b"}},
      {"one more in it",
       {{".vscode/a", "1"}},
       {".vscode"},
       {{".vscode/a", "1"}, {".vscode/deep/b", "2"}},
       {".vscode/deep/b"}},
      {"a name that begins alike",
       {{".vscode/a", "1"}},
       {".vscode"},
       {{".vscode-other", "2"}, {".vscode.x/a", "2"}, {".vscode/a", "1"}},
       {}},
      {"found in two ways", {}, {".vscode", ".vscode/a"}, {{".vscode/a", "1"}}, {".vscode"}},
  };
  for (const auto& row : rows) {
    Contents now;
    for (const auto& path : row.members) now.members.push_back({path, "because"});
    now.digests = row.now;
    EXPECT_EQ(paths_of(changed_since(row.before, now)), row.changed) << row.what;
  }
}

TEST(AddSuspects, NoneTwiceAndNoneInAnother) {
  std::vector<Suspect> found = {{"a/.envrc", "time"}, {"b/.vscode", "time"}};
  add_suspects(found, {{"a/.envrc", "content"}, {"b/.vscode/x", "content"}, {"b/.vscode-x", "content"}});
  EXPECT_EQ(paths_of(found), (Paths{"a/.envrc", "b/.vscode", "b/.vscode-x"}));
  EXPECT_EQ(found[0].reason, "time");
}

TEST(Digests, ComeBackFromTheirText) {
  const Digests digests = {{"a\nb/.envrc", "12"}, {"c d", "34"}};
  const std::string text = text_of_digests(digests);
  EXPECT_EQ(digests_in(text), digests);
  EXPECT_EQ(digests_in(text.substr(0, text.size() - 1)), (Digests{{"a\nb/.envrc", "12"}}));
  EXPECT_TRUE(digests_in("").empty());
}

// On a tmpfs, as /dev/shm is one.
struct Tree {
  std::string path = "/dev/shm/cloche-unit-XXXXXX";
  HeldRoot root;
  std::vector<LeadFact> leads;

  Tree() {
    EXPECT_NE(::mkdtemp(path.data()), nullptr);
    root = {path, std::move(sys::open(path, O_RDONLY | O_DIRECTORY)).value()};
    for (const char* name : {"pkg/.envrc", "pkg/.vscode/a.json", "pkg/.vscode/b.json", "pkg/plain",
                             "pkg/in/.git/hooks/pre-commit", "pkg/in/.git/objects/x", "pkg/in/.git/refs/x"})
      write(name, "good");
    fs::create_symlink("plain", path + "/pkg/.npmrc");
    TreeFacts found;
    std::vector<OwnedFd> held;
    EXPECT_TRUE(look_before(path, {{}, {}, {}, {}}, found, held).ok());
    leads = std::move(found.leads);
  }
  ~Tree() { fs::remove_all(path); }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(path + "/" + name).parent_path());
    std::ofstream(path + "/" + name) << text;
  }
  void write_mapped(const std::string& name) const {
    const OwnedFd fd = std::move(sys::open(path + "/" + name, O_RDWR)).value();
    void* view = ::mmap(nullptr, 4, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    ASSERT_NE(view, MAP_FAILED);
    // A page that was read can be written without the kernel noticing.
    auto* byte = static_cast<volatile char*>(view);
    ASSERT_EQ(*byte, 'g');
    *byte = 'x';
    ::munmap(view, 4);
  }
  Contents contents(const ContentLimits& bounds = {}) const {
    return contents_of_members(root, {.leads = leads}, {}, {}, bounds);
  }
};

TEST(ContentsOfMembers, ShowWhatTimesDoNot) {
  struct Row {
    const char* what;
    std::function<void(const Tree&)> done;
    Paths changed;
    bool leaves_a_time = false;
  };
  const Row rows[] = {
      {"nothing", [](const Tree&) {}, {}},
      {"a file", [](const Tree& tree) { tree.write_mapped("pkg/.envrc"); }, {"pkg/.envrc"}},
      {"in a directory",
       [](const Tree& tree) { tree.write_mapped("pkg/.vscode/b.json"); },
       {"pkg/.vscode/b.json"}},
      {"a hook",
       [](const Tree& tree) { tree.write_mapped("pkg/in/.git/hooks/pre-commit"); },
       {"pkg/in/.git/hooks/pre-commit"}},
      {"at the end of a link", [](const Tree& tree) { tree.write_mapped("pkg/plain"); }, {"pkg/plain"}},
      {"a new member", [](const Tree& tree) { tree.write("new/.claude/x", "y"); }, {"new/.claude"}, true},
      {"written again as it was", [](const Tree& tree) { tree.write("pkg/.envrc", "good"); }, {}, true},
      {"another mode",
       [](const Tree& tree) { fs::permissions(tree.path + "/pkg/.envrc", fs::perms(0755)); },
       {"pkg/.envrc"},
       true},
  };
  for (const auto& row : rows) {
    const Tree tree;
    ASSERT_FALSE(stamps_mapped_writes(file_system_type(tree.root.fd.get())));
    const Contents before = tree.contents();
    std::this_thread::sleep_for(std::chrono::milliseconds(15));
    const ChangeTime since = change_time_now();
    row.done(tree);
    EXPECT_EQ(row.leaves_a_time, !look_after(tree.root, {}, since).suspects.empty()) << row.what;
    const Contents now = tree.contents();
    EXPECT_EQ(before.gap + now.gap, "") << row.what;
    EXPECT_EQ(paths_of(changed_since(before.digests, now)), row.changed) << row.what;
  }
}

TEST(ContentsOfMembers, OpenNothingThatWasClosed) {
  const Tree tree;
  const std::string closed = tree.path + "/closed";
  fs::create_directory(closed);
  fs::permissions(closed, fs::perms(0));
  tree.contents();
  EXPECT_EQ(fs::status(closed).permissions(), fs::perms(0));
  fs::permissions(closed, fs::perms(0700));
}

TEST(ContentsOfMembers, ABoundThatIsMetIsAGap) {
  const Tree tree;
  for (const ContentLimits& bounds : {ContentLimits{.files = 2}, ContentLimits{.bytes = 5}})
    EXPECT_NE(tree.contents(bounds).gap, "");
  const Contents two_more = tree.contents({.files = 6, .bytes = 64});
  EXPECT_EQ(two_more.gap, "");
}

// What a call may have changed without a trace before this one began is not what it is compared to.
TEST(ContentsOfMembers, OfTheFirstCallCountForAllThatAreThere) {
  const Tree tree;
  const Tree state;
  OpenCall first = OpenCall::begin(state.path, tree.root.fd.get(), {10, 0}, {});
  first.add_digests({{"a", "good"}});
  OpenCall second = OpenCall::begin(state.path, tree.root.fd.get(), {20, 0}, {});
  second.add_digests({{"a", "evil"}, {"b", "good"}});
  EXPECT_EQ(second.digests(), (Digests{{"a", "good"}, {"b", "good"}}));
  first.leave();
  const OpenCall third = OpenCall::begin(state.path, tree.root.fd.get(), {30, 0}, {});
  EXPECT_EQ(third.digests(), second.digests());
  EXPECT_EQ(third.digests_of_abandoned(), (Digests{{"a", "good"}}));
}

}  // namespace
}  // namespace cloche
