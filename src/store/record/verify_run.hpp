// `cloche log verify`: whether a record is what was written. Finds every line that was changed, removed,
// inserted or moved, an end that was cut off, and raw results that do not fit; says which is the first.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "store/record/chain_reading.hpp"
#include "store/record/run_place.hpp"

namespace cloche {

struct Verification {
  uint64_t lines = 0;  // of all files
  std::string head;    // of the audit, or of the one file that was asked about
  std::optional<BadLine> first_bad = {};
  std::vector<std::string> notes = {};  // what is no fault and yet worth a word
};

struct VerifyRequest {
  std::string head = {};  // a head stored elsewhere that must be in the chain; empty: none
  std::string task = {};  // only this one's transcript, beside the audit; empty: all
};

// An Error only when there is no record to read.
Result<Verification> verify_run(const RunPlace& place, const VerifyRequest& request = {});
// One transcript alone: its own chain, without the audit that would show a cut-off end.
Result<Verification> verify_file(const std::string& file, const VerifyRequest& request = {});

// {"ok", "lines", "head", "first_bad": {"file", "line", "why"} | null, "notes"}
std::string to_json(const Verification& verification);

}  // namespace cloche
