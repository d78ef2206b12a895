// What a tool says of itself holds under the glass, where the workspace can be written to and no host is
// declared. Where that is not so, it has to say something else: a client asks its user, or does not, by these
// words. Pure.
#pragma once

#include <string_view>

#include "model/tool.hpp"

namespace cloche {

struct Surroundings {
  bool isolated = true;
  bool network = false;  // some host can be reached
  bool writes = true;    // files can be changed; false: by profile or autonomy the session only reads
};

// What a tool starts.
enum class Starts {
  nothing,      // the gateway does it itself
  change,       // so it does, and it changes a file
  fetch,        // a program of Cloche's own, which has nothing but a network
  computation,  // without a network, whatever is declared
  command,      // with what the session's calls may reach
  executor,     // with what it declares, and says already
};
Starts starts_of(std::string_view tool);  // of those that come with Cloche

void tell_surroundings(ToolSpec& spec, Starts starts, const Surroundings& surroundings);

}  // namespace cloche
