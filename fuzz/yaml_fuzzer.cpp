// Feeds bytes to the reader of YAML. Nothing may be thrown out of it; what is accepted is within the limits
// and is JSON: written as such and read again, as YAML too, it is the same.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/json/json_writer.hpp"
#include "base/json/yaml_text.hpp"

namespace {

using namespace cloche;

void require(bool truth) {
  if (!truth) std::abort();
}

size_t check(const JsonValue& value, int depth) {
  require(depth <= YamlLimits{}.depth + 1);
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
  const auto read = read_yaml(text, "f");
  if (!read.ok()) {
    require(read.error().what.text().starts_with("f:"));
    return 0;
  }
  require(check(read.value(), 1) <= YamlLimits{}.values);
  const std::string json = to_json(read.value());
  const auto again = read_json(json, "again", call_limits);
  require(again.ok() && to_json(again.value()) == json);
  return 0;
}
