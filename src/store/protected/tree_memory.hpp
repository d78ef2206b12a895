// What a look remembers of a tree for the next one: which directories had nothing of the protected set in
// them and nothing that leads towards it. A name cannot come into a directory without changing the
// directory's time of change, which no command can set, so of such a quiet one the next look asks for that
// time alone.
//
// The directories follow each other as a walk comes to them, each with those that are in it:
//
//     device, inode, seconds, nanoseconds, quiet, length of the name, length of what is in it; name; inside
//
// A directory is quiet only by what was read in it, whole. That it lies here under a name says nothing: what
// is believed is the device, the inode and the time together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/facts.hpp"

namespace cloche {

struct DirectoryState {
  uint64_t device = 0;
  uint64_t inode = 0;
  ChangeTime changed = {};
  bool operator==(const DirectoryState&) const = default;
};

struct RememberedDirectory {
  DirectoryState state = {};
  bool quiet = false;
  std::string_view name = {};
  std::string_view inside = {};  // the directories in it
};

// The first of these, which are shortened by it. Nothing: there is none left, or it cannot be read.
std::optional<RememberedDirectory> take_directory(std::string_view& directories);

// Those of one directory by name, for whoever comes to them in another order.
class RememberedNames {
 public:
  explicit RememberedNames(std::string_view directories);
  std::optional<RememberedDirectory> find(std::string_view name) const;

 private:
  std::vector<RememberedDirectory> sorted_;
};

// Written while a walk goes down and comes up again.
class TreeMemory {
 public:
  using Place = size_t;

  explicit TreeMemory(size_t expected_bytes) { text_.reserve(expected_bytes); }

  Place enter(std::string_view name);
  // It was read whole, and there was nothing in it.
  void call_quiet(Place place, const DirectoryState& state);
  void leave(Place place);

  size_t count() const { return count_; }
  // Nothing, when it became too long to be worth keeping.
  std::string text() && { return full_ ? std::string() : std::move(text_); }

 private:
  std::string text_;
  size_t count_ = 0;
  bool full_ = false;
};

}  // namespace cloche
