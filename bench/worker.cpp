// Theory of operation. The worker is forked, prepares itself, and sends a line for each of its contenders
// with its name and how many rounds it takes part in, or an empty packet when it could not. Then it waits for
// an index on its socket, makes one call, and sends back how long that took. It ends when its socket does.
#include "worker.hpp"

#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <sstream>

namespace cloche::bench {
namespace {

constexpr unsigned nobody = 65534;

Result<void> become_nobody() {
  if (::setgroups(0, nullptr) != 0 || ::setresgid(nobody, nobody, nobody) != 0 ||
      ::setresuid(nobody, nobody, nobody) != 0 || ::chdir("/") != 0)
    return system_error("become nobody");
  // Whoever changes users loses this, and with it what /proc says of oneself.
  ::prctl(PR_SET_DUMPABLE, 1);
  return {};
}

bool send_bytes(int socket, const void* bytes, size_t count) {
  return ::send(socket, bytes, count, MSG_NOSIGNAL) == static_cast<ssize_t>(count);
}

void serve(int socket, const Worker::Prepare& prepare) {
  const auto contenders = prepare();
  if (!contenders.ok()) {
    say(describe(contenders.error()));
    return;
  }
  std::string names;
  for (const auto& contender : contenders.value())
    names += contender.name + "\t" + std::to_string(contender.every) + "\n";
  if (!send_bytes(socket, names.data(), names.size())) return;
  size_t index = 0;
  while (::recv(socket, &index, sizeof index, 0) == sizeof index) {
    const auto took = contenders.value().at(index).call();
    if (!took.ok()) say(contenders.value().at(index).name + ": " + describe(took.error()));
    const double answer = took.ok() ? took.value() : std::nan("");
    if (!send_bytes(socket, &answer, sizeof answer)) return;
  }
}

Measured asking(int socket, size_t index) {
  return [socket, index]() -> Result<double> {
    double took = 0;
    if (!send_bytes(socket, &index, sizeof index) || ::recv(socket, &took, sizeof took, 0) != sizeof took ||
        std::isnan(took))
      return Error{Cause::internal, "a worker could not make its call", 0, {}};
    return took;
  };
}

}  // namespace

Result<std::unique_ptr<Worker>> Worker::start(const Prepare& prepare, User user) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return system_error("make a socket");
  std::unique_ptr<Worker> worker(new Worker);
  worker->socket_ = OwnedFd(ends[0]);
  OwnedFd theirs(ends[1]);
  const pid_t us = ::getpid();
  worker->pid_ = ::fork();
  if (worker->pid_ < 0) return system_error("start a worker");
  if (worker->pid_ == 0) {
    worker->socket_.reset();
    const auto became = user == User::nobody ? become_nobody() : Result<void>();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!became.ok()) say(describe(became.error()));
    if (became.ok() && ::getppid() == us) serve(theirs.get(), prepare);
    ::_exit(0);
  }
  theirs.reset();
  char names[16384];
  const ssize_t got = ::recv(worker->socket_.get(), names, sizeof names, 0);
  if (got <= 0) return Error{Cause::internal, "a worker could not prepare itself", 0, {}};
  std::istringstream lines(std::string(names, static_cast<size_t>(got)));
  for (std::string line; std::getline(lines, line);) {
    const size_t tab = line.find('\t');
    const size_t every = std::stoul(line.substr(tab + 1));
    worker->served_.push_back(
        {line.substr(0, tab), asking(worker->socket_.get(), worker->served_.size()), every});
  }
  return worker;
}

Result<std::unique_ptr<Worker>> Worker::start(const Prepare& prepare) { return start(prepare, User::same); }

Result<std::unique_ptr<Worker>> Worker::start_as_nobody(const Prepare& prepare) {
  return start(prepare, User::nobody);
}

Worker::~Worker() {
  if (socket_) ::shutdown(socket_.get(), SHUT_RDWR);  // closing is not enough: later workers hold copies
  if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
}

std::vector<Contender> Worker::contenders(const std::string& prefix) const {
  std::vector<Contender> named = served_;
  for (auto& contender : named) contender.name = prefix + contender.name;
  return named;
}

}  // namespace cloche::bench
