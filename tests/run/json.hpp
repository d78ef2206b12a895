// A strict little JSON reader, the tests' own: what Cloche prints is judged by eyes that share no code with
// it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cloche::test {

struct Json {
  enum class Kind { null, boolean, number, string, array, object };
  Kind kind = Kind::null;
  bool boolean = false;
  double number = 0;
  std::string string = {};
  std::vector<Json> array = {};
  std::map<std::string, Json> object = {};

  bool is(Kind wanted) const { return kind == wanted; }
  bool has(const std::string& key) const { return object.count(key) != 0; }
  // The member, or null.
  const Json& operator[](const std::string& key) const;
};

// One value and nothing else but white space around it. Nothing for invalid UTF-8, a control character in a
// string, a key given twice, or nesting deeper than 64.
std::optional<Json> parse_json(std::string_view text);

}  // namespace cloche::test
