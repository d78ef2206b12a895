// Reads JSON that people and models write: every value knows its line, so that a refusal can say file:line.
// Strict where a lenient reader would hide something: a key given twice, a trailing comma, bytes that are not
// UTF-8, half a surrogate pair and numbers that do not fit are errors. Comments, // and /* */, are for
// configuration.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cloche {

struct JsonMember;

struct JsonValue {
  enum class Kind { null, boolean, number, string, array, object };

  Kind kind = Kind::null;
  bool truth = false;                 // of a boolean
  bool whole = false;                 // of a number: it is `integer` exactly, as 1, 1.0 and 1e2 are
  int line = 0;                       // where it begins; the first line is 1
  int64_t integer = 0;                // of a whole number
  double number = 0;                  // of a number, as near as a double gets
  std::string text = {};              // of a string its characters; of a number how it was written
  std::vector<JsonValue> items = {};  // of an array
  std::vector<JsonMember> members;    // of an object, in the order written, no name twice

  bool is(Kind other) const { return kind == other; }
  bool is_null() const { return kind == Kind::null; }
  bool is_boolean() const { return kind == Kind::boolean; }
  bool is_number() const { return kind == Kind::number; }
  bool is_string() const { return kind == Kind::string; }
  bool is_array() const { return kind == Kind::array; }
  bool is_object() const { return kind == Kind::object; }
  // The member of that name, or nullptr: also of what is no object.
  const JsonValue* find(std::string_view name) const;
};

struct JsonMember {
  std::string name;
  int line = 0;  // of the name
  JsonValue value;
};

// "string", "array", ...
std::string_view name_of(JsonValue::Kind kind);

enum class JsonComments { refused, allowed };

struct JsonLimits {
  size_t bytes = 1 << 20;
  size_t values = 200'000;
  int depth = 64;
  JsonComments comments = JsonComments::allowed;
};

// What a tool call's arguments may be: no comments.
inline constexpr JsonLimits call_limits{.comments = JsonComments::refused};

// The whole text is one value. `source` is the file's name for messages; empty: "line 3: ...".
Result<JsonValue> read_json(std::string_view text, const std::string& source, const JsonLimits& limits = {});

// "file:line: what", as a refusal.
Error json_error(const std::string& source, int line, const std::string& what);
// "file:line"
std::string file_line(const std::string& source, int line);

// Compact JSON with every member in the order it has; numbers as they were written.
std::string to_json(const JsonValue& value);
// Equal for exactly those values that are the same to JSON: members sorted, 1 and 1.0 alike.
std::string canonical_json(const JsonValue& value);

// Refuses with file:line the first key that is not known: a misspelt key would otherwise be a rule that is
// not there.
Result<void> refuse_unknown_keys(const JsonValue& object, std::span<const std::string_view> known,
                                 const std::string& source);
inline Result<void> refuse_unknown_keys(const JsonValue& object,
                                        std::initializer_list<std::string_view> known,
                                        const std::string& source) {
  return refuse_unknown_keys(object, std::span(known.begin(), known.size()), source);
}

// A text that is there and is not empty.
Result<std::string> required_text(const JsonValue& object, std::string_view key, const std::string& source);

}  // namespace cloche
