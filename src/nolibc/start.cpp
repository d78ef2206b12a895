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

__attribute__((naked, noreturn)) void _start() {
  asm("xor %ebp, %ebp\n"
      "mov %rsp, %rdi\n"
      "and $-16, %rsp\n"
      "call enter\n"
      "ud2\n");
}

}  // extern "C"
