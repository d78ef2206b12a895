// From which directory of the lower layer one of the upper layer was made.
#pragma once

#include <optional>
#include <string>

#include "store/layers/overlay_attributes.hpp"

namespace cloche {

// Whether the directory at `path` of the upper layer was made from this one, whatever has become of its name
// and its times. Nothing: the kernel has noted none, as in the layers of an ordinary user.
std::optional<bool> is_made_from(int upper, const std::string& path, OverlayAttributes attributes,
                                 int directory);

}  // namespace cloche
