#include "policy/authority/authority.hpp"

#include <algorithm>
#include <utility>

#include "base/lists.hpp"
#include "base/sys/path.hpp"
#include "base/text/command_words.hpp"
#include "model/limits.hpp"
#include "policy/authority/secret_names.hpp"
#include "policy/gates/gates.hpp"
#include "policy/hosts/declared_hosts.hpp"
#include "policy/hosts/host_patterns.hpp"

namespace cloche {
namespace {

using Family = Capability::Family;
using Names = std::vector<std::string>;

void add_once(Names& names, const std::string& name) {
  if (!contains(names, name)) names.push_back(name);
}

std::string shown_list(const Names& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + shown(name, 120);
  return text;
}

// One mount a path, the widest; a writable one within a read-only one stays, and comes after it.
std::vector<Grant> merged(const std::vector<Grant>& grants) {
  Names writable;
  Names readable;
  for (const auto& grant : grants) (grant.writable ? writable : readable).push_back(grant.source);
  writable = outermost(std::move(writable));
  std::erase_if(readable, [&](const std::string& path) { return is_beneath_any(writable, path); });
  std::vector<Grant> result;
  for (auto& path : outermost(std::move(readable))) result.push_back({.source = std::move(path)});
  for (auto& path : writable) result.push_back({.source = std::move(path), .writable = true});
  return result;
}

// Builds one Authority; `who` speaks in its sentences.
class Builder {
 public:
  // `declared_at` is the file or folder whose word this is; empty: the operator's own.
  Builder(const OperatorDefaults& operators, const HostPaths& host, std::string who, Trust trust,
          std::string declared_at)
      : operators_(operators),
        host_(host),
        who_(std::move(who)),
        trust_(trust),
        declared_at_(std::move(declared_at)) {
    result_.ceilings = operators.ceilings;
    result_.may_execute = treatment(Use::execute_approved) == Treatment::granted;
  }

  Result<Authority> of_skill(const Skill& skill) {
    if (skill.loadout) take_loadout(*skill.loadout);
    if (skill.commands) take_commands(*skill.commands);
    if (skill.pass_env) take_pass_env(*skill.pass_env);
    take_allowed_tools(skill.allowed_tools);
    const Names hosts = skill.capabilities ? hosts_of(*skill.capabilities) : Names{};
    if (skill.network) {
      take_network_need(*skill.network, hosts, "skill " + skill.name);
    } else if (!hosts.empty()) {
      take_hosts(hosts, "skill " + skill.name + ", capabilities");
    }
    if (skill.capabilities) TRY(take_capabilities_of_skill(*skill.capabilities));
    return finished();
  }

  Result<Authority> of_executor(const Executor& executor) {
    result_.workspace_shown = false;
    result_.ceilings.pass_env = {};
    take_hosts(hosts_of(executor.capabilities), "executor " + executor.name + ", capabilities");
    const bool declared = declares(executor.capabilities, Family::execute);
    if (!is_in_workspace(executor.folder))
      TRY(placed(judge_shown_path(executor.folder, host_), {.written = "its folder"}));
    const bool approved = is_approved(executor);
    result_.may_execute =
        declared && use(approved ? Use::execute_approved : Use::execute, "code:exec") != Treatment::refused;
    result_.write_hints = Names{};
    for (const auto& capability : executor.capabilities) TRY(take_path(capability, Placing::everywhere));
    Authority authority = finished();
    // Last, and so over whatever else it has: its code stays as it was read.
    authority.grants.push_back({.source = executor.folder});
    return authority;
  }

  Authority finished() {
    drop_secret_names();
    if (treatment(Use::network) == Treatment::refused) result_.ceilings.network = false;
    if (treatment(Use::write_workspace) == Treatment::read_only) result_.write_hints = Names{};
    result_.grants = merged(result_.grants);
    return std::move(result_);
  }

 private:
  // Of a skill the workspace is there anyway; an executor has only what it names.
  enum class Placing { outside, everywhere };

  bool tightens_only() const { return trust_ == Trust::project; }
  void note(std::string sentence) { result_.notes.push_back(std::move(sentence)); }
  Treatment treatment(Use what) const { return treatment_of(what, operators_.ceilings.level); }

  bool is_in_workspace(const std::string& path) const {
    return !host_.workspace.empty() && is_beneath(host_.workspace, path);
  }

  // By name where it is the operator's word, which no other user can put there, else by what its code is:
  // NAME@sha256:HEX.
  bool is_approved(const Executor& executor) {
    const Names& approved = operators_.approved_executors;
    const std::string pinned = executor.name + "@" + executor.code_digest;
    const bool by_name = contains(approved, executor.name);
    if (!executor.code_digest.empty() && contains(approved, pinned)) return true;
    if (by_name && executor.trust == Trust::operators) return true;
    const bool named = std::ranges::any_of(
        approved, [&](const auto& text) { return text.starts_with(executor.name + "@"); });
    if (by_name)
      note("approved_executors has " + executor.name +
           ", which others than the operator can write: " + pinned + " would approve its code as it is");
    else if (named)
      note("approved_executors has another code of " + executor.name + ": this is " + pinned);
    return false;
  }

  // What autonomy makes of a declared use, with its sentence.
  Treatment use(Use what, const std::string& written) {
    const Treatment answer = treatment(what);
    const std::string level(name_of(operators_.ceilings.level));
    if (answer == Treatment::asked) add_once(result_.asks, who_ + " declares " + shown(written, 120));
    if (answer == Treatment::refused) note(shown(written, 120) + " is refused: autonomy " + level);
    if (answer == Treatment::read_only) note(shown(written, 120) + " is read-only: autonomy " + level);
    return answer;
  }

  static bool declares(const std::vector<Capability>& list, Family family) {
    return std::ranges::any_of(list, [&](const Capability& c) { return c.family == family; });
  }

  static Names hosts_of(const std::vector<Capability>& list) {
    Names hosts;
    for (const auto& capability : list)
      if (capability.family == Family::network) add_once(hosts, capability.hint);
    return hosts;
  }

  void take_loadout(const Names& declared) {
    const auto& ceiling = operators_.ceilings.loadout;
    Names most = ceiling ? *ceiling : shipped_tools();
    if (!ceiling) most.insert(most.end(), operators_.executors.begin(), operators_.executors.end());
    Names kept;
    for (const auto& name : declared) {
      if (contains(most, name)) {
        kept.push_back(name);
      } else {
        note("the tool " + shown(name, 80) + " of the loadout is none that the operator gives");
      }
    }
    result_.ceilings.loadout = std::move(kept);
  }

  void take_commands(CommandProfile declared) {
    const CommandProfile usual = operators_.ceilings.commands;
    CommandProfile most = usual;
    if (!tightens_only() && operators_.most_commands)
      most = std::max(most, std::min(*operators_.most_commands, CommandProfile::full));
    if (declared > most)
      note("commands " + std::string(name_of(declared)) +
           " is more than the operator gives: " + std::string(name_of(most)));
    Ceilings& ceilings = result_.ceilings;
    ceilings.commands = std::min(declared, most);
    ceilings.unasked = std::min(ceilings.unasked, ceilings.commands);
  }

  void take_pass_env(const Names& declared) {
    const Names& given = operators_.ceilings.pass_env;
    result_.ceilings.pass_env.clear();
    for (const auto& name : declared) {
      if (tightens_only() && !contains(given, name)) {
        note("pass_env " + shown(name, 80) +
             " is left out: a project's skill passes no more than the operator");
      } else {
        result_.ceilings.pass_env.push_back(name);
      }
    }
    for (const auto& name : given)
      if (!contains(declared, name))
        note("pass_env " + shown(name, 80) + " is left out: the skill does not name it");
  }

  void drop_secret_names() {
    std::erase_if(result_.ceilings.pass_env, [&](const std::string& name) {
      const std::string_view why = why_dropped(name);
      if (!why.empty()) note("pass_env " + shown(name, 80) + " is left out: " + std::string(why));
      return !why.empty();
    });
  }

  // A project could otherwise answer the questions about itself.
  void take_allowed_tools(const Names& tools) {
    if (tools.empty()) return;
    if (tightens_only()) {
      note("allowed-tools is passed over: a project's skill answers no question");
    } else {
      result_.unasked = tools;
    }
  }

  void take_network_need(const NetworkNeed& need, const Names& capabilities, const std::string& skill) {
    Names hosts = need.hosts;
    std::string by = skill + ", needs_network";
    if (need.unnamed) {
      hosts = operators_.ceilings.hosts;
      by += capabilities.empty() ? ": true, with the operator's hosts" : ": true";
      if (hosts.empty() && capabilities.empty()) {
        result_.ceilings.network_problem =
            skill + " says needs_network: true and names no host, and the operator gives none";
        note("needs_network names no host, and the operator gives none: list the hosts");
      }
    } else if (hosts.empty() && !capabilities.empty()) {
      note("the network capabilities are dropped: needs_network says that it needs none");
      return take_hosts({}, by);
    }
    if (!capabilities.empty()) by += " and capabilities";
    for (const auto& host : capabilities) add_once(hosts, host);
    take_hosts(hosts, by);
  }

  // The list that is left replaces the operator's; `by` is whose it is, for sentences.
  void take_hosts(const Names& declared, std::string by) {
    result_.ceilings.declared_by = std::move(by);
    Names kept;
    for (const auto& host : declared) {
      const bool operators_own = !tightens_only() || contains(operators_.ceilings.hosts, host);
      const Names allowed = operators_own ? Names{host} : hosts_within(host, operators_.ceilings.hosts);
      if (allowed.empty())
        note("the host " + shown(host, 120) +
             " is dropped: a project names no host that the operator does not");
      for (const auto& name : allowed) add_once(kept, name);
    }
    // Autonomy first: a session that refuses the network has none, whatever its profile. What it asks about
    // is the network gate's: of calls that have one, also where the operator declared the hosts.
    const bool refused = treatment(Use::network) == Treatment::refused;
    if (!kept.empty() && refused) {
      note("the network: " + shown_list(kept) + " is refused: autonomy " +
           std::string(name_of(operators_.ceilings.level)));
      kept.clear();
    } else if (!kept.empty() && !operators_.ceilings.network) {
      note("the sandbox profile has no network: " + shown_list(kept) + " cannot be reached");
    }
    result_.ceilings.hosts = std::move(kept);
  }

  Result<void> take_capabilities_of_skill(const std::vector<Capability>& list) {
    if (!declares(list, Family::execute)) {
      result_.may_execute = false;
    } else {
      use(Use::execute_approved, "code:exec");
    }
    if (declares(list, Family::write)) result_.write_hints = Names{};
    for (const auto& capability : list) TRY(take_path(capability, Placing::outside));
    return {};
  }

  Result<void> take_path(const Capability& capability, Placing placing) {
    if (capability.family != Family::read && capability.family != Family::write) return {};
    const bool writes = capability.family == Family::write;
    const std::string pattern = TRY(placed(expand_hint(capability.hint, host_), capability));
    const std::string mount = mount_part(pattern);
    const bool inside = is_in_workspace(mount);
    if (!inside) {
      TRY(placed(judge_shown_path(mount, host_), capability));
      if (writes) TRY(placed(judge_written_path(mount, host_), capability));
      // Or the next session would take a call's word for the operator's.
      if (writes && meets_declaration(mount))
        return placed<void>(refusal("it would make its own declaration writable"), capability);
      // What protects parts of the workspace would not hold for the same files under a wider grant.
      if (writes && !host_.workspace.empty() && is_beneath(mount, host_.workspace))
        return placed<void>(refusal("it has the workspace in it", "name directories beside it"), capability);
      if (tightens_only()) {
        note(shown(capability.written, 120) + " is dropped: what came with a project stays in the workspace");
        return {};
      }
    }
    const Use what = !writes ? Use::read : (inside ? Use::write_workspace : Use::write_outside);
    const Treatment answer = use(what, capability.written);
    const bool writable = writes && answer != Treatment::read_only && operators_.profile != Profile::readonly;
    if (writes && operators_.profile == Profile::readonly)
      note(shown(capability.written, 120) + " is read-only: the sandbox profile");
    if (inside && placing == Placing::outside) {
      if (writable) add_once(*result_.write_hints, pattern);
      return {};
    }
    result_.grants.push_back({.source = mount, .writable = writable});
    const FineHint hint{pattern, writable};
    if (!contains(result_.hints, hint)) result_.hints.push_back(hint);
    return {};
  }

  bool meets_declaration(const std::string& mount) const {
    return !declared_at_.empty() && (is_beneath(mount, declared_at_) || is_beneath(declared_at_, mount));
  }

  template <typename T>
  Result<T> placed(Result<T> result, const Capability& capability) const {
    if (result.ok()) return result;
    Error error = std::move(result).take_error();
    error.what = who_ + ": " + shown(capability.written, 120) + ": " + error.what;
    return error;
  }

  const OperatorDefaults& operators_;
  const HostPaths& host_;
  std::string who_;
  Trust trust_;
  std::string declared_at_;
  Authority result_ = {};
};

}  // namespace

std::string_view name_of(Treatment treatment) {
  switch (treatment) {
    case Treatment::granted: return "granted";
    case Treatment::read_only: return "read-only";
    case Treatment::asked: return "asked";
    case Treatment::refused: return "refused";
  }
  return "refused";
}

Treatment treatment_of(Use use, Autonomy level) {
  for (const auto& row : use_table) {
    if (row.use != use) continue;
    if (level == Autonomy::full) return row.full;
    return level == Autonomy::supervised ? row.supervised : row.readonly;
  }
  return Treatment::refused;
}

Result<Authority> authority_of(const OperatorDefaults& operators, const Skill* skill, const HostPaths& host) {
  if (skill == nullptr) return Builder(operators, host, "the operator", Trust::operators, "").finished();
  return Builder(operators, host, "the skill " + skill->name, skill->trust, skill->source).of_skill(*skill);
}

Result<Authority> authority_of(const OperatorDefaults& operators, const Executor& executor,
                               const HostPaths& host) {
  return Builder(operators, host, "the executor " + executor.name, executor.trust, executor.folder)
      .of_executor(executor);
}

void take_limits(RunRequest& request, const Skill& skill) {
  const Limits before = request.limits;
  narrow(request.limits, skill.limits);
  note_lowered(request.lowered_by, before, request.limits, "skill " + skill.name);
}

bool is_unasked(const Authority& authority, std::string_view tool) {
  return contains(authority.unasked, tool);
}

std::vector<std::string> asks_about(const Authority& authority, std::string_view tool) {
  return is_unasked(authority, tool) ? Names{} : authority.asks;
}

}  // namespace cloche
