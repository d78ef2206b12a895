// What somebody has put back is left alone by others, and nothing that only looks like it.
#include "store/protected/vouchers.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "base/scratch.hpp"
#include "base/sys/directory.hpp"
#include "base/sys/sys.hpp"
#include "store/protected/member_files.hpp"
#include "store/protected/protected_walk.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

// A file, and a directory with a file and a link in it, all of them vouched for.
struct Vouched {
  Scratch scratch;
  Scratch state;
  HeldRoot root{scratch.path, std::move(sys::open(scratch.path, O_RDONLY | O_DIRECTORY)).value()};
  Vouchers vouchers{state.path, root.fd.get()};
  ChangeTime before = change_time_now();

  Vouched() {
    write(".envrc", "old");
    write(".vscode/tasks.json", "{}");
    fs::create_symlink("tasks.json", at(".vscode/link"));
    vouchers.vouch_for(".envrc", S_IFREG | 0644, "old");
    vouchers.vouch_for(".vscode/tasks.json", S_IFREG | 0644, "{}");
    vouchers.vouch_for(".vscode/link", S_IFLNK | 0777, "tasks.json");
  }
  fs::path at(const std::string& path) const { return scratch.path + "/" + path; }
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories(at(path).parent_path());
    std::ofstream(at(path)) << text;
    fs::permissions(at(path), fs::perms(0644));
  }
};

bool are_for(const Vouchers& vouchers, const HeldRoot& root, const std::string& path,
             const ChangeTime& since) {
  return every_file_is(root, path,
                       [&](const std::string& file, const struct stat& seen, const std::string& content) {
                         return vouchers.is_for(file, seen, content, since);
                       });
}

TEST(Vouchers, AreForWhatIsAsItWasPutBack) {
  const Vouched tree;
  for (const char* path : {".envrc", ".vscode", ".vscode/link", ".vscode/tasks.json"}) {
    EXPECT_TRUE(are_for(tree.vouchers, tree.root, path, tree.before)) << path;
    EXPECT_TRUE(are_for(Vouchers(tree.state.path, tree.root.fd.get()), tree.root, path, tree.before)) << path;
  }
}

TEST(Vouchers, AreForNothingElse) {
  struct Row {
    const char* name;
    const char* path;
    std::function<void(const Vouched&)> change;
  };
  const Row rows[] = {
      {"a directory without a file", ".husky",
       [](const Vouched& tree) { fs::create_directories(tree.at(".husky/empty")); }},
      {"other content", ".envrc", [](const Vouched& tree) { tree.write(".envrc", "evil"); }},
      {"another mode", ".envrc",
       [](const Vouched& tree) { fs::permissions(tree.at(".envrc"), fs::perms(0755)); }},
      {"a second name", ".envrc",
       [](const Vouched& tree) { fs::create_hard_link(tree.at(".envrc"), tree.at("second")); }},
      {"the same elsewhere", "sub/.envrc", [](const Vouched& tree) { tree.write("sub/.envrc", "old"); }},
      {"it is gone", ".envrc", [](const Vouched& tree) { fs::remove(tree.at(".envrc")); }},
      {"one more in a directory", ".vscode",
       [](const Vouched& tree) { tree.write(".vscode/launch.json", "{}"); }},
      {"another link", ".vscode",
       [](const Vouched& tree) {
         fs::remove(tree.at(".vscode/link"));
         fs::create_symlink("/etc/passwd", tree.at(".vscode/link"));
       }},
  };
  for (const auto& [name, path, change] : rows) {
    const Vouched tree;
    change(tree);
    EXPECT_FALSE(are_for(tree.vouchers, tree.root, path, tree.before)) << name;
  }
}

TEST(Vouchers, CountInTheirTreeAndForThoseWhoWereInIt) {
  const Vouched tree;
  const Vouched other;
  const Vouchers of_other(tree.state.path, other.root.fd.get());
  EXPECT_FALSE(are_for(of_other, other.root, ".envrc", tree.before));
  const ChangeTime later{change_time_now().seconds + 1, 0};
  EXPECT_FALSE(are_for(tree.vouchers, tree.root, ".envrc", later));
  EXPECT_FALSE(are_for(Vouchers("", tree.root.fd.get()), tree.root, ".envrc", tree.before));
}

TEST(Vouchers, OldOnesGoWithTheNextOne) {
  const Vouched tree;
  const std::string directory = tree.state.path + "/vouched";
  ASSERT_EQ(names_in(directory).size(), 3U);
  const timespec long_ago[2] = {{1000, 0}, {1000, 0}};
  for (const auto& name : names_in(directory))
    ASSERT_EQ(::utimensat(AT_FDCWD, (directory + "/" + name).c_str(), long_ago, 0), 0);
  tree.vouchers.vouch_for(".npmrc", S_IFREG | 0644, "x");
  EXPECT_EQ(names_in(directory).size(), 1U);
}

}  // namespace
}  // namespace cloche
