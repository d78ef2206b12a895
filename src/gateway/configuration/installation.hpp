// Where the parts of an installed Cloche are, and what it may use. Found once for a call.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/sys/environment.hpp"
#include "store/host/observe.hpp"

namespace cloche {

struct Installation {
  std::string jail;    // cloche-jail
  std::string probe;   // cloche-probe, the program of the self-proof
  std::string egress;  // cloche-egress, which answers for the network of a call
  std::string fetch;   // cloche-fetch, the program of http_get
  std::string state;   // where proofs and skeletons are kept; empty: nowhere, and then each call does without
  std::string no_state = {};      // why it is nowhere
  std::string users_config = {};  // where the user has config.json and commands/; empty: it is not known
  IdRange ids;

  // The directory of the programs.
  std::string folder() const;
  // users_config. Where that is empty it is looked for again, to say why it is not known.
  Result<std::string> config_folder(const Environment& environment) const;
  // With the programs themselves, each of which may be a link, and the operator's configuration.
  OwnPlaces places(const Environment& environment) const;
};

// Beside the running program or in the directory `programs`, and under $XDG_STATE_HOME or ~/.local/state.
Result<Installation> find_installation(const Environment& environment, const std::string& programs = {});

}  // namespace cloche
