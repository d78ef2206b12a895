#include "confine/inner.hpp"

#include "confine/kernel_rules.hpp"

namespace cloche {
namespace {

std::string_view name_of_access(wire::Access access) {
  switch (access) {
    case wire::Access::list: return "list";
    case wire::Access::read: return "read";
    case wire::Access::run: return "run";
    case wire::Access::write: return "write";
    case wire::Access::write_run: return "write_run";
    case wire::Access::device: return "device";
  }
  return "";
}

class Words {
 public:
  void flag(std::string_view name) { words_.emplace_back(name); }
  void flag(std::string_view name, std::string value) {
    words_.emplace_back(name);
    words_.push_back(std::move(value));
  }
  std::vector<std::string> followed_by(const std::vector<std::string>& command) && {
    words_.insert(words_.end(), command.begin(), command.end());
    return std::move(words_);
  }

 private:
  std::vector<std::string> words_;
};

void add_rules(Words& words, const ConfinementPlan& plan, int landlock_abi) {
  words.flag("--landlock", std::to_string(landlock_abi));
  if (landlock_abi == 0) return;
  for (const auto& [access, path] : rules_for(plan))
    words.flag("--allow", std::string(name_of_access(access)) + ":" + path);
}

}  // namespace

std::string octal(unsigned mode) {
  std::string digits;
  for (; mode != 0; mode /= 8) digits.insert(digits.begin(), static_cast<char>('0' + mode % 8));
  return "0" + digits;
}

std::vector<std::string> inner_arguments(const ConfinementPlan& plan, const InnerOptions& options) {
  Words words;
  words.flag("--inner");
  if (options.control) words.flag("--control", std::to_string(*options.control));
  words.flag("--umask", octal(plan.umask));
  words.flag("--directory", plan.directory);
  for (const auto& [resource, value] : limits_for(plan.limits))
    words.flag("--limit", std::string(name_of_resource(resource)) + "=" + std::to_string(value));
  add_rules(words, plan, options.landlock_abi);
  if (plan.debugging) words.flag("--debugging");
  if (options.watched) words.flag("--watched");
  for (auto& program : program_candidates(plan)) words.flag("--program", std::move(program));
  words.flag("--");
  return std::move(words).followed_by(plan.argv);
}

}  // namespace cloche
