// In what each entry of a view lies: in the root itself, in a tree of the host's, or in memory of its own.
#pragma once

#include <map>
#include <string_view>

#include "model/plan.hpp"

namespace cloche {

enum class Holder { root, host_tree, memory };

class Holders {
 public:
  // The plan must outlive this.
  explicit Holders(const ConfinementPlan& plan);
  Holder of(const ViewEntry& entry) const;

 private:
  std::map<std::string_view, Holder> by_target_;
};

}  // namespace cloche
