// The entry point.
#include <sys/syscall.h>
#include <unistd.h>

extern "C" {

int program_main(int argc, char** argv) asm("main");
using Constructor = void (*)(int, char**, char**);
extern Constructor __init_array_start[] __attribute__((visibility("hidden")));
extern Constructor __init_array_end[] __attribute__((visibility("hidden")));

char** environ = nullptr;

// The kernel's layout: the count of the arguments, the arguments, a null, the environment.
[[noreturn, gnu::used]] void enter(long* stack) {
  const int argc = static_cast<int>(stack[0]);
  auto** argv = reinterpret_cast<char**>(stack + 1);
  environ = argv + argc + 1;
  for (Constructor* constructor = __init_array_start; constructor != __init_array_end; ++constructor) {
    (*constructor)(argc, argv, environ);
  }
  _exit(program_main(argc, argv));
}

#if defined(__x86_64__)
asm(R"(
    .section .text._start, "ax", @progbits
    .globl _start
    .type _start, @function
_start:
    xor %ebp, %ebp
    mov %rsp, %rdi
    and $-16, %rsp
    call enter
    ud2
    .size _start, . - _start
    .previous
)");
#elif defined(__aarch64__)
asm(R"(
    .section .text._start, "ax", @progbits
    .globl _start
    .type _start, @function
_start:
    mov x29, xzr
    mov x30, xzr
    mov x0, sp
    and sp, x0, #-16
    bl enter
    brk #1
    .size _start, . - _start
    .previous
)");
#endif

}  // extern "C"
