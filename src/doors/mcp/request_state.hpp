// What a stateless client is given to bring back with an answer: bound to one question and one call by an
// HMAC under a key that only this process has, good for a while, and good once.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cloche::mcp {

inline constexpr uint64_t state_lives_ms = 10ULL * 60 * 1000;

// What a state is good for.
struct StateSubject {
  std::string question = {};  // the digest of what was asked
  std::string call = {};      // the digest of the tool and its arguments
};

// Not for several threads at once.
class RequestStates {
 public:
  explicit RequestStates(std::string key) : key_(std::move(key)) {}

  std::string make(const StateSubject& subject, uint64_t now_ms);
  // The digest of the question; an Error says why it is not believed. Whatever was taken is spent.
  Result<std::string> take(std::string_view state, std::string_view call, uint64_t now_ms);

 private:
  std::string key_;
  uint64_t next_ = 1;
  std::map<std::string, uint64_t, std::less<>> spent_;  // and until when they would have been good
};

}  // namespace cloche::mcp
