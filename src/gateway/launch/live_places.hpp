// The protected set around a command that writes without a layer: what lies at the fixed places of its trees
// is read-only to it, and what is new there is taken away when it has ended, before its result is shown. On a
// level without mounts what changed is taken away too, and put back as it was.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "model/facts.hpp"
#include "model/outcome.hpp"
#include "store/commit/live_mounts.hpp"

namespace cloche {

class LivePlaces {
 public:
  // Before the start: holds the trees that the facts are of, and tells other calls what will be mounted in
  // them. A plan with layers has none.
  static Result<LivePlaces> hold(const Facts& facts, const std::string& state);

  struct Taken {
    std::vector<Quarantined> quarantined = {};
    std::vector<std::string> restored = {};  // what was changed or removed, and is as it was
    std::string gap = {};                    // what is not as it should be all the same
  };
  // After its last process. `quarantine` is the directory for what is taken away.
  Taken take_new(const GuardFacts& guard, const std::string& quarantine) const;

 private:
  std::vector<OwnedFd> roots_;  // by tree
  LiveMounts mounts_;
  std::string workspace_;
};

}  // namespace cloche
