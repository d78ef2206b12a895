// Nothing outlives a call: survivors are looked for on the host by the token in their command line, the
// moment the caller has its answer. The same when the call does not end by itself but one of Cloche's own
// processes is killed.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "escape/stage.hpp"

namespace cloche::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::set<std::string> entries_of(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

std::string describe(const std::vector<int>& pids) {
  std::string text;
  for (const int pid : pids) {
    std::string line = read_proc("/proc/" + std::to_string(pid) + "/cmdline");
    std::replace(line.begin(), line.end(), '\0', ' ');
    text += std::to_string(pid) + ": " + line + "\n";
  }
  return text;
}

// One look at the table can miss a process that never keeps its number for long.
std::vector<int> find_survivors(const std::string& token) {
  std::vector<int> found;
  for (int looks = 0; found.empty() && looks < 10; ++looks) found = processes_with(token);
  return found;
}

int parent_of(int pid) {
  const std::string stat = read_proc("/proc/" + std::to_string(pid) + "/stat");
  const size_t end = stat.rfind(") ");
  return end == std::string::npos ? 0 : atoi(stat.c_str() + end + 4);
}

// Children of children too, outermost first.
std::vector<int> descendants_of(int ancestor) {
  std::vector<int> family = {ancestor};
  for (size_t i = 0; i < family.size(); ++i) {
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const int pid = atoi(entry.path().filename().c_str());
      if (pid > 0 && parent_of(pid) == family[i]) family.push_back(pid);
    }
  }
  family.erase(family.begin());
  return family;
}

bool is_attack(int pid) {
  return read_proc("/proc/" + std::to_string(pid) + "/comm").starts_with("escape-attacks");
}

std::vector<int> helpers_of(int cloche_pid) {
  std::vector<int> helpers = descendants_of(cloche_pid);
  std::erase_if(helpers, is_attack);
  return helpers;
}

// --- survivors of a call that ends by itself
// -----------------------------------------------------------------

struct Survivor {
  const char* name;
  const char* attack;
  bool holds_output = false;  // then the bare caller has no answer: that is the attack
};

class SurvivorTest : public testing::Test {
 public:
  SurvivorTest(Survivor survivor, As as) : survivor_(survivor), as_(as) {}

  void TestBody() override {
    run_control();
    if (!HasFailure()) run_under_cloche();
  }

 private:
  void run_control() const {
    Stage stage(as_, Play::control);
    stage.arguments = {stage.token};
    if (survivor_.holds_output) stage.deadline = milliseconds(700);
    const Ran ran = stage.run_attack(survivor_.attack);
    const std::vector<int> alive = find_survivors(stage.token);
    std::cout << "  control: " << alive.size() << " alive, " << ran.seconds << " s" << std::endl;
    EXPECT_EQ(ran.timed_out, survivor_.holds_output);
    EXPECT_FALSE(alive.empty()) << "the control must leave a survivor: " << ran.out << ran.err;
    // One that keeps forking has to be caught between two of its lives.
    EXPECT_TRUE(wait_until(
        [&] {
          end_processes(processes_with(stage.token));
          return find_survivors(stage.token).empty();
        },
        seconds(15)));
  }

  void run_under_cloche() const {
    const HostState before = look_at_host(as_);
    Stage stage(as_, Play::under_cloche);
    stage.arguments = {stage.token};
    const Ran ran = stage.run_attack(survivor_.attack);
    const std::vector<int> alive = find_survivors(stage.token);
    std::cout << "  cloche: exit " << ran.exit_code << ", " << alive.size() << " alive, " << ran.seconds
              << " s" << std::endl;
    EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
    EXPECT_LT(ran.seconds, 4) << "the caller waited for its answer";
    EXPECT_TRUE(alive.empty()) << describe(alive);
    end_processes(alive);
    EXPECT_EQ(left_behind(before, as_), "");
  }

  const Survivor survivor_;
  const As as_;
};

constexpr Survivor survivors[] = {
    {"Background", "leave-background"},
    {"Daemon", "leave-daemon"},
    {"NewSession", "leave-new-session"},
    {"Ignoring", "leave-ignoring"},
    {"Stopped", "leave-stopped"},
    {"HoldingOutput", "leave-holding-output", true},
    {"FloodingOutput", "leave-flooding-output", true},
    {"ExecChain", "leave-exec-chain"},
    {"Respawning", "leave-respawning"},
    {"Spinning", "leave-spinning"},
    {"InVfork", "leave-in-vfork"},
    {"Subreaper", "leave-subreaper"},
    {"WithoutLeader", "leave-without-leader"},
    {"BlockedOnFifo", "leave-blocked-on-fifo"},
};

bool register_survivors() {
  for (const Survivor& survivor : survivors) {
    for (const As as : identities()) {
      testing::RegisterTest(("Escape/Survivor" + std::string(survivor.name)).c_str(),
                            (std::string("held/") + name_of(as)).c_str(), nullptr, nullptr, __FILE__,
                            __LINE__,
                            [survivor, as]() -> SurvivorTest* { return new SurvivorTest(survivor, as); });
    }
  }
  return true;
}

const bool registered = register_survivors();

// --- calls that are killed
// -------------------------------------------------------------------------------------

class Killed : public testing::TestWithParam<As> {
 protected:
  // Starts a command that stays with two children, and waits until all three run: what it writes is not seen
  // yet.
  static std::unique_ptr<Started> start(Stage& stage) {
    stage.arguments = {stage.token};
    stage.control_launcher = {"with-parent"};
    auto started = std::make_unique<Started>(stage.command("stay"));
    const auto running = [&] {
      const std::vector<int> pids = processes_with("stay" + std::string(1, '\0') + stage.token);
      return std::count_if(pids.begin(), pids.end(), is_attack) >= 3;
    };
    if (!wait_until(running, seconds(5))) {
      kill(started->pid(), SIGKILL);
      ADD_FAILURE() << "did not start: " << started->finish().err;
    }
    return started;
  }

  static void expect_nothing_left(const Stage& stage, const HostState& before, As as) {
    const bool gone = wait_until([&] { return processes_with(stage.token).empty(); }, seconds(2));
    EXPECT_TRUE(gone) << describe(processes_with(stage.token));
    end_processes(processes_with(stage.token));
    EXPECT_EQ(left_behind(before, as), "");
    EXPECT_EQ(entries_of(stage.scene.workspace()), (std::set<std::string>{"escape-attacks"}));
    EXPECT_EQ(entries_of(stage.scene.root()), (std::set<std::string>{"workspace"}));
  }
};

TEST_P(Killed, ControlLeavesSurvivors) {
  Stage stage(GetParam(), Play::control);
  const auto started = start(stage);
  kill(started->pid(), SIGKILL);
  EXPECT_FALSE(wait_until([&] { return processes_with(stage.token).empty(); }, milliseconds(500)));
  EXPECT_TRUE(wait_until(
      [&] {
        end_processes(processes_with(stage.token));
        return processes_with(stage.token).empty();
      },
      seconds(5)));
}

TEST_P(Killed, SupervisorByAnySignal) {
  for (const int number : {SIGKILL, SIGTERM, SIGINT}) {
    SCOPED_TRACE(number);
    const HostState before = look_at_host(GetParam());
    Stage stage(GetParam(), Play::under_cloche);
    const auto started = start(stage);
    kill(started->pid(), number);
    expect_nothing_left(stage, before, GetParam());
    const Ran ran = started->finish();
    EXPECT_LT(ran.seconds, 5) << "the caller waited for its answer";
  }
}

// Every process of Cloche's own below the supervisor, one call each.
TEST_P(Killed, EachHelper) {
  size_t count = 1;
  for (size_t which = 0; which < count; ++which) {
    SCOPED_TRACE(which);
    const HostState before = look_at_host(GetParam());
    Stage stage(GetParam(), Play::under_cloche);
    const auto started = start(stage);
    const std::vector<int> helpers = helpers_of(started->pid());
    ASSERT_FALSE(helpers.empty()) << "no helper to kill: " << describe(descendants_of(started->pid()));
    count = helpers.size();
    if (which >= count) break;
    std::cout << "  killed " << describe({helpers[which]});
    kill(helpers[which], SIGKILL);
    expect_nothing_left(stage, before, GetParam());
    const Ran ran = started->finish();
    EXPECT_LT(ran.seconds, 5) << "the caller waited for its answer";
    EXPECT_NE(ran.exit_code, 0);
  }
}

TEST_P(Killed, SupervisorWhileItStarts) {
  const HostState before = look_at_host(GetParam());
  for (int round = 0; round < 30; ++round) {
    Stage stage(GetParam(), Play::under_cloche);
    stage.arguments = {stage.token};
    Started started(stage.command("stay"));
    usleep(static_cast<useconds_t>(round * 400));
    kill(started.pid(), SIGKILL);
    started.finish();
    EXPECT_TRUE(wait_until([&] { return processes_with(stage.token).empty(); }, seconds(2)))
        << round << "\n"
        << describe(processes_with(stage.token));
    EXPECT_EQ(entries_of(stage.scene.workspace()), (std::set<std::string>{"escape-attacks"}));
  }
  // A kill between making a cgroup and starting the keeper leaves it empty; the next call sweeps it away.
  const Stage next(GetParam(), Play::under_cloche);
  const Ran ran =
      run({.argv = under_cloche({"--workspace", next.scene.workspace()}, {"/bin/true"}), .as = GetParam()});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(left_behind(before, GetParam()), "");
}

class Answer : public testing::TestWithParam<As> {};

// The answer waits neither for the caller to say something nor for the command to read it.
TEST_P(Answer, ComesAtOnceWithSilentInput) {
  Stage stage(GetParam(), Play::under_cloche);
  stage.launcher = {"with-silent-stdin"};
  stage.deadline = seconds(5);
  const Ran ran = stage.run_attack("find-open-descriptors");
  EXPECT_FALSE(ran.timed_out) << "the caller waited for its answer";
  EXPECT_EQ(ran.exit_code, 20) << ran.out << ran.err;
}

// --- who it is, seen from the host
// -------------------------------------------------------------------------------

std::string line_of_status(int pid, const std::string& name) {
  const std::string status = read_proc("/proc/" + std::to_string(pid) + "/status");
  const size_t at = status.find("\n" + name + ":\t");
  if (at == std::string::npos) return "";
  const size_t begin = at + name.size() + 3;
  return status.substr(begin, status.find('\n', begin) - begin);
}

int find_attack(const std::string& token) {
  int found = 0;
  wait_until(
      [&] {
        for (const int pid : processes_with("show-identity" + std::string(1, '\0') + token)) {
          if (is_attack(pid)) found = pid;
        }
        return found != 0;
      },
      seconds(3));
  return found;
}

class Identity : public testing::TestWithParam<As> {};

TEST_P(Identity, IsNotRootOutside) {
  Stage bare(GetParam(), Play::control);
  bare.arguments = {bare.token, "600"};
  Started control(bare.command("show-identity"));
  const int bare_pid = find_attack(bare.token);
  const std::string expected = GetParam() == As::nobody ? "65534" : std::to_string(geteuid());
  EXPECT_TRUE(line_of_status(bare_pid, "Uid").starts_with(expected)) << "the control is not who it should be";
  EXPECT_EQ(line_of_status(bare_pid, "Seccomp"), "0");

  Stage first(GetParam(), Play::under_cloche);
  Stage second(GetParam(), Play::under_cloche);
  first.arguments = {first.token, "1500"};
  second.arguments = {second.token, "1500"};
  Started one(first.command("show-identity"));
  Started two(second.command("show-identity"));
  const int pid = find_attack(first.token);
  const int other = find_attack(second.token);
  ASSERT_NE(pid, 0);
  ASSERT_NE(other, 0);
  std::cout << "  outside: users " << line_of_status(pid, "Uid") << " and " << line_of_status(other, "Uid")
            << std::endl;
  for (const char* ids : {"Uid", "Gid"}) {
    const std::string line = "\t" + line_of_status(pid, ids) + "\t";
    EXPECT_EQ(line.find("\t0\t"), std::string::npos) << ids << " " << line;
  }
  EXPECT_EQ((" " + line_of_status(pid, "Groups")).find(" 0 "), std::string::npos);
  if (geteuid() == 0 && GetParam() == As::self) {
    EXPECT_NE(line_of_status(pid, "Uid"), line_of_status(other, "Uid")) << "two calls share one user id";
  }
  for (const char* set : {"CapEff", "CapPrm", "CapInh", "CapAmb", "CapBnd"}) {
    EXPECT_EQ(line_of_status(pid, set), "0000000000000000") << set;
  }
  EXPECT_EQ(line_of_status(pid, "NoNewPrivs"), "1");
  EXPECT_EQ(line_of_status(pid, "Seccomp"), "2");
  EXPECT_EQ(read_proc("/proc/" + std::to_string(pid) + "/oom_score_adj"), "1000\n");
}

std::string parameter_name(const testing::TestParamInfo<As>& info) { return name_of(info.param); }

INSTANTIATE_TEST_SUITE_P(Escape, Killed, testing::ValuesIn(identities()), parameter_name);
INSTANTIATE_TEST_SUITE_P(Escape, Answer, testing::ValuesIn(identities()), parameter_name);
INSTANTIATE_TEST_SUITE_P(Escape, Identity, testing::ValuesIn(identities()), parameter_name);

}  // namespace
}  // namespace cloche::test
