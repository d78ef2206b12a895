// For tests: the shapes that are shipped, read once.
#pragma once

#include <gtest/gtest.h>

#include "policy/shapes/shapes.hpp"
#include "policy/shipped_files.hpp"

namespace cloche {

inline const Shapes& shipped_shapes() {
  static const Shapes all = [] {
    Shapes read;
    for (const std::string name : {"share/commands/passive.json", "share/commands/full.json"}) {
      auto shapes = load_shapes(shipped_text(name), name);
      EXPECT_TRUE(shapes.ok()) << shapes.error().what;
      read.insert(read.end(), shapes.value().begin(), shapes.value().end());
    }
    return read;
  }();
  return all;
}

}  // namespace cloche
