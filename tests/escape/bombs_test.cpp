// Bombs: each is given a small limit. Bare, it must come to a multiple of it (and stops there by itself).
// Under Cloche it is either refused the next piece (it says `held`) or stopped by a limit that the outcome
// names, and it never comes that far.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include <cstring>
#include <iostream>

#include "escape/stage.hpp"

namespace cloche::test {
namespace {

constexpr int exit_escaped = 10;
constexpr int exit_held = 20;
constexpr uint64_t mebibyte = 1 << 20;

struct Bomb {
  std::string name;
  std::string attack;
  std::vector<std::string> arguments;  // @WORKSPACE@ and @TOKEN@ are replaced
  std::vector<std::string> flags;
  std::vector<std::string> limits;  // the names an outcome may give; empty: only a refusal will do
  uint64_t ceiling = 0;             // what the file `progress` may say at most; 0: nothing is counted there
  uint64_t disk_ceiling = 0;        // what the workspace may have grown by at most
  std::string control_only_as_root = {};
  std::vector<std::string> launcher = {};  // a prop around the command
  bool estimated = false;                  // as an ordinary user, by what the host loses
};

constexpr uint64_t memory_limit = 64 * mebibyte;

// How much of its memory the host has been without, at worst, since this object was made.
class HostMemory {
 public:
  HostMemory() : before_(available()), least_(before_), watcher_([this] { watch(); }) {}
  ~HostMemory() {
    ended_ = true;
    watcher_.join();
  }
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  uint64_t lost() const { return before_ - std::min(before_, least_.load()); }

 private:
  static uint64_t available() {
    const std::string text = read_proc("/proc/meminfo");
    return strtoull(text.c_str() + text.find("MemAvailable:") + 13, nullptr, 10) * 1024;
  }
  void watch() {
    while (!ended_) {
      least_ = std::min(least_.load(), available());
      usleep(10'000);
    }
  }

  uint64_t before_;
  std::atomic<uint64_t> least_;
  std::atomic<bool> ended_{false};
  std::thread watcher_;
};

// One value of the outcome's JSON: a string without its quotes, or a bare number.
std::string json_value(const std::string& json, const std::string& key) {
  size_t at = json.find("\"" + key + "\":");
  if (at == std::string::npos) return "";
  at = json.find_first_not_of(" \t\n", at + key.size() + 3);
  if (at == std::string::npos) return "";
  if (json[at] == '"') return json.substr(at + 1, json.find('"', at + 1) - at - 1);
  return json.substr(at, json.find_first_of(",}\n", at) - at);
}

uint64_t progress_of(const Stage& stage) {
  const std::string bytes = read_file(stage.scene.workspace() / "progress");
  uint64_t value = 0;
  if (bytes.size() == sizeof value) memcpy(&value, bytes.data(), sizeof value);
  return value;
}

// What the workspace takes on the disk, whatever the sizes of its files say.
uint64_t disk_use_of(const Stage& stage) {
  Command measure;
  measure.argv = {"du", "-s", "--block-size=1", stage.scene.workspace().string()};
  return strtoull(run(measure).out.c_str(), nullptr, 10);
}

void fill_in(const Bomb& bomb, Stage& stage) {
  for (std::string word : bomb.arguments) {
    for (const auto& [mark, text] : {std::pair{std::string("@WORKSPACE@"), stage.scene.workspace().string()},
                                     {"@TOKEN@", stage.token}}) {
      if (const size_t at = word.find(mark); at != std::string::npos) word.replace(at, mark.size(), text);
    }
    stage.arguments.push_back(word);
  }
  stage.flags = bomb.flags;
  stage.launcher = bomb.launcher;
  stage.flags.emplace_back("--json");
  stage.scene.write("home/.keep", "");
  stage.environment["HOME"] = (stage.scene.root() / "home").string();
  // Deep enough that a removal by path, or with a descriptor for each level, would stumble.
  stage.keep({nullptr, [folder = stage.scene.workspace()](void*) {
                Command remove;
                remove.argv = {"rm", "-rf", folder.string()};
                run(remove);
              }});
  for (const char* folder : {"/tmp", "/dev/shm"}) {
    const fs::path path = fs::path(folder) / ("escape-" + stage.token);
    stage.keep({nullptr, [path](void*) { fs::remove_all(path); }});
  }
}

class BombTest : public testing::Test {
 public:
  BombTest(Bomb bomb, As as) : bomb_(std::move(bomb)), as_(as) {}

  void TestBody() override {
    run_control();
    // What an ordinary user's sandbox holds is added up from outside, and on a busy machine once too late.
    constexpr int most_tries = 3;
    bool came_too_far = true;
    for (int tries = 1; came_too_far && !HasFailure() && tries <= most_tries; ++tries)
      came_too_far = run_under_cloche(as_ != As::nobody || tries == most_tries);
  }

 private:
  void run_control() const {
    const bool as_root = as_ == As::nobody && !bomb_.control_only_as_root.empty();
    if (as_root) std::cout << "  control not possible as nobody: " << bomb_.control_only_as_root << std::endl;
    Stage stage(as_root ? As::self : as_, Play::control);
    fill_in(bomb_, stage);
    const Ran ran = stage.run_attack(bomb_.attack);
    std::cout << "  control: " << ran.out.substr(0, ran.out.find('\n')).substr(0, 120) << std::endl;
    EXPECT_EQ(ran.exit_code, exit_escaped)
        << "the control must get through: " << ran.out.substr(0, 200) << ran.err;
  }

  // Whether it came as far as its ceiling; at the last try, or where a cgroup counts, that fails.
  bool run_under_cloche(bool is_last) const {
    const HostMemory memory;
    const HostState before = look_at_host(as_);
    Stage stage(as_, Play::under_cloche);
    fill_in(bomb_, stage);
    const uint64_t disk_before = disk_use_of(stage);
    const Ran ran = stage.run_attack(bomb_.attack);
    const std::string outcome = json_value(ran.out, "outcome");
    const std::string limit = json_value(ran.out, "limit");
    const uint64_t progress = progress_of(stage);
    std::cout << "  cloche: " << outcome << " "
              << (outcome == "exited" ? json_value(ran.out, "stdout") : limit) << ", exit " << ran.exit_code
              << ", came to " << progress << ", " << ran.seconds << " s" << std::endl;
    const std::string all = ran.out.substr(0, 2000) + ran.err.substr(0, 2000);
    EXPECT_FALSE(ran.timed_out) << all;
    EXPECT_LT(ran.seconds, 8) << "the answer came late";
    if (outcome == "exited" && bomb_.estimated && as_ == As::nobody) {
      // What an ordinary user's sandbox hides in the kernel is estimated by what the host loses, and caches
      // of the kernel's own may lend it for a while: then the host has lost nothing. Others use memory
      // meanwhile.
      EXPECT_LT(memory.lost(), 2 * memory_limit) << all;
    } else if (outcome == "exited") {
      EXPECT_EQ(ran.exit_code, exit_held) << all;
    } else {
      EXPECT_TRUE(outcome == "limit" || outcome == "timeout") << all;
      EXPECT_EQ(ran.exit_code, outcome == "timeout" ? 124 : 137) << all;
      const bool named = std::find(bomb_.limits.begin(), bomb_.limits.end(), limit) != bomb_.limits.end();
      EXPECT_TRUE(named) << "stopped by another limit: " << limit << "\n" << all;
    }
    const bool came_too_far = bomb_.ceiling > 0 && progress >= bomb_.ceiling;
    EXPECT_FALSE(came_too_far && is_last) << progress << "\n" << all;
    if (bomb_.disk_ceiling > 0) {
      EXPECT_LT(disk_use_of(stage) - disk_before, bomb_.disk_ceiling) << "of the host's disk is gone";
    }
    EXPECT_EQ(left_behind(before, as_), "");
    EXPECT_TRUE(processes_with(stage.scene.root().string()).empty());
    return came_too_far;
  }

  const Bomb bomb_;
  const As as_;
};

std::string mib(uint64_t count) { return std::to_string(count * mebibyte); }

std::vector<Bomb> bombs() {
  const std::vector<std::string> small_memory = {"--memory", "64M", "--timeout", "10s"};
  const std::vector<std::string> many_descriptors = {"--memory", "64M",      "--timeout",
                                                     "10s",      "--nofile", "4096"};
  const std::vector<std::string> small_disk = {"--disk", "64M", "--timeout", "10s"};
  const std::vector<std::string> small_files = {"--files", "200", "--timeout", "10s"};
  const std::vector<std::string> small_tmp = {"--tmp", "8M", "--timeout", "10s"};
  const uint64_t memory_ceiling = 3 * 64 * mebibyte;
  // Not less than 64 MiB: a page cache takes a gibibyte in a second, and a watcher looks every few
  // milliseconds.
  const uint64_t disk_ceiling = 3 * 64 * mebibyte;
  // And a file is made in ten microseconds: what counts is that it ends.
  const uint64_t file_bound = 3000;
  const auto memory = [&](const char* name, const char* attack) {
    return Bomb{name, attack, {mib(64)}, small_memory, {"memory"}, memory_ceiling};
  };
  const auto entries = [&](const char* name, const char* kind) {
    return Bomb{name,        "make-entries", {"@WORKSPACE@/many", kind, std::to_string(file_bound)},
                small_files, {"files"},      file_bound};
  };
  return {
      {"ForkMany", "fork-many", {"32"}, {"--pids", "32", "--timeout", "10s"}, {}},
      {"ForkTree", "fork-tree", {"32"}, {"--pids", "32", "--timeout", "10s"}, {}, 96},
      {"ThreadMany", "thread-many", {"32"}, {"--pids", "32", "--timeout", "10s"}, {}},
      {"OpenMany", "open-many", {"64"}, {"--nofile", "64", "--timeout", "10s"}, {}},
      {"SpinAlone", "spin-alone", {"1"}, {"--cpu", "1", "--timeout", "10s"}, {"cpu"}},
      {"SpinTogether", "spin-together", {"1"}, {"--cpu", "1", "--timeout", "10s"}, {"cpu"}},
      {"SpinInShortLives", "spin-in-short-lives", {"1"}, {"--cpu", "1", "--timeout", "10s"}, {"cpu"}},
      {"SpinUnwaited", "spin-unwaited", {"1"}, {"--cpu", "1", "--timeout", "10s"}, {"cpu"}},
      {"Outstay", "outstay", {"1"}, {"--timeout", "1s"}, {"timeout"}},
      {"OutstaySilentInput",
       "outstay",
       {"1"},
       {"--timeout", "1s"},
       {"timeout"},
       0,
       0,
       "",
       {"with-silent-stdin"}},
      {"FloodStdout", "flood-output", {mib(1), "1"}, {"--output", "1M", "--timeout", "10s"}, {"output"}},
      {"FloodStderr", "flood-output", {mib(1), "2"}, {"--output", "1M", "--timeout", "10s"}, {"output"}},
      memory("Heap", "hoard-in-heap"),
      memory("Forks", "hoard-in-forks"),
      memory("MemoryFiles", "hoard-in-memory-files"),
      memory("DetachedSegments", "hoard-in-detached-segments"),
      memory("SharedMap", "hoard-in-shared-map"),
      // How far these come depends on how fast they are; that they are ended does not.
      {"PageTables", "hoard-in-page-tables", {mib(64)}, small_memory, {"memory"}},
      {"SocketBuffers",
       "hoard-in-socket-buffers",
       {mib(64)},
       many_descriptors,
       {"memory"},
       0,
       0,
       "",
       {},
       true},
      {"Pipes",
       "hoard-in-pipes",
       {mib(64)},
       many_descriptors,
       {"memory"},
       memory_ceiling,
       0,
       "the kernel gives an ordinary user 64 MiB of pipes"},
      {"TmpFolder",
       "fill-many-files",
       {"/tmp/escape-@TOKEN@", mib(8), mib(1)},
       small_tmp,
       {"tmp", "memory"},
       3 * 8 * mebibyte},
      {"ShmFolder",
       "fill-many-files",
       {"/dev/shm/escape-@TOKEN@", mib(8), mib(1)},
       small_tmp,
       {"tmp", "memory"},
       3 * 8 * mebibyte},
      {"HomeFolder",
       "fill-many-files",
       {"~/escape-@TOKEN@", mib(8), mib(1)},
       small_tmp,
       {"tmp", "memory"},
       3 * 8 * mebibyte},
      {"BigFile",
       "fill-one-file",
       {"@WORKSPACE@", mib(8)},
       {"--fsize", "8M", "--timeout", "10s"},
       {"fsize"},
       3 * 8 * mebibyte},
      {"StretchedFile",
       "stretch-one-file",
       {"@WORKSPACE@", mib(8)},
       {"--fsize", "8M", "--timeout", "10s"},
       {"fsize"}},
      {"ReservedBlocksByIoctl",
       "reserve-blocks-by-ioctl",
       {"@WORKSPACE@", mib(64)},
       {"--disk", "64M", "--timeout", "10s"},
       {"disk"},
       0,
       disk_ceiling},
      {"ReservedBlocks",
       "reserve-blocks",
       {"@WORKSPACE@", mib(64)},
       {"--fsize", "8M", "--disk", "64M", "--timeout", "10s"},
       {"disk", "fsize"},
       0,
       disk_ceiling},
      {"DiskByOneFile",
       "fill-one-file",
       {"@WORKSPACE@", mib(64)},
       small_disk,
       {"disk"},
       disk_ceiling,
       disk_ceiling},
      {"DiskByManyFiles",
       "fill-many-files",
       {"@WORKSPACE@/many", mib(64), mib(1)},
       small_disk,
       {"disk"},
       disk_ceiling,
       disk_ceiling},
      {"DiskByUnlinkedFiles",
       "fill-unlinked-files",
       {"@WORKSPACE@/many", mib(64), mib(4)},
       small_disk,
       {"disk"},
       disk_ceiling,
       disk_ceiling},
      {"DiskByMappedUnlinkedFiles",
       "fill-mapped-unlinked-files",
       {"@WORKSPACE@/many", mib(64), mib(4)},
       small_disk,
       {"disk"},
       disk_ceiling,
       disk_ceiling},
      {"DiskBehindManyMappings",
       "fill-behind-many-mappings",
       {"@WORKSPACE@/many", mib(64), mib(4)},
       small_disk,
       {"disk"},
       0,
       disk_ceiling},
      {"DiskBehindSmallMappings",
       "fill-behind-small-mappings",
       {"@WORKSPACE@/many", mib(64), mib(4)},
       small_disk,
       {"disk"},
       disk_ceiling,
       disk_ceiling},
      {"DiskBehindAPage",
       "fill-behind-a-page",
       {"@WORKSPACE@/many", mib(64), mib(4)},
       small_disk,
       {"disk"},
       disk_ceiling,
       disk_ceiling},
      {"DiskByMapping",
       "fill-by-mapping",
       {"@WORKSPACE@/many", mib(64), mib(1)},
       small_disk,
       {"disk"},
       disk_ceiling,
       disk_ceiling},
      {"DiskBelowDeepFolders",
       "fill-below-deep-folders",
       {mib(64), mib(1)},
       small_disk,
       {"disk"},
       0,
       disk_ceiling},
      entries("ManyFiles", "file"),
      entries("ManyFolders", "folder"),
      entries("ManyLinks", "link"),
      entries("ManyFifos", "fifo"),
      {"DeepFolders", "nest-folders", {"1500"}, small_files, {"files"}, 1500},
  };
}

// Somebody counts the bytes as well: an outcome that says "limit" after passing everything on is no limit.
TEST(BombOutput, IsCutAtTheLimit) {
  for (const As as : identities()) {
    Stage stage(as, Play::under_cloche);
    stage.arguments = {mib(1), "1"};
    stage.flags = {"--output", "1M"};
    const Ran ran = stage.run_attack("flood-output");
    EXPECT_EQ(ran.exit_code, 137) << ran.err;
    EXPECT_LE(ran.out.size(), mebibyte + 65536) << name_of(as);
  }
}

bool register_bombs() {
  for (const Bomb& bomb : bombs()) {
    for (const As as : identities()) {
      testing::RegisterTest(("Escape/Bomb" + bomb.name).c_str(), (std::string("held/") + name_of(as)).c_str(),
                            nullptr, nullptr, __FILE__, __LINE__,
                            [bomb, as]() -> BombTest* { return new BombTest(bomb, as); });
    }
  }
  return true;
}

const bool registered = register_bombs();

}  // namespace
}  // namespace cloche::test
