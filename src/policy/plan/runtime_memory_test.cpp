// A row is a limit and what each runtime is told of it.
#include "policy/plan/runtime_memory.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

using Variables = std::map<std::string, std::string>;

constexpr uint64_t mebi = 1ULL << 20;

TEST(RuntimeMemory, AHeapLeavesRoomBesideIt) {
  const struct {
    uint64_t memory;
    uint64_t heap;
  } rows[] = {{1, 0}, {64, 32}, {128, 64}, {256, 128}, {512, 256}, {1024, 768}, {4096, 3072}};
  for (const auto& row : rows) {
    const uint64_t heap = heap_bytes(row.memory * mebi);
    EXPECT_EQ(heap / mebi, row.heap) << row.memory;
    EXPECT_LT(heap, row.memory * mebi);
  }
}

TEST(RuntimeMemory, EachRuntimeIsToldByWhatItReads) {
  EXPECT_EQ(memory_variables(4096 * mebi, {}),
            (Variables{{"JDK_JAVA_OPTIONS", "-XX:MaxRAM=4294967296 -XX:MaxRAMPercentage=75"},
                       {"NODE_OPTIONS", "--max-old-space-size=3072"},
                       {"GOMEMLIMIT", "3865470561"}}));
  EXPECT_EQ(memory_variables(mebi, {}).at("NODE_OPTIONS"), "--max-old-space-size=1");
}

// The words of the caller for a runtime are all that it is told.
TEST(RuntimeMemory, WhatTheCallerGivesStays) {
  for (const char* name : {"JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS"}) {
    const Variables variables = memory_variables(256 * mebi, {{name, "-Xmx64m"}});
    EXPECT_FALSE(variables.contains("JDK_JAVA_OPTIONS")) << name;
    EXPECT_EQ(variables.size(), 2U) << name;
  }
  EXPECT_FALSE(memory_variables(256 * mebi, {{"NODE_OPTIONS", ""}}).contains("NODE_OPTIONS"));
  EXPECT_FALSE(memory_variables(256 * mebi, {{"GOMEMLIMIT", "off"}}).contains("GOMEMLIMIT"));
}

}  // namespace
}  // namespace cloche
