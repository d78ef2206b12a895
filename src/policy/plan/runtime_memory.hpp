// What language runtimes are told of a call's memory limit. They size their heaps by the host's memory, and
// one that fills such a heap is killed at the limit; told of it, it collects its garbage or says that it has
// no memory. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace cloche {

// How much of the limit a heap may have: a runtime needs room beside it.
uint64_t heap_bytes(uint64_t memory_bytes);

// The variables that runtimes read, without those for which `given` has the caller's own.
std::map<std::string, std::string> memory_variables(uint64_t memory_bytes,
                                                    const std::map<std::string, std::string>& given);

}  // namespace cloche
