#include "harness/harness.hpp"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace cloche::test {
namespace {

constexpr unsigned nobody_id = 65534;

[[noreturn]] void give_up(const char* doing) {
  std::perror(doing);
  _exit(99);
}

void become(As as) {
  if (as != As::nobody) return;
  if (setgroups(0, nullptr) != 0) give_up("setgroups");
  if (setresgid(nobody_id, nobody_id, nobody_id) != 0) give_up("setresgid");
  if (setresuid(nobody_id, nobody_id, nobody_id) != 0) give_up("setresuid");
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (auto& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

void make_pipe(int (&ends)[2]) {
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
}

}  // namespace

const char* name_of(As as) { return as == As::nobody ? "nobody" : (geteuid() == 0 ? "root" : "self"); }

std::vector<As> identities() {
  if (geteuid() == 0) return {As::self, As::nobody};
  return {As::self};
}

std::string state_home(As as) {
  struct Place {
    std::string path;
    explicit Place(As owner) {
      char name[] = "/var/tmp/cloche-state-XXXXXX";
      if (mkdtemp(name) == nullptr) return;
      path = name;
      if (owner == As::nobody && chown(name, nobody_id, nobody_id) != 0) path.clear();
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() {
      std::error_code ignored;
      if (!path.empty()) fs::remove_all(path, ignored);
    }
  };
  static const Place selfs(As::self);
  if (as == As::self) return selfs.path;
  static const Place nobodys(As::nobody);
  return nobodys.path;
}

Started::Started(const Command& command) : command_(command), start_(std::chrono::steady_clock::now()) {
  int out[2];
  int err[2];
  int in[2] = {-1, -1};
  make_pipe(out);
  make_pipe(err);
  if (command.input) make_pipe(in);

  std::vector<std::string> argv = command.argv;
  std::map<std::string, std::string> variables = {
      {"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
      {"HOME", command.as == As::nobody ? "/nonexistent" : "/root"},
      {"LANG", "C.UTF-8"}};
  if (command.as == As::self) {
    if (const char* home = getenv("HOME")) variables["HOME"] = home;
  }
  // An account without a home has no place for the record of a run, and then nothing runs.
  if (command.as == As::nobody && command.env.count("HOME") == 0)
    variables["XDG_STATE_HOME"] = state_home(As::nobody);
  for (const auto& [name, value] : command.env) variables[name] = value;
  std::vector<std::string> env;
  for (const auto& [name, value] : variables) env.push_back(name + "=" + value);
  auto argv_pointers = pointers(argv);
  auto env_pointers = pointers(env);

  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork");
  if (pid_ == 0) {
    const int input = command.input ? in[0] : open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(input, 0);
    dup2(out[1], 1);
    dup2(err[1], 2);
    for (int fd : command.closed) close(fd);
    become(command.as);
    if (!command.cwd.empty() && chdir(command.cwd.c_str()) != 0) give_up("chdir");
    execvpe(argv_pointers[0], argv_pointers.data(), env_pointers.data());
    give_up(argv_pointers[0]);
  }
  close(out[1]);
  close(err[1]);
  if (command.input) close(in[0]);
  out_ = out[0];
  err_ = err[0];
  in_ = in[1];
}

Started::~Started() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  for (int fd : {out_, err_, in_}) {
    if (fd >= 0) close(fd);
  }
}

void Started::close_input() {
  if (in_ >= 0) close(in_);
  in_ = -1;
}

void Started::close_output() {
  if (out_ >= 0) close(out_);
  out_ = -1;
}

Ran Started::finish() {
  Ran ran;
  const auto deadline = start_ + command_.deadline;
  size_t written = 0;
  signal(SIGPIPE, SIG_IGN);
  if (in_ >= 0) fcntl(in_, F_SETFL, O_NONBLOCK);
  const std::string input = command_.input.value_or("");
  char buffer[65536];
  while (out_ >= 0 || err_ >= 0) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now())
            .count();
    if (left <= 0) {
      ran.timed_out = true;
      break;
    }
    pollfd fds[3] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}, {in_, POLLOUT, 0}};
    poll(fds, 3, static_cast<int>(left));
    for (int i = 0; i < 2; ++i) {
      if ((fds[i].revents & (POLLIN | POLLHUP)) == 0) continue;
      int& fd = i == 0 ? out_ : err_;
      const ssize_t got = read(fd, buffer, sizeof buffer);
      if (got > 0) {
        (i == 0 ? ran.out : ran.err).append(buffer, static_cast<size_t>(got));
      } else {
        close(fd);
        fd = -1;
      }
    }
    if (in_ >= 0 && (fds[2].revents & (POLLOUT | POLLERR)) != 0) {
      const ssize_t put = write(in_, input.data() + written, input.size() - written);
      if (put > 0) written += static_cast<size_t>(put);
      if (put < 0 || written == input.size()) {
        close(in_);
        in_ = -1;
      }
    }
  }
  if (ran.timed_out) kill(pid_, SIGKILL);
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  ran.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  if (ran.timed_out) return ran;
  if (WIFEXITED(status)) ran.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ran.signal = WTERMSIG(status);
  return ran;
}

Ran run(const Command& command) { return Started(command).finish(); }

std::string built(const std::string& name) {
  for (const char* folder : {CLOCHE_TEST_BIN_DIR, CLOCHE_TEST_TESTS_DIR}) {
    const std::string path = std::string(folder) + "/" + name;
    if (fs::exists(path)) return path;
  }
  throw std::runtime_error("not built: " + name);
}

std::string cloche() { return built("cloche"); }

std::vector<std::string> under_cloche(const std::vector<std::string>& flags,
                                      const std::vector<std::string>& argv) {
  std::vector<std::string> out = {cloche(), "run"};
  out.insert(out.end(), flags.begin(), flags.end());
  out.emplace_back("--");
  out.insert(out.end(), argv.begin(), argv.end());
  return out;
}

Scene::Scene(As as) : as_(as) {
  char name[] = "/var/tmp/cloche-scene-XXXXXX";
  if (mkdtemp(name) == nullptr) throw std::runtime_error("mkdtemp");
  root_ = name;
  fs::create_directory(workspace());
  chmod(name, 0755);
  chmod(workspace().c_str(), 0755);
  if (as == As::nobody) {
    if (chown(name, nobody_id, nobody_id) != 0) throw std::runtime_error("chown");
    if (chown(workspace().c_str(), nobody_id, nobody_id) != 0) throw std::runtime_error("chown");
  }
}

Scene::~Scene() {
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

fs::path Scene::write(const fs::path& relative, const std::string& text, unsigned mode) {
  const fs::path path = root_ / relative;
  fs::path made;
  for (const auto& part : relative.parent_path()) {
    made /= part;
    if (fs::create_directory(root_ / made) && as_ == As::nobody) {
      if (chown((root_ / made).c_str(), nobody_id, nobody_id) != 0) throw std::runtime_error("chown");
    }
  }
  std::ofstream(path) << text;
  chmod(path.c_str(), mode);
  if (as_ == As::nobody && chown(path.c_str(), nobody_id, nobody_id) != 0) throw std::runtime_error("chown");
  return path;
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  // A process whose file in /proc is read may end meanwhile: what was read until then, without an exception.
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace cloche::test
