#include "store/sealed/fingerprints.hpp"

#include "store/sealed/sealed_files.hpp"

namespace cloche {

Result<void> add_fingerprints(const std::string& state, std::vector<Secret>& secrets) {
  if (secrets.empty()) return {};
  const SealedFiles place = TRY(SealedFiles::open(state, "fingerprints"));
  for (auto& secret : secrets)  // no name has a = in it
    secret.fingerprint = "hmac-sha256:" + place.keyed_digest(secret.name + "=" + secret.value);
  return {};
}

}  // namespace cloche
