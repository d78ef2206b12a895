// Asks this kernel what it offers. Cheap: it is asked before every call; the proof (proof.hpp) is what shows
// that it holds.
#pragma once

#include "confine/launch.hpp"

namespace cloche {

HostProbe probe_host();

}  // namespace cloche
