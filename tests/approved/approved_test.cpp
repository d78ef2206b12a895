// What was approved is what runs. A row is something that is swapped while a call waits for its approval or
// between the yes and the start; a column is a front end. In each case the call is refused and nothing of
// what was swapped in ran, or it did exactly what it does when nothing is swapped, and its line in the record
// has the same plan digest.
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <memory>
#include <regex>

#include "approved/front_ends.hpp"
#include "everyday/conversation.hpp"

namespace cloche::test {
namespace {

// Who can show that a swap has an effect: a program without Cloche, or, of what only Cloche reads, `explain`.
enum class Control { program, explain, none };

// A hook has no flags but those of a grant. Without a view a link is the host's own: one that is turned leads
// to where the command may not go.
enum class Needs { nothing, view, hosts, mounts };

struct Swap {
  const char* name;
  Asked asked;
  const char* act;  // in the root of the scene
  Control control = Control::program;
  Needs needs = Needs::nothing;
};

// The word of the directory in which it stands, by names that are not in the command: files that are named
// have rows of their own.
const Words in_place = {"sh", "-c", "cat wh* > ran"};
const Asked ro = {{"sh", "-c", "cat @/outer/granted/wh* > ran"}, {"--ro", "@/outer/granted"}};
const Asked rw = {{"sh", "-c", "cat @/outer/granted/wh* > @/outer/granted/ran"}, {"--rw", "@/outer/granted"}};
const Asked by_link = {{"sh", "-c", "cat @/link/wh* > ran"}, {"--ro", "@/link"}};
const Asked in_sub = {in_place, {}, "sub"};

const Swap swaps[] = {
    {"nothing", {in_place}, "", Control::none},
    {"program_rewritten", {{"./tool"}}, "cat swapped/workspace/tool > workspace/tool"},
    {"program_linked",
     {{"./tool"}},
     "mv swapped/workspace/tool workspace/other && ln -sf other workspace/tool"},
    {"tool_path_program", {{"helper"}}, "mv swapped/tools/helper tools/helper"},
    {"tool_path_directory", {{"helper"}}, "mv tools away && mv swapped/tools tools"},
    {"script_replaced", {{"sh", "script.sh"}}, "mv swapped/workspace/script.sh workspace/script.sh"},
    {"ro_replaced", ro, "mv outer/granted away && mv swapped/outer/granted outer/granted"},
    {"ro_linked", ro, "mv outer/granted away && ln -s ../swapped/outer/granted outer/granted"},
    {"ro_parent_replaced", ro, "mv outer away && mv swapped/outer outer"},
    {"ro_link_turned", by_link, "ln -sfn swapped/outer/granted link", Control::program, Needs::view},
    {"rw_replaced", rw, "mv outer/granted away && mv swapped/outer/granted outer/granted"},
    {"rw_linked", rw, "mv outer/granted away && ln -s ../swapped/outer/granted outer/granted"},
    {"directory_replaced", in_sub, "mv workspace/sub away && mv swapped/workspace/sub workspace/sub"},
    {"directory_linked", in_sub,
     "mv workspace/sub away && mv swapped/workspace/sub workspace/other && ln -s other workspace/sub"},
    {"workspace_replaced", {in_place}, "mv workspace away && mv swapped/workspace workspace"},
    {"workspace_linked", {in_place}, "mv workspace away && ln -s swapped/workspace workspace"},
    {"workspace_mounted",
     {in_place},
     "mount --bind swapped/workspace workspace",
     Control::program,
     Needs::mounts},
    {"rule_denies", {in_place}, "mv swapped/deny.json home/.config/cloche/config.json", Control::explain},
    {"project_denies",
     {in_place},
     "mkdir workspace/.cloche && mv swapped/project.json workspace/.cloche/config.json",
     Control::explain},
    {"limit_lowered",
     {{"sh", "-c", "echo $(cat wh*) $(ulimit -n) > ran"}},
     "mv swapped/limit.json home/.config/cloche/config.json",
     Control::explain},
    {"isolation_off",
     {{"sh", "-c", "echo $(cat wh*) $(cat /proc/sys/kernel/hostname) > ran"}},
     "mv swapped/open.json home/.config/cloche/config.json",
     Control::explain},
    {"profile_widened",
     {{"sh", "-c", "cat wh* > ran; cat @/outer/granted/wh* >> ran; true"}},
     "mv swapped/mine.json profiles/mine.json",
     Control::explain},
    {"host_added",
     {{"cp", "who", "ran"}, {"--profile", "workspace-write", "--skill", "@/skill/SKILL.md"}},
     "mv swapped/skill/SKILL.md skill/SKILL.md",
     Control::explain,
     Needs::hosts},
};

// Mounts that a row makes are then seen by what this process starts, and by nothing else on the host.
bool left_the_hosts_mounts() {
  static const bool left =
      ::unshare(CLONE_NEWNS) == 0 && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  return left;
}

class Swapping : public Stage {
 public:
  Swapping(As as, const Swap& swap, const std::string& writes = "commit") : Stage(as, writes), swap_(swap) {}
  ~Swapping() {
    if (mounted_) ::umount2(path("workspace").c_str(), MNT_DETACH);
  }
  Swapping(const Swapping&) = delete;
  Swapping& operator=(const Swapping&) = delete;

  const Asked& asked() const { return swap_.asked; }
  void act() {
    shell(swap_.act, swap_.needs == Needs::mounts ? As::self : as());
    mounted_ = swap_.needs == Needs::mounts;
  }
  // A hook has no flags: what it grants stands in the operator's profile.
  void grant_by_profile(const Words& flags) {
    for (size_t i = 0; i + 1 < flags.size(); i += 2)
      scene().write("profiles/mine.json", placed(R"({"extends": "workspace-write-no-network", ")" +
                                                 flags[i].substr(2) + R"(": [")" + flags[i + 1] + "\"]}"));
  }

 private:
  const Swap& swap_;
  bool mounted_ = false;
};

struct Cell {
  As as;
  const FrontEnd* front_end;  // null: without one
  const Swap* swap;
  const char* writes = "commit";
};

std::string name_of(const Cell& cell) {
  return std::string(name_of(cell.as)) + "_" +
         (cell.front_end != nullptr ? cell.front_end->name + std::string("_") : "") + cell.swap->name + "_" +
         cell.writes;
}

std::ostream& operator<<(std::ostream& out, const Cell& cell) { return out << name_of(cell); }

bool fits(const FrontEnd& front_end, Needs needs) {
  if (needs == Needs::view) return front_end.has_view;
  return needs != Needs::hosts || (front_end.takes_flags && front_end.has_view);
}

std::vector<Cell> all_cells() {
  std::vector<Cell> cells;
  for (const As as : identities())
    for (const FrontEnd& front_end : front_ends())
      for (const Swap& swap : swaps)
        if (fits(front_end, swap.needs) && (front_end.as_nobody || as == As::self))
          for (const char* writes : {"commit", "live"})
            if (writes == std::string("commit") || (front_end.as_nobody && as == As::self))
              cells.push_back({as, &front_end, &swap, writes});
  return cells;
}

std::vector<Cell> controls() {
  std::vector<Cell> cells;
  for (const As as : identities())
    for (const Swap& swap : swaps)
      if (swap.control != Control::none) cells.push_back({as, nullptr, &swap});
  return cells;
}

class Swaps : public testing::TestWithParam<Cell> {
 protected:
  void SetUp() override {
    if (swap().needs != Needs::mounts) return;
    if (::geteuid() != 0) GTEST_SKIP() << "skipped: only root can mount here";
    ASSERT_TRUE(left_the_hosts_mounts());
  }
  const Swap& swap() const { return *GetParam().swap; }
};

class Approved : public Swaps {};

TEST_P(Approved, IsRefusedOrRunsAsItWasApproved) {
  const FrontEnd& front_end = *GetParam().front_end;
  Swapping stage(GetParam().as, swap(), GetParam().writes);
  if (!front_end.takes_flags) stage.grant_by_profile(swap().asked.flags);

  const Went unswapped = front_end.call(stage, swap().asked, [] {});
  const std::string approved = stage.ran();
  ASSERT_TRUE(approved.starts_with("original")) << approved << unswapped.said;
  const std::string digest = stage.recorded()["plan_digest"].string;
  ASSERT_TRUE(digest.starts_with("sha256:")) << digest;
  stage.forget_ran();

  const Went went = front_end.call(stage, swap().asked, [&] { stage.act(); });
  const std::string ran = stage.ran();
  RecordProperty("ran", ran.empty() ? "nothing" : ran);
  RecordProperty("said", went.said);
  if (ran.empty()) {
    EXPECT_TRUE(went.refused && swap().control != Control::none)
        << "it neither ran nor was refused: " << went.said;
    EXPECT_TRUE(std::regex_search(
        went.said, std::regex("approv|another|chang|gone|replaced|judged|session|rule|two versions")))
        << went.said;
  } else {
    EXPECT_EQ(ran, approved) << went.said;
    EXPECT_EQ(stage.recorded()["plan_digest"].string, digest)
        << "another plan than the approved one: " << went.said;
  }
}

class Running : public testing::TestWithParam<As> {
 protected:
  // While the command runs the host replaces a file that the command names, leads a link elsewhere and puts a
  // file where there was none; another call writes to where the link led. What the command then executed.
  static std::string swapped_beside(Swapping& stage) {
    stage.scene().write("workspace/wait.sh", R"(echo begun; read -r line
for file in "$@"; do sh "$file" && cat ran; done; true)");
    stage.shell("cd workspace; cp script.sh sub/real.sh; ln -s sub/real.sh link.sh");
    Conversation running(stage.command(run_words(stage, stage.asked())), Over::terminal);
    EXPECT_TRUE(running.hear("else: no > ")) << running.heard();
    running.send("y\r");
    EXPECT_TRUE(running.hear("begun")) << running.heard();
    const size_t begun = running.heard().size();
    stage.act();
    const Ran beside = run(stage.command({"call", "write_artifact",
                                          R"({"path": "sub/real.sh", "content": "echo swapped > ran"})",
                                          "--workspace", stage.path("workspace")}));
    EXPECT_TRUE(exited(beside, 0)) << beside.out << beside.err;
    running.send("go\r");
    const Ran ran = running.finish();
    EXPECT_TRUE(exited(ran, 0)) << ran.out;
    return ran.out.substr(begun);
  }
  static Swap meanwhile() {
    return {"", {{"sh", "wait.sh", "tool", "link.sh", "later.sh"}}, R"(cd workspace
mv ../swapped/workspace/tool tool; ln -sf sub/who link.sh; echo 'echo swapped > ran' > later.sh)"};
  }
};

TEST_P(Running, WhatItNamesIsWhatWasApproved) {
  const Swap swap = meanwhile();
  Swapping stage(GetParam(), swap, "commit");
  const std::string said = swapped_beside(stage);
  EXPECT_TRUE(contains(said, "original\r\noriginal\r\n")) << said;
  EXPECT_FALSE(contains(said, "swapped")) << said;
  // What the host and the other call wrote is no conflict with what the call only read.
  EXPECT_EQ(stage.ran(), "original\n");
  for (const char* name : {"tool", "later.sh", "sub/real.sh"})
    EXPECT_TRUE(contains(read_file(stage.path("workspace") + "/" + name), "swapped")) << name;
  EXPECT_EQ(fs::read_symlink(stage.path("workspace/link.sh")), "sub/who");
}

TEST_P(Running, UnderLiveItCanBeExchanged) {
  const Swap swap = meanwhile();
  Swapping stage(GetParam(), swap, "live");
  const std::string said = swapped_beside(stage);
  EXPECT_TRUE(contains(said, "swapped")) << said;
}

INSTANTIATE_TEST_SUITE_P(Swaps, Running, testing::ValuesIn(identities()),
                         [](const testing::TestParamInfo<As>& as) { return name_of(as.param); });

class Unconfined : public Swaps {};

// Without Cloche the program waits for a FIFO as a call waits for its approval.
TEST_P(Unconfined, TheSwapHasAnEffect) {
  Swapping stage(GetParam().as, swap());
  if (swap().control == Control::explain) {
    const auto explained = [&] {
      const Json said = stage.explained(swap().asked);
      EXPECT_FALSE(said["decision"].string.empty());
      return said["decision"].string + said["plan_digest"].string;
    };
    const std::string before = explained();
    EXPECT_EQ(before, explained());
    stage.act();
    EXPECT_NE(before, explained());
    return;
  }
  for (const bool swapped : {false, true}) {
    stage.forget_ran();
    stage.shell("rm -f go && mkfifo go");
    Started program(stage.without_cloche(swap().asked));
    if (swapped) stage.act();
    stage.shell("echo > go");
    EXPECT_TRUE(exited(program.finish(), 0));
    EXPECT_EQ(stage.ran(), swapped ? "swapped\n" : "original\n");
  }
}

#define INSTANTIATE(suite, cells)                                  \
  INSTANTIATE_TEST_SUITE_P(Swaps, suite, testing::ValuesIn(cells), \
                           [](const testing::TestParamInfo<Cell>& cell) { return name_of(cell.param); })
INSTANTIATE(Approved, all_cells());
INSTANTIATE(Unconfined, controls());

}  // namespace
}  // namespace cloche::test
