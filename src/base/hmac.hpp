// HMAC (RFC 2104) with SHA-256, for what Cloche hands out or puts down and has to know again.
#pragma once

#include <string>
#include <string_view>

namespace cloche {

// Lower-case hexadecimal.
std::string hmac_sha256(std::string_view key, std::string_view message);

// Takes as long for every text of that length: how much of a guess was right cannot be told from the time.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace cloche
