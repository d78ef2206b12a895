// Feeds bytes to the reader of git configurations and to who reads by it. What is harmless was read to its
// end; places are strings that the kernel can take; an identity that was read is written as the same.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "policy/plan/git_identity.hpp"
#include "policy/protected/git_config.hpp"
#include "policy/protected/git_config_paths.hpp"
#include "policy/protected/git_config_reader.hpp"

namespace {

using namespace cloche;

void require(bool truth) {
  if (!truth) std::abort();
}

size_t read_all(std::string_view text, bool& failed) {
  GitConfigReader reader(text);
  size_t count = 0;
  for (; const auto entry = reader.next(); ++count) require(!entry->key.empty());
  require(!reader.next());
  failed = reader.has_failed();
  return count;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  bool failed = false;
  require(read_all(text, failed) <= size);
  if (!danger_in_git_config(text, {})) require(!failed);
  for (const auto& place : places_said(text).places) {
    require(!place.path.empty() && place.path.find('\0') == std::string::npos);
    const std::string path =
        place_from(place.path, "/base", [](std::string_view) { return std::string("/home"); });
    require(path.empty() || path[0] == '/');
  }
  const GitIdentity identity = identity_in(text);
  for (const Owners owners : {Owners::as_outside, Owners::others})
    require(identity_in(identity_config(identity, owners)) == identity);
  return 0;
}
