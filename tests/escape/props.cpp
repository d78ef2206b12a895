// Props: what has to be around the command before the play starts. A prop is used outside the sandbox, in the
// control and under Cloche alike: it opens or plants something and then starts the command after `--`.
//
// Those that must look at the scene afterwards stay as the command's parent and pass its exit code on.
#include "escape/props.hpp"

#include <fcntl.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "escape/attack.hpp"

namespace cloche::escape {

[[noreturn]] void prop_fails(const std::string& doing) {
  std::fprintf(stderr, "prop: %s: %s\n", doing.c_str(), strerror(errno));
  _exit(99);
}

void become_command(std::vector<std::string> command) {
  std::vector<char*> argv;
  for (std::string& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  prop_fails("exec " + command.at(0));
}

int exit_code_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

namespace {

using Command = std::vector<std::string>;

int with_descriptors(const Arguments& args, const Command& command) {
  const int file = open(args.at(0).c_str(), O_RDWR);
  if (file < 0) prop_fails(args[0]);
  for (size_t i = 1; i < args.size(); ++i) {
    if (dup2(file, atoi(args[i].c_str())) < 0) prop_fails("dup2 " + args[i]);
  }
  become_command(command);
  return 99;
}

int with_directory(const Arguments& args, const Command& command) {
  const int folder = open(args.at(0).c_str(), (args.at(2) == "path" ? O_PATH : O_RDONLY) | O_DIRECTORY);
  if (folder < 0) prop_fails(args[0]);
  if (dup2(folder, atoi(args.at(1).c_str())) < 0) prop_fails("dup2");
  become_command(command);
  return 99;
}

int with_stdin(const Arguments& args, const Command& command) {
  const int file = open(args.at(0).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) prop_fails(args[0]);
  dup2(file, 0);
  become_command(command);
  return 99;
}

int with_stdout(const Arguments& args, const Command& command) {
  const int file = open(args.at(0).c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) prop_fails(args[0]);
  dup2(file, 1);
  become_command(command);
  return 99;
}

// A caller who keeps its end of the command's input open and never says a word.
int with_silent_stdin(const Arguments&, const Command& command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) prop_fails("pipe");
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[0], 0);
    become_command(command);
  }
  return exit_code_of(child);
}

// Says RECEIVED when something came back through the socket that was the command's stdin.
int with_stdin_socket(const Arguments&, const Command& command) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) prop_fails("socketpair");
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 0);
    become_command(command);
  }
  close(ends[1]);
  shutdown(ends[0], SHUT_WR);
  const int code = exit_code_of(child);
  char byte = 0;
  if (recv(ends[0], &byte, 1, MSG_DONTWAIT) == 1) std::puts("RECEIVED");
  return code;
}

// A caller in a process group of its own, with whatever environment it was given, waiting.
int with_parent(const Arguments&, const Command& command) {
  setpgid(0, 0);
  const pid_t child = fork();
  if (child == 0) become_command(command);
  return exit_code_of(child);
}

void write_text(const std::string& path, const std::string& text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0 || write(fd, text.data(), text.size()) < 0) prop_fails(path);
  close(fd);
}

void keep_secret_in_memory(const std::string& secret) {
  void* page = mmap(secret_page, 4096, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (page == MAP_FAILED) prop_fails("mmap");
  snprintf(static_cast<char*>(page), 4096, "%s", secret.c_str());
}

// The simplest sandbox there is, with the usual mistakes: a process namespace whose init keeps the caller's
// environment, memory and descriptors. Attacks on "pid 1" have their control here, since nobody may attack
// the real one.
int in_naive_sandbox(const Arguments& args, const Command& command) {
  const unsigned uid = getuid();
  const unsigned gid = getgid();
  if (unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS) != 0) prop_fails("unshare");
  write_text("/proc/self/setgroups", "deny");
  write_text("/proc/self/uid_map", std::to_string(uid) + " " + std::to_string(uid) + " 1");
  write_text("/proc/self/gid_map", std::to_string(gid) + " " + std::to_string(gid) + " 1");
  const pid_t init = fork();
  if (init != 0) return exit_code_of(init);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) prop_fails("private mounts");
  if (mount("proc", "/proc", "proc", 0, nullptr) != 0) prop_fails("mount proc");
  // An exec of its own takes from init the capabilities it had over the new namespaces, as a real one would.
  Command again = {"/proc/self/exe", "prop", "naive-init", args.at(0), args.at(1), "--"};
  again.insert(again.end(), command.begin(), command.end());
  become_command(again);
  return 99;
}

// Words @VICTIM@ in the command become the number of a process that sleeps in here.
int naive_init(const Arguments& args, const Command& command) {
  keep_secret_in_memory(args.at(0));
  const int file = open(args.at(1).c_str(), O_RDONLY);
  dup2(file, victim_secret_descriptor);
  const pid_t victim = fork();
  if (victim == 0) {
    for (;;) pause();
  }
  Command filled = command;
  std::replace(filled.begin(), filled.end(), std::string("@VICTIM@"), std::to_string(victim));
  const pid_t attacker = fork();
  if (attacker == 0) {
    close(victim_secret_descriptor);
    clearenv();
    munmap(secret_page, 4096);
    become_command(filled);
  }
  // The victim is not reaped before the attacker has ended: it looks for the victim's state.
  return exit_code_of(attacker);
}

long add_user_key(const char* name, const std::string& payload, int keyring) {
  return syscall(SYS_add_key, "user", name, payload.data(), payload.size(), keyring);
}

// Says PLANTED when the command left a key of its own in our session keyring.
int with_session_key(const Arguments& args, const Command& command) {
  if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr) < 0) prop_fails("session keyring");
  if (add_user_key(args.at(0).c_str(), args.at(1), KEY_SPEC_SESSION_KEYRING) < 0) prop_fails("add_key");
  const pid_t child = fork();
  if (child == 0) become_command(command);
  const int code = exit_code_of(child);
  const std::string planted_name = args[0] + "-planted";
  if (syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_SESSION_KEYRING, "user", planted_name.c_str(), 0) >= 0) {
    std::puts("PLANTED");
  }
  return code;
}

// A process of the host that has a secret in its command line, memory and descriptor table. It says that it
// is ready by making a file, and ends by itself if the test forgets it.
int victim(const Arguments& args) {
  keep_secret_in_memory(args.at(0));
  const int file = open(args.at(1).c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0 || dup2(file, victim_secret_descriptor) < 0) prop_fails(args[1]);
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);  // so that Yama does not do our work in the control
  const int ready = open(args.at(2).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
  if (ready < 0) prop_fails(args[2]);
  close(ready);
  for (int i = 0; i < 600; ++i) sleep_ms(100);
  return 0;
}

int print_ids() {
  std::printf("%u %u\n", geteuid(), getegid());
  return 0;
}

}  // namespace

int run_prop(const std::string& name, const Arguments& args) {
  const auto dashes = std::find(args.begin(), args.end(), "--");
  const Arguments own(args.begin(), dashes);
  const Command command(dashes == args.end() ? args.end() : dashes + 1, args.end());
  if (name == "with-descriptors") return with_descriptors(own, command);
  if (name == "with-directory") return with_directory(own, command);
  if (name == "with-stdin") return with_stdin(own, command);
  if (name == "with-stdout") return with_stdout(own, command);
  if (name == "with-stdin-socket") return with_stdin_socket(own, command);
  if (name == "with-silent-stdin") return with_silent_stdin(own, command);
  if (name == "with-parent") return with_parent(own, command);
  if (name == "with-session-key") return with_session_key(own, command);
  if (name == "with-terminal") return run_with_terminal(own, command);
  if (name == "in-naive-sandbox") return in_naive_sandbox(own, command);
  if (name == "naive-init") return naive_init(own, command);
  if (name == "victim") return victim(own);
  if (name == "print-ids") return print_ids();
  std::fprintf(stderr, "prop: no prop is called %s\n", name.c_str());
  return 2;
}

}  // namespace cloche::escape
