// The bytes of a stored change set: what a file held before a change, and after it. Where they lie depends on
// what became of the change.
//
//   in the project     before: in the set's undo directory      after: the project's file
//   not in it          before: the project's file               after: in the upper layer
//
// The project's file may be another by now. If a later set replaced or removed it, that set keeps it;
// otherwise there are no bytes, and the reason is said. Reads beneath held directories, follows no link, and
// opens regular files alone.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "store/commit/change_sets.hpp"

namespace cloche {

struct ContentsBounds {
  uint64_t side = 1 << 20;   // bytes of one file
  uint64_t all = 256 << 20;  // of all files that are read from one set
};

// One side of a change.
struct SideContents {
  std::optional<std::string> bytes = {};
  std::string why = {};  // there are none, though a file was there: the end of a sentence about it
};

class SetContents {
 public:
  // The later sets of the workspace, oldest first. Asked when a file of the project is another by now.
  using LaterSets = std::function<std::vector<StoredSet>()>;

  // An Error: the project's tree is not the one that the set was made with. The set is borrowed.
  static Result<SetContents> open(const StoredSet& set, const LaterSets& later = {},
                                  const ContentsBounds& bounds = {});

  SideContents before(size_t change);
  SideContents after(size_t change);
  // A file of the project that the set did not change, as it is now.
  SideContents unchanged(size_t tree, const std::string& path);

 private:
  struct Trees {
    OwnedFd project = {};
    OwnedFd source = {};  // may be gone
    OwnedFd undo = {};    // the same
  };

  struct Later;

  SetContents(const StoredSet& set, const LaterSets& later, const ContentsBounds& bounds)
      : set_(set), steps_(set), ask_later_(later), bounds_(bounds) {}
  // `expected`: null, or what the file has to be; `otherwise`: what is said where another one, or none, is
  // there.
  SideContents read(int root, const std::string& path, const FileState* expected, const char* otherwise);
  SideContents read_kept(const Change& change);
  bool is_still_placed(const Change& change);
  SideContents read_placed(const Change& change);
  // `found`, or what a later set keeps of the file.
  SideContents or_later(SideContents found, const Change& change, const FileState& expected);
  void open_later();

  const StoredSet& set_;
  StepsOfPaths steps_;
  LaterSets ask_later_;
  std::vector<std::shared_ptr<Later>> later_ = {};
  ContentsBounds bounds_;
  std::vector<Trees> trees_ = {};
};

}  // namespace cloche
