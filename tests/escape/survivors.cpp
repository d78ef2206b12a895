// Attacks on the end of a call: leave something running. None of these can judge itself; each plants a
// process that carries the token (its own argument, or argv[0] after an exec) in its command line, and the
// observer looks for the token on the host.
//
// Every survivor ends by itself after a while, so that a control whose observer died leaves nothing for long.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "escape/attack.hpp"

namespace cloche::escape {
namespace {

constexpr double lifetime_seconds = 12;

// Without this the pipe to the observer stays open, which is a trick of its own (hold_output).
void let_go_of_stdio() {
  const int nowhere = open("/dev/null", O_RDWR);
  for (int fd = 0; fd <= 2; ++fd) dup2(nowhere, fd);
}

[[noreturn]] void linger() {
  const double end = seconds_now() + lifetime_seconds;
  while (seconds_now() < end) sleep_ms(50);
  _exit(0);
}

void ignore_every_signal() {
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_IGN);
}

// Starts `life` in a child that has let go of our output; returns once it runs.
Report plant(const char* what, void (*life)()) {
  const pid_t child = fork();
  if (child < 0) return unable_by_errno("fork");
  if (child == 0) {
    let_go_of_stdio();
    life();
    linger();
  }
  sleep_ms(50);
  return planted(what);
}

Report leave_background(const Arguments&) {
  return plant("a plain background process", [] {});
}

Report leave_daemon(const Arguments&) {
  return plant("a daemon", [] {
    setsid();
    if (fork() != 0) _exit(0);
    umask(0);
    if (chdir("/") != 0) _exit(1);
  });
}

Report leave_new_session(const Arguments&) {
  return plant("a process in its own session", [] { setsid(); });
}

Report leave_ignoring(const Arguments&) {
  return plant("a process that ignores every signal", ignore_every_signal);
}

Report leave_stopped(const Arguments&) {
  return plant("a stopped process", [] {
    setsid();
    if (fork() == 0) {
      // Wakes the stopped one before the end, so that it can leave.
      sleep_ms(static_cast<int>(lifetime_seconds * 1000));
      kill(getppid(), SIGCONT);
      _exit(0);
    }
    raise(SIGSTOP);
  });
}

Report leave_holding_output(const Arguments&) {
  const pid_t child = fork();
  if (child < 0) return unable_by_errno("fork");
  if (child == 0) {
    setsid();
    linger();
  }
  return planted("a process that holds our output open");
}

Report leave_flooding_output(const Arguments&) {
  const pid_t child = fork();
  if (child < 0) return unable_by_errno("fork");
  if (child == 0) {
    setsid();
    ignore_every_signal();
    const double end = seconds_now() + lifetime_seconds;
    while (seconds_now() < end) {
      (void)!write(1, "still here\n", 11);  // also when nobody reads any more: it is there to be found
      sleep_ms(20);
    }
    _exit(0);
  }
  return planted("a process that keeps writing to our output");
}

std::string chain_token;

// Each link is another program image with another process number.
Report leave_exec_chain(const Arguments& args) {
  chain_token = args.at(0);
  return plant("a chain of vfork and exec", [] {
    const pid_t next = vfork();
    if (next == 0) {
      execl("/proc/self/exe", chain_token.c_str(), "chain-link", chain_token.c_str(), "8", nullptr);
      _exit(1);
    }
    _exit(0);
  });
}

Report be_chain_link(const Arguments& args) {
  const int left = atoi(args.at(1).c_str());
  if (left == 0) linger();
  const pid_t next = vfork();
  if (next == 0) {
    const std::string fewer = std::to_string(left - 1);
    execl("/proc/self/exe", args.at(0).c_str(), "chain-link", args[0].c_str(), fewer.c_str(), nullptr);
    _exit(1);
  }
  _exit(0);
}

// Never the same process twice: whoever kills by number is always late.
Report leave_respawning(const Arguments&) {
  return plant("a process that keeps forking", [] {
    setsid();
    ignore_every_signal();
    const double end = seconds_now() + lifetime_seconds;
    while (seconds_now() < end) {
      if (fork() > 0) _exit(0);
      sleep_ms(15);  // shorter, and the observer of the control could not find it either
    }
  });
}

Report leave_spinning(const Arguments&) {
  return plant("a process that never rests", [] {
    ignore_every_signal();
    const double end = seconds_now() + lifetime_seconds;
    while (seconds_now() < end) {
      if (open("/nonexistent/nothing", O_RDONLY) >= 0) _exit(1);
    }
  });
}

// A parent in vfork cannot be interrupted until its child execs, which this one never does.
Report leave_in_vfork(const Arguments&) {
  return plant("a process that waits in vfork", [] {
    if (vfork() == 0) {
      const double end = seconds_now() + lifetime_seconds;
      while (seconds_now() < end) sleep_ms(50);
      _exit(0);
    }
  });
}

Report leave_subreaper(const Arguments&) {
  return plant("a process that adopts orphans", [] {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_PDEATHSIG, 0);
    for (int i = 0; i < 3; ++i) {
      if (fork() == 0) {
        if (fork() != 0) _exit(0);
        linger();
      }
    }
  });
}

void* outlive_leader(void*) {
  linger();
  return nullptr;
}

Report leave_without_leader(const Arguments&) {
  return plant("a process whose first thread is gone", [] {
    pthread_t thread{};
    if (pthread_create(&thread, nullptr, outlive_leader, nullptr) != 0) _exit(1);
    pthread_exit(nullptr);
  });
}

Report leave_blocked_on_fifo(const Arguments&) {
  if (mkfifo("survivor-fifo", 0600) != 0) return unable_by_errno("mkfifo");
  return plant("a process blocked in an open", [] {
    ignore_every_signal();
    signal(SIGALRM, SIG_DFL);
    alarm(static_cast<unsigned>(lifetime_seconds));
    open("survivor-fifo", O_RDONLY);
  });
}

// For those who are themselves killed from outside: the command that simply stays, with children.
Report stay(const Arguments&) {
  ignore_every_signal();
  for (int i = 0; i < 2; ++i) {
    if (fork() == 0) {
      let_go_of_stdio();
      setsid();
      if (fork() != 0) _exit(0);
      linger();
    }
  }
  linger();
}

}  // namespace

Attacks survivor_attacks() {
  const char* promise = "nothing outlives a call";
  return {
      {"leave-background", promise, leave_background},
      {"leave-daemon", promise, leave_daemon},
      {"leave-new-session", promise, leave_new_session},
      {"leave-ignoring", promise, leave_ignoring},
      {"leave-stopped", promise, leave_stopped},
      {"leave-holding-output", "the caller has its answer although a pipe is held open",
       leave_holding_output},
      {"leave-flooding-output", "the caller has its answer although somebody still writes",
       leave_flooding_output},
      {"leave-exec-chain", promise, leave_exec_chain},
      {"chain-link", "one link of leave-exec-chain", be_chain_link},
      {"leave-respawning", promise, leave_respawning},
      {"leave-spinning", promise, leave_spinning},
      {"leave-in-vfork", promise, leave_in_vfork},
      {"leave-subreaper", promise, leave_subreaper},
      {"leave-without-leader", promise, leave_without_leader},
      {"leave-blocked-on-fifo", promise, leave_blocked_on_fifo},
      {"stay", "whoever of us is killed, the command does not outlive the call", stay},
  };
}

}  // namespace cloche::escape
