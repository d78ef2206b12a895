#include "policy/changes/change_rules.hpp"

#include <algorithm>

#include "base/json/json_writer.hpp"
#include "base/lists.hpp"
#include "base/text/visible_text.hpp"

namespace cloche {
namespace {

bool any_matches(const std::vector<PathGlob>& globs, const std::string& path) {
  return std::ranges::any_of(globs, [&](const PathGlob& glob) { return glob.matches(path); });
}

class ChangeRuleReader {
 public:
  ChangeRuleReader(const JsonValue& rule, const std::string& source, Decision loosest)
      : json_(rule), source_(source), loosest_(loosest) {}

  Result<ChangeRule> read() {
    if (!json_.is_object()) return fail(json_, "a rule is an object");
    TRY(refuse_unknown_keys(json_, {"paths", "kinds", "more_than", "per", "action", "match"}, source_));
    ChangeRule rule{.where = file_line(source_, json_.line)};
    const JsonValue* action = json_.find("action");
    rule.action = TRY(chosen(action == nullptr ? json_ : *action, "action",
                             {Decision::allow, Decision::ask, Decision::deny}));
    if (rule.action < loosest_) return fail(json_, "a project can only ask or deny");
    for (const JsonValue* path : TRY(list("paths"))) {
      auto glob = PathGlob::read(path->text);
      if (!glob.ok()) return fail(*path, glob.error().what.text());
      rule.paths.push_back(std::move(glob).value());
    }
    for (const JsonValue* kind : TRY(list("kinds")))
      rule.kinds.push_back(
          TRY(chosen(*kind, "kinds", {ChangeKind::created, ChangeKind::changed, ChangeKind::deleted})));
    if (const JsonValue* number = json_.find("more_than")) {
      if (!number->whole || number->integer < 0) return fail(*number, "more_than is not a whole number");
      rule.more_than = static_cast<uint64_t>(number->integer);
    }
    if (const JsonValue* per = json_.find("per")) {
      rule.per_task = per->is_string() && per->text == "task";
      if (!rule.per_task && !(per->is_string() && per->text == "call"))
        return fail(*per, "per is none of call, task");
      if (rule.per_task && !rule.more_than) return fail(*per, "per task counts, and needs more_than");
    }
    for (const JsonValue* example : TRY(list("match")))
      if (!rule.paths.empty() && !any_matches(rule.paths, example->text))
        return fail(*example, "the rule does not match its example " + json_quote(shown(example->text, 80)));
    return rule;
  }

 private:
  Error fail(const JsonValue& value, const std::string& what) const {
    return json_error(source_, value.line, "changes: " + what);
  }

  template <typename T>
  Result<T> chosen(const JsonValue& value, std::string_view key, std::initializer_list<T> choices) const {
    std::string names;
    for (const T choice : choices) {
      if (value.is_string() && value.text == name_of(choice)) return choice;
      names += (names.empty() ? "" : ", ") + std::string(name_of(choice));
    }
    return fail(value, std::string(key) + " is none of " + names);
  }

  // The texts of a list. One that is there and empty looks like a rule about nothing, and would be one about
  // everything.
  Result<std::vector<const JsonValue*>> list(std::string_view key) const {
    std::vector<const JsonValue*> texts;
    const JsonValue* value = json_.find(key);
    if (value == nullptr) return texts;
    for (const JsonValue& item : value->items)
      if (item.is_string() && !item.text.empty()) texts.push_back(&item);
    if (!value->is_array() || texts.empty() || texts.size() < value->items.size())
      return fail(*value, std::string(key) + " is not a list of texts");
    return texts;
  }

  const JsonValue& json_;
  const std::string& source_;
  Decision loosest_;
};

}  // namespace

bool ChangeRule::matches(const ChangeSet& set, const Change& change) const {
  if (!kinds.empty() && !contains(kinds, change.kind)) return false;
  if (paths.empty() || any_matches(paths, change.path)) return true;
  return change.tree < set.trees.size() &&
         any_matches(paths, set.trees[change.tree].path + "/" + change.path);
}

bool ChangeRules::count_per_task() const {
  return std::ranges::any_of(rules, [](const ChangeRule& rule) { return rule.per_task; });
}

Result<std::vector<ChangeRule>> read_change_rules(const JsonValue& list, const std::string& source,
                                                  Decision loosest) {
  if (!list.is_array()) return json_error(source, list.line, "changes is not a list");
  std::vector<ChangeRule> rules;
  for (const JsonValue& item : list.items)
    rules.push_back(TRY(ChangeRuleReader(item, source, loosest).read()));
  return rules;
}

}  // namespace cloche
