#include "store/layers/layer_reader.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include "store/layers/layers_fixture.hpp"

namespace cloche {
namespace {

using Lines = std::vector<std::string>;

TEST(LayerReader, NothingWritten) {
  const Layers layers;
  layers.below("a", "old");
  EXPECT_EQ(layers.list(), Lines());
}

TEST(LayerReader, CreatedWithAllBeneath) {
  const Layers layers;
  std::filesystem::create_directories(layers.upper + "new/sub");
  layers.above("new/sub/a", "1");
  layers.above("b", "2");
  EXPECT_EQ(layers.list(), Lines({"created b", "created new", "created new/sub", "created new/sub/a"}));
}

TEST(LayerReader, EveryDifference) {
  const Layers layers;
  for (const char* name : {"bytes", "longer", "mode", "time", "attribute", "same"}) {
    layers.below(name, "text");
    layers.above(name, "text");
  }
  layers.above("bytes", "next");
  layers.above("longer", "texts");
  ASSERT_EQ(::chmod((layers.upper + "mode").c_str(), 0755), 0);
  set_time(layers.upper + "time", 5);
  set_attribute(layers.upper + "attribute", "user.x", "1");
  set_attribute(layers.upper + "same", "user.overlay.origin", "");
  EXPECT_EQ(layers.list(), Lines({"changed attribute attributes", "changed bytes contents",
                                  "changed longer contents", "changed mode mode", "changed time times"}));
}

TEST(LayerReader, AttributesRemovedAndAltered) {
  const Layers layers;
  for (const char* name : {"gone", "other", "equal"}) {
    layers.below(name, "text");
    layers.above(name, "text");
    set_attribute(layers.lower + name, "user.x", "1");
  }
  set_attribute(layers.upper + "other", "user.x", "2");
  set_attribute(layers.upper + "equal", "user.x", "1");
  EXPECT_EQ(layers.list(), Lines({"changed gone attributes", "changed other attributes"}));
}

TEST(LayerReader, StatesBeforeAndAfter) {
  const Layers layers;
  layers.below("a", "old");
  layers.above("a", "newer");
  const ReadChanges read = layers.read();
  ASSERT_EQ(read.set.changes.size(), 1U);
  const FileState before{FileKind::file, 0644, ::geteuid(), ::getegid(), 3, 1'000'000'000'000'000'000, 1, {}};
  FileState after = before;
  after.size = 5;
  EXPECT_EQ(read.set.changes[0].before, before);
  EXPECT_EQ(read.set.changes[0].after, after);
  EXPECT_EQ(read.set.trees, std::vector<ChangedTree>({layers.tree().tree}));
}

TEST(LayerReader, WhiteoutStandsForAllBeneath) {
  const Layers layers;
  std::filesystem::create_directories(layers.lower + "d/e");
  layers.below("d/e/f", "1");
  layers.below("g", "2");
  layers.whiteout("d");
  layers.whiteout("g");
  layers.whiteout("never there");
  EXPECT_EQ(layers.list(), Lines({"deleted d", "deleted d/e", "deleted d/e/f", "deleted g"}));
}

TEST(LayerReader, OpaqueDirectoryHidesTheLowerOne) {
  const Layers layers;
  layers.directory("d");
  layers.directory("d/kept");
  std::filesystem::create_directories(layers.lower + "d/gone");
  layers.below("d/gone/a", "1");
  layers.below("d/same", "1");
  layers.above("d/same", "1");
  layers.below("d/kept/beneath", "1");
  layers.above("d/kept/new", "1");
  set_attribute(layers.upper + "d", "user.overlay.opaque", "y");
  EXPECT_EQ(layers.list(),
            Lines({"deleted d/gone", "deleted d/gone/a", "deleted d/kept/beneath", "created d/kept/new"}));
}

TEST(LayerReader, WhiteoutThatIsAFile) {
  const Layers layers;
  layers.directory("d");
  layers.below("d/a", "1");
  layers.above("d/a", "");
  set_attribute(layers.upper + "d/a", "user.overlay.whiteout", "");
  EXPECT_EQ(layers.read().findings.size(), 1U);  // not in a directory that may have some
  set_attribute(layers.upper + "d", "user.overlay.opaque", "x");
  EXPECT_EQ(layers.list(), Lines({"deleted d/a"}));
}

TEST(LayerReader, TypeChanges) {
  const Layers layers;
  layers.below("file to directory", "1");
  ASSERT_EQ(::mkdir((layers.upper + "file to directory").c_str(), 0755), 0);
  layers.above("file to directory/in", "1");
  ASSERT_EQ(::mkdir((layers.lower + "directory to file").c_str(), 0755), 0);
  layers.below("directory to file/in", "1");
  layers.above("directory to file", "1");
  layers.below("file to link", "1");
  ASSERT_EQ(::symlink("elsewhere", (layers.upper + "file to link").c_str()), 0);
  const ReadChanges read = layers.read();
  ASSERT_EQ(read.set.changes.size(), 5U);
  EXPECT_EQ(Layers::line_of(read.set.changes[0]), "changed directory to file kind contents mode");
  EXPECT_EQ(Layers::line_of(read.set.changes[1]), "deleted directory to file/in");
  EXPECT_EQ(Layers::line_of(read.set.changes[2]), "changed file to directory kind contents mode");
  EXPECT_EQ(Layers::line_of(read.set.changes[3]), "created file to directory/in");
  EXPECT_EQ(Layers::line_of(read.set.changes[4]), "changed file to link kind contents mode");
  EXPECT_EQ(read.set.changes[4].after->link, "elsewhere");
}

TEST(LayerReader, LinksByWhatTheySay) {
  const Layers layers;
  for (const std::string& layer : {layers.lower, layers.upper}) {
    ASSERT_EQ(::symlink("to", (layer + "same").c_str()), 0);
    ASSERT_EQ(::symlink(layer == layers.lower ? "to" : "other", (layer + "other").c_str()), 0);
    set_time(layer + "same");
    set_time(layer + "other");
  }
  EXPECT_EQ(layers.list(), Lines({"changed other contents"}));
}

TEST(LayerReader, MergedDirectoriesByModeAndAttributes) {
  const Layers layers;
  for (const char* name : {"attribute", "mode", "time"}) layers.directory(name);
  ASSERT_EQ(::chmod((layers.upper + "mode").c_str(), 0700), 0);
  set_attribute(layers.upper + "attribute", "user.x", "1");
  set_time(layers.upper + "time", 5);
  set_attribute(layers.upper + "time", "user.overlay.impure", "y");
  EXPECT_EQ(layers.list(), Lines({"changed attribute attributes", "changed mode mode"}));
}

TEST(LayerReader, RootOfTheTree) {
  const Layers layers;
  ASSERT_EQ(::chmod(layers.upper.c_str(), 0750), 0);
  set_attribute(layers.upper, "user.overlay.impure", "y");
  EXPECT_EQ(layers.list(), Lines({"changed  mode"}));
}

TEST(LayerReader, ClosedDirectoriesAreReadWithTheModeOfTheCall) {
  const Layers layers;
  std::filesystem::create_directories(layers.upper + "closed/inner");
  layers.above("closed/inner/a", "1");
  ASSERT_EQ(::chmod((layers.upper + "closed/inner").c_str(), 0400), 0);
  ASSERT_EQ(::chmod((layers.upper + "closed").c_str(), 0), 0);
  ASSERT_EQ(::chmod(layers.upper.c_str(), 0), 0);
  for (int reading = 0; reading < 2; ++reading) {  // the second finds what the first opened
    const ReadChanges read = layers.read();
    EXPECT_TRUE(read.is_exact());
    ASSERT_EQ(read.set.changes.size(), 4U);
    EXPECT_EQ(read.set.changes[0].after->mode, 0U);
    EXPECT_EQ(read.set.changes[1].after->mode, 0U);
    EXPECT_EQ(read.set.changes[2].path, "closed/inner");
    EXPECT_EQ(read.set.changes[2].after->mode, 0400U);
    EXPECT_EQ(read.set.changes[3].path, "closed/inner/a");
  }
}

TEST(LayerReader, ClosedDirectoriesHaveAttributes) {
  const Layers layers;
  layers.directory("d");
  layers.below("d/gone", "1");
  set_attribute(layers.upper + "d", "user.overlay.opaque", "y");
  set_attribute(layers.upper + "d", "user.x", "1");
  ASSERT_EQ(::chmod((layers.upper + "d").c_str(), 0), 0);
  EXPECT_EQ(layers.list(), Lines({"changed d mode attributes", "deleted d/gone"}));
}

TEST(LayerReader, ClosedFilesAreComparedAndStayClosed) {
  const Layers layers;
  layers.below("a", "old");
  layers.above("a", "new");
  set_attribute(layers.upper + "a", "user.x", "1");
  ASSERT_EQ(::chmod((layers.upper + "a").c_str(), 0), 0);
  EXPECT_EQ(layers.list(), Lines({"changed a contents mode attributes"}));
  struct stat seen {};
  ASSERT_EQ(::stat((layers.upper + "a").c_str(), &seen), 0);
  EXPECT_EQ(seen.st_mode & 07777U, 0U);
}

TEST(LayerReader, ClosedLowerDirectoryIsAFindingAndStaysClosed) {
  const Layers layers;
  ASSERT_EQ(::mkdir((layers.lower + "closed").c_str(), 0), 0);
  layers.whiteout("closed");
  const ReadChanges read = layers.read();
  struct stat seen {};
  ASSERT_EQ(::stat((layers.lower + "closed").c_str(), &seen), 0);
  EXPECT_EQ(seen.st_mode & 07777U, 0U);
  if (::geteuid() == 0) GTEST_SKIP() << "skipped: root reads closed directories";
  ASSERT_EQ(read.findings.size(), 1U);
  EXPECT_EQ(read.findings[0].problem, ReadProblem::lower_unreadable);
  EXPECT_EQ(read.findings[0].path, "closed");
}

TEST(LayerReader, HostileNames) {
  const Layers layers;
  const std::string names[] = {"a\nb", "'\"`$(x)", "\xff\xfe",         "-rf", std::string(255, 'x'),
                               " ",    "\\",       "a:b,upperdir=c\\d"};
  for (const std::string& name : names) layers.above(name, "1");
  layers.below(std::string(255, 'y'), "1");
  layers.whiteout(std::string(255, 'y'));
  Lines expected = {"deleted " + std::string(255, 'y')};
  for (const std::string& name : names) expected.push_back("created " + name);
  Lines got = layers.list();
  std::sort(got.begin(), got.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(got, expected);
}

// Step by step, as a call can make it: no path of it fits into a system call.
void make_deep(int root, int levels, const std::string& name) {
  OwnedFd at(::dup(root));
  for (int i = 0; i < levels; ++i) {
    ASSERT_EQ(::mkdirat(at.get(), name.c_str(), 0755), 0);
    at = sys::open_at(at.get(), name, O_RDONLY | O_DIRECTORY).value();
  }
}

TEST(LayerReader, PathsLongerThanTheKernelTakes) {
  const Layers layers;
  const std::string name(200, 'd');
  make_deep(layers.upper_fd.get(), 60, name);
  ASSERT_EQ(::renameat(layers.upper_fd.get(), name.c_str(), layers.upper_fd.get(), "u"), 0);
  make_deep(layers.lower_fd.get(), 50, name);
  ASSERT_EQ(::renameat(layers.lower_fd.get(), name.c_str(), layers.lower_fd.get(), "l"), 0);
  layers.whiteout("l");
  const ReadChanges read = layers.read();
  EXPECT_TRUE(read.is_exact());
  ASSERT_EQ(read.set.changes.size(), 110U);
  EXPECT_EQ(read.set.changes[109].path.size(), 1 + 59 * 201U);
}

TEST(LayerReader, SpecialFiles) {
  const Layers layers;
  ASSERT_EQ(::mkfifo((layers.upper + "fifo").c_str(), 0600), 0);
  const OwnedFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{AF_UNIX, {}};
  const std::string path = "/proc/self/fd/" + std::to_string(layers.upper_fd.get()) + "/socket";
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  for (const std::string& layer : {layers.lower, layers.upper}) {
    ASSERT_EQ(::mkfifo((layer + "was").c_str(), 0600), 0);
    set_time(layer + "was");
  }
  const ReadChanges read = layers.read();
  ASSERT_EQ(read.set.changes.size(), 2U);
  EXPECT_EQ(read.set.changes[0].after->kind, FileKind::fifo);
  EXPECT_EQ(read.set.changes[1].after->kind, FileKind::socket);
}

TEST(LayerReader, HolesAreNotReadButBytesBetweenThemAre) {
  const Layers layers;
  constexpr off_t terabyte = off_t{1} << 40;
  for (const std::string& layer : {layers.lower, layers.upper}) {
    for (const char* name : {"same", "other"}) {
      const auto fd = sys::open(layer + name, O_RDWR | O_CREAT, 0644).value();
      ASSERT_EQ(::ftruncate(fd.get(), terabyte), 0);
      const bool differs = layer == layers.upper && std::string_view(name) == "other";
      ASSERT_EQ(::pwrite(fd.get(), differs ? "x" : "y", 1, terabyte / 2 + 5), 1);
      ASSERT_EQ(::futimens(fd.get(), std::initializer_list<timespec>{{1, 0}, {1, 0}}.begin()), 0);
    }
  }
  ReadLimits limits;
  limits.compared_bytes = 1 << 20;
  EXPECT_EQ(layers.list(limits), Lines({"changed other contents"}));
}

TEST(LayerReader, SameSizeAndTimeButOtherBytes) {
  const Layers layers;
  layers.below("a", std::string(100000, 'x') + "1");
  layers.above("a", std::string(100000, 'x') + "2");
  EXPECT_EQ(layers.list(), Lines({"changed a contents"}));
}

TEST(LayerReader, EscapedAttributesOfTheCallMeanNothing) {
  const Layers layers;
  layers.directory("d");
  layers.below("d/a", "1");
  set_attribute(layers.upper + "d", "user.overlay.overlay.opaque", "y");
  layers.above("new", "1");
  set_attribute(layers.upper + "new", "user.overlay.overlay.redirect", "/etc");
  EXPECT_EQ(layers.list(), Lines({"created new"}));
}

TEST(LayerReader, AttributesThatOurMountsNeverWriteAreFindings) {
  for (const char* attribute : {"redirect", "metacopy", "protattr", "something"}) {
    const Layers layers;
    layers.above("a", "1");
    set_attribute(layers.upper + "a", std::string("user.overlay.") + attribute, "/x");
    const ReadChanges read = layers.read();
    ASSERT_EQ(read.findings.size(), 1U) << attribute;
    EXPECT_EQ(read.findings[0].problem, ReadProblem::upper_attribute);
    EXPECT_EQ(read.findings[0].path, "a");
    EXPECT_EQ(read.findings[0].what, std::string("user.overlay.") + attribute);
  }
}

TEST(LayerReader, AttributesThatAnArchiveBroughtAreFindings) {
  for (const char* attribute : {"whiteout", "metacopy", "opaque", "redirect"}) {
    const Layers layers;
    layers.below("a", "1");
    set_attribute(layers.lower + "a", std::string("user.overlay.") + attribute, "y");
    layers.above("a", "2");
    layers.directory("d");
    layers.below("d/b", "1");
    set_attribute(layers.lower + "d", std::string("user.overlay.") + attribute, "y");
    const ReadChanges read = layers.read();
    ASSERT_EQ(read.findings.size(), 2U) << attribute;
    for (const ReadFinding& finding : read.findings) EXPECT_EQ(finding.problem, ReadProblem::lower_attribute);
  }
  const Layers layers;
  layers.below("a", "1");
  layers.above("a", "1");
  set_attribute(layers.lower + "a", "user.overlay.origin", "");
  EXPECT_EQ(layers.list(), Lines());
}

TEST(LayerReader, Limits) {
  const Layers layers;
  std::filesystem::create_directories(layers.upper + "a/b/c");
  layers.above("file", "same");
  layers.below("file", "same");
  const auto first = [&](const ReadLimits& limits) {
    const ReadChanges read = layers.read(limits);
    return read.findings.empty() ? std::string_view("exact") : name_of(read.findings[0].problem);
  };
  EXPECT_EQ(first({.entries = 4, .depth = 3, .compared_bytes = 4}), "exact");
  EXPECT_EQ(first({.entries = 3, .depth = 3, .compared_bytes = 4}), "too-many-entries");
  EXPECT_EQ(first({.entries = 4, .depth = 2, .compared_bytes = 4}), "too-deep");
  EXPECT_EQ(first({.entries = 4, .depth = 3, .compared_bytes = 3}), "too-much-to-compare");
}

TEST(LayerReader, TwoTreesInOneSet) {
  const Layers one;
  const Layers other;
  one.above("z", "1");
  other.above("a", "1");
  const TreeLayers trees[] = {one.tree(), other.tree()};
  const auto read = read_changes(trees, {});
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read.value().set.changes.size(), 2U);
  EXPECT_EQ(read.value().set.changes[0].path, "z");
  EXPECT_EQ(read.value().set.changes[1].tree, 1U);
}

TEST(OverlayAttributes, BothPrefixesAreTheOverlays) {
  for (const char* name : {"user.overlay.opaque", "trusted.overlay.origin", "user.overlay.overlay.x"})
    EXPECT_TRUE(is_overlay_attribute(name)) << name;
  for (const char* name : {"user.x", "user.overlayopaque", "security.overlay.x", "trusted.x"})
    EXPECT_FALSE(is_overlay_attribute(name)) << name;
}

}  // namespace
}  // namespace cloche
