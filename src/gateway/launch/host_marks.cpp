#include "gateway/launch/host_marks.hpp"

#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/sys/path.hpp"

namespace cloche {
namespace {

struct stat look(const std::string& path) {
  struct stat seen {};
  if (::stat(path.c_str(), &seen) != 0) return {};
  return seen;
}

bool same_time(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

bool same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size &&
         same_time(a.st_mtim, b.st_mtim) && same_time(a.st_ctim, b.st_ctim);
}

}  // namespace

HostMarks HostMarks::take(std::vector<std::string> paths) {
  HostMarks marks;
  // The kernel tells each descriptor of a change once, from its opening on.
  marks.mounts_ = OwnedFd(::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC));
  for (auto& path : paths) {
    const struct stat seen = look(path);
    marks.files_.emplace_back(std::move(path), seen);
  }
  return marks;
}

bool HostMarks::still_hold() const {
  pollfd mounts{mounts_.get(), POLLPRI, 0};
  if (!mounts_ || ::poll(&mounts, 1, 0) < 0 || (mounts.revents & (POLLPRI | POLLERR)) != 0) return false;
  return std::all_of(files_.begin(), files_.end(),
                     [](const auto& file) { return same(file.second, look(file.first)); });
}

std::vector<std::string> marks_of_python(const std::vector<std::string>& programs) {
  std::vector<std::string> paths = programs;
  for (const auto& program : programs) {
    const std::unique_ptr<char, decltype(&std::free)> real(::realpath(program.c_str(), nullptr), &std::free);
    if (!real) continue;
    const std::string name(name_in(real.get()));
    paths.push_back("/etc/" + name + "/sitecustomize.py");
    for (const char* above : {"/usr/lib/", "/usr/lib64/", "/usr/local/lib/", "/usr/local/lib64/"}) {
      for (const std::string& library : {std::string("python3"), name}) {
        for (const char* below : {"", "/dist-packages", "/site-packages"})
          paths.push_back(above + library + below);
      }
    }
    break;
  }
  return paths;
}

}  // namespace cloche
