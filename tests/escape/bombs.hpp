// What bombs share. A bomb is told the limit it attacks and stops at a multiple of it, so that the control
// never hurts the machine it runs on.
#pragma once

#include <cstdint>

#include "escape/attack.hpp"

namespace cloche::escape {

inline constexpr uint64_t enough = 3;  // times the limit: got through

// Keeps how far the bomb came in the file `progress` of the working directory, where the observer finds it
// even when the bomb was killed. Shared with children.
class Progress {
 public:
  Progress();
  void add(uint64_t amount);
  uint64_t total() const;

  // A word between processes, in memory that they share.
  class Flag {
   public:
    Flag();
    void raise();
    bool raised() const;

   private:
    int* value_;
  };

 private:
  uint64_t* counter_;
};

uint64_t number(const std::string& text);

}  // namespace cloche::escape
