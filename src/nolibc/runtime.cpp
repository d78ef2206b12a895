// What compiled C++ expects beneath it. Exceptions are not used: where the standard library would throw, the
// program says so and ends. Refusing is always safe; a jail whose supervisor ends, ends too.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

[[noreturn]] void broken(const char* what) {
  constexpr char prefix[] = "cloche: internal error: ";
  (void)!::write(2, prefix, sizeof prefix - 1);
  (void)!::write(2, what, std::strlen(what));
  (void)!::write(2, "\n", 1);
  ::_exit(125);
}

}  // namespace

namespace std {
void __throw_length_error(const char* what) { broken(what); }
void __throw_logic_error(const char* what) { broken(what); }
void __throw_out_of_range(const char* what) { broken(what); }
void __throw_out_of_range_fmt(const char* what, ...) { broken(what); }
void __throw_bad_alloc() { broken("out of memory"); }
void __throw_bad_array_new_length() { broken("an array too long"); }
void __throw_bad_function_call() { broken("an empty function"); }
void __throw_bad_optional_access() { broken("an empty optional"); }
void __throw_bad_variant_access(const char* what) { broken(what); }
void __glibcxx_assert_fail(const char*, int, const char*, const char* what) noexcept { broken(what); }
}  // namespace std

extern "C" {

// One thread: a guard is a flag.
int __cxa_guard_acquire(uint64_t* guard) { return *reinterpret_cast<char*>(guard) == 0 ? 1 : 0; }
void __cxa_guard_release(uint64_t* guard) { *reinterpret_cast<char*>(guard) = 1; }
// The program ends by _exit: nothing is destroyed, the kernel takes it all.
void* __dso_handle = nullptr;
int __cxa_atexit(void (*)(void*), void*, void*) { return 0; }
void __cxa_pure_virtual() { broken("a call to a pure function"); }

}  // extern "C"
