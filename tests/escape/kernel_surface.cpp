// Attacks on the size of the kernel that can be reached: calls an agent's command has no use for and that
// have let others out before. Reaching the kernel's own argument checks counts as getting through.
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "escape/attack.hpp"

namespace cloche::escape {
namespace {

constexpr int sys_memfd_secret = 447;
constexpr unsigned memfd_executable = 0x0010;  // MFD_EXEC
constexpr uint64_t high_bit = uint64_t{1} << 32;

// EPERM and ENOSYS are a filter's answers (or those of a kernel without the call). Anything else means that
// the call was let in.
Report judge_call(const std::string& name, long result) {
  if (result >= 0) return escaped(name + " was served");
  if (errno == EPERM || errno == ENOSYS) return held_by_errno(name);
  return escaped(name + " was let in and answered " + error_name(errno));
}

Report call_bpf(const Arguments&) {
  bpf_attr attributes{};
  attributes.map_type = BPF_MAP_TYPE_ARRAY;
  attributes.key_size = 4;
  attributes.value_size = 4;
  attributes.max_entries = 1;
  return judge_call("bpf", syscall(SYS_bpf, BPF_MAP_CREATE, &attributes, sizeof attributes));
}

Report call_perf(const Arguments&) {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.size = sizeof attributes;
  attributes.config = PERF_COUNT_SW_TASK_CLOCK;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  return judge_call("perf_event_open", syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
}

Report call_keyctl(const Arguments&) {
  return judge_call("keyctl", syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0));
}

Report call_add_key(const Arguments&) {
  return judge_call("add_key", syscall(SYS_add_key, "user", "x", "y", 1, KEY_SPEC_PROCESS_KEYRING));
}

Report call_request_key(const Arguments&) {
  return judge_call("request_key", syscall(SYS_request_key, "user", "nonexistent", nullptr, 0));
}

Report call_userfaultfd(const Arguments&) {
  constexpr int user_mode_only = 1;
  return judge_call("userfaultfd", syscall(SYS_userfaultfd, O_CLOEXEC | user_mode_only));
}

Report call_io_uring(const Arguments&) {
  io_uring_params parameters{};
  return judge_call("io_uring_setup", syscall(SYS_io_uring_setup, 4, &parameters));
}

Report call_init_module(const Arguments&) {
  return judge_call("init_module", syscall(SYS_init_module, "x", 1, ""));
}

Report call_finit_module(const Arguments&) {
  return judge_call("finit_module", syscall(SYS_finit_module, 0, "", 0));
}

Report call_kexec(const Arguments&) {
  return judge_call("kexec_load", syscall(SYS_kexec_load, 0, 0, nullptr, 0));
}

Report call_personality(const Arguments&) {
  if (syscall(SYS_personality, READ_IMPLIES_EXEC) < 0) return held_by_errno("personality");
  return escaped("every readable page is executable now");
}

Report call_personality_with_high_bits(const Arguments&) {
  if (syscall(SYS_personality, READ_IMPLIES_EXEC | high_bit) < 0) return held_by_errno("personality");
  return escaped("every readable page is executable now");
}

Report call_modify_ldt(const Arguments&) {
  char table[64];
  return judge_call("modify_ldt", syscall(SYS_modify_ldt, 0, table, sizeof table));
}

Report call_iopl(const Arguments&) { return judge_call("iopl", syscall(SYS_iopl, 3)); }

Report call_memfd_secret(const Arguments&) {
  return judge_call("memfd_secret", syscall(sys_memfd_secret, 0));
}

Report call_fanotify(const Arguments&) {
  constexpr unsigned report_file_ids = 0x200;  // what an ordinary user may ask for
  return judge_call("fanotify_init", syscall(SYS_fanotify_init, report_file_ids, O_RDONLY));
}

Report call_kcmp(const Arguments&) {
  return judge_call("kcmp", syscall(SYS_kcmp, getpid(), getpid(), 1 /* KCMP_VM */, 0, 0));
}

Report call_quotactl(const Arguments&) {
  return judge_call("quotactl", syscall(SYS_quotactl, 0x800001 << 8, nullptr, 0, nullptr));
}

Report trace_own_child(const Arguments&) {
  const pid_t child = fork();
  if (child < 0) return unable_by_errno("fork");
  if (child == 0) {
    for (;;) pause();
  }
  const Report report = judge_call("ptrace", ptrace(PTRACE_SEIZE, child, nullptr, nullptr));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return report;
}

Report read_own_child(const Arguments&) {
  char bytes[8];
  iovec local = {bytes, sizeof bytes};
  return judge_call("process_vm_readv", syscall(SYS_process_vm_readv, getpid(), &local, 1, &local, 1, 0));
}

// A file that never was in a file system escapes every rule about files.
Report execute_memory_file(const Arguments&) {
  long fd = syscall(SYS_memfd_create, "program", 0);
  if (fd < 0) fd = syscall(SYS_memfd_create, "program", memfd_executable);
  if (fd < 0) fd = syscall(SYS_memfd_create, "program", high_bit | 0);
  if (fd < 0) return held_by_errno("memfd_create of an executable file");
  const std::string program = slurp("/proc/self/exe", 64 << 20);
  if (write(static_cast<int>(fd), program.data(), program.size()) < 0) return unable_by_errno("write");
  const pid_t child = fork();
  if (child == 0) {
    const char* argv[] = {"escape-attacks", "prop", "print-ids", nullptr};
    const char* none[] = {nullptr};
    syscall(SYS_execveat, fd, "", argv, none, AT_EMPTY_PATH);
    _exit(101);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return escaped("ran a program from memory");
  return held("the memory file did not run");
}

// The x32 numbers are the same calls under another name.
Report call_x32(const Arguments&) {
  constexpr long x32 = 0x40000000;
  const long pid = syscall(x32 | SYS_getpid);
  if (pid > 0) return escaped("an x32 call was served");
  return held_by_errno("x32 getpid");
}

// The 32-bit entry has its own numbers, so a filter made for 64-bit ones reads them wrongly.
Report call_by_int80(const Arguments&) {
  return in_child([] {
    long result = 20;  // getpid in the 32-bit table, writev in the 64-bit one
    __asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
    return result > 0 ? escaped("int 0x80 was served") : held_by_errno("int 0x80", static_cast<int>(-result));
  });
}

// A whole 32-bit program: mov eax, 1 (exit); mov ebx, 42; int 0x80.
Report run_32_bit_program(const Arguments&) {
  const unsigned char program[] = {0x7f, 'E', 'L', 'F', 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0,  // 32-bit,
                                                                                             // little-endian
                                   2, 0, 3, 0, 1, 0, 0, 0, 0x54, 0x80, 0x04, 0x08,  // i386, entry 0x8048054
                                   0x34, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,           // program headers at 52
                                   0x34, 0, 0x20, 0, 1, 0, 0, 0, 0, 0, 0, 0,        // one of them
                                   1, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x04, 0x08, 0, 0x80, 0x04,
                                   0x08,  // load all
                                   0x60, 0, 0, 0, 0x60, 0, 0, 0, 5, 0, 0, 0, 0, 0x10, 0, 0, 0xb8, 1, 0, 0, 0,
                                   0xbb, 42, 0, 0, 0, 0xcd, 0x80};
  const int fd = open("program-32", O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0755);
  if (fd < 0 || write(fd, program, sizeof program) < 0) return unable_by_errno("program-32");
  close(fd);
  const pid_t child = fork();
  if (child == 0) {
    execl("program-32", "program-32", nullptr);
    _exit(101);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 42) return escaped("a 32-bit program ran");
  if (WIFSIGNALED(status)) return held("killed by SIG" + std::string(sigabbrev_np(WTERMSIG(status))));
  return held("the 32-bit program did not run");
}

// Programs try new calls and fall back when they are not there; another answer breaks them.
Report call_unknown_numbers(const Arguments&) {
  for (const long number : {340L, 386L, 420L, 600L, 999L, 4096L, 0x3fffffffL}) {
    const long result = syscall(number, 0, 0, 0, 0, 0, 0);
    if (result != -1 || errno != ENOSYS)
      return escaped("number " + std::to_string(number) + " is not ENOSYS");
  }
  return held("every unknown number is ENOSYS");
}

}  // namespace

Attacks kernel_surface_attacks() {
  const char* promise = "a call that no agent's command needs is refused";
  return {
      {"call-bpf", promise, call_bpf},
      {"call-perf", promise, call_perf},
      {"call-keyctl", promise, call_keyctl},
      {"call-add-key", promise, call_add_key},
      {"call-request-key", promise, call_request_key},
      {"call-userfaultfd", promise, call_userfaultfd},
      {"call-io-uring", promise, call_io_uring},
      {"call-init-module", promise, call_init_module},
      {"call-finit-module", promise, call_finit_module},
      {"call-kexec", promise, call_kexec},
      {"call-personality", "pages cannot be made executable behind the loader's back", call_personality},
      {"call-personality-with-high-bits", "high bits do not hide a personality",
       call_personality_with_high_bits},
      {"call-modify-ldt", promise, call_modify_ldt},
      {"call-iopl", promise, call_iopl},
      {"call-memfd-secret", promise, call_memfd_secret},
      {"call-fanotify", promise, call_fanotify},
      {"call-kcmp", promise, call_kcmp},
      {"call-quotactl", promise, call_quotactl},
      {"trace-own-child", "no tracing, not even of children, without the debug grant", trace_own_child},
      {"read-own-child", "process_vm_readv is refused whoever is named", read_own_child},
      {"execute-memory-file", "nothing runs from a file in memory", execute_memory_file},
      {"call-x32", "the x32 numbers are refused", call_x32},
      {"call-by-int80", "the 32-bit entry ends the process", call_by_int80},
      {"run-32-bit-program", "a 32-bit program does not run", run_32_bit_program},
      {"call-unknown-numbers", "numbers the filter does not know are ENOSYS", call_unknown_numbers},
  };
}

}  // namespace cloche::escape
