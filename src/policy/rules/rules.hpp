// The permission engine: the operator's ordered rules over one normalised call. Within a file the first rule
// that matches decides and the file's default decides for the rest; across the managed, the user's and the
// project's file the strictest answer wins, so that a project, which an agent may have written, only
// tightens.
//
// Three different things: a file without `rules` and `default` has no opinion; one with an empty list matches
// nothing, so its default decides; a list decides by its rules, then by its default. A default that is not
// given is deny.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json_text.hpp"
#include "model/verdict.hpp"

namespace re2 {
class RE2;
}

namespace cloche {

using RuleArguments = std::map<std::string, std::string, std::less<>>;

// What rules see. For run_shell the argument `cmd` is the canonical quoting of the argv, whichever form was
// sent; text stands for itself and everything else is compact JSON. A pattern for `cmd` may match what was
// asked or what will run: people write what they type, and what runs is what counts.
struct RuleCall {
  std::string tool;
  RuleArguments arguments = {};
  std::optional<std::string> runs = {};  // `cmd` as it will run, when that is not what was asked
};

struct ArgumentPattern {
  std::string name;
  std::string pattern;  // found anywhere in the text; . also means a newline
  std::shared_ptr<const re2::RE2> compiled = {};
};

struct RuleExample {
  RuleCall call;
  int line = 0;
};

struct Rule {
  std::string id;  // "permissions.rules[3]"
  int line = 0;
  std::string tool = {};                        // a name, or a glob with * and ?
  std::vector<ArgumentPattern> arguments = {};  // every one must match; none: whatever the arguments
  Decision action = Decision::deny;
  Approvers approvers = Approvers::anyone;  // of an ask
  std::string reason = {};
  std::vector<RuleExample> match = {};
  std::vector<RuleExample> not_match = {};
};

// Whether a rule's `tool` is about the tool of this name. The glob may also fit another name of it.
bool tool_matches(std::string_view pattern, std::string_view tool);

// Whether this rule, looked at alone, is about this call.
bool matches(const Rule& rule, const RuleCall& call);

// What matching may cost at worst, when RE2 has to follow every instruction at every byte: some nanoseconds
// for each of these.
size_t matching_cost(const Rule& rule, const RuleCall& call);

// Makes of an example's command line what the gateway makes of a call's: the canonical quoting of its words.
using NormaliseCommand = std::function<Result<std::string>(std::string_view command)>;

// Text that an interpreter runs, and that can be judged only by its letters.
// What a rule finds in the whole of it can only refuse or ask: a pattern that
// allows may have found a part of it. It is allowed where every one of its
// parts is, or where a rule allows the tool whatever the text, or where the
// default does.
struct OpaqueText {
  std::string text;
  std::optional<std::vector<std::string>> parts =
      {};                                // the canonical quoting of each command, if it has parts
  std::vector<std::string> pieces = {};  // without parts: what may be commands in it, by the letters
};

// A name by which rules may mean such a call: the tool that was called, and
// others that do the same.
struct TextReading {
  enum class Weight {
    whole,      // the tool that was called: all of its rules, and the default
    by_name,    // another name for this very call: its rules that are not about the tool as well
    text_only,  // a tool that could have done the same: its rules about the text
  };
  RuleCall call;         // without the text
  std::string argument;  // that has the text
  Weight weight = Weight::whole;
  std::string called = {};  // of another name: the tool that was called
};

class RuleFile {
 public:
  // `permissions` is that member of the configuration; nullptr: the file has none. Refuses with file:line
  // what is unknown, misspelt, too long, not a pattern, or an example that does not hold.
  static Result<RuleFile> read(const JsonValue* permissions, const std::string& source,
                               const NormaliseCommand& normalise = {});

  // nullopt: this file has no opinion.
  std::optional<Verdict> judge(const RuleCall& call) const;
  // A call that was judged as a call of another tool, by the name that it was made with: only rules that are
  // about this name and not about that tool as well, and never the default.
  std::optional<Verdict> judge_by_other_name(const RuleCall& call, std::string_view judged_tool) const;
  // Of opaque text, or a part of it: rules that allow by what they find in it are passed over.
  // nullopt: no rule speaks.
  std::optional<Verdict> judge_text(const TextReading& reading, const std::string& text) const;
  // What the file says where no rule does.
  std::optional<Verdict> judge_unmatched() const;
  // The rule that decides, or nullptr: the default does.
  const Rule* first_match(const RuleCall& call) const;

  const std::string& source() const { return source_; }
  const std::vector<Rule>& rules() const { return rules_; }
  bool has_opinion() const { return has_opinion_; }
  size_t example_count() const;

 private:
  // The patterns of the rules' first arguments, in sets.
  struct FirstPatterns;

  RuleFile() = default;
  static std::shared_ptr<const FirstPatterns> first_patterns_of(const std::vector<Rule>& rules);
  // The rules that may be about this call, in their order: no other is.
  std::vector<const Rule*> candidates(const RuleCall& call) const;
  bool is_too_costly(const RuleCall& call) const;
  Verdict too_costly() const;
  Verdict verdict_of(const Rule& rule) const;

  std::string source_;
  bool has_opinion_ = false;
  std::vector<Rule> rules_;
  std::optional<Decision> otherwise_;
  int otherwise_line_ = 0;
  std::shared_ptr<const FirstPatterns> first_patterns_;
};

// All that applies to a session.
struct RuleFiles {
  std::optional<RuleFile> managed = {};
  std::optional<RuleFile> user = {};
  std::optional<RuleFile> project = {};
};

// The rules gate. Names of tools and arguments may be aliases here; everything that cannot be judged denies.
Verdict rules_gate(const RuleFiles& files, const RuleCall& call);

// What rules say of a call by the name that an agent has for it, where it is judged as a call of our tool
// `judged_tool`: an allow unless a rule names it. People write rules with the names that they see.
Verdict rules_by_other_name(const RuleFiles& files, const RuleCall& call, std::string_view judged_tool);

// The strictest of what all of them say.
Verdict rules_on_text(const RuleFiles& files, const std::vector<TextReading>& readings,
                      const OpaqueText& opaque);

// run_shell_command is run_shell, and its argument command is cmd.
std::string_view canonical_tool(std::string_view tool);
std::string_view canonical_argument(std::string_view tool, std::string_view argument);

}  // namespace cloche
