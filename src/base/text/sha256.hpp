// SHA-256 (FIPS 180-4) and HMAC with it (RFC 2104), by libcrypto's low-level functions. They are deprecated
// in favour of EVP, whose first digest takes 0.7 ms and reads openssl.cnf and OPENSSL_CONF: these take a
// microsecond and read nothing. A libcrypto without them is where EVP begins, in sha256.cpp alone.
#pragma once

#include <openssl/sha.h>

#include <string>
#include <string_view>

namespace cloche {

class Sha256 {
 public:
  Sha256();

  Sha256& add(std::string_view bytes);
  // Lower-case hexadecimal. The object is spent afterwards.
  std::string finish();

 private:
  SHA256_CTX state_;
};

inline std::string sha256(std::string_view bytes) { return Sha256().add(bytes).finish(); }

// The bytes themselves, of SHA-1: for git's files, which end with it.
std::string sha1_bytes(std::string_view bytes);

// Lower-case hexadecimal: for what Cloche hands out or puts down and has to know again.
std::string hmac_sha256(std::string_view key, std::string_view message);

// Takes as long for every text of that length: how much of a guess was right cannot be told from the time.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace cloche
