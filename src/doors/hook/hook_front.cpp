#include "doors/hook/hook_front.hpp"

#include <string_view>

#include "base/sys/sys.hpp"
#include "confine/supervise/watched_child.hpp"
#include "doors/cli/print.hpp"
#include "model/limits.hpp"

namespace cloche {
namespace {

using How = WatchedEnd::How;

// Below what agents give a hook before they go on without it (60 s and more).
constexpr uint64_t standard_ms = 25'000;
constexpr uint64_t longest_ms = 50'000;
constexpr size_t most_reply = size_t{32} << 20;
constexpr int refused = 2;

int refuse(const std::string& why) {
  complain(why + ", so the call is refused");
  return refused;
}

// --timeout is for this process; the judge ignores it.
Result<uint64_t> judging_ms_in(std::span<char* const> words) {
  constexpr std::string_view flag = "--timeout";
  for (size_t at = 0; at < words.size(); ++at) {
    const std::string_view word = words[at];
    const bool glued = word.starts_with("--timeout=");
    if (word != flag && !glued) continue;
    if (!glued && at + 1 == words.size()) return usage_error("the hook's time limit has no value");
    return judging_ms(glued ? word.substr(flag.size() + 1) : std::string_view(words[at + 1]));
  }
  return standard_ms;
}

std::string why_not(const WatchedEnd& end) {
  switch (end.how) {
    case How::killed: return "judging was ended by signal " + std::to_string(end.number);
    case How::too_late: return "judging did not end in time";
    case How::too_long: return "the answer is too long";
    case How::interrupted: return "the hook was told to end before there was an answer";
    case How::exited: break;
  }
  if (end.number != 0) return "judging ended with exit code " + std::to_string(end.number);
  return "the answer is not complete";
}

// One object on one line: an empty answer would be a yes, and so would half of one.
bool is_whole(std::string_view reply) {
  return reply.size() >= 3 && reply.front() == '{' && reply.ends_with("}\n") &&
         reply.find('\n') == reply.size() - 1;
}

}  // namespace

Result<uint64_t> judging_ms(std::string_view given) {
  const auto asked = parse_duration_ms("--timeout", given);
  if (!asked.ok()) return usage_error("the hook's time limit is not a duration");
  if (asked.value() <= longest_ms) return asked.value();
  return usage_error("the hook's time limit is more than " + show_duration_ms(longest_ms) +
                     ", and agents go on without a hook that takes longer");
}

bool is_hook_judgement(std::span<char* const> words) {
  for (const std::string_view word : words)
    if (word == "--help" || word == "-h" || word.starts_with("--install") ||
        word.starts_with("--uninstall") || word.starts_with("--check"))
      return false;
  return true;
}

int hook_front(const std::string& program, std::span<char* const> words, char* const* environment) {
  const auto time_ms = judging_ms_in(words);
  if (!time_ms.ok()) return refuse(describe(time_ms.error()));
  std::vector<std::string> arguments(words.begin(), words.end());
  arguments[1] = judge_word;
  const WatchedProgram judge{.path = program,
                             .arguments = std::move(arguments),
                             .environment = environment,
                             .deadline_ms = sys::monotonic_ms() + time_ms.value(),
                             .most_output = most_reply,
                             .ties = WatchedProgram::Ties::callers};
  const auto end = run_watched(judge);
  if (!end.ok()) return refuse(describe(end.error()));
  if (end.value().how != How::exited || end.value().number != 0 || !is_whole(end.value().output))
    return refuse(why_not(end.value()));
  if (!sys::write_all(1, end.value().output).ok()) return refuse("the answer could not be written");
  return 0;
}

}  // namespace cloche
