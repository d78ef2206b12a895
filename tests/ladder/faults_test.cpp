// Somebody is killed with SIGKILL: Cloche, the keeper of the box, or the program that builds it, while it
// starts and while the command runs. Whoever it was, soon nothing of the call runs, is mounted or lies about.
// And: many calls at once, and no room on the disk.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <thread>

#include "everyday/conversation.hpp"
#include "ladder/rungs.hpp"
#include "run/fixture.hpp"

namespace cloche::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr double soon = 2;  // seconds

// The first child of it, as soon as there is one that is called so; 0: there was none in time.
int child_called(int parent, const std::string& name) {
  int found = 0;
  wait_until(soon, [&] {
    for (const int child : children_of(parent)) {
      if (command_of(child) == name) found = child;
    }
    return found != 0;
  });
  return found;
}

void add_descendants_of(int process, std::vector<int>& found) {
  for (const int child : children_of(process)) {
    found.push_back(child);
    add_descendants_of(child, found);
  }
}

bool waits_at_a_fifo(int process) {
  return read_file("/proc/" + std::to_string(process) + "/wchan") == "wait_for_partner";
}

// In small steps, until somebody whom it has started waits for it at a fifo; from then on it does nothing.
// No: he was past that already.
bool stop_when_waited_for(int runtime) {
  bool waits = false;
  wait_until(soon, [&] {
    kill(runtime, SIGCONT);
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    kill(runtime, SIGSTOP);
    std::this_thread::sleep_for(milliseconds(5));  // for the others to come to where they wait
    const auto started = children_of(runtime);
    waits = std::any_of(started.begin(), started.end(), waits_at_a_fifo);
    const auto is_inside = [](int child) { return command_of(child).find("cloche") != std::string::npos; };
    return waits || std::any_of(started.begin(), started.end(), is_inside);
  });
  return waits;
}

class Faults : public Rungs {
 protected:
  void SetUp() override {
    Rungs::SetUp();
    before_ = traces();
  }

  // A command that does not end by itself, with another one that it has let go of.
  Command endless(const std::string& marker) const {
    return on_rung(
        {},
        {"bash", "-c", "trap '' TERM INT HUP; (setsid sleep " + marker + " &); echo ready; sleep " + marker});
  }

  void expect_nothing_left(const std::string& marker, const std::string& killed) {
    EXPECT_EQ(orphans_left(soon), "") << killed;
    EXPECT_TRUE(all_gone(marker, soon)) << killed;
    // What only the next call can clear away it does, on whichever rung.
    Command next = on_rung({}, {});
    next.argv = under_cloche({}, {"true"});
    EXPECT_TRUE(exited(run(next), 0)) << killed;
    EXPECT_EQ(traces_left(before_, soon), "") << killed;
    const fs::path scratch = fs::path(state_home(as())) / "cloche/scratch";
    EXPECT_TRUE(!fs::exists(scratch) || fs::is_empty(scratch)) << killed;
  }

  // What Cloche says when somebody of its own is killed, as soon as he is there and in the middle of the
  // command. `victim` finds him, from the keeper.
  std::vector<Ran> survivors_of(const std::string& who, const std::function<int(int)>& victim) {
    std::vector<Ran> all;
    // Or the first keeper may be that of a trial, which is made again when a process kills it.
    EXPECT_TRUE(exited(run(on_rung({}, {"true"})), 0));
    for (const bool early : {true, false}) {
      const std::string killed = who + (early ? " early" : "");
      const auto marker = marker_seconds();
      Conversation talk(endless(marker), Over::pipes);
      EXPECT_TRUE(early || talk.hear("ready")) << killed;
      const int keeper = child_called(talk.pid(), "cloche-jail");
      const int found = keeper != 0 ? victim(keeper) : 0;
      EXPECT_NE(found, 0) << "there was none: " << killed;
      if (found != 0) kill(found, SIGKILL);
      all.push_back(talk.finish(seconds(10)));
      EXPECT_FALSE(all.back().timed_out) << killed;
      EXPECT_TRUE(all.back().exit_code == 125 || all.back().exit_code == 137) << all.back().exit_code;
      expect_nothing_left(marker, killed);
    }
    return all;
  }

 private:
  Traces before_;
};
INSTANTIATE_TEST_SUITE_P(Rung, Faults, ::testing::ValuesIn(seats()),
                         [](const auto& param) { return name_of(param); });

TEST_P(Faults, ClocheIsKilledWhileItStarts) {
  for (const int delay_ms : {2, 10, 30, 100}) {
    const auto marker = marker_seconds();
    Conversation talk(endless(marker), Over::pipes);
    std::this_thread::sleep_for(milliseconds(delay_ms));
    kill(talk.pid(), SIGKILL);
    EXPECT_EQ(talk.finish().signal, SIGKILL);
    expect_nothing_left(marker, "cloche after " + std::to_string(delay_ms) + " ms");
  }
}

TEST_P(Faults, ClocheIsKilledInTheMiddle) {
  const auto marker = marker_seconds();
  Conversation talk(endless(marker), Over::pipes);
  ASSERT_TRUE(talk.hear("ready"));
  kill(talk.pid(), SIGKILL);
  EXPECT_EQ(talk.finish().signal, SIGKILL);
  expect_nothing_left(marker, "cloche");
}

// Cloche itself lives on, and says what happened.
TEST_P(Faults, TheKeeperIsKilled) {
  for (const Ran& ran : survivors_of("the keeper", [](int keeper) { return keeper; }))
    EXPECT_TRUE(contains(ran.err, "cloche: ")) << ran.err;
}

// A process in the box waits for a runtime that died with its keeper. The moment for it is short.
TEST_P(Faults, TheKeeperIsKilledWhileTheBoxWaits) {
  if (backend() != "runc") GTEST_SKIP() << "skipped: nothing waits for this one in a way that has no end";
  if (geteuid() != 0) GTEST_SKIP() << "skipped: only root sees what a process waits for";
  bool caught = false;
  for (int tries = 0; tries < 20 && !caught; ++tries) {
    const auto marker = marker_seconds();
    Conversation talk(endless(marker), Over::pipes);
    const int keeper = child_called(talk.pid(), "cloche-jail");
    const int runtime = keeper != 0 ? child_called(keeper, "runc") : 0;
    ASSERT_NE(runtime, 0);
    caught = stop_when_waited_for(runtime);
    kill(keeper, SIGKILL);
    const Ran ran = talk.finish(seconds(10));
    EXPECT_TRUE(!caught || contains(ran.err, "ended from outside")) << ran.err;
    expect_nothing_left(marker, "the keeper");
  }
  EXPECT_TRUE(caught);
}

TEST_P(Faults, TheRuntimeIsKilled) {
  if (*GetParam().rung.package == '\0')
    GTEST_SKIP() << "skipped: there is no runtime between us and the command";
  const auto all = survivors_of("the runtime", [&](int keeper) { return child_called(keeper, backend()); });
  for (const Ran& ran : all) EXPECT_TRUE(contains(ran.err, "cloche: ")) << "not a word: " << ran.err;
}

// gVisor runs the command's code in processes of its own. When they are killed it ends, or waits for them for
// ever; the call does not.
TEST_P(Faults, APartOfTheRuntimeIsKilled) {
  if (backend() != "runsc") GTEST_SKIP() << "skipped: this one has no parts that it waits for";
  EXPECT_TRUE(exited(run(on_rung({}, {"true"})), 0));
  for (int tries = 0; tries < 2; ++tries) {
    Conversation talk(on_rung({}, {"bash", "-c", "echo ready; while sleep 0.1; do echo; done"}), Over::pipes);
    ASSERT_TRUE(talk.hear("ready"));
    const int keeper = child_called(talk.pid(), "cloche-jail");
    const int runtime = keeper != 0 ? child_called(keeper, "runsc") : 0;
    ASSERT_NE(runtime, 0);
    std::vector<int> running_code;
    for (const int part : children_of(runtime)) add_descendants_of(part, running_code);
    ASSERT_FALSE(running_code.empty());
    for (const int process : running_code) kill(process, SIGKILL);
    const Ran ran = talk.finish(seconds(10));
    EXPECT_FALSE(ran.timed_out);
    EXPECT_EQ(ran.exit_code, 125);
    EXPECT_TRUE(contains(ran.err, "a part of gVisor was killed") || contains(ran.err, "ended without a word"))
        << ran.err;
    EXPECT_EQ(orphans_left(soon), "");
  }
}

// A call without a box that was killed is not the last to have left something: the next call clears it away,
// on whichever rung it is; of one that lives nothing.
TEST_P(Faults, WhatAKilledCallLeftIsClearedAwayByTheNext) {
  const fs::path scratch = fs::path(state_home(as())) / "cloche/scratch";
  Command staged = on_rung({}, {});
  staged.argv = {"bash", "-c",
                 "umask 077; mkdir -p $0/cloche-dead/home/x $0/cloche-closed/home $0/cloche-alive; "
                 "chmod 0 $0/cloche-closed",
                 scratch};
  ASSERT_TRUE(exited(run(staged), 0));
  const int alive = ::open((scratch / "cloche-alive").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(::flock(alive, LOCK_EX | LOCK_NB), 0);
  EXPECT_TRUE(exited(run(on_rung({}, {"true"})), 0));
  EXPECT_FALSE(fs::exists(scratch / "cloche-dead"));
  EXPECT_FALSE(fs::exists(scratch / "cloche-closed"));
  EXPECT_TRUE(fs::exists(scratch / "cloche-alive"));
  ::close(alive);
  expect_nothing_left(marker_seconds(), "staged");
}

TEST_P(Faults, ManyStartsAtOnce) {
  const std::map<std::string, int> numbers = {{"native", 200}, {"subprocess", 100}, {"bwrap", 30},
                                              {"runc", 30},    {"crun", 30},        {"runsc", 4}};
  std::vector<std::unique_ptr<Started>> all;
  for (int i = 0; i < numbers.at(backend()); ++i)
    all.push_back(std::make_unique<Started>(on_rung({}, {"echo", std::to_string(i)})));
  for (size_t i = 0; i < all.size(); ++i) EXPECT_TRUE(printed(all[i]->finish(), std::to_string(i) + "\n"));
  all.clear();
  expect_nothing_left(marker_seconds(), "many");
}

// A state directory of 64 KiB that is full: nothing is half done, and there is a sentence.
TEST_P(Faults, NoRoomForTheState) {
  if (geteuid() != 0) GTEST_SKIP() << "skipped: only root can mount such a disk";
  const std::string words = std::string(" --isolation ") + GetParam().rung.rung + " --backend " + backend();
  const Ran ran =
      in_own_mounts(as(), scene(),
                    "mkdir -p \"$XDG_STATE_HOME\"; mount -t tmpfs -o size=64k,mode=755 none $XDG_STATE_HOME; "
                    "chown --reference=. $XDG_STATE_HOME; "
                    "cat /dev/zero > $XDG_STATE_HOME/full 2>/dev/null || true; "
                    "cloche run" +
                        words +
                        " -- echo works || echo code $?; "
                        "cloche run" +
                        words +
                        " --task T-001 -- touch ran || echo code $?; "
                        "rm $XDG_STATE_HOME/full; cloche run" +
                        words + " --task T-001 -- echo again");
  const bool works = ran.out == "works\ncode 125\nagain\n";
  const bool refuses = ran.out == "code 125\ncode 125\nagain\n";
  EXPECT_TRUE(works || refuses) << ran.out;
  EXPECT_TRUE(contains(ran.err, "No space left on device")) << ran.err;
  EXPECT_FALSE(contains(ran.err, "cloche: write: ")) << "where? " << ran.err;
  EXPECT_FALSE(fs::exists(workspace() / "ran")) << "nothing runs that is not recorded";
}

}  // namespace
}  // namespace cloche::test
