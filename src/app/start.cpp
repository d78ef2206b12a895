// What libraries do before main() that this program does without. The linker (--wrap in CMakeLists.txt) puts
// these functions in the place of theirs.
#include <sys/platform/x86.h>

#include <cstdint>

extern "C" {

void __wrap__ZNSt8ios_base4InitC1Ev(void*);
void __wrap__ZNSt8ios_base4InitD1Ev(void*);
uint64_t __wrap_OPENSSL_ia32_cpuid(unsigned* extended);

// yaml-cpp's headers include <iostream>, so each of its files has the eight standard streams with their
// locales made: a tenth of this program's start, for streams that no code here uses. These stand in for
// std::ios_base::Init. String streams work without it. A use of std::cout would link that object, and
// tests/programs looks for it.
void __wrap__ZNSt8ios_base4InitC1Ev(void*) {}
void __wrap__ZNSt8ios_base4InitD1Ev(void*) {}

// libcrypto asks the processor what it can, by six instructions each of which a hypervisor answers: a tenth
// of a start in a virtual machine. The C library has asked before, and knows what the kernel lets programs
// use. These are the features by which SHA-256, all that is linked of libcrypto, chooses its code; the bits
// are those of the cpuid leaves 7 (EBX) and 1 (EDX, and ECX above it).
uint64_t __wrap_OPENSSL_ia32_cpuid(unsigned* extended) {
  const auto bit = [](bool active, unsigned at) { return active ? uint64_t{1} << at : 0; };
  extended[2] = static_cast<unsigned>(bit(CPU_FEATURE_ACTIVE(SHA), 29) | bit(CPU_FEATURE_ACTIVE(BMI2), 8) |
                                      bit(CPU_FEATURE_ACTIVE(AVX2), 5) | bit(CPU_FEATURE_ACTIVE(BMI1), 3));
  extended[3] = 0;
  return bit(CPU_FEATURE_ACTIVE(SSSE3), 32 + 9);
}

}  // extern "C"
