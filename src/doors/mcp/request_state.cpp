#include "doors/mcp/request_state.hpp"

#include <charconv>
#include <vector>

#include "base/text/sha256.hpp"

namespace cloche::mcp {
namespace {

constexpr size_t parts_of_a_state = 5;  // number.expiry.question.call.seal
constexpr size_t longest_state = 512;

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t dot = text.find('.');
    parts.push_back(text.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    text.remove_prefix(dot + 1);
  }
}

Error not_believed(std::string why) {
  return refusal("requestState: " + std::move(why), "call again without it");
}

}  // namespace

std::string RequestStates::make(const StateSubject& subject, uint64_t now_ms) {
  std::string state = std::to_string(next_++) + "." + std::to_string(now_ms + state_lives_ms) + "." +
                      subject.question + "." + subject.call;
  return state + "." + hmac_sha256(key_, state);
}

Result<std::string> RequestStates::take(std::string_view state, std::string_view call, uint64_t now_ms) {
  const auto parts = state.size() <= longest_state ? split(state) : std::vector<std::string_view>{};
  if (parts.size() != parts_of_a_state) return not_believed("it is none that was given here");
  const std::string_view sealed = state.substr(0, state.size() - parts[4].size() - 1);
  if (!equal_in_constant_time(hmac_sha256(key_, sealed), parts[4]))
    return not_believed("it was altered, or given by another process");
  uint64_t expiry = 0;  // sealed by us, so it is a number
  std::from_chars(parts[1].data(), parts[1].data() + parts[1].size(), expiry);
  if (now_ms >= expiry) return not_believed("it has expired");
  if (parts[3] != call) return not_believed("it belongs to another call");
  std::erase_if(spent_, [&](const auto& entry) { return entry.second <= now_ms; });
  if (!spent_.emplace(parts[0], expiry).second) return not_believed("it was used already");
  return std::string(parts[2]);
}

}  // namespace cloche::mcp
