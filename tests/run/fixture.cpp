#include "run/fixture.hpp"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace cloche::test {

Command Run::under(const std::vector<std::string>& flags, const std::vector<std::string>& argv,
                   Command how) const {
  how.argv = under_cloche(flags, argv);
  how.as = as();
  if (how.cwd.empty()) how.cwd = workspace();
  how.env.emplace("XDG_STATE_HOME", state_home(as()));
  return how;
}

Ran Run::cloche_run(const std::vector<std::string>& flags, const std::vector<std::string>& argv,
                    const Command& how) const {
  return run(under(flags, argv, how));
}

Ran Run::cloche_shell(const std::vector<std::string>& flags, const std::string& script,
                      const Command& how) const {
  return cloche_run(flags, {"bash", "-c", script}, how);
}

Run::Answer Run::answer(std::vector<std::string> flags, const std::vector<std::string>& argv,
                        const Command& how) const {
  flags.emplace_back("--json");
  Answer out;
  out.ran = cloche_run(flags, argv, how);
  auto json = parse_json(out.ran.out);
  if (!json || !json->is(Json::Kind::object)) {
    ADD_FAILURE() << "not one JSON object: " << out.ran.out.substr(0, 2000) << "\nstderr: " << out.ran.err;
    return out;
  }
  out.json = std::move(*json);
  return out;
}

Ran Run::words(const std::vector<std::string>& words, const Command& how) const {
  Command command = under({}, {}, how);
  command.argv = {cloche(), "run"};
  command.argv.insert(command.argv.end(), words.begin(), words.end());
  return run(command);
}

Ran Run::with_own_mounts(const std::string& script) const {
  const std::string become =
      as() == As::nobody ? "setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/nonexistent " : "";
  return run({.argv = {"unshare", "-m", "--propagation", "private", "bash", "-c",
                       "set -e; RUN='" + become + cloche() + " run'; " + script},
              .cwd = workspace()});
}

bool Run::is_there(const std::string& name) const {
  return fs::symlink_status(workspace() / name).type() != fs::file_type::not_found;
}

void Run::wait_for(const std::string& name) const {
  for (int i = 0; i < 1500 && !is_there(name); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ASSERT_TRUE(is_there(name)) << name;
}

void Run::killed_after(const std::string& script, const std::string& made,
                       const std::vector<std::string>& flags) const {
  Started started(under(flags, {"bash", "-c", script + "; sleep 100"}));
  wait_for(made);
  ::kill(started.pid(), SIGKILL);
  const Ran ran = started.finish();
  ASSERT_EQ(ran.signal, SIGKILL) << ran.err;
}

fs::path Run::secret() { return scene().write("private/secret", "do not show\n"); }

std::vector<int> processes_with(const std::string& marker) {
  std::vector<int> out;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string line = read_file(entry.path() / "cmdline");
    if (!contains(line, marker) || contains(line.substr(0, line.find('\0')), "cloche")) continue;
    out.push_back(std::stoi(name));
  }
  return out;
}

bool all_gone(const std::string& marker, double seconds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!processes_with(marker).empty()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

std::string marker_seconds() {
  static int count = 0;
  return "9" + std::to_string(getpid()) + "." + std::to_string(++count) + "7351";
}

}  // namespace cloche::test
