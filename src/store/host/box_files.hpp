// Files that a box needs beside its command line: the texts of a view, and the directory of an OCI bundle.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "confine/boxes/oci.hpp"

namespace cloche {

// These texts of the view (by their index in it) as files STATE/texts/SHA256, 0600. A text that is there
// already is not written again.
Result<std::map<size_t, std::string>> store_texts(const ConfinementPlan& plan,
                                                  const std::vector<size_t>& places,
                                                  const std::string& state);

// DIRECTORY/rootfs and DIRECTORY/config.json. The directory must not be there yet.
Result<void> make_bundle(const std::string& directory, const std::vector<RootfsEntry>& rootfs,
                         const std::string& config);

}  // namespace cloche
