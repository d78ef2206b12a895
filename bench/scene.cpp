#include "scene.hpp"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "base/sys/directory.hpp"
#include "base/sys/sys.hpp"
#include "contenders.hpp"

namespace cloche::bench {
namespace {

namespace fs = std::filesystem;

Result<void> make_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) != 0 || ::chmod(path.c_str(), 0755) != 0)
    return system_error("make " + path);
  return {};
}

Result<void> copy_program(const std::string& from, const std::string& to) {
  const OwnedFd source = TRY(sys::open(from, O_RDONLY));
  const OwnedFd target = TRY(sys::open(to, O_WRONLY | O_CREAT | O_EXCL, 0755));
  struct stat seen {};
  if (::fstat(source.get(), &seen) != 0) return system_error("copy " + from);
  for (off_t left = seen.st_size; left > 0;) {
    const ssize_t sent = ::sendfile(target.get(), source.get(), nullptr, static_cast<size_t>(left));
    if (sent <= 0) return system_error("copy " + from);
    left -= sent;
  }
  if (::fchmod(target.get(), 0755) != 0) return system_error("copy " + from);
  return {};
}

Result<void> write_file(const fs::path& file, const std::string& text) {
  std::ofstream out(file);
  if (!(out << text)) return system_error("write " + file.string());
  return {};
}

// What lies in a developer's home: keys, tokens, settings, histories, and caches of many files.
Result<void> fill_home(const fs::path& home) {
  for (const char* file : {".bashrc",
                           ".profile",
                           ".bash_history",
                           ".gitconfig",
                           ".netrc",
                           ".npmrc",
                           ".pypirc",
                           ".vimrc",
                           ".ssh/config",
                           ".ssh/id_ed25519",
                           ".ssh/known_hosts",
                           ".aws/credentials",
                           ".aws/config",
                           ".docker/config.json",
                           ".kube/config",
                           ".gnupg/pubring.kbx",
                           ".cargo/credentials.toml",
                           ".config/gh/hosts.yml",
                           ".config/git/ignore",
                           ".config/gcloud/credentials.db",
                           ".local/share/keyrings/login.keyring",
                           "notes/todo.md",
                           "downloads/paper.pdf"}) {
    std::error_code failed;
    fs::create_directories((home / file).parent_path(), failed);
    if (failed) return system_error("make " + (home / file).parent_path().string(), failed.value());
    TRY(write_file(home / file, "# of the benchmark\n"));  // a comment in all that are read
  }
  TRY(make_tree(home / ".cache/pip", 100, 500));
  return make_tree(home / ".npm/_cacache", 100, 500);
}

// The working directory; without git it stays a directory.
Result<void> make_repository() {
  using Words = std::vector<std::string>;
  const std::string git = find_program("git");
  if (git.empty()) return {};
  for (const Words& step :
       {Words{"init", "-q"}, Words{"add", "-A"},
        Words{"-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-q", "-m", "bench"}}) {
    Words words = {git};
    words.insert(words.end(), step.begin(), step.end());
    TRY(spawning({.argv = words, .silent = true})());
  }
  return {};
}

// By the hundred: one, with ninety-nine in it.
fs::path directory_at(const fs::path& root, int number) {
  const fs::path first = root / std::to_string(number / 100);
  return number % 100 == 0 ? first : first / std::to_string(number % 100);
}

}  // namespace

Scene::Scene(Scene&& other) noexcept
    : root_(std::exchange(other.root_, {})), programs_(std::move(other.programs_)) {}

Scene::~Scene() {
  if (root_.empty()) return;
  (void)!::chdir("/");
  remove_tree(root_);
}

Result<Scene> Scene::with_places() {
  Scene scene;
  char name[] = "/var/tmp/cloche-bench-XXXXXX";
  if (::mkdtemp(name) == nullptr) return system_error("make a directory in /var/tmp");
  scene.root_ = name;
  if (::chmod(name, 0755) != 0) return system_error("make " + scene.root_);
  for (const char* part : {"/workspace", "/state", "/home"}) TRY(make_directory(scene.root_ + part));
  TRY(make_tree(scene.workspace(), 2000, 5000));
  TRY(fill_home(scene.root_ + "/home"));
  return scene;
}

Result<Scene> Scene::create() {
  Scene scene = TRY(with_places());
  scene.programs_ = scene.root_ + "/bin";
  TRY(make_directory(scene.programs_));
  for (const char* program : {"cloche", "cloche-jail", "cloche-probe", "cloche-egress"}) {
    TRY(copy_program(CLOCHE_BIN_DIR "/" + std::string(program), scene.program(program)));
  }
  const std::string self = TRY(sys::read_link("/proc/self/exe"));
  TRY(copy_program(self, scene.program("cloche-bench")));
  TRY(scene.enter());
  return scene;
}

Result<Scene> Scene::create(const std::string& programs) {
  Scene scene = TRY(with_places());
  scene.programs_ = programs;
  TRY(scene.enter());
  return scene;
}

Result<void> Scene::enter() const {
  if (::chdir(workspace().c_str()) != 0) return system_error("enter " + workspace());
  // The command line finds its state by this; a home of ours, so that no user's real one is read.
  ::setenv("XDG_STATE_HOME", (root_ + "/state").c_str(), 1);
  ::setenv("HOME", (root_ + "/home").c_str(), 1);
  return make_repository();
}

Installation Scene::installation() const {
  Installation installation;
  installation.jail = program("cloche-jail");
  installation.probe = program("cloche-probe");
  installation.egress = program("cloche-egress");
  installation.state = root_ + "/state/cloche";  // where the command line keeps it too
  return installation;
}

Result<void> make_tree(const std::string& root, int directories, int files) {
  std::error_code failed;
  fs::create_directories(root, failed);
  for (int i = 0; i < directories && !failed; ++i) fs::create_directory(directory_at(root, i), failed);
  if (failed) return system_error("make " + root, failed.value());
  for (int i = 0; i < files; ++i) {
    TRY(write_file(directory_at(root, i % directories) / ("file-" + std::to_string(i)),
                   std::to_string(i) + "\n"));
  }
  return {};
}

MemoryPlace::MemoryPlace() {
  (void)::mkdtemp(directory_.data());
  if (const char* before = ::getenv("XDG_STATE_HOME")) state_before_ = before;
  ::setenv("XDG_STATE_HOME", (directory_ + "/state").c_str(), 1);
}

MemoryPlace::~MemoryPlace() {
  ::setenv("XDG_STATE_HOME", state_before_.c_str(), 1);
  remove_tree(directory_);
}

}  // namespace cloche::bench
