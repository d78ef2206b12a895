// The version of Cloche, and the namespace of its C++ interface.
//
// Everything in these headers is in cloche::v1, and a program writes cloche:: alone. A release whose headers
// cannot be used with a program that was compiled before has another namespace and another SONAME
// (libcloche.so.2), so the two never meet in a program unnoticed. The C interface, cloche_c.h, only grows.
#pragma once

namespace cloche {
namespace v1 {

// The number of the version of the library that the program has loaded.
const char* version() noexcept;

}  // namespace v1

#ifndef CLOCHE_INSIDE  // Cloche's own sources, where namespace cloche has classes of the same names
using namespace v1;
#endif

}  // namespace cloche
