// The object that a command asks its warden about (warden.hpp): opened the way the command would reach it,
// found where the kernel says that it lies, and opened there again beneath a tree of the plan.
#pragma once

#include "jail/boxes/warden_peer.hpp"
#include "jail/boxes/warden_request.hpp"
#include "jail/core/text.hpp"
#include "jail/core/wire.hpp"

namespace cloche::jail {

constexpr size_t path_room = 4096;  // PATH_MAX, and what the kernel says of a descriptor

struct Path {
  char text[path_room + 1];
  size_t size = 0;

  bool operator==(const Path& other) const;
};

// A descriptor that is closed with its scope.
class Handle {
 public:
  explicit Handle(int fd) : fd_(fd) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle();
  int get() const { return fd_; }
  bool missing() const { return fd_ < 0; }

 private:
  int fd_;
};

enum class Reach : unsigned char { read, written };  // what may be written to may be read

// Keeps the descriptor of a tree of the plan, and what may be done there. Before the command is started:
// later the same path may lead elsewhere.
void hold_tree(int fd, wire::Access access);

// The object as the command reaches it; -1 with errno.
int open_seen(const WardenPeer& peer, const WardenRequest& asked);

// Where the kernel says that it lies.
bool place_of(int fd, Path& path);

// The same object as `seen`, which lies at `place`, opened beneath a tree that may be reached so, no link
// passed; -1 when it lies in none.
int open_in_plan(int seen, const Path& place, Reach reach);

// "/proc/self/fd/N": the object itself, to calls that take a path alone.
Text<32> link_to(int fd);

// Of what the kernel said only that is passed on which says nothing about us.
int answer_of(int number);

}  // namespace cloche::jail
