// What the lines of a record say: from a value to an open JSON object, which the chain then seals.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/record.hpp"
#include "store/record/chain.hpp"

namespace cloche {

// RFC 3339 in UTC, with milliseconds.
std::string show_time(uint64_t unix_ms);

// c-0001, c-0002, ...
std::string call_id_of(uint64_t number);

// The whole bytes that a call gave, which are in a file beside the transcript.
struct RawResult {
  uint64_t bytes = 0;
  std::string sha256;
};

// Before the effect, for the audit; its call id is given under the lock and added last.
std::string decision_object(const DecisionRecord& decided, const std::string& time);
void add_call_id(std::string& open_object, const std::string& call_id);

// After it: for the transcript, and then that transcript's end for the audit. A call without a stored result
// has the sizes of its output instead.
std::string call_object(const CallRecord& call, const std::optional<RawResult>& raw, const std::string& time);
std::string head_object(const CallRecord& call, const ChainEnd& transcript, const std::string& time);
// The audit once was longer than it is.
std::string cut_back_object(const ChainEnd& remembered, const std::string& time);

}  // namespace cloche
