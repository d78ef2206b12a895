// yaml-cpp's headers include <iostream>, so each of its files has the eight standard streams with their
// locales made before main(): a tenth of this program's start, for streams that no code here uses. The linker
// (--wrap in CMakeLists.txt) puts these functions in the place of std::ios_base::Init. String streams work
// without it. A use of std::cout would link that object, and tests/programs looks for it.
extern "C" {

void __wrap__ZNSt8ios_base4InitC1Ev(void*);
void __wrap__ZNSt8ios_base4InitD1Ev(void*);

void __wrap__ZNSt8ios_base4InitC1Ev(void*) {}
void __wrap__ZNSt8ios_base4InitD1Ev(void*) {}

}  // extern "C"
