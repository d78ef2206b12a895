// Feeds bytes to the reader of shape files and to the matcher. The first line is a command; the rest is a
// file of shapes, or nothing, which means the one below. A command that matches must keep what a launch
// relies on: its program, and operands that are neither options nor lists of options.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "policy/shapes/shape_match.hpp"

namespace {

void require(bool truth) {
  if (!truth) std::abort();
}

constexpr std::string_view usual = R"({"profile": "passive", "shapes": [
  {"id": "a", "usage": "a", "argv": ["a", {"maybe": ["-n", {"number": ""}]}, {"file": [".py", ".rb"], "count": "1+"}],
   "harden": {"argv": ["a", "--", "{operands}"], "directory": "/"}, "accepts": ["a x.py"], "refuses": ["a -x.py"]},
  {"id": "b", "usage": "b", "argv": ["b", {"name": "tool"}, {"args": "any", "forbid": ["--exec", "-o"]}],
   "accepts": ["b x"], "refuses": ["b -o"]}]})";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cloche;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string_view line = bytes.substr(0, bytes.find('\n'));
  const std::string_view rest = bytes.substr(std::min(bytes.size(), line.size() + 1));
  const auto shapes = read_shapes(rest.empty() ? usual : rest, "fuzz.json");
  if (!shapes.ok()) return 0;
  (void)check_examples(shapes.value());
  const SplitWords split = split_words(line);
  if (!split.problem.empty()) return 0;
  const auto match = find_shape(shapes.value(), CommandProfile::full, split.words);
  if (!match) return 0;
  for (const auto& operand : match->operands) {
    require(operand.index > 0 && operand.index < split.words.size());
    const std::string& word = split.words[operand.index];
    require(operand.role == ShapeOperand::Role::argument ||
            (!word.empty() && word[0] != '-' && word[0] != '@'));
  }
  for (const auto& candidate : path_candidates(*match, split.words).list) require(!candidate.written.empty());
  require(launch_of(*match, split.words, "/ws").argv.front() == split.words.front());
  return 0;
}
