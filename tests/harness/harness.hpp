// What tests that start real processes share: run a command as root or as nobody, with a deadline, and get
// everything it said; make a scene (a scratch directory with a workspace in it) and take it away again.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cloche::test {

namespace fs = std::filesystem;

// Who runs the command. `self` is whoever runs the tests.
enum class As { self, nobody };

const char* name_of(As as);

// Both identities when the suite runs as root; only `self` otherwise, because only root can become nobody.
std::vector<As> identities();

// Where Cloche keeps its own files during the tests: one place for each identity, removed at the end.
std::string state_home(As as);

struct Command {
  std::vector<std::string> argv;
  As as = As::self;
  std::string cwd = {};                         // empty: the caller's
  std::map<std::string, std::string> env = {};  // added to a small fixed environment
  std::optional<std::string> input = {};        // empty: stdin is /dev/null
  std::chrono::milliseconds deadline = std::chrono::seconds(60);
  std::vector<int> closed = {};  // descriptors of 0-2 to close before exec
};

struct Ran {
  int exit_code = -1;  // -1 when a signal or our deadline ended it
  int signal = 0;
  bool timed_out = false;
  std::string out;
  std::string err;
  double seconds = 0;
};

Ran run(const Command& command);

// For tests that signal or kill it midway: the process id of the started command; finish() waits.
class Started {
 public:
  explicit Started(const Command& command);
  ~Started();
  Started(const Started&) = delete;
  Started& operator=(const Started&) = delete;
  int pid() const { return pid_; }
  // For tests that talk to it: its stdin, when the command has an input, and its stdout. Ours to use, not to
  // close.
  int input() const { return in_; }
  int output() const { return out_; }
  void close_input();
  void close_output();
  Ran finish();

 private:
  int pid_ = -1;
  int out_ = -1;
  int err_ = -1;
  int in_ = -1;
  Command command_;
  std::chrono::steady_clock::time_point start_;
};

// Paths of what was built.
std::string cloche();                        // build/bin/cloche
std::string built(const std::string& name);  // another program in build/bin or build/tests

// {cloche run FLAGS... -- ARGV...}
std::vector<std::string> under_cloche(const std::vector<std::string>& flags,
                                      const std::vector<std::string>& argv);

// A scratch directory that `as` owns, world-searchable, under /var/tmp (the host's /tmp is private inside,
// so a workspace elsewhere shows more). Removed with everything in it at the end.
class Scene {
 public:
  explicit Scene(As as);
  ~Scene();
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  const fs::path& root() const { return root_; }
  fs::path workspace() const { return root_ / "workspace"; }
  // Writes a file below root(), owned by the scene's identity; makes its parents.
  fs::path write(const fs::path& relative, const std::string& text, unsigned mode = 0644);

 private:
  As as_;
  fs::path root_;
};

std::string read_file(const fs::path& path);

// A bash script, without a double quote, that ends before a process in a session of its own that it started.
// That one writes deep/er/plain once, and deep/.envrc and deep/er/.envrc until it is killed.
inline constexpr const char* leaves_a_writer =
    "mkdir -p deep/er; setsid bash -c 'echo plain > deep/er/plain; while :; do echo evil > deep/.envrc; echo "
    "evil > deep/er/.envrc; done' > /dev/null 2>&1 < /dev/null & until [ -e deep/er/.envrc ]; do sleep 0.05; "
    "done";

}  // namespace cloche::test
