#include "tools/argument_reader.hpp"

#include <algorithm>

#include "base/lists.hpp"
#include "base/text/command_words.hpp"

namespace cloche {
namespace {

constexpr uint64_t longest_timeout_s = uint64_t{24} * 60 * 60;

}  // namespace

ArgumentReader::ArgumentReader(const JsonValue& arguments, std::string& problem)
    : arguments_(arguments), problem_(problem) {
  if (!arguments.is_object()) wrong("the arguments are not an object");
}

std::string ArgumentReader::text(std::string_view name) {
  auto value = maybe_text(name);
  if (!value) wrong(std::string(name) + " is missing");
  return value.value_or("");
}

std::optional<std::string> ArgumentReader::maybe_text(std::string_view name) {
  const JsonValue* value = take(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return value->text;
  wrong(std::string(name) + " is not a text");
  return std::nullopt;
}

std::optional<uint64_t> ArgumentReader::maybe_number(std::string_view name, uint64_t least, uint64_t most) {
  const JsonValue* value = take(name);
  if (value == nullptr) return std::nullopt;
  const bool good = value->is_number() && value->whole && value->integer >= 0 &&
                    static_cast<uint64_t>(value->integer) >= least &&
                    static_cast<uint64_t>(value->integer) <= most;
  if (good) return static_cast<uint64_t>(value->integer);
  wrong(std::string(name) + " is not a whole number from " + std::to_string(least) + " to " +
        std::to_string(most));
  return std::nullopt;
}

std::optional<uint64_t> ArgumentReader::maybe_timeout() {
  const auto seconds = maybe_number("timeout_s", 1, longest_timeout_s);
  return seconds ? std::optional(*seconds * 1000) : std::nullopt;
}

bool ArgumentReader::finish() {
  for (const auto& member : arguments_.members) {
    if (!contains(taken_, member.name)) wrong("unknown argument " + shown(member.name, 60));
  }
  return problem_.empty();
}

const JsonValue* ArgumentReader::take(std::string_view name) {
  taken_.push_back(name);
  return arguments_.find(name);
}

void ArgumentReader::wrong(std::string problem) {
  if (problem_.empty()) problem_ = std::move(problem);
}

}  // namespace cloche
