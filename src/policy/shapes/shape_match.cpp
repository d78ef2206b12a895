#include "policy/shapes/shape_match.hpp"

#include <algorithm>

#include "base/lists.hpp"
#include "base/text/ascii.hpp"

namespace cloche {
namespace {

using ascii::is_digit;
using Kind = ShapePart::Kind;
using Role = ShapeOperand::Role;

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_word(char c) { return ascii::is_letter_or_digit(c) || c == '_'; }

template <typename Test>
bool all(std::string_view text, Test test) {
  return std::ranges::all_of(text, test);
}

bool is_module(std::string_view word) {
  while (true) {
    const std::string_view part = word.substr(0, word.find('.'));
    if (part.empty() || is_digit(part[0]) || !all(part, is_word)) return false;
    if (part.size() == word.size()) return true;
    word.remove_prefix(part.size() + 1);
  }
}

bool is_of_class(ShapePart::NameClass name, std::string_view word) {
  const auto made_of = [&](std::string_view more) {
    return !word.empty() && word[0] != '-' &&
           all(word, [&](char c) { return is_word(c) || more.find(c) != std::string_view::npos; });
  };
  switch (name) {
    case ShapePart::NameClass::module: return is_module(word);
    case ShapePart::NameClass::subcommand:
      return !word.empty() && is_lower(word[0]) &&
             all(word, [](char c) { return is_lower(c) || is_digit(c) || c == ':' || c == '_' || c == '-'; });
    case ShapePart::NameClass::package: return made_of("./~+-");
    case ShapePart::NameClass::tool: return made_of("@./~^+-");
  }
  return false;
}

// A leading - is an option, whatever the shape's author thought; a leading @ is a list of options to
// argparse. Both can be written with ./ in front.
bool is_operand(std::string_view word) { return !word.empty() && word[0] != '-' && word[0] != '@'; }

bool has_ending(std::string_view word, const std::vector<std::string>& endings) {
  const std::string_view name = word.substr(word.rfind('/') + 1);  // npos + 1 is 0
  return endings.empty() || std::ranges::any_of(endings, [&](const std::string& ending) {
           return name.size() > ending.size() && name.ends_with(ending);
         });
}

// A number that no program overflows on.
bool is_number(std::string_view word, std::string_view prefix) {
  if (!word.starts_with(prefix)) return false;
  word.remove_prefix(prefix.size());
  return !word.empty() && word.size() <= 9 && all(word, is_digit);
}

// Every spelling that some option parser takes for `option`: with a value glued on, among other short
// options, abbreviated, with one dash for two and two for one. Rather one too many than one too few: nothing
// tells the value in -includea.h from the rest of a longer name.
bool spells(std::string_view word, std::string_view option) {
  if (word.size() < 2 || word[0] != '-') return false;
  const std::string_view name = option.substr(option.find_first_not_of('-'));
  const bool one_dash = word[1] != '-';
  const std::string_view said = word.substr(one_dash ? 1 : 2, word.find('=') - (one_dash ? 1 : 2));
  if (said.empty()) return false;
  if (said == name) return true;
  const bool takes_glued = name.size() > 1 && option[1] != '-';
  if (takes_glued && word.substr(one_dash ? 1 : 2).starts_with(name)) return true;
  if (name.size() == 1) return one_dash && word.find(name[0], 1) != std::string_view::npos;
  return name.starts_with(said) && !(one_dash && said.size() == 1);
}

bool takes(const ShapePart& part, const std::string& word) {
  switch (part.kind) {
    case Kind::word: return contains(part.words, word);
    case Kind::number: return is_number(word, part.prefix);
    case Kind::file:
      return is_operand(word) && word.back() != '/' && has_ending(word, part.words) &&
             (!part.plain || word.find_first_of("*?[]{}") == std::string::npos);
    case Kind::path: return is_operand(word);
    case Kind::name: return is_of_class(part.name, word);
    case Kind::text: return true;
    case Kind::args:
      return std::ranges::none_of(part.forbidden,
                                  [&](const std::string& option) { return spells(word, option); });
    case Kind::maybe: return false;
  }
  return false;
}

std::optional<Role> role_of(const ShapePart& part) {
  using Name = ShapePart::NameClass;
  switch (part.kind) {
    case Kind::file: return Role::file;
    case Kind::path: return Role::path;
    case Kind::args: return Role::argument;
    case Kind::name:
      if (part.name == Name::package || part.name == Name::tool) return Role::argument;
      return {};
    default: return {};
  }
}

// One path through the pattern. Only the last part repeats and `maybe` is tried both ways, so this ends soon.
class Matcher {
 public:
  explicit Matcher(const std::vector<std::string>& argv) : argv_(argv) {}

  bool run(const std::vector<ShapePart>& parts, size_t part, size_t at) {
    if (part == parts.size()) return at == argv_.size();
    const ShapePart& here = parts[part];
    if (here.kind == Kind::maybe) return with(parts, part, at) || run(parts, part + 1, at);
    const size_t before = operands.size();
    size_t taken = 0;
    while (taken < here.most && at + taken < argv_.size() && takes(here, argv_[at + taken])) {
      if (const auto role = role_of(here)) operands.push_back({at + taken, *role});
      ++taken;
    }
    if (taken >= here.least && run(parts, part + 1, at + taken)) return true;
    operands.resize(before);
    return false;
  }

  std::vector<ShapeOperand> operands;

 private:
  bool with(const std::vector<ShapePart>& parts, size_t part, size_t at) {
    std::vector<ShapePart> unrolled = parts[part].inner;
    unrolled.insert(unrolled.end(), parts.begin() + static_cast<long>(part) + 1, parts.end());
    return run(unrolled, 0, at);
  }

  const std::vector<std::string>& argv_;
};

bool takes_program(const Shape& shape, const std::string& program) {
  const auto& words = shape.parts.front().words;
  return contains(words, program);
}

std::string absolute(const std::string& path, const std::string& workspace) {
  return path[0] == '/' ? path : workspace + "/" + path;
}

}  // namespace

std::optional<ShapeMatch> match_shape(const Shape& shape, const std::vector<std::string>& argv) {
  if (argv.empty() || shape.parts.empty() || !takes_program(shape, argv.front())) return {};
  Matcher matcher(argv);
  if (!matcher.run(shape.parts, 0, 0)) return {};
  return ShapeMatch{&shape, std::move(matcher.operands)};
}

std::optional<ShapeMatch> find_shape(const Shapes& shapes, CommandProfile profile,
                                     const std::vector<std::string>& argv) {
  for (CommandProfile wanted : {CommandProfile::passive, CommandProfile::full}) {
    if (wanted > profile) break;
    for (const auto& shape : shapes) {
      if (shape.profile != wanted) continue;
      if (auto match = match_shape(shape, argv)) return match;
    }
  }
  return {};
}

PathCandidates path_candidates(const ShapeMatch& match, const std::vector<std::string>& argv) {
  PathCandidates candidates;
  for (const auto& operand : match.operands) {
    if (operand.role != Role::argument) {
      candidates.list.push_back({argv[operand.index], operand.role});
      continue;
    }
    auto pieces = paths_in(argv[operand.index]);
    if (!pieces || candidates.list.size() > max_path_candidates) {
      candidates.too_many = true;
      break;
    }
    candidates.list.insert(candidates.list.end(), pieces->begin(), pieces->end());
  }
  candidates.too_many = candidates.too_many || candidates.list.size() > max_path_candidates;
  return candidates;
}

Launch launch_of(const ShapeMatch& match, const std::vector<std::string>& argv,
                 const std::string& workspace) {
  const Hardening& hardening = match.shape->hardening;
  Launch launch;
  launch.argv = argv;
  launch.environment = hardening.environment;
  launch.directory = hardening.directory;
  launch.noexec = match.shape->profile == CommandProfile::passive;
  launch.fresh_home = launch.noexec;
  launch.network = !launch.noexec;
  launch.script = hardening.file;
  if (match.shape->profile == CommandProfile::passive) launch.timeout_ms = passive_wall_ms;
  if (!hardening.directory.empty()) {
    for (const auto& operand : match.operands)
      launch.argv[operand.index] = absolute(argv[operand.index], workspace);
  }
  if (hardening.argv.empty()) return launch;
  std::vector<std::string> hardened;
  for (const auto& word : hardening.argv) {
    if (word != "{operands}") {
      hardened.push_back(word);
      continue;
    }
    for (const auto& operand : match.operands) hardened.push_back(launch.argv[operand.index]);
  }
  launch.argv = std::move(hardened);
  return launch;
}

}  // namespace cloche
