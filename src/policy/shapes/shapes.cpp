#include "policy/shapes/shapes.hpp"

#include <algorithm>
#include <charconv>
#include <initializer_list>

#include "base/json/json_text.hpp"
#include "base/lists.hpp"
#include "base/sys/path.hpp"
#include "policy/shapes/shape_match.hpp"

namespace cloche {
namespace {

using Kind = ShapePart::Kind;

constexpr size_t max_shapes = 1000;
constexpr size_t max_parts = 64;
constexpr size_t max_choices = 3;                        // each `maybe` doubles the ways through a pattern
constexpr std::string_view file_folder = "/run/cloche";  // memory of the call's own, as for scripts
constexpr size_t max_file_bytes = 64 << 10;
constexpr std::string_view operands_word = "{operands}";

// Reads one file; every complaint says file:line.
class Reader {
 public:
  explicit Reader(std::string source) : source_(std::move(source)) {}

  Result<Shapes> file(const JsonValue& root) {
    TRY(keys(root, {"profile", "shapes"}));
    const std::string name = TRY(text_of(root, "profile"));
    const auto profile = command_profile(name);
    if (!profile || *profile == CommandProfile::any) return wrong(root, "profile is not passive or full");
    const JsonValue* list = root.find("shapes");
    if (list == nullptr || !list->is_array()) return wrong(root, "shapes is not a list");
    if (list->items.size() > max_shapes)
      return wrong(*list, "more than " + std::to_string(max_shapes) + " shapes");
    Shapes shapes;
    for (const auto& item : list->items) {
      Shape read = TRY(shape(item, *profile));
      const bool twice = std::ranges::any_of(shapes, [&](const Shape& other) { return other.id == read.id; });
      if (twice) return wrong(item, "there is a shape " + read.id + " already");
      shapes.push_back(std::move(read));
    }
    return shapes;
  }

 private:
  Error wrong(const JsonValue& where, const std::string& what) const {
    return json_error(source_, where.line, what);
  }

  Result<void> keys(const JsonValue& object, std::initializer_list<std::string_view> known) const {
    if (!object.is_object()) return wrong(object, "an object is expected here");
    return refuse_unknown_keys(object, known, source_);
  }

  Result<std::string> text_of(const JsonValue& object, std::string_view key) const {
    return required_text(object, key, source_);
  }

  Result<std::vector<std::string>> texts(const JsonValue& list) const {
    if (!list.is_array() || list.items.empty()) return wrong(list, "a list of texts is expected here");
    std::vector<std::string> words;
    for (const auto& item : list.items) {
      if (!item.is_string() || item.text.empty()) return wrong(item, "a text is expected here");
      words.push_back(item.text);
    }
    return words;
  }

  Result<Shape> shape(const JsonValue& item, CommandProfile profile) {
    TRY(keys(item, {"id", "usage", "argv", "harden", "accepts", "refuses"}));
    Shape shape;
    shape.id = TRY(text_of(item, "id"));
    shape.usage = TRY(text_of(item, "usage"));
    shape.profile = profile;
    shape.source = source_;
    shape.line = item.line;
    const JsonValue* argv = item.find("argv");
    if (argv == nullptr) return wrong(item, "argv is missing");
    choices_ = 0;
    shape.parts = TRY(parts(*argv, Place::top));
    const ShapePart& program = shape.parts.front();
    const bool plain = program.kind == Kind::word && std::ranges::none_of(program.words, has_slash);
    if (!plain) return wrong(*argv, "the first word is not the name of a program");
    if (const JsonValue* harden = item.find("harden")) shape.hardening = TRY(hardening(*harden, shape.parts));
    shape.accepts = TRY(examples(item, "accepts"));
    shape.refuses = TRY(examples(item, "refuses"));
    return shape;
  }

  static bool has_slash(const std::string& word) { return word.find('/') != std::string::npos; }

  enum class Place { top, inside };

  Result<std::vector<ShapePart>> parts(const JsonValue& list, Place place) {
    if (!list.is_array() || list.items.empty() || list.items.size() > max_parts)
      return wrong(list, "a list of 1 to " + std::to_string(max_parts) + " parts is expected here");
    std::vector<ShapePart> read;
    for (const auto& item : list.items) {
      read.push_back(TRY(part(item)));
      const bool last = place == Place::top && &item == &list.items.back();
      if (read.back().most != read.back().least && !last) return wrong(item, "only the last part may repeat");
    }
    return read;
  }

  Result<ShapePart> part(const JsonValue& item) {
    ShapePart read;
    if (item.is_string() && !item.text.empty()) {
      read.words = {item.text};
      return read;
    }
    if (item.is_array()) {
      read.words = TRY(texts(item));
      return read;
    }
    if (!item.is_object() || item.members.empty())
      return wrong(item, "a part is a text, a list of texts or an object");
    return special_part(item);
  }

  Result<ShapePart> special_part(const JsonValue& item) {
    const std::string& kind = item.members.front().name;
    const JsonValue& value = item.members.front().value;
    if (kind == "file" || kind == "path") {
      TRY(keys(item, {kind, "count", "plain"}));
      ShapePart operand = TRY(operand_part(item, kind == "file" ? Kind::file : Kind::path, value));
      if (const JsonValue* plain = item.find("plain")) {
        if (kind != "file" || !plain->is_boolean())
          return wrong(*plain, "plain is true or false, and only a file has it");
        operand.plain = plain->truth;
      }
      return operand;
    }
    if (kind == "args") {
      TRY(keys(item, {"args", "count", "forbid"}));
      return args_part(item, value);
    }
    if (kind == "name") {
      TRY(keys(item, {"name", "count"}));
      return name_part(item, value);
    }
    TRY(keys(item, {"number", "text", "maybe"}));
    if (item.members.size() != 1) return wrong(item, "a part says one thing");
    if (kind == "maybe") return maybe_part(value);
    if (!value.is_string()) return wrong(value, kind + " is not a text");
    return kind == "number" ? ShapePart{.kind = Kind::number, .prefix = value.text}
                            : ShapePart{.kind = Kind::text};
  }

  Result<ShapePart> operand_part(const JsonValue& item, Kind kind, const JsonValue& value) {
    ShapePart part{.kind = kind};
    if (value.is_array()) {
      part.words = TRY(texts(value));
    } else if (value.is_string() && !value.text.empty()) {
      if (value.text != "*") part.words = {value.text};
    } else {
      return wrong(value, "an ending such as \".py\", a list of endings, or \"*\" is expected here");
    }
    if (kind == Kind::path && !part.words.empty()) return wrong(value, "a path has any ending: \"*\"");
    for (const auto& ending : part.words) {
      if (ending[0] != '.' || ending.size() < 2) return wrong(value, "an ending begins with a dot");
    }
    TRY(count(item, part));
    return part;
  }

  Result<ShapePart> args_part(const JsonValue& item, const JsonValue& value) {
    if (!value.is_string() || value.text != "any") return wrong(value, "args is \"any\"");
    ShapePart part{.kind = Kind::args, .least = 0, .most = max_argv_words};
    TRY(count(item, part));
    if (const JsonValue* forbid = item.find("forbid")) {
      part.forbidden = TRY(texts(*forbid));
      for (const auto& option : part.forbidden) {
        if (option[0] != '-' || option.find_first_not_of('-') == std::string::npos)
          return wrong(*forbid, "\"" + option + "\" is no option");
      }
    }
    return part;
  }

  Result<ShapePart> name_part(const JsonValue& item, const JsonValue& value) {
    using Name = ShapePart::NameClass;
    ShapePart part{.kind = Kind::name};
    constexpr std::pair<std::string_view, Name> classes[] = {{"module", Name::module},
                                                             {"subcommand", Name::subcommand},
                                                             {"package", Name::package},
                                                             {"tool", Name::tool}};
    const auto* row =
        value.is_string() ? find_by(classes, &std::pair<std::string_view, Name>::first, value.text) : nullptr;
    if (row == nullptr) return wrong(value, "name is not module, subcommand, package or tool");
    part.name = row->second;
    TRY(count(item, part));
    return part;
  }

  Result<ShapePart> maybe_part(const JsonValue& value) {
    if (++choices_ > max_choices) return wrong(value, "more than " + std::to_string(max_choices) + " maybes");
    ShapePart part{.kind = Kind::maybe};
    part.inner = TRY(parts(value, Place::inside));
    return part;
  }

  // "1", "2", "1+", "0+", "0-1".
  Result<void> count(const JsonValue& item, ShapePart& part) {
    const JsonValue* value = item.find("count");
    if (value == nullptr) return {};
    const Error bad = wrong(*value, "count is \"N\", \"N+\" or \"N-M\"");
    if (!value->is_string()) return bad;
    const char* at = value->text.data();
    const char* end = at + value->text.size();
    const auto first = std::from_chars(at, end, part.least);
    if (first.ec != std::errc{} || first.ptr == end) {
      part.most = part.least;
      return first.ec == std::errc{} && part.most > 0 ? Result<void>() : bad;
    }
    part.most = max_argv_words;
    if (*first.ptr == '+' && first.ptr + 1 == end) return {};
    const auto second = std::from_chars(first.ptr + 1, end, part.most);
    const bool good = *first.ptr == '-' && second.ec == std::errc{} && second.ptr == end && part.most > 0 &&
                      part.most >= part.least && part.most <= max_argv_words;
    return good ? Result<void>() : bad;
  }

  Result<Hardening> hardening(const JsonValue& item, const std::vector<ShapePart>& pattern) {
    TRY(keys(item, {"argv", "env", "directory", "file"}));
    Hardening hardening;
    if (const JsonValue* argv = item.find("argv")) {
      hardening.argv = TRY(texts(*argv));
      const auto& programs = pattern.front().words;
      if (!contains(programs, hardening.argv.front()))
        return wrong(*argv, "hardening keeps the program that was judged");
      const bool has_operands = std::ranges::any_of(pattern, is_operand);
      if (has_operands != (std::ranges::count(hardening.argv, operands_word) == 1))
        return wrong(*argv, "{operands} stands once where the shape has operands, and not otherwise");
    }
    if (const JsonValue* directory = item.find("directory")) {
      hardening.directory = TRY(text_of(item, "directory"));
      if (!is_plain_absolute(hardening.directory))
        return wrong(*directory, "directory is not a plain absolute path");
      const bool loose = std::ranges::any_of(
          pattern, [](const ShapePart& part) { return part.kind == Kind::args || part.kind == Kind::name; });
      if (loose) return wrong(*directory, "arguments that are no files cannot move to another directory");
    }
    if (const JsonValue* env = item.find("env")) hardening.environment = TRY(environment(*env));
    if (const JsonValue* file = item.find("file")) hardening.file = TRY(own_file(*file));
    return hardening;
  }

  // Directly in the folder: that is what the memory is mounted at, and it hides whatever the host has there.
  Result<Script> own_file(const JsonValue& item) const {
    TRY(keys(item, {"path", "content"}));
    Script file;
    file.code = TRY(text_of(item, "content"));
    file.target = TRY(text_of(item, "path"));
    if (!is_plain_absolute(file.target) || parent_of(file.target) != file_folder)
      return wrong(item, "path is not a plain name in " + std::string(file_folder));
    if (file.code.size() > max_file_bytes)
      return wrong(item, "content is longer than " + std::to_string(max_file_bytes) + " bytes");
    return file;
  }

  static bool is_operand(const ShapePart& part) {
    using Name = ShapePart::NameClass;
    const bool inner = std::ranges::any_of(part.inner, is_operand);
    return inner || part.kind == Kind::file || part.kind == Kind::path || part.kind == Kind::args ||
           (part.kind == Kind::name && (part.name == Name::package || part.name == Name::tool));
  }

  Result<std::vector<Variable>> environment(const JsonValue& env) {
    if (!env.is_object()) return wrong(env, "env is not an object of texts");
    std::vector<Variable> variables;
    for (const auto& member : env.members) {
      const bool good = !member.name.empty() && member.name.find('=') == std::string::npos &&
                        member.value.is_string() &&
                        (member.name + member.value.text).find('\0') == std::string::npos;
      if (!good) return json_error(source_, member.line, "env is not an object of texts");
      variables.push_back({member.name, member.value.text});
    }
    return variables;
  }

  Result<std::vector<ShapeExample>> examples(const JsonValue& item, std::string_view key) {
    const JsonValue* list = item.find(key);
    if (list == nullptr || !list->is_array() || list->items.empty())
      return wrong(item, "a shape has examples: " + std::string(key) + " is missing or empty");
    std::vector<ShapeExample> read;
    for (const auto& one : list->items) read.push_back(TRY(example(one)));
    return read;
  }

  // Text is split as `cmd` is; a list of words is what `argv` is.
  Result<ShapeExample> example(const JsonValue& value) {
    ShapeExample example{.line = value.line};
    if (value.is_array()) {
      for (const auto& word : value.items) {
        if (!word.is_string()) return wrong(word, "a word is a text");
        example.argv.push_back(word.text);
      }
      example.problem = problem_of(example.argv);
      return example;
    }
    if (!value.is_string()) return wrong(value, "an example is a text or a list of words");
    SplitWords split = split_words(value.text);
    example.argv = std::move(split.words);
    example.problem = std::move(split.problem);
    if (!split.operators.empty()) example.problem = "it has an unquoted " + split.operators.front().text;
    return example;
  }

  std::string source_;
  size_t choices_ = 0;
};

std::string failure(const Shape& shape, const ShapeExample& example, const std::string& what) {
  return file_line(shape.source, example.line) + ": " + shape.id + ": " + what +
         (example.argv.empty() ? "" : ": " + quote_words(example.argv));
}

void check_one(const Shape& shape, const Shapes& shapes, ExampleCount& count) {
  for (const auto& example : shape.accepts) {
    ++count.checked;
    if (!example.problem.empty()) {
      count.failures.push_back(failure(shape, example, "this example cannot be read: " + example.problem));
    } else if (!match_shape(shape, example.argv)) {
      count.failures.push_back(failure(shape, example, "should be accepted and is refused"));
    }
  }
  for (const auto& example : shape.refuses) {
    ++count.checked;
    if (!example.problem.empty()) continue;  // refused before any shape is asked
    const auto taken = std::ranges::find_if(
        shapes, [&](const Shape& other) { return match_shape(other, example.argv).has_value(); });
    if (taken != shapes.end())
      count.failures.push_back(failure(shape, example, "should be refused and is accepted by " + taken->id));
  }
}

}  // namespace

Result<Shapes> read_shapes(std::string_view text, const std::string& source) {
  const JsonValue root = TRY(read_json(text, source));
  return Reader(source).file(root);
}

ExampleCount check_examples(const Shapes& shapes) {
  ExampleCount count;
  for (const auto& shape : shapes) check_one(shape, shapes, count);
  return count;
}

Result<Shapes> load_shapes(std::string_view text, const std::string& source) {
  Shapes shapes = TRY(read_shapes(text, source));
  const ExampleCount count = check_examples(shapes);
  if (!count.failures.empty()) return refusal(count.failures.front(), "see cloche test " + source);
  return shapes;
}

}  // namespace cloche
