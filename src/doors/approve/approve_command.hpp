// `cloche approve`: the operator reads the questions that wait, and answers them. The operator is the owner
// of the state directory; a command in the sandbox cannot see that directory.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "store/sealed/approvals.hpp"

namespace cloche {

struct ApproveArguments {
  enum class Action { help, list, show, yes, no, watch };
  Action action = Action::list;
  std::string id = {};
  bool json = false;
};

Result<ApproveArguments> parse_approve(std::span<char* const> words);

std::string approvals_json(const std::vector<FiledQuestion>& questions);
std::string approvals_table(const std::vector<FiledQuestion>& questions, uint64_t now_ms);
// Everything that a yes would cover, as lines of printable ASCII.
std::string approval_text(const FiledQuestion& filed, uint64_t now_ms);

}  // namespace cloche
