// Section 4: how the library's call grows with the caller's memory and with the number of mounts.
//
// Theory of operation. Each size is a worker: a forked process that holds so much memory or, in a mount
// namespace of its own, so many mounts. It waits for a byte on its socket, makes one call, and sends back how
// long that took; so the sizes take turns like contenders do. A worker ends when its socket does, and its
// mounts with it.
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <string>

#include "base/sys/fd.hpp"
#include "sections.hpp"

namespace cloche::bench {
namespace {

struct Size {
  std::string name;
  size_t resident_bytes = 0;
  int mounts = 0;
};

Result<void> hold_memory(size_t bytes) {
  if (bytes == 0) return {};
  void* held = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (held == MAP_FAILED) return system_error("hold " + std::to_string(bytes) + " bytes");
  ::madvise(held, bytes, MADV_NOHUGEPAGE);  // small pages are the dear case: a fork copies an entry for each
  std::memset(held, 1, bytes);
  return {};
}

Result<void> hold_mounts(const std::string& directory, int count) {
  if (count == 0) return {};
  if (::unshare(CLONE_NEWNS) != 0) return system_error("make a mount namespace");
  // First of all: nothing that is mounted from here on may reach the host.
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return system_error("make the mounts private");
  for (int i = 0; i < count; ++i) {
    const std::string place = directory + "/" + std::to_string(i);
    if (::mkdir(place.c_str(), 0755) != 0 && errno != EEXIST) return system_error("make " + place);
    if (::mount("tmpfs", place.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "size=4k") != 0)
      return system_error("mount " + place);
  }
  return {};
}

class Worker {
 public:
  static Result<void> start(Worker& worker, const Size& size, const Scene& scene) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
      return system_error("make a socket");
    worker.socket_ = OwnedFd(ends[0]);
    OwnedFd theirs(ends[1]);
    const pid_t us = ::getpid();
    worker.pid_ = ::fork();
    if (worker.pid_ < 0) return system_error("start a worker");
    if (worker.pid_ == 0) {
      worker.socket_.reset();
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != us) ::_exit(1);
      serve(theirs.get(), size, scene);
    }
    return {};
  }
  Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    if (socket_)
      ::shutdown(socket_.get(), SHUT_RDWR);  // closing alone is not enough: later workers hold copies
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  }

  Result<double> call() {
    double took = 0;
    if (::send(socket_.get(), "c", 1, MSG_NOSIGNAL) != 1 ||
        ::recv(socket_.get(), &took, sizeof took, 0) != sizeof took) {
      return Error{Cause::internal, "a worker ended early", 0, {}};
    }
    return took;
  }

 private:
  [[noreturn]] static void serve(int socket, const Size& size, const Scene& scene) {
    auto ready = hold_memory(size.resident_bytes);
    if (ready.ok()) ready = hold_mounts(scene.directory() + "/mounts", size.mounts);
    if (!ready.ok()) complain_and_end(ready.error());
    const Measured measured = calling_library(scene);
    char byte = 0;
    while (::recv(socket, &byte, 1, 0) == 1) {
      const auto took = measured();
      if (!took.ok()) complain_and_end(took.error());
      if (::send(socket, &took.value(), sizeof(double), MSG_NOSIGNAL) != sizeof(double)) break;
    }
    ::_exit(0);
  }
  [[noreturn]] static void complain_and_end(const Error& error) {
    say(describe(error));
    ::_exit(1);
  }

  OwnedFd socket_;
  pid_t pid_ = -1;
};

}  // namespace

Result<void> measure_growth(const Scene& scene, Pace pace, Report& report) {
  std::vector<Size> sizes = {{"as it is"}, {"as it is, once more"}, {"1 GiB resident", size_t{1} << 30}};
  Table table{4, "Growth of the library's call", {"caller", "p50 us", "p99 us", "to as it is"}};
  if (::geteuid() == 0) {
    if (::mkdir((scene.directory() + "/mounts").c_str(), 0755) != 0 && errno != EEXIST)
      return system_error("make mounts");
    sizes.push_back({"100 more mounts", 0, 100});
    sizes.push_back({"500 more mounts", 0, 500});
  } else {
    table.notes.push_back("skipped: the number of mounts; only root can mount here");
  }
  std::deque<Worker> workers(sizes.size());  // a worker stays where it is
  std::vector<Contender> contenders;
  for (size_t i = 0; i < sizes.size(); ++i) {
    TRY(Worker::start(workers[i], sizes[i], scene));
    contenders.push_back({sizes[i].name, [worker = &workers[i]] { return worker->call(); }});
  }
  const ByName samples = TRY(interleave(contenders, 10, pace == Pace::quick ? size_t{60} : size_t{300}));
  for (const auto& size : sizes) {
    const Samples& mine = samples.at(size.name);
    table.rows.push_back({size.name, Cell::number(percentile(mine, 0.5), 0),
                          Cell::number(percentile(mine, 0.99), 0),
                          Cell::spread(ratio_of_medians(mine, samples.at(sizes[0].name)))});
  }
  table.notes.push_back(
      "The second row is the same as the first: how far it is from 1 is the noise of this table.");
  report.tables.push_back(std::move(table));
  return {};
}

}  // namespace cloche::bench
