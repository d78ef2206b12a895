// JSON Schema 2020-12, the parts that tools use. A schema is compiled once, when its tool is registered, and
// a keyword that we do not know is an error then: a constraint that is silently passed over is none.
//
// Known: type, enum, const, the limits of numbers, strings, arrays and objects, properties, required,
// additionalProperties, patternProperties, propertyNames, items, prefixItems, contains, uniqueItems, allOf,
// anyOf, oneOf, not, if/then/else, dependentRequired, and $ref to a place in the same schema. Patterns are
// RE2's and are found anywhere in the text. title, description, default, examples, format, $schema, $id and
// $comment say nothing about validity.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/json/json_text.hpp"

namespace cloche {

struct SchemaProgram;

struct SchemaFault {
  std::string pointer;   // where in the value, as a JSON pointer; "" is the whole
  std::string expected;  // "must be integer"

  // "/a/0 must be integer"
  std::string describe() const { return (pointer.empty() ? "the value" : pointer) + " " + expected; }
};

class JsonSchema {
 public:
  // Errors say file:line of the keyword.
  static Result<JsonSchema> compile(const JsonValue& schema, const std::string& source);

  // The first fault found, or none. A value too costly to check has a fault.
  std::optional<SchemaFault> check(const JsonValue& value) const;

 private:
  explicit JsonSchema(std::shared_ptr<const SchemaProgram> program) : program_(std::move(program)) {}

  std::shared_ptr<const SchemaProgram> program_;
};

}  // namespace cloche
