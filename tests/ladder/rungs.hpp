// The ladder as its tests see it: the rungs with the program that each needs, whether it works here, a scene
// for the calls, and what no call may leave behind.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "everyday/support.hpp"

namespace cloche::test {

struct Rung {
  const char* rung;     // --isolation
  const char* backend;  // --backend
  const char* package;  // of Debian; empty: ours
};

inline constexpr Rung rungs[] = {{"subprocess", "subprocess", ""},     {"namespace", "native", ""},
                                 {"namespace", "bwrap", "bubblewrap"}, {"container", "runc", "runc"},
                                 {"container", "crun", "crun"},        {"gvisor", "runsc", "runsc"}};

// One rung, by one identity.
struct LaunchResources {
  Rung rung;
  As as;
};
std::vector<LaunchResources> seats();
// Of these the ones with mounts of ours, of another's, and with none.
std::vector<LaunchResources> seats_of_three();
void PrintTo(const LaunchResources& seat, std::ostream* out);
std::string name_of(const ::testing::TestParamInfo<LaunchResources>& info);

// Empty: it works here. Otherwise why not, in the words of the tool itself. Our own two never have an excuse.
std::string why_not(const LaunchResources& seat);

class Rungs : public ::testing::TestWithParam<LaunchResources> {
 protected:
  void SetUp() override;

  As as() const { return GetParam().as; }
  std::string backend() const { return GetParam().rung.backend; }
  fs::path workspace() const { return scene_.workspace(); }
  Scene& scene() { return scene_; }

  // `cloche run FLAGS -- ARGV` in the workspace, on this rung.
  Command on_rung(const std::vector<std::string>& flags, const std::vector<std::string>& argv,
                  Command how = {}) const;

 private:
  Scene scene_{GetParam().as};
};

// A bash script as root in a mount namespace of its own, whose mounts end with it. In it `cloche ARGS...` is
// Cloche as the identity, with a state directory of the scene's.
Ran in_own_mounts(As as, const Scene& scene, const std::string& script);

// Processes that lost their parent to a call become children of the tests, so none can be overlooked,
// whatever it is called. From the first use on.
void adopt_orphans();
std::vector<int> children_of(int parent);
// The first word of its command line; empty: it is gone. (Crun runs from a copy of itself, and the kernel's
// own name for it is that of the copy.)
std::string command_of(int process);
// Waits until none is left; names those that are.
std::string orphans_left(double seconds);

// What the machine has besides processes: mounts, and groups and temporary files of the ids that calls of
// root's have here.
struct Traces {
  std::string mounts;
  std::vector<std::string> groups;
  std::vector<std::string> temporary;
};
Traces traces();
// Of those now, what was not there before; waits a little for it to go.
std::string traces_left(const Traces& before, double seconds);

bool wait_until(double seconds, const std::function<bool()>& condition);

}  // namespace cloche::test
