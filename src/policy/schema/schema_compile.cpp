#include <algorithm>
#include <map>

#include "base/json/json_writer.hpp"
#include "base/lists.hpp"
#include "base/text/decimal.hpp"
#include "policy/schema/json_schema.hpp"
#include "policy/schema/schema_program.hpp"

namespace cloche {
namespace {

constexpr std::pair<std::string_view, Type> type_names[] = {
    {"null", Type::null},   {"boolean", Type::boolean}, {"number", Type::number},   {"string", Type::string},
    {"array", Type::array}, {"object", Type::object},   {"integer", Type::integer},
};

class Compiler {
 public:
  explicit Compiler(const std::string& source) : source_(source) {}

  Result<SchemaProgram> compile(const JsonValue& root) {
    TRY(add(root));
    for (const auto& [node, value] : references_) program_.nodes[node].reference = TRY(resolve(root, *value));
    return std::move(program_);
  }

 private:
  using Read = Result<void> (Compiler::*)(SchemaNode& node, const JsonValue& value);
  struct Keyword {
    std::string_view name;
    Read read;
  };
  static const Keyword* find_keyword(std::string_view name);

  Error fail(int line, const std::string& what) const { return json_error(source_, line, what); }

  Result<SchemaNumber> add(const JsonValue& schema) {
    const auto number = static_cast<SchemaNumber>(program_.nodes.size());
    program_.nodes.emplace_back();
    places_[&schema] = number;
    SchemaNode node;
    if (schema.is_boolean()) {
      node.never = !schema.truth;
    } else if (!schema.is_object()) {
      return fail(schema.line, "a schema must be an object, true or false");
    }
    for (const auto& member : schema.members) {
      const Keyword* keyword = find_keyword(member.name);
      if (keyword == nullptr)
        return fail(member.line, "the schema keyword " + json_quote(member.name) + " is not supported");
      if (member.name == "$ref") references_.emplace_back(number, &member.value);
      if (member.name == "$id" && number != 0)
        return fail(member.line, "$id is supported at the root of a schema only");
      if (keyword->read != nullptr) TRY((this->*keyword->read)(node, member.value));
    }
    // Not held by reference meanwhile: adding parts moves the nodes.
    program_.nodes[number] = std::move(node);
    return number;
  }

  Result<std::vector<SchemaNumber>> add_list(const JsonValue& value) {
    if (!value.is_array() || value.items.empty()) return fail(value.line, "expected a list of schemas");
    std::vector<SchemaNumber> numbers;
    for (const auto& item : value.items) numbers.push_back(TRY(add(item)));
    return numbers;
  }

  // A pointer into the same schema. Only a place that is a schema counts: elsewhere stands data, which
  // was not checked.
  Result<SchemaNumber> resolve(const JsonValue& root, const JsonValue& reference) const {
    const auto wrong = [&] {
      return fail(reference.line, "$ref must point to a schema in this file, as in \"#/$defs/name\"");
    };
    if (!reference.is_string() || !reference.text.starts_with('#')) return wrong();
    std::string_view rest = std::string_view(reference.text).substr(1);
    const JsonValue* place = &root;
    while (place != nullptr && !rest.empty()) {
      if (rest.front() != '/') return wrong();
      rest.remove_prefix(1);
      const size_t length = std::min(rest.find('/'), rest.size());
      place = step(*place, rest.substr(0, length));
      rest.remove_prefix(length);
    }
    const auto found = places_.find(place);
    if (found == places_.end()) return wrong();
    return found->second;
  }

  static const JsonValue* step(const JsonValue& value, std::string_view token) {
    if (value.is_array()) {
      size_t index = 0;
      if (token.empty() || token.size() > 6 || (token.size() > 1 && token[0] == '0')) return nullptr;
      for (char c : token) {
        if (c < '0' || c > '9') return nullptr;
        index = index * 10 + static_cast<size_t>(c - '0');
      }
      return index < value.items.size() ? &value.items[index] : nullptr;
    }
    std::string name;
    for (size_t i = 0; i < token.size(); ++i) {
      if (token[i] == '%') return nullptr;  // a URI escape: no schema needs it, so none can hide behind it
      if (token[i] != '~') {
        name += token[i];
        continue;
      }
      if (++i == token.size() || (token[i] != '0' && token[i] != '1')) return nullptr;
      name += token[i] == '0' ? '~' : '/';
    }
    return value.find(name);
  }

  Result<uint64_t> read_count(const JsonValue& value) const {
    if (!value.is_number() || !value.whole || value.integer < 0)
      return fail(value.line, "expected a whole number that is not negative");
    return static_cast<uint64_t>(value.integer);
  }

  Result<std::vector<std::string>> read_names(const JsonValue& value) const {
    std::vector<std::string> names;
    if (!value.is_array()) return fail(value.line, "expected a list of names");
    for (const auto& item : value.items) {
      if (!item.is_string()) return fail(item.line, "expected a name");
      if (contains(names, item.text)) return fail(item.line, json_quote(item.text) + " is here twice");
      names.push_back(item.text);
    }
    return names;
  }

  Result<std::shared_ptr<const RE2>> read_pattern(const std::string& text, int line) const {
    auto compiled = compile_pattern(text, Dot::stops_at_newline);
    if (!compiled.ok()) return fail(line, compiled.error().what.text());
    return compiled;
  }

  Result<void> read_type(SchemaNode& node, const JsonValue& value) {
    if (!value.is_array()) return add_type(node, value);
    if (value.items.empty()) return fail(value.line, "type is an empty list");
    for (const auto& item : value.items) TRY(add_type(node, item));
    return {};
  }

  Result<void> add_type(SchemaNode& node, const JsonValue& value) const {
    for (const auto& [name, type] : type_names) {
      if (!value.is_string() || value.text != name) continue;
      if ((node.types & static_cast<unsigned>(type)) != 0) return fail(value.line, "a type is here twice");
      node.types |= static_cast<unsigned>(type);
      return {};
    }
    return fail(value.line, "type must be null, boolean, number, integer, string, array or object");
  }

  // enum and const together: what both have.
  static void narrow_values(SchemaNode& node, std::vector<std::string> values) {
    if (node.values)
      std::erase_if(values, [&](const std::string& value) { return !contains(*node.values, value); });
    node.values = std::move(values);
  }

  Result<void> read_enum(SchemaNode& node, const JsonValue& value) {
    if (!value.is_array() || value.items.empty())
      return fail(value.line, "enum must be a list that is not empty");
    std::vector<std::string> values;
    for (const auto& item : value.items) values.push_back(canonical_json(item));
    narrow_values(node, std::move(values));
    return {};
  }

  Result<void> read_const(SchemaNode& node, const JsonValue& value) {
    narrow_values(node, {canonical_json(value)});
    return {};
  }

  template <NumberBound::Kind kind>
  Result<void> read_bound(SchemaNode& node, const JsonValue& value) {
    if (!value.is_number()) return fail(value.line, "expected a number");
    node.bounds.push_back({kind, value});
    return {};
  }

  Result<void> read_multiple(SchemaNode& node, const JsonValue& value) {
    if (!value.is_number() || value.number <= 0)
      return fail(value.line, "multipleOf must be a number above 0");
    if (decimal_of(value.text).digits.size() > max_divisor_digits)
      return fail(value.line, "multipleOf has more than " + std::to_string(max_divisor_digits) + " digits");
    node.multiple = value;
    return {};
  }

  template <CountBounds SchemaNode::*bounds>
  Result<void> read_least(SchemaNode& node, const JsonValue& value) {
    (node.*bounds).least = TRY(read_count(value));
    return {};
  }

  template <CountBounds SchemaNode::*bounds>
  Result<void> read_most(SchemaNode& node, const JsonValue& value) {
    (node.*bounds).most = TRY(read_count(value));
    return {};
  }

  template <std::optional<uint64_t> SchemaNode::*count>
  Result<void> read_contained(SchemaNode& node, const JsonValue& value) {
    node.*count = TRY(read_count(value));
    return {};
  }

  Result<void> read_text_pattern(SchemaNode& node, const JsonValue& value) {
    if (!value.is_string()) return fail(value.line, "pattern must be a string");
    node.pattern = TRY(read_pattern(value.text, value.line));
    node.pattern_text = value.text;
    return {};
  }

  Result<void> read_unique(SchemaNode& node, const JsonValue& value) {
    if (!value.is_boolean()) return fail(value.line, "uniqueItems must be true or false");
    node.unique = value.truth;
    return {};
  }

  Result<void> read_required(SchemaNode& node, const JsonValue& value) {
    node.required = TRY(read_names(value));
    return {};
  }

  Result<void> read_dependent(SchemaNode& node, const JsonValue& value) {
    if (!value.is_object()) return fail(value.line, "dependentRequired must be an object");
    for (const auto& member : value.members) {
      auto names = TRY(read_names(member.value));
      node.dependent.emplace_back(member.name, std::move(names));
    }
    return {};
  }

  Result<void> read_properties(SchemaNode& node, const JsonValue& value) {
    if (!value.is_object()) return fail(value.line, "properties must be an object");
    for (const auto& member : value.members) {
      const SchemaNumber number = TRY(add(member.value));
      node.properties.emplace_back(member.name, number);
    }
    std::ranges::sort(node.properties);
    return {};
  }

  Result<void> read_pattern_properties(SchemaNode& node, const JsonValue& value) {
    if (!value.is_object()) return fail(value.line, "patternProperties must be an object");
    for (const auto& member : value.members) {
      auto pattern = TRY(read_pattern(member.name, member.line));
      const SchemaNumber number = TRY(add(member.value));
      node.pattern_properties.emplace_back(std::move(pattern), number);
    }
    return {};
  }

  Result<void> read_definitions(SchemaNode&, const JsonValue& value) {
    if (!value.is_object()) return fail(value.line, "$defs must be an object");
    for (const auto& member : value.members) TRY(add(member.value));
    return {};
  }

  template <std::optional<SchemaNumber> SchemaNode::*part>
  Result<void> read_part(SchemaNode& node, const JsonValue& value) {
    node.*part = TRY(add(value));
    return {};
  }

  template <std::vector<SchemaNumber> SchemaNode::*parts>
  Result<void> read_parts(SchemaNode& node, const JsonValue& value) {
    node.*parts = TRY(add_list(value));
    return {};
  }

  const std::string& source_;
  SchemaProgram program_;
  std::map<const JsonValue*, SchemaNumber> places_;
  std::vector<std::pair<SchemaNumber, const JsonValue*>> references_;
};

const Compiler::Keyword* Compiler::find_keyword(std::string_view name) {
  static constexpr Keyword keywords[] = {
      {"type", &Compiler::read_type},
      {"enum", &Compiler::read_enum},
      {"const", &Compiler::read_const},
      {"minimum", &Compiler::read_bound<NumberBound::Kind::minimum>},
      {"maximum", &Compiler::read_bound<NumberBound::Kind::maximum>},
      {"exclusiveMinimum", &Compiler::read_bound<NumberBound::Kind::above>},
      {"exclusiveMaximum", &Compiler::read_bound<NumberBound::Kind::below>},
      {"multipleOf", &Compiler::read_multiple},
      {"minLength", &Compiler::read_least<&SchemaNode::length>},
      {"maxLength", &Compiler::read_most<&SchemaNode::length>},
      {"pattern", &Compiler::read_text_pattern},
      {"minItems", &Compiler::read_least<&SchemaNode::item_count>},
      {"maxItems", &Compiler::read_most<&SchemaNode::item_count>},
      {"uniqueItems", &Compiler::read_unique},
      {"prefixItems", &Compiler::read_parts<&SchemaNode::prefix>},
      {"items", &Compiler::read_part<&SchemaNode::items>},
      {"contains", &Compiler::read_part<&SchemaNode::contains>},
      {"minContains", &Compiler::read_contained<&SchemaNode::least_contained>},
      {"maxContains", &Compiler::read_contained<&SchemaNode::most_contained>},
      {"minProperties", &Compiler::read_least<&SchemaNode::member_count>},
      {"maxProperties", &Compiler::read_most<&SchemaNode::member_count>},
      {"required", &Compiler::read_required},
      {"dependentRequired", &Compiler::read_dependent},
      {"properties", &Compiler::read_properties},
      {"patternProperties", &Compiler::read_pattern_properties},
      {"additionalProperties", &Compiler::read_part<&SchemaNode::additional>},
      {"propertyNames", &Compiler::read_part<&SchemaNode::names>},
      {"allOf", &Compiler::read_parts<&SchemaNode::all_of>},
      {"anyOf", &Compiler::read_parts<&SchemaNode::any_of>},
      {"oneOf", &Compiler::read_parts<&SchemaNode::one_of>},
      {"not", &Compiler::read_part<&SchemaNode::negated>},
      {"if", &Compiler::read_part<&SchemaNode::condition>},
      {"then", &Compiler::read_part<&SchemaNode::consequence>},
      {"else", &Compiler::read_part<&SchemaNode::alternative>},
      {"$defs", &Compiler::read_definitions},
      {"definitions", &Compiler::read_definitions},  // what older schemas call $defs
      {"$ref", nullptr},                             // when every place is known
      // These say nothing about validity.
      {"$schema", nullptr},
      {"$id", nullptr},
      {"$comment", nullptr},
      {"title", nullptr},
      {"description", nullptr},
      {"default", nullptr},
      {"examples", nullptr},
      {"format", nullptr},
  };
  return find_by(keywords, &Keyword::name, name);
}

}  // namespace

Result<JsonSchema> JsonSchema::compile(const JsonValue& schema, const std::string& source) {
  auto program = TRY(Compiler(source).compile(schema));
  return JsonSchema(std::make_shared<const SchemaProgram>(std::move(program)));
}

}  // namespace cloche
