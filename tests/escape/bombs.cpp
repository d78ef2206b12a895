// Attacks on counted things: processes, threads, descriptors, processor time, wall clock, output.
#include "escape/bombs.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace cloche::escape {

uint64_t number(const std::string& text) { return strtoull(text.c_str(), nullptr, 10); }

Progress::Progress() : counter_(nullptr) {
  const int fd = open("progress", O_CREAT | O_RDWR | O_CLOEXEC, 0644);
  void* page = MAP_FAILED;
  if (fd >= 0 && ftruncate(fd, sizeof(uint64_t)) == 0) {
    page = mmap(nullptr, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  if (page == MAP_FAILED) {
    page = mmap(nullptr, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  }
  if (fd >= 0) close(fd);
  if (page == MAP_FAILED) _exit(static_cast<int>(Ending::unable));
  counter_ = static_cast<uint64_t*>(page);
}

Progress::Flag::Flag() {
  void* page = mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) _exit(static_cast<int>(Ending::unable));
  value_ = static_cast<int*>(page);
}

void Progress::Flag::raise() { __atomic_store_n(value_, 1, __ATOMIC_SEQ_CST); }
bool Progress::Flag::raised() const { return __atomic_load_n(value_, __ATOMIC_SEQ_CST) != 0; }

void Progress::add(uint64_t amount) { __atomic_add_fetch(counter_, amount, __ATOMIC_SEQ_CST); }
uint64_t Progress::total() const { return __atomic_load_n(counter_, __ATOMIC_SEQ_CST); }

namespace {

Report fork_many(const Arguments& args) {
  const uint64_t limit = number(args.at(0));
  std::vector<pid_t> children;
  int error = 0;
  while (error == 0 && children.size() < limit * enough) {
    const pid_t child = fork();
    if (child < 0) error = errno;
    if (child > 0) children.push_back(child);
    if (child == 0) {
      for (int i = 0; i < 50; ++i) sleep_ms(100);
      _exit(0);
    }
  }
  const std::string made = std::to_string(children.size());
  for (const pid_t child : children) kill(child, SIGKILL);
  while (wait(nullptr) > 0) {
  }
  if (error == 0) return escaped(made + " processes at once, the limit is " + args[0]);
  return held_by_errno("fork after " + made, error);
}

// The classic: everybody forks, as long as the common counter says that it is not enough. Nobody leaves
// before the counting is over, which the first one decides.
Report fork_tree(const Arguments& args) {
  const uint64_t bound = number(args.at(0)) * enough;
  const pid_t first = getpid();
  Progress alive;
  Progress::Flag over;
  const double end = seconds_now() + 1.0;
  while (alive.total() < bound && seconds_now() < end && !over.raised()) {
    const pid_t child = fork();
    if (child == 0) alive.add(1);
    if (child < 0) sleep_ms(5);
  }
  if (getpid() != first) {
    for (int i = 0; i < 300 && !over.raised(); ++i) sleep_ms(10);
    _exit(0);
  }
  const uint64_t made = alive.total();
  over.raise();
  while (wait(nullptr) > 0) {
  }
  if (made >= bound) return escaped(std::to_string(made) + " processes in a tree");
  return held("the tree stopped at " + std::to_string(made));
}

void* idle_thread(void*) {
  for (int i = 0; i < 50; ++i) sleep_ms(100);
  return nullptr;
}

Report thread_many(const Arguments& args) {
  const uint64_t limit = number(args.at(0));
  pthread_attr_t small{};
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 * 1024);
  for (uint64_t made = 0; made < limit * enough; ++made) {
    pthread_t thread{};
    const int error = pthread_create(&thread, &small, idle_thread, nullptr);
    if (error != 0) return held_by_errno("pthread_create after " + std::to_string(made), error);
  }
  return escaped(std::to_string(limit * enough) + " threads at once");
}

Report open_many(const Arguments& args) {
  const uint64_t limit = number(args.at(0));
  rlimit now{};
  getrlimit(RLIMIT_NOFILE, &now);
  now.rlim_cur = now.rlim_max;
  setrlimit(RLIMIT_NOFILE, &now);
  for (uint64_t made = 0; made < limit * enough; ++made) {
    if (open("/dev/null", O_RDONLY) < 0) return held_by_errno("open after " + std::to_string(made));
  }
  return escaped(std::to_string(limit * enough) + " descriptors at once");
}

double cpu_seconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

void burn(double seconds) {
  signal(SIGXCPU, SIG_IGN);  // the soft limit's friendly warning
  const double end = cpu_seconds() + seconds;
  volatile unsigned spins = 0;
  while (cpu_seconds() < end) {
    for (int i = 0; i < 10000; ++i) spins = spins + 1;
  }
}

constexpr double cpu_overrun = 2.2;  // a smaller multiple: the control really has to burn it

Report spin_alone(const Arguments& args) {
  burn(atof(args.at(0).c_str()) * cpu_overrun);
  return escaped("burned " + std::to_string(cpu_seconds()) + " s of processor time");
}

// No single process comes near the limit; together they pass it.
Report spin_together(const Arguments& args) {
  constexpr int processes = 6;
  for (int i = 0; i < processes; ++i) {
    const pid_t child = fork();
    if (child < 0) return unable_by_errno("fork");
    if (child == 0) {
      burn(atof(args.at(0).c_str()) * cpu_overrun / processes);
      _exit(0);
    }
  }
  int status = 0;
  while (wait(&status) > 0) {
    if (WIFSIGNALED(status)) return held("a child was killed");
  }
  return escaped("six processes burned it together");
}

// Each life is short and is over before anybody looks at it.
Report spin_in_short_lives(const Arguments& args) {
  const double total = atof(args.at(0).c_str()) * cpu_overrun;
  for (double burned = 0; burned < total; burned += 0.1) {
    const pid_t child = fork();
    if (child < 0) return unable_by_errno("fork");
    if (child == 0) {
      burn(0.1);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) return held("a child was killed");
  }
  return escaped("short lives burned it one after the other");
}

// Children that nobody waits for take their time with them.
Report spin_unwaited(const Arguments& args) {
  signal(SIGCHLD, SIG_IGN);
  const double total = atof(args.at(0).c_str()) * cpu_overrun;
  for (double burned = 0; burned < total; burned += 0.3) {
    const pid_t child = fork();
    if (child < 0) return unable_by_errno("fork");
    if (child == 0) {
      burn(0.3);
      _exit(0);
    }
    while (kill(child, 0) == 0) sleep_ms(5);
  }
  return escaped("children burned it, and nobody counted");
}

Report outstay(const Arguments& args) {
  for (int one = 1; one < NSIG; ++one) signal(one, SIG_IGN);
  sleep_ms(static_cast<int>(atof(args.at(0).c_str()) * 2000));
  return escaped("was still there after twice the time");
}

// What it wrote is counted by whoever reads; the exit code says that nobody stopped it.
Report flood_output(const Arguments& args) {
  const uint64_t limit = number(args.at(0));
  const int fd = atoi(args.at(1).c_str());
  const std::string block(64 * 1024, 'x');
  for (uint64_t written = 0; written < limit * enough;) {
    const ssize_t put = write(fd, block.data(), block.size());
    if (put < 0) return held_by_errno("write");
    written += static_cast<uint64_t>(put);
  }
  return escaped("wrote it all");
}

}  // namespace

Attacks bomb_attacks() {
  return {
      {"fork-many", "the number of processes is limited", fork_many},
      {"fork-tree", "a fork bomb burns out", fork_tree},
      {"thread-many", "the number of threads is limited", thread_many},
      {"open-many", "the number of open files is limited", open_many},
      {"spin-alone", "processor time is limited", spin_alone},
      {"spin-together", "processor time is limited for all processes together", spin_together},
      {"spin-in-short-lives", "processor time of ended children counts", spin_in_short_lives},
      {"spin-unwaited", "processor time of children that nobody waits for counts", spin_unwaited},
      {"outstay", "the wall clock ends the command", outstay},
      {"flood-output", "output is limited", flood_output},
  };
}

}  // namespace cloche::escape
