// The process that asks the warden (warden.hpp) something, and what can be read of it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace cloche::jail {

struct WardenPeer {
  int listener;
  uint64_t id;
  pid_t thread;

  // Whether it still waits for this answer: then its number was its own all the time until now.
  bool is_waiting() const;
};

// Up to `size` bytes, fewer where its memory ends; by whole pages, because what cannot be read ends the rest.
size_t read_memory(const WardenPeer& peer, uint64_t address, char* to, size_t size);

}  // namespace cloche::jail
