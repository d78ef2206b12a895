// The one file with exceptions in it: the parser's own, and Stop, which takes our first objection out of the
// parser's callbacks. Nothing is built as YAML::Node, which would follow aliases and keep the last of two
// equal keys.
#include "base/json/yaml_text.hpp"
#include "base/lists.hpp"
#include "base/text/ascii.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "base/json/json_writer.hpp"

namespace cloche {
namespace {

using Kind = JsonValue::Kind;

struct Stop {
  int line;
  std::string what;
};

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return contains(words, text);
}

using ascii::is_digit;

// Takes digits off the front.
std::string_view take_digits(std::string_view& text) {
  const auto end = std::ranges::find_if_not(text, is_digit);
  const std::string_view digits = text.substr(0, static_cast<size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  return digits;
}

std::string without_leading_zeros(std::string_view digits) {
  const size_t first = std::min(digits.find_first_not_of('0'), digits.size());
  return first == digits.size() ? "0" : std::string(digits.substr(first));
}

// 0o17 and 0x1f in decimal; nothing when it is neither, or does not fit.
std::optional<std::string> other_base_as_decimal(std::string_view text) {
  const int base = text.starts_with("0o") ? 8 : (text.starts_with("0x") ? 16 : 0);
  if (base == 0 || text.size() < 3) return {};
  int64_t number = 0;
  const char* end = text.data() + text.size();
  if (text[2] == '-') return {};  // from_chars would take it
  const auto [at, problem] = std::from_chars(text.data() + 2, end, number, base);
  if (problem != std::errc{} || at != end) return {};
  return std::to_string(number);
}

// A decimal number of the core schema as JSON spells it: +012. is 12.0. Nothing when it is no number.
std::optional<std::string> decimal_as_json(std::string_view text) {
  std::string json;
  if (text.starts_with('-')) json = "-";
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const std::string_view whole = take_digits(text);
  json += without_leading_zeros(whole);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    const std::string_view fraction = take_digits(text);
    if (whole.empty() && fraction.empty()) return {};
    json += "." + (fraction.empty() ? "0" : std::string(fraction));
  } else if (whole.empty()) {
    return {};
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    json += "e";
    if (text.starts_with('-') || text.starts_with('+')) {
      json += text.front();
      text.remove_prefix(1);
    }
    const std::string_view exponent = take_digits(text);
    if (exponent.empty()) return {};
    json += exponent;
  }
  if (!text.empty()) return {};
  return json;
}

bool is_not_finite(std::string_view text) {
  if (is_one_of(text, {".nan", ".NaN", ".NAN"})) return true;
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return is_one_of(text, {".inf", ".Inf", ".INF"});
}

JsonValue string_value(std::string text, int line) {
  JsonValue value{.kind = Kind::string, .line = line, .members = {}};
  value.text = std::move(text);
  return value;
}

// By the core schema.
JsonValue plain_scalar(const std::string& text, int line) {
  JsonValue value{.line = line, .members = {}};
  if (is_one_of(text, {"", "~", "null", "Null", "NULL"})) return value;
  const bool yes = is_one_of(text, {"true", "True", "TRUE"});
  if (yes || is_one_of(text, {"false", "False", "FALSE"})) {
    value.kind = Kind::boolean;
    value.truth = yes;
    return value;
  }
  if (is_not_finite(text)) throw Stop{line, text + " is no number that can be used"};
  const auto other = other_base_as_decimal(text);
  const auto json = other ? other : decimal_as_json(text);
  if (!json) return string_value(text, line);
  auto number = read_json(*json, "");
  if (!number.ok()) throw Stop{line, "the number " + text.substr(0, 40) + " does not fit"};
  value = std::move(number).value();
  value.line = line;
  return value;
}

class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(const std::string& text, const YamlLimits& limits) : text_(text), limits_(limits) {
    root_.line = limits.first_line;
  }

  JsonValue take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) throw Stop{line_of(mark), "there is a second document"};
  }
  void OnDocumentEnd() override {}
  void OnAnchor(const YAML::Mark& mark, const std::string& name) override {
    throw Stop{line_of(mark), "anchors (&" + name.substr(0, 40) + ") are not read here"};
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw Stop{line_of(mark), "aliases (*name) are not read here"};
  }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    add(JsonValue{.line = count(mark), .members = {}});
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& text) override {
    add(scalar(tag, text, count(mark)));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, "tag:yaml.org,2002:seq", Kind::array);
  }
  void OnSequenceEnd() override { shut(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, "tag:yaml.org,2002:map", Kind::object);
  }
  void OnMapEnd() override { shut(); }

  int line_of(const YAML::Mark& mark) const { return std::max(mark.line, 0) + limits_.first_line; }

 private:
  struct Level {
    JsonValue value;
    std::optional<JsonMember> member = {};  // named, its value still to come
    std::set<std::string> names = {};
  };

  int count(const YAML::Mark& mark) {
    if (++values_ > limits_.values)
      throw Stop{line_of(mark), "there are more than " + std::to_string(limits_.values) + " values"};
    // Of a quoted text the parser says the same as of one with the tag `!`; a value with a tag begins there.
    const auto at = static_cast<size_t>(std::max(mark.pos, 0));
    if (limits_.tags == YamlTags::none && at < text_.size() && text_[at] == '!')
      throw Stop{line_of(mark), "tags are not read here"};
    return line_of(mark);
  }

  // "?" is what the parser says of a plain scalar or collection without a tag, "!" of a quoted one.
  JsonValue scalar(const std::string& tag, const std::string& text, int line) const {
    // The parser makes single bytes of \N and \_.
    if (!is_utf8(text)) throw Stop{line, "an escape in this string is not UTF-8"};
    if (tag == "!" || tag == "tag:yaml.org,2002:str") return string_value(text, line);
    if (tag == "?" || tag.empty()) return plain_scalar(text, line);
    JsonValue value = plain_scalar(text, line);
    const bool agrees = (tag == "tag:yaml.org,2002:null" && value.is_null()) ||
                        (tag == "tag:yaml.org,2002:bool" && value.is_boolean()) ||
                        (tag == "tag:yaml.org,2002:int" && value.is_number() && value.whole) ||
                        (tag == "tag:yaml.org,2002:float" && value.is_number());
    if (!agrees) throw Stop{line, "the tag " + json_quote(tag) + " is not known, or does not fit the value"};
    return value;
  }

  void open(const YAML::Mark& mark, const std::string& tag, std::string_view core, Kind kind) {
    const int line = count(mark);
    if (!is_one_of(tag, {"", "?", "!", core}))
      throw Stop{line, "the tag " + json_quote(tag) + " is not known"};
    if (levels_.size() >= static_cast<size_t>(limits_.depth))
      throw Stop{line, "it is nested more than " + std::to_string(limits_.depth) + " deep"};
    if (wants_key()) throw Stop{line, "a key must be a string"};
    levels_.push_back({.value = JsonValue{.kind = kind, .line = line, .members = {}}});
  }

  void shut() {
    JsonValue done = std::move(levels_.back().value);
    levels_.pop_back();
    add(std::move(done));
  }

  bool wants_key() const {
    return !levels_.empty() && levels_.back().value.is_object() && !levels_.back().member;
  }

  void add(JsonValue value) {
    if (levels_.empty()) {
      root_ = std::move(value);
    } else if (wants_key()) {
      begin_member(value);
    } else if (Level& level = levels_.back(); level.value.is_object()) {
      if (value.is_null()) value.line = level.member->line;  // the parser says where it missed a value
      level.member->value = std::move(value);
      level.value.members.push_back(*std::exchange(level.member, std::nullopt));
    } else {
      level.value.items.push_back(std::move(value));
    }
  }

  void begin_member(const JsonValue& key) {
    Level& level = levels_.back();
    if (!key.is_string())
      throw Stop{key.line, "a key must be a string, not " + std::string(name_of(key.kind)) + ": quote it"};
    if (key.text == "<<") throw Stop{key.line, "merge keys (<<) are not read here"};
    if (!level.names.insert(key.text).second)
      throw Stop{key.line, "the key " + json_quote(key.text) + " is given twice"};
    level.member = JsonMember{key.text, key.line, {}};
  }

  const std::string& text_;
  const YamlLimits& limits_;
  JsonValue root_ = {};
  std::vector<Level> levels_ = {};
  size_t values_ = 0;
  int documents_ = 0;
};

// The parser takes byte 4 for the end of its input, guesses UTF-16 from NULs, and treats other control
// characters as text.
std::optional<Stop> objection_to_bytes(std::string_view text, const YamlLimits& limits) {
  if (text.size() > limits.bytes)
    return Stop{limits.first_line, "it is longer than " + std::to_string(limits.bytes) + " bytes"};
  if (!is_utf8(text)) return Stop{limits.first_line, "it is not UTF-8"};
  int line = limits.first_line;
  for (char c : text) {
    if (c == '\n') ++line;
    const bool control =
        (static_cast<unsigned char>(c) < 0x20 && !is_one_of({&c, 1}, {"\t", "\n", "\r"})) || c == 0x7f;
    if (control) return Stop{line, "there is a control character"};
  }
  return {};
}

// The parser would take a quotation that the text leaves open for closed; at the end of a document it
// objects.
std::string with_end(std::string_view text) {
  return std::string(text) + (text.empty() || text.ends_with('\n') ? "...\n" : "\n...\n");
}

}  // namespace

Result<JsonValue> read_yaml(std::string_view text, const std::string& source, const YamlLimits& limits) {
  if (const auto objection = objection_to_bytes(text, limits))
    return json_error(source, objection->line, objection->what);
  const std::string whole = with_end(text);
  TreeBuilder tree(whole, limits);
  try {
    std::istringstream in(whole);
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(tree)) {
    }
    return tree.take();
  } catch (const Stop& stop) {
    return json_error(source, stop.line, stop.what);
  } catch (const YAML::Exception& problem) {
    return json_error(source, tree.line_of(problem.mark), "not YAML: " + problem.msg);
  } catch (...) {
    return json_error(source, limits.first_line, "it could not be read as YAML");
  }
}

}  // namespace cloche
