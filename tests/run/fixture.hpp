// The fixture of the run suite: `cloche run` with flags, in the scene's workspace, as one of the identities.
#pragma once

#include "everyday/support.hpp"
#include "run/json.hpp"

namespace cloche::test {

class Run : public Everyday {
 protected:
  // `cloche run FLAGS -- ARGV` in the workspace.
  Command under(const std::vector<std::string>& flags, const std::vector<std::string>& argv,
                Command how = {}) const;
  Ran cloche_run(const std::vector<std::string>& flags, const std::vector<std::string>& argv,
                 const Command& how = {}) const;
  Ran cloche_shell(const std::vector<std::string>& flags, const std::string& script,
                   const Command& how = {}) const;
  // The same with --json; the exit code of the process in `exit`. Fails the test when stdout is not JSON
  // alone.
  struct Answer {
    Json json;
    Ran ran;
  };
  Answer answer(std::vector<std::string> flags, const std::vector<std::string>& argv,
                const Command& how = {}) const;
  // `cloche run` without the helper's `--`: the words as they are.
  Ran words(const std::vector<std::string>& words, const Command& how = {}) const;
  // A bash script as root in a mount namespace of its own (mounts made there end with it), in which $RUN is
  // `cloche run` as the identity.
  Ran with_own_mounts(const std::string& script) const;
  // In the workspace, a link that leads nowhere too.
  bool is_there(const std::string& name) const;
  void wait_for(const std::string& name) const;
  // A call that does this, and whose Cloche is killed once it has made `made`.
  void killed_after(const std::string& script, const std::string& made,
                    const std::vector<std::string>& flags = {}) const;
  // Something the workspace's owner has next to the workspace and did not show.
  fs::path secret();
};

// Process ids whose command line contains `marker`, other than those of Cloche itself.
std::vector<int> processes_with(const std::string& marker);
// Until none is left.
bool all_gone(const std::string& marker, double seconds = 5);
// A word that no other process has on its command line, which `sleep` takes for a number of seconds.
std::string marker_seconds();

}  // namespace cloche::test
