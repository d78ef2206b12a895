// For tests: the shapes that are shipped, read once.
#pragma once

#include <gtest/gtest.h>

#include "base/sys.hpp"
#include "policy/shapes.hpp"

namespace cloche {

inline const Shapes& shipped_shapes() {
  static const Shapes all = [] {
    Shapes read;
    for (const std::string name : {"share/commands/passive.json", "share/commands/full.json"}) {
      const auto text = sys::read_file(std::string(CLOCHE_SOURCE_DIR) + "/" + name);
      EXPECT_TRUE(text.ok()) << name;
      auto shapes = load_shapes(text.value(), name);
      EXPECT_TRUE(shapes.ok()) << shapes.error().what;
      read.insert(read.end(), shapes.value().begin(), shapes.value().end());
    }
    return read;
  }();
  return all;
}

}  // namespace cloche
