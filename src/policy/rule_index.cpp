#include "policy/rule_index.hpp"

#include <algorithm>

#include "policy/pattern.hpp"
#include "policy/tool_glob.hpp"

namespace cloche {
namespace {

constexpr size_t few = 16;  // so many patterns are asked one by one as fast as they are filtered

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// Of all letters beyond ASCII these two are, to a pattern that ignores case, letters of ASCII: the long s and
// the Kelvin sign. A test asks RE2 whether that is still so.
std::string fold_to_ascii(std::string_view text) {
  std::string folded;
  while (!text.empty()) {
    const bool long_s = text.starts_with("\xc5\xbf");
    const bool kelvin = text.starts_with("\xe2\x84\xaa");
    folded += long_s ? 's' : kelvin ? 'k' : text[0];
    text.remove_prefix(long_s ? 2 : kelvin ? 3 : 1);
  }
  return folded;
}

}  // namespace

RuleIndex::RuleIndex(const std::vector<Rule>& rules) {
  for (size_t i = 0; i < rules.size(); ++i) {
    const Rule& rule = rules[i];
    const std::string tool = is_glob(rule.tool) ? "" : rule.tool;
    // A rule that several tools share may say `command` of run_shell: it is looked for under either name.
    const std::string argument =
        rule.arguments.empty() || (tool.empty() && rule.arguments[0].name == "command")
            ? ""
            : rule.arguments[0].name;
    shelves_[{tool, argument}].rules.push_back(static_cast<uint32_t>(i));
  }
  for (auto& [key, shelf] : shelves_)
    if (!key.second.empty() && shelf.rules.size() > few) finish(shelf, rules);
}

void RuleIndex::finish(Shelf& shelf, const std::vector<Rule>& rules) {
  const RE2::Options options = pattern_options(Dot::matches_newline);
  for (uint32_t number : shelf.rules) {
    int id = 0;
    // Each of them compiled before; if one did not now, all are asked one by one.
    if (shelf.filter.Add(rules[number].arguments[0].pattern, options, &id) != RE2::NoError) return;
  }
  std::vector<std::string> literals;
  shelf.filter.Compile(&literals);
  // Beyond ASCII there is more than one way to make small letters: such a literal is taken to be there.
  for (auto& literal : literals)
    if (!is_ascii(literal)) literal.clear();
  shelf.finder.emplace(literals);
}

void RuleIndex::add_from(const std::string& tool, const std::string& argument, std::string_view text,
                         std::vector<uint32_t>& found) const {
  const auto place = shelves_.find({tool, argument});
  if (place == shelves_.end()) return;
  const Shelf& shelf = place->second;
  if (!shelf.finder) {
    found.insert(found.end(), shelf.rules.begin(), shelf.rules.end());
    return;
  }
  std::vector<int> possible;
  shelf.filter.AllPotentials(shelf.finder->find(is_ascii(text) ? text : fold_to_ascii(text)), &possible);
  for (int id : possible) found.push_back(shelf.rules[static_cast<size_t>(id)]);
}

std::vector<uint32_t> RuleIndex::candidates(const RuleCall& call) const {
  std::vector<uint32_t> found;
  const std::string any;
  for (const std::string& tool : {call.tool, any}) {
    add_from(tool, "", "", found);
    for (const auto& [name, text] : call.arguments) add_from(tool, name, text, found);
    if (call.runs) add_from(tool, "cmd", *call.runs, found);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());  // asked and run may both find one
  return found;
}

}  // namespace cloche
