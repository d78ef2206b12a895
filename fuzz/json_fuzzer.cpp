// Feeds bytes to the reader of JSON. What is accepted must survive being written and read again, and must be
// within the limits.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/json/json_text.hpp"
#include "base/json/json_writer.hpp"

namespace {

using namespace cloche;

void require(bool truth) {
  if (!truth) std::abort();
}

size_t check(const JsonValue& value, int depth) {
  require(depth <= JsonLimits{}.depth);
  require(value.line >= 1);
  require(is_utf8(value.text));
  size_t count = 1;
  for (const auto& item : value.items) count += check(item, depth + 1);
  for (const auto& member : value.members) {
    require(is_utf8(member.name) && value.find(member.name) == &member.value);
    count += check(member.value, depth + 1);
  }
  return count;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto read = read_json(text, "f");
  const auto strict = read_json(text, "f", call_limits);
  if (!read.ok()) {
    require(!strict.ok() && read.error().what.text().starts_with("f:"));
    return 0;
  }
  require(check(read.value(), 1) <= JsonLimits{}.values);
  const auto again = read_json(to_json(read.value()), "again", call_limits);
  require(again.ok());
  require(to_json(again.value()) == to_json(read.value()));
  const auto canonical = read_json(canonical_json(read.value()), "canonical", call_limits);
  require(canonical.ok() && canonical_json(canonical.value()) == canonical_json(read.value()));
  if (strict.ok()) require(to_json(strict.value()) == to_json(read.value()));
  return 0;
}
