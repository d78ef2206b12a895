// Finds the few rules that can match a call among many. A rule stands on one shelf, named by its tool and its
// first argument; a shelf with patterns asks only those whose necessary literals occur in the text.
#pragma once

#include <re2/filtered_re2.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "policy/literal_finder.hpp"
#include "policy/rules.hpp"

namespace cloche {

class RuleIndex {
 public:
  explicit RuleIndex(const std::vector<Rule>& rules);

  // Ascending numbers, each once; every rule that matches is among them, and some that do not.
  std::vector<uint32_t> candidates(const RuleCall& call) const;

 private:
  struct Shelf {
    std::vector<uint32_t> rules = {};
    re2::FilteredRE2 filter{shortest_literal};
    std::optional<LiteralFinder> finder = {};
  };
  static constexpr int shortest_literal = 2;

  void finish(Shelf& shelf, const std::vector<Rule>& rules);
  void add_from(const std::string& tool, const std::string& argument, std::string_view text,
                std::vector<uint32_t>& found) const;

  std::map<std::pair<std::string, std::string>, Shelf> shelves_;  // a glob's tool is ""; no argument is ""
};

}  // namespace cloche
