#include "scene.hpp"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "base/sys/directory.hpp"
#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"

namespace cloche::bench {
namespace {

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

}  // namespace

Scene::Scene(Scene&& other) noexcept
    : root_(std::exchange(other.root_, {})), programs_(std::move(other.programs_)) {}

Scene::~Scene() {
  if (root_.empty()) return;
  (void)!::chdir("/");
  remove_tree(root_);
}

Result<Scene> Scene::create(Programs programs) {
  Scene scene;
  char name[] = "/var/tmp/cloche-bench-XXXXXX";
  if (::mkdtemp(name) == nullptr) return system_error("make a directory in /var/tmp");
  scene.root_ = name;
  if (::chmod(name, 0755) != 0) return system_error("make " + scene.root_);
  for (const char* part : {"/workspace", "/state", "/home"}) TRY(make_directory(scene.root_ + part));
  const std::string self = TRY(sys::read_link("/proc/self/exe"));
  scene.programs_ = parent_of(self);
  if (programs == Programs::copied) {
    scene.programs_ = scene.root_ + "/bin";
    TRY(make_directory(scene.programs_));
    for (const char* program : {"cloche", "cloche-jail", "cloche-probe", "cloche-egress"}) {
      TRY(copy_program(CLOCHE_BIN_DIR "/" + std::string(program), scene.program(program)));
    }
    TRY(copy_program(self, scene.program("cloche-bench")));
  }
  if (::chdir(scene.workspace().c_str()) != 0) return system_error("enter " + scene.workspace());
  // The command line finds its state by this; a home of ours, so that no user's real one is read.
  ::setenv("XDG_STATE_HOME", (scene.root_ + "/state").c_str(), 1);
  ::setenv("HOME", (scene.root_ + "/home").c_str(), 1);
  return scene;
}

Installation Scene::installation() const {
  Installation installation;
  installation.jail = program("cloche-jail");
  installation.probe = program("cloche-probe");
  installation.egress = program("cloche-egress");
  installation.state = root_ + "/state/cloche";  // where the command line keeps it too
  return installation;
}

}  // namespace cloche::bench
