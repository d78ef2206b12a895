// Feeds {"schema": ..., "values": [...]} to the schema validator: it must neither crash nor hang, answer the
// same twice, and turn an answer around under `not` unless it gave up.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/json/json_text.hpp"
#include "policy/schema/json_schema.hpp"

namespace {

using namespace cloche;

void require(bool truth) {
  if (!truth) std::abort();
}

bool gave_up(const std::optional<SchemaFault>& fault) {
  return fault && fault->expected == "is too deep or too large to be checked";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto json = read_json({reinterpret_cast<const char*>(data), size}, "f");
  if (!json.ok()) return 0;
  const JsonValue* schema = json.value().find("schema");
  const JsonValue* values = json.value().find("values");
  if (schema == nullptr || values == nullptr) return 0;
  const auto compiled = JsonSchema::compile(*schema, "f");
  if (!compiled.ok()) {
    require(compiled.error().what.text().starts_with("f:"));
    return 0;
  }
  // References are counted from the root, so only a schema without them can be wrapped.
  const std::string text = to_json(*schema);
  const auto negated = read_json("{\"not\": " + text + "}", "n", {.depth = 70});
  const bool wrapped =
      negated.ok() && text.find("$ref") == std::string::npos && text.find("$id") == std::string::npos;
  const auto opposite = wrapped ? JsonSchema::compile(negated.value(), "n") : compiled;
  require(opposite.ok());
  for (const auto& value : values->items) {
    const auto fault = compiled.value().check(value);
    require(fault.has_value() == compiled.value().check(value).has_value());
    const auto other = opposite.value().check(value);
    if (wrapped && !gave_up(fault) && !gave_up(other)) require(fault.has_value() != other.has_value());
  }
  return 0;
}
