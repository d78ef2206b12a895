// The observer's side of the escape tests: a stage is one scene with everything an attack may reach for
// around it, and knows afterwards whether any of it was touched.
//
// The test process sets the stage, a harness command (the bare attack, or Cloche with the attack in it) plays
// on it, and then the watchers look. Every case is played twice, on two fresh stages: the control and the
// proof.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "harness/harness.hpp"

namespace cloche::test {

enum class Play { control, under_cloche };

// "" when nothing happened outside; what happened otherwise.
using Watcher = std::function<std::string(const Ran&)>;

class Stage {
 public:
  Stage(As as, Play play);

  const As as;
  const Play play;
  Scene scene;
  const std::string token;  // in every secret of this stage, and nowhere else on the machine

  // What the case fills in.
  std::vector<std::string> arguments = {};         // of the attack
  std::vector<std::string> flags = {};             // of cloche run
  std::vector<std::string> launcher = {};          // a prop around the command, in both plays
  std::vector<std::string> control_launcher = {};  // a prop that only the control needs
  std::map<std::string, std::string> environment = {};
  std::chrono::milliseconds deadline = std::chrono::seconds(15);

  // The control must make at least one of its watchers speak; under Cloche all must be silent.
  void watch(Watcher watcher) { watchers_.push_back(std::move(watcher)); }
  void watch_only_under_cloche(Watcher watcher);
  void forget_watchers() { watchers_.clear(); }
  bool is_watched() const { return !watchers_.empty(); }
  std::string damage(const Ran& ran) const;

  void keep(std::shared_ptr<void> prop) { kept_.push_back(std::move(prop)); }

  Command command(const std::string& attack) const;
  Ran run_attack(const std::string& attack) const { return run(command(attack)); }
  std::string attacks() const { return (scene.workspace() / "escape-attacks").string(); }

  // --- set pieces
  // ---------------------------------------------------------------------------------------------
  fs::path write_secret(const std::string& relative = "secret.txt");
  // A file of the identity's own beside the workspace, watched for any change.
  fs::path write_precious(const std::string& relative = "precious.txt");
  void watch_appearance_of(const fs::path& path);  // also removes it in the end
  // A process of the host with the token in its arguments, memory and descriptor 9; watched when asked.
  int start_victim();
  void watch_victim();
  int listen_tcp(int family);
  int listen_udp();
  void listen_unix(const fs::path& path);
  void listen_abstract(const std::string& name);
  int call_back_door();  // keeps calling a free port of the host until somebody answers; returns the port

 private:
  void watch_listener(int fd);

  std::vector<Watcher> watchers_ = {};
  std::vector<std::shared_ptr<void>> kept_ = {};
  std::shared_ptr<Started> victim_ = {};
};

// What must be the same before and after a call, on the host.
struct HostState {
  std::string mounts;
  std::set<std::string> groups;     // cgroup folders
  std::set<std::string> temporary;  // in /tmp, /var/tmp, /dev/shm, /run
};

HostState look_at_host(As as);
// What is there now and was not before; waits up to two seconds for it to go.
std::string left_behind(const HostState& before, As as);

// Like read_file, but of a file in /proc whose process may end while we read: empty then.
std::string read_proc(const fs::path& path);
// Processes whose command line holds the text.
std::vector<int> processes_with(const std::string& text);
void end_processes(const std::vector<int>& pids);
bool wait_until(const std::function<bool()>& condition, std::chrono::milliseconds patience);
std::string random_token();
std::string namespace_link(const char* kind);
bool is_alive(int pid);  // and no zombie

}  // namespace cloche::test
