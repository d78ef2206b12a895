// Command shapes: which argv a profile accepts, as data in share/commands/*.json (docs/commands.md has the
// grammar). A shape lists what may stand in each place; a word that it does not list refuses, so an option
// that its author did not think of is refused as well. Each shape carries examples of both, and a file whose
// examples fail is refused.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json/json_text.hpp"
#include "base/result.hpp"
#include "model/call.hpp"

namespace cloche {

// One place of a pattern, and how often it may be filled.
struct ShapePart {
  enum class Kind {
    word,    // one of `words`, exact bytes
    number,  // decimal digits after `prefix`
    file,    // an operand that ends in one of `words` (none: any ending)
    path,    // an operand that may be a directory
    name,    // a word of a class: module, subcommand, package, tool
    text,    // any one word; data, never a path
    args,    // any words; what could be a path in them is judged as one
    maybe,   // `inner`, or nothing
  };
  enum class NameClass { module, subcommand, package, tool };

  Kind kind = Kind::word;
  std::vector<std::string> words = {};
  std::string prefix = {};
  NameClass name = NameClass::module;
  size_t least = 1;
  size_t most = 1;
  bool plain = false;  // of a file: without * ? [ ] { }, which the program itself would expand
  std::vector<std::string> forbidden = {};  // of args: options that refuse, however they are spelled
  std::vector<ShapePart> inner = {};
};

// What a shape adds to make the command do what was judged and nothing else.
struct Hardening {
  std::vector<std::string> argv = {};      // instead of what was written; "{operands}" are its operands
  std::vector<Variable> environment = {};  // over everything else
  std::string directory = {};              // operands become absolute
  std::optional<Script> file = {};         // a configuration of the shape's own, shown read-only
};

struct ShapeExample {
  int line = 0;
  std::vector<std::string> argv = {};
  std::string problem = {};  // why it could not be read
};

struct Shape {
  std::string id = {};
  std::string usage = {};  // for people: "cat FILE..."
  CommandProfile profile = CommandProfile::passive;
  std::string source = {};  // the file
  int line = 0;
  std::vector<ShapePart> parts = {};
  Hardening hardening = {};
  std::vector<ShapeExample> accepts = {};
  std::vector<ShapeExample> refuses = {};
};

using Shapes = std::vector<Shape>;

// The shapes of one file. Their form is checked here, their examples below.
Result<Shapes> read_shapes(std::string_view text, const std::string& source);

struct ExampleCount {
  size_t checked = 0;
  std::vector<std::string> failures = {};  // "file:line: what"
};
// Accepted ones by their own shape, refused ones by every shape of the list.
ExampleCount check_examples(const Shapes& shapes);

// Both: a file with a failing example is refused.
Result<Shapes> load_shapes(std::string_view text, const std::string& source);

}  // namespace cloche
