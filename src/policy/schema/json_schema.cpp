#include "policy/schema/json_schema.hpp"

#include <algorithm>
#include <set>

#include "base/json/json_writer.hpp"
#include "base/lists.hpp"
#include "base/text/decimal.hpp"
#include "base/text/pieces.hpp"
#include "policy/schema/schema_program.hpp"

namespace cloche {
namespace {

constexpr int deepest = 512;               // schemas within schemas, on the way to one value
constexpr uint64_t most_work = 4'000'000;  // about a second

unsigned type_of(const JsonValue& value) {
  switch (value.kind) {
    case JsonValue::Kind::null: return static_cast<unsigned>(Type::null);
    case JsonValue::Kind::boolean: return static_cast<unsigned>(Type::boolean);
    case JsonValue::Kind::string: return static_cast<unsigned>(Type::string);
    case JsonValue::Kind::array: return static_cast<unsigned>(Type::array);
    case JsonValue::Kind::object: return static_cast<unsigned>(Type::object);
    case JsonValue::Kind::number: break;
  }
  const bool whole = value.whole || decimal_of(value.text).is_whole();
  return static_cast<unsigned>(Type::number) | (whole ? static_cast<unsigned>(Type::integer) : 0);
}

std::string names_of(unsigned types) {
  constexpr std::string_view names[] = {"null", "boolean", "number", "string", "array", "object", "integer"};
  std::string text;
  for (size_t i = 0; i < std::size(names); ++i)
    if ((types >> i & 1U) != 0) text += (text.empty() ? "" : " or ") + std::string(names[i]);
  return text;
}

// Less than, equal or greater than zero; exact, also where a double cannot hold the number.
int compare(const JsonValue& a, const JsonValue& b) {
  if (a.whole && b.whole) return a.integer < b.integer ? -1 : a.integer > b.integer ? 1 : 0;
  return compare(decimal_of(a.text), decimal_of(b.text));
}

uint64_t code_points(std::string_view text) {
  return static_cast<uint64_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

std::string escaped(std::string_view name) {
  std::string text = "/";
  for (char c : name) text += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return text;
}

// One check of one value. The first fault is kept; parts that are only tried (anyOf, not, if) keep none.
class Checker {
 public:
  explicit Checker(const SchemaProgram& program) : program_(program) {}

  std::optional<SchemaFault> run(const JsonValue& value) {
    const bool good = check(0, value);
    // Whatever `not` made of an answer that was never finished, it is no answer.
    if (exhausted_) return SchemaFault{"", "is too deep or too large to be checked"};
    if (good) return std::nullopt;
    return fault_ ? *std::move(fault_) : SchemaFault{"", "does not fit the schema"};
  }

 private:
  bool check(SchemaNumber number, const JsonValue& value) {
    if (exhausted_ || depth_ >= deepest || !spend(1)) return exhaust();
    ++depth_;
    const SchemaNode& node = program_.nodes[number];
    const bool good = check_here(node, value) && check_content(node, value) && check_parts(node, value);
    --depth_;
    return good;
  }

  bool spend(uint64_t work) {
    work_ += work;
    return work_ <= most_work;
  }

  bool exhaust() {
    exhausted_ = true;
    return false;
  }

  bool fail(const std::string& expected) {
    if (trying_ == 0 && !fault_) fault_ = SchemaFault{pointer_, expected};
    return false;
  }

  bool fits(SchemaNumber number, const JsonValue& value) {
    ++trying_;
    const bool good = check(number, value);
    --trying_;
    return good;
  }

  bool check_at(const std::string& step, SchemaNumber number, const JsonValue& value) {
    const size_t length = pointer_.size();
    pointer_ += step;
    const bool good = check(number, value);
    pointer_.resize(length);
    return good;
  }

  bool check_here(const SchemaNode& node, const JsonValue& value) {
    if (node.never) return fail("must not be there");
    if (node.types != 0 && (node.types & type_of(value)) == 0) return fail("must be " + names_of(node.types));
    if (!node.values) return true;
    const std::string text = canonical_json(value);
    if (!spend(text.size() / 32 + node.values->size() / 8)) return exhaust();
    if (contains(*node.values, text)) return true;
    const std::string list = comma_separated(*node.values);
    return fail(list.size() > 300 ? "must be one of the listed values" : "must be one of " + list);
  }

  bool check_content(const SchemaNode& node, const JsonValue& value) {
    switch (value.kind) {
      case JsonValue::Kind::number: return check_number(node, value);
      case JsonValue::Kind::string: return check_string(node, value);
      case JsonValue::Kind::array: return check_array(node, value);
      case JsonValue::Kind::object: return check_object(node, value);
      case JsonValue::Kind::null:
      case JsonValue::Kind::boolean: break;
    }
    return true;
  }

  bool check_number(const SchemaNode& node, const JsonValue& value) {
    if (!spend(value.text.size() / 32 * (1 + node.bounds.size()))) return exhaust();
    for (const auto& [kind, bound] : node.bounds) {
      const int order = compare(value, bound);
      switch (kind) {
        case NumberBound::Kind::minimum:
          if (order < 0) return fail("must be at least " + bound.text);
          break;
        case NumberBound::Kind::maximum:
          if (order > 0) return fail("must be at most " + bound.text);
          break;
        case NumberBound::Kind::above:
          if (order <= 0) return fail("must be above " + bound.text);
          break;
        case NumberBound::Kind::below:
          if (order >= 0) return fail("must be below " + bound.text);
          break;
      }
    }
    if (node.multiple && !is_multiple(decimal_of(value.text), decimal_of(node.multiple->text)))
      return fail("must be a multiple of " + node.multiple->text);
    return true;
  }

  bool check_count(const CountBounds& bounds, uint64_t count, const std::string& unit) {
    if (count < bounds.least) return fail("must have at least " + std::to_string(bounds.least) + unit);
    if (bounds.most && count > *bounds.most)
      return fail("must have at most " + std::to_string(*bounds.most) + unit);
    return true;
  }

  bool check_string(const SchemaNode& node, const JsonValue& value) {
    if (!spend(value.text.size() / 64)) return exhaust();
    if (!check_count(node.length, code_points(value.text), " characters")) return false;
    if (node.pattern && !found_in(*node.pattern, value.text)) return fail("must match " + node.pattern_text);
    return true;
  }

  bool check_array(const SchemaNode& node, const JsonValue& value) {
    if (!check_count(node.item_count, value.items.size(), " items")) return false;
    if (node.unique && !check_unique(value)) return false;
    for (size_t i = 0; i < value.items.size(); ++i) {
      const bool prefixed = i < node.prefix.size();
      if (!prefixed && !node.items) break;
      const SchemaNumber number = prefixed ? node.prefix[i] : *node.items;
      if (!check_at("/" + std::to_string(i), number, value.items[i])) return false;
    }
    return !node.contains || check_contains(node, value);
  }

  bool check_unique(const JsonValue& value) {
    std::set<std::string> seen;
    for (const auto& item : value.items) {
      std::string text = canonical_json(item);
      if (!spend(1 + text.size() / 32)) return exhaust();
      if (!seen.insert(std::move(text)).second) return fail("must not have equal items");
    }
    return true;
  }

  bool check_contains(const SchemaNode& node, const JsonValue& value) {
    const uint64_t least = node.least_contained.value_or(1);
    const auto count = static_cast<uint64_t>(std::ranges::count_if(
        value.items, [&](const JsonValue& item) { return fits(*node.contains, item); }));
    if (exhausted_) return false;
    if (count < least) return fail("must contain at least " + std::to_string(least) + " items that fit");
    if (node.most_contained && count > *node.most_contained)
      return fail("must contain at most " + std::to_string(*node.most_contained) + " items that fit");
    return true;
  }

  bool check_object(const SchemaNode& node, const JsonValue& value) {
    if (!check_count(node.member_count, value.members.size(), " members")) return false;
    if (!check_required(node.required, value)) return false;
    for (const auto& [name, needs] : node.dependent)
      if (value.find(name) != nullptr && !check_required(needs, value)) return false;
    return std::ranges::all_of(value.members,
                               [&](const JsonMember& member) { return check_member(node, member); });
  }

  bool check_required(const std::vector<std::string>& names, const JsonValue& value) {
    for (const auto& name : names) {
      if (!spend(value.members.size() / 16)) return exhaust();
      if (value.find(name) == nullptr) return fail("must have " + json_quote(name));
    }
    return true;
  }

  bool check_member(const SchemaNode& node, const JsonMember& member) {
    if (node.names) {
      JsonValue name{.kind = JsonValue::Kind::string, .line = member.line};
      name.text = member.name;
      if (!fits(*node.names, name)) return fail("must not have a member called " + json_quote(member.name));
    }
    const std::string step = escaped(member.name);
    bool known = false;
    const auto property = std::ranges::lower_bound(
        node.properties, member.name, {}, [](const auto& pair) -> auto& { return pair.first; });
    if (property != node.properties.end() && property->first == member.name) {
      known = true;
      if (!check_at(step, property->second, member.value)) return false;
    }
    for (const auto& [pattern, number] : node.pattern_properties) {
      if (!spend(1 + member.name.size() / 64)) return exhaust();
      if (!found_in(*pattern, member.name)) continue;
      known = true;
      if (!check_at(step, number, member.value)) return false;
    }
    return known || !node.additional || check_at(step, *node.additional, member.value);
  }

  bool check_parts(const SchemaNode& node, const JsonValue& value) {
    if (node.reference && !check(*node.reference, value)) return false;
    for (SchemaNumber part : node.all_of)
      if (!check(part, value)) return false;
    const auto fitting = [&](const std::vector<SchemaNumber>& parts) {
      return std::ranges::count_if(parts, [&](SchemaNumber part) { return fits(part, value); });
    };
    if (!node.any_of.empty() && fitting(node.any_of) == 0)
      return fail("must fit one of the schemas of anyOf");
    if (!node.one_of.empty() && fitting(node.one_of) != 1)
      return fail("must fit exactly one of the schemas of oneOf");
    if (node.negated && fits(*node.negated, value)) return fail("must not fit the schema of not");
    if (!node.condition) return !exhausted_;
    const auto& branch = fits(*node.condition, value) ? node.consequence : node.alternative;
    return !exhausted_ && (!branch || check(*branch, value));
  }

  const SchemaProgram& program_;
  std::string pointer_;
  std::optional<SchemaFault> fault_;
  uint64_t work_ = 0;
  int depth_ = 0;
  int trying_ = 0;
  bool exhausted_ = false;
};

}  // namespace

std::optional<SchemaFault> JsonSchema::check(const JsonValue& value) const {
  return Checker(*program_).run(value);
}

}  // namespace cloche
