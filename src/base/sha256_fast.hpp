// SHA-256 by the processor's own instructions where it has them: the record hashes every byte that it keeps.
// Apart from base/sha256.hpp, because the front must not ask the processor what it can: on a virtual machine
// that question is a trap that costs more than all the front's digests.
#pragma once

#include <string>
#include <string_view>

#include "base/sha256.hpp"

namespace cloche {

Sha256 fast_sha256();
inline std::string fast_sha256(std::string_view bytes) { return fast_sha256().add(bytes).finish(); }

}  // namespace cloche
