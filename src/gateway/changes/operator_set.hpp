// A set that the operator makes, by an undo or by bringing in what was withheld, with private directories for
// what it will replace.
#pragma once

#include <string>

#include "base/result.hpp"
#include "store/commit/change_sets.hpp"

namespace cloche {

// `header` has the trees but for their undo directories, which are made in directories of their own
// (store/layers/layer_place.hpp). The id is a new one that begins with `kind`.
Result<SetInWork> begin_operator_set(const std::string& state, const ChangeSets& sets, SetHeader header,
                                     const std::string& kind);

// Of a set that nothing came of: it is gone, with its directories.
void drop_operator_set(const ChangeSets& sets, SetInWork& set);

}  // namespace cloche
