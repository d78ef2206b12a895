// Where the parts of an installed Cloche are, and what it may use. Found once for a call.
#pragma once

#include <sys/stat.h>

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/sys/environment.hpp"
#include "store/host/observe.hpp"

namespace cloche {

// Where cloche-jail and its neighbours are, when that is not beside the running program.
struct ProgramPlace {
  std::string folder = {};               // empty: beside the running program, or where it was installed
  std::string library = {};              // libcloche.so, where that is running and not cloche
  std::vector<std::string> others = {};  // what was installed with it
};

struct Installation {
  std::string program;  // cloche, or the library
  std::string jail;     // cloche-jail
  std::string probe;    // cloche-probe, the program of the self-proof
  std::string egress;   // cloche-egress, which answers for the network of a call
  std::string fetch;    // cloche-fetch, the program of http_get
  std::string state;  // where proofs and skeletons are kept; empty: nowhere, and then each call does without
  std::string no_state = {};             // why it is nowhere
  std::vector<std::string> others = {};  // of the same installation: who changes them changes what runs next
  std::string users_config = {};  // where the user has config.json and commands/; empty: it is not known
  IdRange ids;

  // The directories of the programs, and the others.
  std::vector<std::string> folders() const;
  // users_config. Where that is empty it is looked for again, to say why it is not known.
  Result<std::string> config_folder(const Environment& environment) const;
  // With the programs themselves, each of which may be a link, and the operator's configuration.
  OwnPlaces places(const Environment& environment) const;
};

// Whether a user who could put another file into the directory `parts` could also replace the program, which
// lies in `beside`. Both were looked at without following a link.
bool is_as_safe(const struct stat& parts, const struct stat& beside, uid_t caller);

// Of the running program, or of the one in the directory `programs`: the parts lie beside it, as they are
// built, or in ../libexec/cloche, as they are installed. State is under $XDG_STATE_HOME or ~/.local/state.
Result<Installation> find_installation(const Environment& environment, const ProgramPlace& place = {});

// An error names the directory, or the file of a program in `folder`, that a user could change who could not
// change what is in the directory `beside`.
Result<void> check_parts(const std::string& folder, const std::string& beside);

}  // namespace cloche
