#include "policy/plan/runtime_memory.hpp"

#include <algorithm>
#include <vector>

namespace cloche {
namespace {

constexpr uint64_t mebi = 1ULL << 20;

struct RuntimeVariable {
  std::string name;
  std::string value;
  // Any of these from the caller is the caller's own choice for the same runtime.
  std::vector<std::string> choices;
};

}  // namespace

uint64_t heap_bytes(uint64_t memory_bytes) {
  const uint64_t beside = std::max(memory_bytes / 4, std::min(memory_bytes / 2, 256 * mebi));
  return memory_bytes - beside;
}

std::map<std::string, std::string> memory_variables(uint64_t memory_bytes,
                                                    const std::map<std::string, std::string>& given) {
  const uint64_t heap = heap_bytes(memory_bytes);
  const RuntimeVariable runtimes[] = {
      // Not JAVA_TOOL_OPTIONS: each program of a JDK would say on stderr that it has read it, and this one
      // only
      // `java` itself, whose heap is the one that fills. An -Xmx of the command's own goes before both.
      {"JDK_JAVA_OPTIONS",
       "-XX:MaxRAM=" + std::to_string(memory_bytes) +
           " -XX:MaxRAMPercentage=" + std::to_string(heap / (memory_bytes / 100)),
       {"JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS"}},
      {"NODE_OPTIONS",
       "--max-old-space-size=" + std::to_string(std::max<uint64_t>(heap / mebi, 1)),
       {"NODE_OPTIONS"}},
      // Go's is no bound but where it begins to collect in earnest, so little stays beside it.
      {"GOMEMLIMIT", std::to_string(memory_bytes / 10 * 9), {"GOMEMLIMIT"}},
  };
  std::map<std::string, std::string> variables;
  for (const auto& runtime : runtimes) {
    const bool is_chosen = std::any_of(runtime.choices.begin(), runtime.choices.end(),
                                       [&](const std::string& name) { return given.contains(name); });
    if (!is_chosen) variables[runtime.name] = runtime.value;
  }
  return variables;
}

}  // namespace cloche
