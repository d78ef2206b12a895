// What a schema is compiled to: nodes that name each other by number, so that a schema may refer to itself.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json/json_text.hpp"
#include "policy/rules/pattern.hpp"

namespace cloche {

using SchemaNumber = uint32_t;  // of a node

enum class Type : unsigned {
  null = 1,
  boolean = 2,
  number = 4,
  string = 8,
  array = 16,
  object = 32,
  integer = 64,  // a number without a fraction
};

struct NumberBound {
  enum class Kind { minimum, maximum, above, below };
  Kind kind;
  JsonValue value;
};

struct CountBounds {
  uint64_t least = 0;
  std::optional<uint64_t> most = {};
};

struct SchemaNode {
  bool never = false;                                   // the schema `false`
  unsigned types = 0;                                   // of Type; none: any
  std::optional<std::vector<std::string>> values = {};  // enum and const, canonical
  std::vector<NumberBound> bounds = {};
  std::optional<JsonValue> multiple = {};
  CountBounds length = {};  // of a string, in code points
  std::shared_ptr<const RE2> pattern = {};
  std::string pattern_text = {};

  CountBounds item_count = {};
  bool unique = false;
  std::vector<SchemaNumber> prefix = {};
  std::optional<SchemaNumber> items = {};
  std::optional<SchemaNumber> contains = {};
  std::optional<uint64_t> least_contained = {};
  std::optional<uint64_t> most_contained = {};

  CountBounds member_count = {};
  std::vector<std::string> required = {};
  std::vector<std::pair<std::string, std::vector<std::string>>> dependent = {};
  std::vector<std::pair<std::string, SchemaNumber>> properties = {};  // sorted
  std::vector<std::pair<std::shared_ptr<const RE2>, SchemaNumber>> pattern_properties = {};
  std::optional<SchemaNumber> additional = {};
  std::optional<SchemaNumber> names = {};

  std::vector<SchemaNumber> all_of = {};
  std::vector<SchemaNumber> any_of = {};
  std::vector<SchemaNumber> one_of = {};
  std::optional<SchemaNumber> negated = {};
  std::optional<SchemaNumber> condition = {};
  std::optional<SchemaNumber> consequence = {};
  std::optional<SchemaNumber> alternative = {};
  std::optional<SchemaNumber> reference = {};
};

struct SchemaProgram {
  std::vector<SchemaNode> nodes = {};  // the first is the root
};

}  // namespace cloche
