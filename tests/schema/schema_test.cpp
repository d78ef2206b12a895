// Thousands of generated schemas and values, judged by us and by ajv: every answer must be the same. What the
// two define differently is not generated: lookaround and \s in patterns, decimal fractions in multipleOf
// (doubles there, decimals here) and integers beyond 2^53.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "base/json/json_writer.hpp"
#include "harness/npm.hpp"
#include "policy/schema/json_schema.hpp"

namespace cloche::test {
namespace {

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  std::string value(int depth) {
    switch (below(depth > 0 ? 9 : 6)) {
      case 0: return "null";
      case 1: return below(2) == 0 ? "true" : "false";
      case 2: return pick({"0", "1", "2", "3", "-1", "7", "10", "1.0", "100", "1e2"});
      case 3: return pick({"0.5", "1.5", "-2.25", "1e20", "2.75", "-0"});
      case 4:
      case 5:
        return pick({R"("")", R"("a")", R"("ab")", R"("abc")", R"("b1")", R"("12")", R"("ü")",
                     R"("🫙🫙")", R"("A-b")"});
      case 6: return list("[", "]", 4, [&] { return value(depth - 1); });
      default: return object(depth);
    }
  }

  std::string schema(int depth) {
    if (below(14) == 0) return below(3) == 0 ? "false" : "true";
    std::vector<std::string> members;
    std::vector<std::string> used;
    for (size_t left = 1 + below(3); left > 0; --left) {
      const std::string keyword = random_keyword(depth);
      if (std::find(used.begin(), used.end(), keyword) != used.end()) continue;
      used.push_back(keyword);
      members.push_back(json_quote(keyword) + ": " + operand(keyword, depth));
      if (keyword == "if") {
        if (below(3) != 0) members.push_back("\"then\": " + schema(depth - 1));
        if (below(3) != 0) members.push_back("\"else\": " + schema(depth - 1));
      }
    }
    std::string text;
    for (const auto& member : members) text += (text.empty() ? "" : ", ") + member;
    return "{" + text + "}";
  }

  // With definitions that may refer to each other through members and items, as trees do.
  std::string document() {
    const std::string body = schema(3);
    if (body.front() != '{') return body;
    return R"({"$defs": {"a": {"type": ["object", "integer", "string"], "properties": {"a": {"$ref": "#/$defs/a"},
      "b": {"$ref": "#/$defs/b"}}}, "b": )" +
           schema(1) + R"(, "c/~": {"type": "array", "items": {"$ref": "#"}}},
      "$comment": "generated")" +
           (body == "{}" ? "}" : ", " + body.substr(1));
  }

 private:
  size_t below(size_t bound) { return random_() % bound; }
  std::string pick(std::initializer_list<const char*> list) { return list.begin()[below(list.size())]; }
  std::string name() { return pick({"a", "b", "ab", "c1", "ü"}); }

  template <typename Make>
  std::string list(const char* open, const char* close, size_t most, Make make, size_t least = 0) {
    std::string text = open;
    for (size_t count = least + below(most + 1 - least), i = 0; i < count; ++i)
      text += (i == 0 ? "" : ", ") + make();
    return text + close;
  }

  template <typename Make>
  std::string by_name(Make make) {
    std::string text;
    for (const char* key : {"a", "b", "ab", "c1", "ü"})
      if (below(3) == 0) text += (text.empty() ? "" : ", ") + json_quote(key) + ": " + make();
    return "{" + text + "}";
  }

  std::string object(int depth) {
    return by_name([&] { return value(depth - 1); });
  }

  std::string random_keyword(int depth) {
    if (depth > 0 && below(5) < 3)
      return pick({"properties", "additionalProperties", "patternProperties", "propertyNames", "items",
                   "prefixItems", "contains", "allOf", "anyOf", "oneOf", "not", "if", "$ref"});
    return pick({"type",
                 "type",
                 "enum",
                 "const",
                 "minimum",
                 "maximum",
                 "exclusiveMinimum",
                 "exclusiveMaximum",
                 "multipleOf",
                 "minLength",
                 "maxLength",
                 "pattern",
                 "minItems",
                 "maxItems",
                 "uniqueItems",
                 "minContains",
                 "maxContains",
                 "minProperties",
                 "maxProperties",
                 "required",
                 "dependentRequired",
                 "title",
                 "format"});
  }

  std::string type() {
    return pick({R"("null")", R"("boolean")", R"("number")", R"("integer")", R"("string")", R"("array")",
                 R"("object")"});
  }

  std::string pattern() {
    return json_quote(
        pick({"a", "^a", "b$", "^[a-c]+$", "[0-9]", "^$", "ü", "a|1", "^.$", "^.{2}$", "(ab)?c"}));
  }

  std::string operand(const std::string& keyword, int depth) {
    const auto is = [&](std::initializer_list<const char*> names) {
      return std::find(names.begin(), names.end(), keyword) != names.end();
    };
    const auto part = [&] { return schema(depth - 1); };
    if (keyword == "type")
      return below(3) != 0   ? type()
             : below(2) == 0 ? R"(["integer", "array"])"
                             : R"(["string", "null", "object"])";
    if (keyword == "enum")
      return list(
          "[", "]", 3, [&] { return value(1); }, 1);
    if (keyword == "const") return value(1);
    if (is({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}))
      return pick({"0", "1", "2.5", "-1", "7.0"});
    if (keyword == "multipleOf") return pick({"1", "2", "0.5", "5"});
    if (keyword.starts_with("min") || keyword.starts_with("max")) return pick({"0", "1", "2", "3", "2.0"});
    if (keyword == "pattern") return pattern();
    if (keyword == "uniqueItems") return below(3) == 0 ? "false" : "true";
    if (keyword == "required") return below(2) == 0 ? "[" + json_quote(name()) + "]" : R"(["a", "b"])";
    if (keyword == "dependentRequired") return by_name([&] { return "[" + json_quote(name()) + "]"; });
    if (keyword == "title") return "\"t\"";
    if (keyword == "format") return "\"email\"";
    if (keyword == "properties") return by_name(part);
    if (keyword == "patternProperties") return "{" + pattern() + ": " + part() + "}";
    if (is({"prefixItems", "allOf", "anyOf", "oneOf"})) return list("[", "]", 3, part, 1);
    if (keyword == "$ref") return pick({R"("#/$defs/a")", R"("#/$defs/c~1~0")"});
    return part();
  }

  std::mt19937 random_;
};

struct Case {
  std::string schema;
  std::string value;
};

std::vector<Case> generate(size_t count) {
  Generator generator(20201);
  std::vector<Case> cases;
  while (cases.size() < count) {
    std::string schema = generator.document();
    std::erase(schema, '\n');
    for (int values = 0; values < 5; ++values) cases.push_back({schema, generator.value(3)});
  }
  return cases;
}

char our_answer(const Case& one) {
  const auto schema = read_json(one.schema, "schema");
  const auto value = read_json(one.value, "value");
  if (!schema.ok() || !value.ok()) return '?';
  const auto compiled = JsonSchema::compile(schema.value(), "schema");
  if (!compiled.ok()) return 'e';
  return compiled.value().check(value.value()) ? 'i' : 'v';
}

// Empty when ajv is there; else why it is not.
std::string provide_ajv() {
  const fs::path directory = CLOCHE_AJV_DIR;
  if (fs::exists(directory / "node_modules/ajv/dist/2020.js")) return "";
  return fetch_packages(directory, {"install", "--prefix", directory, "ajv@8"});
}

TEST(Schema, AgreesWithAjv) {
  const auto cases = generate(6000);
  std::string ours;
  for (const auto& one : cases) ours += our_answer(one);
  EXPECT_EQ(ours.find('?'), std::string::npos) << "the generator writes JSON";
  EXPECT_EQ(ours.find('e'), std::string::npos) << cases[std::min(ours.find('e'), cases.size() - 1)].schema;
  const auto valid = std::count(ours.begin(), ours.end(), 'v');
  EXPECT_GT(valid, 1000) << "both answers must be common for this to mean something";
  EXPECT_LT(valid, 5000);

  if (const std::string why = provide_ajv(); !why.empty()) GTEST_SKIP() << "skipped: " << why;
  std::string lines;
  for (const auto& one : cases) lines += "{\"schema\": " + one.schema + ", \"value\": " + one.value + "}\n";
  auto env = npm_surroundings();
  env["NODE_PATH"] = std::string(CLOCHE_AJV_DIR) + "/node_modules";
  const Ran ran = run({.argv = {"/usr/bin/env", "node", CLOCHE_SCHEMA_DIR "/answer.cjs"},
                       .env = env,
                       .input = lines,
                       .deadline = std::chrono::seconds(300)});
  ASSERT_EQ(ran.exit_code, 0) << ran.err.substr(0, 500);
  ASSERT_EQ(ran.out.size(), cases.size());
  EXPECT_LT(std::count(ran.out.begin(), ran.out.end(), 'x'), 30) << "ajv breaks down on a few, no more";
  size_t shown = 0;
  for (size_t i = 0; i < cases.size() && shown < 5; ++i) {
    if (ours[i] == ran.out[i] || ran.out[i] == 'x') continue;
    ++shown;
    ADD_FAILURE() << "we say " << ours[i] << ", ajv " << ran.out[i] << ": " << cases[i].schema << " of "
                  << cases[i].value;
  }
}

}  // namespace
}  // namespace cloche::test
