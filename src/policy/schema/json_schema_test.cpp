// Tables of schemas and values, refused schemas with their line, and what bounds the work.
// tests/schema holds the same code against another validator.
#include "policy/schema/json_schema.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

Result<JsonSchema> compile(const std::string& text) {
  const auto json = read_json(text, "s.json");
  EXPECT_TRUE(json.ok()) << text;
  return JsonSchema::compile(json.value(), "s.json");
}

std::string answer(const std::string& schema, const std::string& text) {
  const auto compiled = compile(schema);
  if (!compiled.ok()) return compiled.error().what.text();
  const auto value = read_json(text, "v.json");
  EXPECT_TRUE(value.ok()) << text;
  const auto fault = compiled.value().check(value.value());
  return fault ? fault->describe() : "fits";
}

struct Row {
  const char* schema;
  const char* value;
  const char* answer;
};

TEST(JsonSchema, Answers) {
  const Row rows[] = {
      {"true", "1", "fits"},
      {"false", "1", "the value must not be there"},
      {"{}", "null", "fits"},
      {R"({"type": "integer"})", "1.0", "fits"},
      {R"({"type": "integer"})", "1e300", "fits"},
      {R"({"type": "integer"})", "1.5", "the value must be integer"},
      {R"({"type": "number"})", "1", "fits"},
      {R"({"type": ["string", "null"]})", "true", "the value must be null or string"},
      {R"({"enum": [1, {"a": [2.0]}]})", R"({"a": [2]})", "fits"},
      {R"({"enum": [1, "1"]})", "true", "the value must be one of 1, \"1\""},
      {R"({"const": null})", "0", "the value must be one of null"},
      {R"({"const": 1, "enum": [1, 2]})", "2", "the value must be one of 1"},
      {R"({"enum": [1, 2], "const": 1})", "1", "fits"},
      {R"({"const": 9007199254740993})", "9007199254740992", "the value must be one of 9007199254740993"},
      {R"({"maximum": 9007199254740992})", "9007199254740993", "the value must be at most 9007199254740992"},
      {R"({"maximum": 0.5})", "0", "fits"},
      {R"({"maximum": 0.5})", "1", "the value must be at most 0.5"},
      {R"({"minimum": -0.5})", "-1", "the value must be at least -0.5"},
      {R"({"minimum": 1e300})", "9223372036854775807", "the value must be at least 1e300"},
      {R"({"exclusiveMinimum": 1})", "1.0", "the value must be above 1"},
      {R"({"exclusiveMaximum": 1})", "1", "the value must be below 1"},
      {R"({"exclusiveMaximum": 1})", "0.99", "fits"},
      {R"({"multipleOf": 0.01})", "19.99", "fits"},
      {R"({"multipleOf": 0.1})", "0.3", "fits"},
      {R"({"multipleOf": 0.1})", "0.35", "the value must be a multiple of 0.1"},
      {R"({"multipleOf": 1e-3})", "1e3", "fits"},
      {R"({"multipleOf": 7})", "-14", "fits"},
      {R"({"multipleOf": 2})", "9223372036854775807", "the value must be a multiple of 2"},
      {R"({"multipleOf": 2})", "9223372036854775806", "fits"},
      {R"({"multipleOf": 7})", "1000000000000000000", "the value must be a multiple of 7"},
      {R"({"multipleOf": 7})", "10000000000000000000000000000000000000000",
       "the value must be a multiple of 7"},
      {R"({"maximum": 18446744073709551615})", "18446744073709551616",
       "the value must be at most 18446744073709551615"},
      {R"({"maximum": 18446744073709551615})", "18446744073709551615", "fits"},
      {R"({"minimum": 18446744073709551616})", "18446744073709551615",
       "the value must be at least 18446744073709551616"},
      {R"({"exclusiveMaximum": 18446744073709551616})", "18446744073709551615", "fits"},
      {R"({"exclusiveMaximum": 18446744073709551616})", "18446744073709551616",
       "the value must be below 18446744073709551616"},
      {R"({"exclusiveMinimum": -18446744073709551616})", "-18446744073709551615", "fits"},
      {R"({"maximum": 9007199254740992})", "9007199254740992.5",
       "the value must be at most 9007199254740992"},
      {R"({"const": 18446744073709551616})", "18446744073709551616", "fits"},
      {R"({"const": 18446744073709551616})", "18446744073709551616.0", "fits"},
      {R"({"const": 18446744073709551616})", "18446744073709551617",
       "the value must be one of 18446744073709551616"},
      {R"({"enum": [18446744073709551616, 1]})", "18446744073709551615",
       "the value must be one of 18446744073709551616, 1"},
      {R"({"uniqueItems": true})", "[18446744073709551616, 18446744073709551617]", "fits"},
      {R"({"type": "integer"})", "0.99999999999999999999", "the value must be integer"},
      {R"({"type": "integer"})", "9007199254740993.5", "the value must be integer"},
      {R"({"type": "integer"})", "1e300", "fits"},
      {R"({"multipleOf": 0.123456789012345678901})", "1",
       "the value must be a multiple of 0.123456789012345678901"},
      {R"({"maxLength": 2})", "\"\xf0\x9f\xab\x99\xf0\x9f\xab\x99\"", "fits"},
      {R"({"minLength": 2})", "\"\xc3\xbc\"", "the value must have at least 2 characters"},
      {R"({"maxLength": 1})", R"("ab")", "the value must have at most 1 characters"},
      {R"({"pattern": "^a.c$"})", R"("xabc")", "the value must match ^a.c$"},
      {R"({"pattern": "b"})", R"("abc")", "fits"},
      {R"({"pattern": "b"})", "1", "fits"},
      {R"({"items": {"type": "string"}})", R"(["a", 1])", "/1 must be string"},
      {R"({"prefixItems": [{"type": "string"}], "items": false})", R"(["a", 1])", "/1 must not be there"},
      {R"({"prefixItems": [{"type": "string"}]})", R"([1])", "/0 must be string"},
      {R"({"minItems": 1})", "[]", "the value must have at least 1 items"},
      {R"({"maxItems": 1})", "[1, 2]", "the value must have at most 1 items"},
      {R"({"uniqueItems": true})", R"([{"a": 1, "b": 2}, {"b": 2.0, "a": 1}])",
       "the value must not have equal items"},
      {R"({"uniqueItems": true})", R"([1, "1", true, [1]])", "fits"},
      {R"({"contains": {"type": "null"}})", "[]", "the value must contain at least 1 items that fit"},
      {R"({"contains": {"type": "null"}, "minContains": 0})", "[]", "fits"},
      {R"({"contains": {"type": "null"}, "maxContains": 1})", "[null, null]",
       "the value must contain at most 1 items that fit"},
      {R"({"minContains": 5})", "[]", "fits"},
      {R"({"required": ["a"]})", "{}", "the value must have \"a\""},
      {R"({"required": ["a"]})", "[]", "fits"},
      {R"({"properties": {"a": {"type": "string"}}})", R"({"a": 1})", "/a must be string"},
      {R"({"properties": {"a": {"properties": {"b/~c": false}}}})", R"({"a": {"b/~c": 1}})",
       "/a/b~1~0c must not be there"},
      {R"({"properties": {"a": true}, "additionalProperties": false})", R"({"a": 1, "b": 2})",
       "/b must not be there"},
      {R"({"patternProperties": {"^x": true}, "additionalProperties": false})", R"({"x1": 1})", "fits"},
      {R"({"patternProperties": {"^x": {"type": "null"}}})", R"({"x1": 1})", "/x1 must be null"},
      {R"({"properties": {"x": true}, "patternProperties": {"x": false}})", R"({"x": 1})",
       "/x must not be there"},
      {R"({"propertyNames": {"maxLength": 1}})", R"({"ab": 1})",
       "the value must not have a member called \"ab\""},
      {R"({"minProperties": 1})", "{}", "the value must have at least 1 members"},
      {R"({"maxProperties": 0})", R"({"a": 1})", "the value must have at most 0 members"},
      {R"({"dependentRequired": {"a": ["b"]}})", R"({"a": 1})", "the value must have \"b\""},
      {R"({"dependentRequired": {"a": ["b"]}})", R"({"c": 1})", "fits"},
      {R"({"allOf": [{"type": "integer"}, {"minimum": 2}]})", "1", "the value must be at least 2"},
      {R"({"anyOf": [{"type": "null"}, {"minimum": 2}]})", "1",
       "the value must fit one of the schemas of anyOf"},
      {R"({"oneOf": [{"minimum": 1}, {"minimum": 2}]})", "3",
       "the value must fit exactly one of the schemas of oneOf"},
      {R"({"oneOf": [{"minimum": 1}, {"minimum": 2}]})", "1", "fits"},
      {R"({"not": {"type": "null"}})", "null", "the value must not fit the schema of not"},
      {R"({"if": {"type": "string"}, "then": {"minLength": 1}, "else": {"minimum": 1}})", R"("")",
       "the value must have at least 1 characters"},
      {R"({"if": {"type": "string"}, "then": {"minLength": 1}, "else": {"minimum": 1}})", "0",
       "the value must be at least 1"},
      {R"({"then": false, "else": false})", "0", "fits"},
      {R"({"$ref": "#/$defs/a", "$defs": {"a": {"type": "null"}}})", "1", "the value must be null"},
      {R"({"$ref": "#/$defs/a", "minimum": 2, "$defs": {"a": true}})", "1", "the value must be at least 2"},
      {R"({"$ref": "#/definitions/a~1b", "definitions": {"a/b": {"type": "null"}}})", "1",
       "the value must be null"},
      {R"({"allOf": [{"type": "null"}, {"$ref": "#/allOf/0"}]})", "null", "fits"},
      {R"({"properties": {"next": {"$ref": "#"}}, "additionalProperties": false})",
       R"({"next": {"next": {"x": 1}}})", "/next/next/x must not be there"},
      {R"({"format": "email", "default": 1, "examples": [1], "title": "t", "description": "d", "$comment": "c",
          "$schema": "x", "$id": "y"})",
       R"("no address")", "fits"},
  };
  for (const auto& row : rows)
    EXPECT_EQ(answer(row.schema, row.value), row.answer) << row.schema << " of " << row.value;
}

TEST(JsonSchema, RefusesSchemasThatItCannotKeep) {
  const std::pair<const char*, const char*> rows[] = {
      {"1", "s.json:1: a schema must be an object, true or false"},
      {"{\n\"minimun\": 1}", "s.json:2: the schema keyword \"minimun\" is not supported"},
      {R"({"unevaluatedProperties": false})",
       "s.json:1: the schema keyword \"unevaluatedProperties\" is not supported"},
      {R"({"$dynamicRef": "#"})", "s.json:1: the schema keyword \"$dynamicRef\" is not supported"},
      {R"({"$defs": {"unused": {"nullable": true}}})",
       "s.json:1: the schema keyword \"nullable\" is not supported"},
      {R"({"type": "text"})",
       "s.json:1: type must be null, boolean, number, integer, string, array or object"},
      {R"({"type": []})", "s.json:1: type is an empty list"},
      {R"({"type": ["null", "null"]})", "s.json:1: a type is here twice"},
      {R"({"enum": []})", "s.json:1: enum must be a list that is not empty"},
      {R"({"items": [true]})", "s.json:1: a schema must be an object, true or false"},
      {R"({"allOf": []})", "s.json:1: expected a list of schemas"},
      {R"({"required": ["a", "a"]})", "s.json:1: \"a\" is here twice"},
      {R"({"required": "a"})", "s.json:1: expected a list of names"},
      {R"({"minLength": -1})", "s.json:1: expected a whole number that is not negative"},
      {R"({"minItems": 1.5})", "s.json:1: expected a whole number that is not negative"},
      {R"({"minimum": "1"})", "s.json:1: expected a number"},
      {R"({"multipleOf": 0})", "s.json:1: multipleOf must be a number above 0"},
      {R"({"multipleOf": 12345678901234567890123456789012345678})",
       "s.json:1: multipleOf has more than 37 digits"},
      {R"j({"pattern": "(?=a)"})j", "s.json:1: \"(?=a)\" is not a pattern: invalid perl operator: (?="},
      {R"({"patternProperties": {"[": true}})", "s.json:1: \"[\" is not a pattern: missing ]: ["},
      {R"({"uniqueItems": 1})", "s.json:1: uniqueItems must be true or false"},
      {R"({"properties": {"a": {"$id": "b"}}})", "s.json:1: $id is supported at the root of a schema only"},
      {R"({"$ref": "#/$defs/a"})",
       "s.json:1: $ref must point to a schema in this file, as in \"#/$defs/name\""},
      {R"({"$ref": "#/$defs", "$defs": {}})",
       "s.json:1: $ref must point to a schema in this file, as in \"#/$defs/name\""},
      {R"({"$ref": "#/enum/0", "enum": [{}]})",
       "s.json:1: $ref must point to a schema in this file, as in \"#/$defs/name\""},
      {R"({"$ref": "other.json"})",
       "s.json:1: $ref must point to a schema in this file, as in \"#/$defs/name\""},
      {R"({"$ref": "#a"})", "s.json:1: $ref must point to a schema in this file, as in \"#/$defs/name\""},
      {R"({"$ref": "#/allOf/00", "allOf": [true]})",
       "s.json:1: $ref must point to a schema in this file, as in \"#/$defs/name\""},
      {R"({"$ref": 1})", "s.json:1: $ref must point to a schema in this file, as in \"#/$defs/name\""},
  };
  for (const auto& [schema, why] : rows) {
    const auto compiled = compile(schema);
    EXPECT_EQ(compiled.ok() ? "accepted" : compiled.error().what.text(), why) << schema;
  }
}

// A limit that is met inside a checker refuses, also below a `not`.
TEST(JsonSchema, AnEndlessSchemaRefuses) {
  const char* too_much = "the value is too deep or too large to be checked";
  EXPECT_EQ(answer(R"({"$ref": "#"})", "1"), too_much);
  EXPECT_EQ(answer(R"({"not": {"$ref": "#/$defs/a"}, "$defs": {"a": {"$ref": "#/$defs/a"}}})", "1"),
            too_much);
  EXPECT_EQ(answer(R"({"anyOf": [true, {"$ref": "#/$defs/a"}], "$defs": {"a": {"$ref": "#/$defs/a"}}})", "1"),
            too_much);
  EXPECT_EQ(answer(R"({"if": {"$ref": "#/$defs/a"}, "$defs": {"a": {"$ref": "#/$defs/a"}}})", "1"), too_much);
}

TEST(JsonSchema, AnExponentialSchemaRefusesInTime) {
  std::string schema = R"({"$ref": "#/$defs/l0", "$defs": {)";
  for (int i = 0; i < 40; ++i) {
    const std::string next = R"({"$ref": "#/$defs/l)" + std::to_string(i + 1) + "\"}";
    schema += "\"l" + std::to_string(i) + R"(": {"allOf": [)" + next + ", " + next + "]}, ";
  }
  schema += R"("l40": true}})";
  EXPECT_EQ(answer(schema, "1"), "the value is too deep or too large to be checked");
}

}  // namespace
}  // namespace cloche
