// For tests: the shipped tools, and what a call of theirs means.
#pragma once

#include <gtest/gtest.h>

#include "tools/registry.hpp"

namespace cloche {

inline const Registry& shipped_registry() {
  static const Registry registry = [] {
    auto made = Registry::make({}, Registry::Record::kept);
    EXPECT_TRUE(made.ok()) << describe(made.error());
    return std::move(made).value();
  }();
  return registry;
}

inline Intent understand(const ToolCall& call, const std::string& workspace = "/work") {
  return shipped_registry().understand(call, read_arguments(call), workspace);
}

}  // namespace cloche
