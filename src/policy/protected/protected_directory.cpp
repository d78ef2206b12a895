#include "policy/protected/protected_directory.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/lists.hpp"
#include "base/sys/path.hpp"
#include "base/text/ascii.hpp"
#include "policy/protected/folded_name.hpp"

namespace cloche {
namespace {

constexpr std::string_view git_meanings[] = {"attributes",
                                             "branches",
                                             "commondir",
                                             "config",
                                             "config.worktree",
                                             "filter-repo",
                                             "fsmonitor--daemon",
                                             "git-rebase-todo",
                                             "gitdir",
                                             "head",
                                             "hooks",
                                             "index",
                                             "info",
                                             "lazygit.yml",
                                             "lfs",
                                             "logs",
                                             "lost-found",
                                             "merge_rr",
                                             "modules",
                                             "notes_merge_worktree",
                                             "objects",
                                             "opts",
                                             "rebase-apply",
                                             "rebase-merge",
                                             "refs",
                                             "reftable",
                                             "remotes",
                                             "rr-cache",
                                             "sequencer",
                                             "strategy",
                                             "subtree-cache",
                                             "svn",
                                             "worktrees"};
static_assert(std::ranges::is_sorted(git_meanings));

// What else git keeps in a git directory, and nothing obeys.
constexpr std::string_view git_data[] = {"add_edit.patch",
                                         "addp-hunk-edit.diff",
                                         "annex",  // of git-annex: contents of files
                                         "auto_merge",
                                         "commit_editmsg",
                                         "description",
                                         "edit_description",
                                         "gc.log",
                                         "gc.pid",
                                         "git-daemon-export-ok",
                                         "locked",
                                         "merge_autostash",
                                         "merge_mode",
                                         "merge_msg",
                                         "notes_editmsg",
                                         "notes_merge_partial",
                                         "notes_merge_ref",
                                         "opencode",  // a number for the project
                                         "packed-refs",
                                         "packed-refs.new",
                                         "shallow",
                                         "squash_msg",
                                         "tag_editmsg"};
static_assert(std::ranges::is_sorted(git_data));

constexpr std::string_view config_reason = "commands in it are run by git, some of them by git status";
constexpr std::string_view hooks_reason = "git runs it at commit, checkout, merge or push";
constexpr std::string_view attributes_reason = "names filters and diff drivers, which git runs";
constexpr std::string_view todo_reason = "git rebase --continue runs the commands after exec in it";
constexpr std::string_view strategy_reason = "git runs the program that it names with --continue";
constexpr std::string_view remotes_reason =
    "names where git fetches from and pushes to, which may be a command";
constexpr std::string_view inner_link_reason = "git writes through it to where it leads";
constexpr std::string_view index_reason =
    "git writes to the paths in it at a checkout, and takes them as they are";
constexpr std::string_view resolutions_reason =
    "git copies and overwrites the files that it names at the next commit or merge";
constexpr std::string_view unknown_reason =
    "git keeps nothing of this name there, so another program may obey it";
constexpr std::string_view lazygit_reason = "names pagers and commands that lazygit runs";
constexpr std::string_view elsewhere_reason = "tells git to take hooks and config from another directory";
constexpr std::string_view jj_reason = "tells Jujutsu to take its configuration from another directory";

const std::string_view* meaning_of(std::string_view folded) {
  const auto* found = std::ranges::lower_bound(git_meanings, folded);
  return found != std::end(git_meanings) && *found == folded ? found : nullptr;
}

// A shared part of a split index is one too.
const std::string_view* meaning_in_git(std::string_view folded) {
  return meaning_of(folded.starts_with("sharedindex.") ? "index" : folded);
}

// Git itself, but for the names that have a meaning. What it is about to write has ".lock" at the end.
bool is_data_of_git(std::string_view folded) {
  if (folded.ends_with(".lock")) folded.remove_suffix(std::string_view(".lock").size());
  return meaning_in_git(folded) != nullptr || std::ranges::binary_search(git_data, folded) ||
         folded.ends_with("_head") || folded.starts_with("bisect_") || folded.starts_with("sharedindex_") ||
         folded.starts_with("next-index-") || folded.starts_with("index.stash.");
}

GitPart part_of(std::string_view meaning) {
  if (meaning == "info") return GitPart::info;
  if (meaning == "modules") return GitPart::modules;
  if (meaning == "objects") return GitPart::objects;
  if (meaning == "rebase-merge") return GitPart::rebase;
  if (meaning == "sequencer") return GitPart::sequencer;
  return meaning == "worktrees" ? GitPart::worktrees : GitPart::none;
}

}  // namespace

bool is_name_of_git(std::string_view name) {
  return meaning_of(is_plain_name(name) ? std::string(name) : folded_name(name)) != nullptr;
}

bool is_symbolic_head(std::string_view name, std::string_view says) {
  return name == "HEAD" && says.starts_with("refs/heads/") && !has_dots(says);
}

bool is_hook(std::string_view name) {
  constexpr std::string_view others[] = {"applypatch-msg",        "commit-msg",         "fsmonitor-watchman",
                                         "prepare-commit-msg",    "proc-receive",       "push-to-checkout",
                                         "reference-transaction", "sendemail-validate", "update"};
  const bool is_alike = name.starts_with("pre-") || name.starts_with("post-") || name.starts_with("p4-");
  return (is_alike && name.find('.') == std::string_view::npos) || contains(others, name);
}

bool is_sample_hook(std::string_view name) { return name.ends_with(".sample"); }

bool holds_checkouts(std::string_view directory) {
  if (name_in(directory) != "worktrees") return false;
  const std::string_view agents = name_in(directory_in(directory));
  return agents == ".claude" || agents == ".codex" || agents == ".cursor";
}

RootMeaning meaning_of_root(std::string_view root) {
  const auto names = components_of(root);
  RootMeaning meaning{.counts_from = root};
  for (size_t i = 0; i < names.size(); ++i) {
    DirectoryNames here(meaning.trail, meaning.part);
    here.add(names[i], NameKind::directory);
    here.settle();
    if (here.members().empty()) {
      meaning.trail = here.subdirectories().front().trail;
      meaning.part = here.subdirectories().front().part;
      continue;
    }
    const bool is_checkout = i + 2 < names.size() && holds_checkouts(joined(names[i], names[i + 1]));
    if (!is_checkout)
      return {.covered_by = here.members().front().reason, .counts_from = meaning.counts_from};
    i += 2;
    const auto passed = static_cast<size_t>(names[i].data() + names[i].size() - root.data());
    meaning = {.counts_from = root.substr(passed)};
  }
  return meaning;
}

void DirectoryNames::add(std::string_view name, NameKind kind) {
  const bool plain = is_plain_name(name);
  const std::string folded = plain ? std::string() : folded_name(name);
  const std::string_view compared = plain ? name : std::string_view(folded);
  if (const auto* meaning = meaning_in_git(compared))
    git_names_.push_back({*meaning, std::string(name), kind});
  const bool is_gits_alone =
      part_ == GitPart::dot_git || part_ == GitPart::worktree || part_ == GitPart::modules;
  // As it stands but for case: what folding drops is a part of the name here, and git keeps none such.
  if (is_gits_alone && kind != NameKind::link && !is_data_of_git(ascii::lowered(name)))
    unknown_names_.push_back({unknown_reason, std::string(name), kind});
  if (compared == ".git" && (dot_git_.empty() || name == ".git")) dot_git_ = name;
  NameMatch match = match_name(trail_, name);
  const ProtectedName* row = match.member;
  // A link on the way leads to what was never looked at by this name.
  if (row == nullptr && kind == NameKind::link && !match.trail.empty()) row = match.trail.front().row;
  // .jj/repo, which is a directory unless another workspace has the repository.
  const bool is_jj_pointer = !match.trail.empty() && compared == "repo" && kind == NameKind::other;
  if (row == nullptr && is_jj_pointer) {
    members_.push_back({std::string(name), kind, MemberRule::git_pointer, jj_reason});
  } else if (row == nullptr && compared == ".git" && kind == NameKind::other) {
    members_.push_back({std::string(name), kind, MemberRule::git_link, elsewhere_reason});
  } else if (row != nullptr) {
    members_.push_back({std::string(name), kind, MemberRule::always, row->reason});
  } else if (kind == NameKind::directory) {
    GitPart part = compared == ".git" ? GitPart::dot_git : GitPart::none;
    if (part_ == GitPart::worktrees) part = GitPart::worktree;
    subdirectories_.push_back({std::string(name), std::move(match.trail), part});
  } else if (kind == NameKind::link) {
    links_.emplace_back(name);
  } else if (part_ == GitPart::module_hooks || part_ == GitPart::likely_hooks) {
    files_.emplace_back(name);
  }
}

bool DirectoryNames::has(std::string_view meaning) const {
  return std::ranges::any_of(git_names_, [&](const GitName& name) { return name.meaning == meaning; });
}

// The first rule holds: what is a git directory is judged as that before it is judged as a part of another.
void DirectoryNames::add_member(const GitName& found, MemberRule rule, std::string_view reason) {
  const auto is_it = [&](const MemberName& member) { return member.name == found.name; };
  if (std::ranges::any_of(members_, is_it)) return;
  members_.push_back({found.name, found.kind, rule, reason});
  std::erase_if(subdirectories_, [&](const SubdirectoryName& sub) { return sub.name == found.name; });
}

void DirectoryNames::add_members(std::string_view meaning, MemberRule rule, std::string_view reason) {
  for (const auto& found : git_names_) {
    if (found.meaning == meaning) add_member(found, rule, reason);
  }
}

// What a rebase that stopped keeps, in a repository or in a worktree's part of one.
void DirectoryNames::settle_rebase() {
  for (const auto& found : git_names_) {
    if (found.meaning != "rebase-merge" && found.meaning != "sequencer") continue;
    if (found.kind == NameKind::link) add_member(found, MemberRule::always, todo_reason);
    for (auto& sub : subdirectories_) {
      if (sub.name == found.name) sub.part = part_of(found.meaning);
    }
  }
}

// In a repository or in a worktree's part of one.
void DirectoryNames::settle_working_state() {
  settle_rebase();
  add_members("index", MemberRule::git_index, index_reason);
  add_members("merge_rr", MemberRule::git_resolutions, resolutions_reason);
  for (const auto& unknown : unknown_names_) add_member(unknown, MemberRule::always, unknown.meaning);
}

void DirectoryNames::settle_git_directory() {
  settle_working_state();
  for (const auto& found : git_names_) {
    const bool linked = found.kind == NameKind::link;
    const bool is_directory = found.kind == NameKind::directory;
    if (found.meaning == "config" || found.meaning == "config.worktree") {
      if (is_git_ || !is_directory) add_member(found, MemberRule::git_config, config_reason);
    } else if (found.meaning == "hooks") {
      add_member(found, MemberRule::git_hooks, hooks_reason);
    } else if (found.meaning == "remotes" || found.meaning == "branches") {
      add_member(found, MemberRule::git_remotes, remotes_reason);
    } else if (found.meaning == "commondir") {
      const bool has_none = part_ == GitPart::dot_git;  // other parts of a repository may have one
      add_member(found, has_none ? MemberRule::always : MemberRule::git_pointer, elsewhere_reason);
    } else if (found.meaning == "lazygit.yml") {
      add_member(found, MemberRule::always, lazygit_reason);
    } else if (linked && found.meaning == "info") {
      add_member(found, MemberRule::always, attributes_reason);
    } else if (linked && (found.meaning == "modules" || found.meaning == "worktrees")) {
      add_member(found, MemberRule::always, elsewhere_reason);
    }
  }
  for (auto& sub : subdirectories_) {
    for (const auto& found : git_names_) {
      if (found.name == sub.name) sub.part = part_of(found.meaning);
    }
  }
}

// Whatever else is in it stays: these are names that sources have too.
void DirectoryNames::settle_likely_directory() {
  for (const auto& found : git_names_) {
    if (found.meaning == "config" && found.kind == NameKind::other)
      add_member(found, MemberRule::git_config, config_reason);
    const bool is_obeyed = found.meaning == "config" || found.meaning == "hooks";
    if (is_obeyed && found.kind == NameKind::link) add_member(found, MemberRule::always, elsewhere_reason);
    if (found.meaning != "hooks") continue;
    for (auto& sub : subdirectories_) {
      if (sub.name == found.name) sub.part = GitPart::likely_hooks;
    }
  }
}

void DirectoryNames::settle_likely_hooks() {
  const auto add_hooks = [&](const std::vector<std::string>& names, NameKind kind) {
    for (const auto& name : names) {
      if (is_hook(folded_name(name))) members_.push_back({name, kind, MemberRule::always, hooks_reason});
    }
  };
  add_hooks(files_, NameKind::other);
  add_hooks(links_, NameKind::link);
}

// COMMON/worktrees/NAME.
void DirectoryNames::settle_worktree() {
  settle_working_state();
  add_members("config.worktree", MemberRule::git_config, config_reason);
  add_members("commondir", MemberRule::git_pointer, elsewhere_reason);
  add_members("gitdir", MemberRule::git_pointer, elsewhere_reason);
  for (const auto& found : git_names_) {  // its submodules
    for (auto& sub : subdirectories_)
      if (found.meaning == "modules" && sub.name == found.name) sub.part = GitPart::modules;
  }
}

// .git/modules and what is below: git makes a submodule's directory of what it finds there, with the hooks
// and the configuration that are in it already. One may also be named hooks.
void DirectoryNames::settle_modules() {
  for (const auto& found : git_names_) {
    const bool is_config = found.meaning == "config" || found.meaning == "config.worktree";
    if (!is_git_ && part_ == GitPart::modules && is_config && found.kind == NameKind::other)
      add_member(found, MemberRule::git_config, config_reason);
  }
  for (const auto& file : files_) {
    if (is_git_ ? is_hook(file) : !is_sample_hook(file))
      members_.push_back({file, NameKind::other, MemberRule::always, hooks_reason});
  }
  const auto is_hooks = [&](const std::string& name) {
    return std::ranges::any_of(
        git_names_, [&](const GitName& found) { return found.meaning == "hooks" && found.name == name; });
  };
  const bool is_one = is_git_ || is_common_ || is_worktree_;
  for (auto& sub : subdirectories_) {
    const bool is_its_own = is_one && is_name_of_git(sub.name);  // a branch may have any name
    if (sub.part == GitPart::none && !is_its_own)
      sub.part = is_hooks(sub.name) ? GitPart::module_hooks : GitPart::modules;
  }
}

void DirectoryNames::settle_links() {
  // Compared only where it can be one already: a command may have made a hundred thousand links.
  const std::vector<MemberName> so_far = members_;
  for (const auto& link : links_) {
    const bool known = is_name_of_git(link) && std::ranges::any_of(so_far, [&](const MemberName& member) {
                         return member.name == link;
                       });
    if (!known) members_.push_back({link, NameKind::link, MemberRule::inner_link, inner_link_reason});
  }
}

// What is inside once stays so: names like those of a repository, made in refs, change nothing.
void DirectoryNames::settle_inside(bool is_git_part) {
  const bool all = !may_be_sources() && part_ != GitPart::dot_git;
  if (all || is_git_part) settle_links();
  for (auto& sub : subdirectories_) {
    const bool is_inside = all || (is_git_part && is_name_of_git(sub.name));
    if (sub.part == GitPart::none && is_inside) sub.part = GitPart::inside;
  }
}

void DirectoryNames::settle() {
  const bool is_store = has("objects") && has("refs");
  is_git_ = part_ == GitPart::dot_git || (is_store && has("head"));
  is_common_ = is_store && !is_git_;
  is_worktree_ = part_ == GitPart::worktree || (has("head") && has("commondir"));
  const bool is_likely = is_common_ && may_be_sources();
  if (is_likely) settle_likely_directory();
  if (is_git_ || (is_common_ && !is_likely)) settle_git_directory();
  settle_part();
  if (part_ == GitPart::modules || part_ == GitPart::module_hooks) settle_modules();
  if (part_ == GitPart::likely_hooks) settle_likely_hooks();
  settle_inside(is_git_ || (is_common_ && !is_likely) || is_worktree_);
  // In the order in which they are kept: spellings of a command's own do not come before what git reads.
  std::stable_partition(members_.begin(), members_.end(),
                        [](const MemberName& member) { return is_plain_name(member.name); });
}

// Of a git directory, or a worktree's.
void DirectoryNames::settle_part() {
  if (is_worktree_) settle_worktree();
  if (part_ == GitPart::rebase) {
    add_members("git-rebase-todo", MemberRule::git_todo, todo_reason);
    add_members("strategy", MemberRule::git_strategy, strategy_reason);
  }
  if (part_ == GitPart::sequencer) add_members("opts", MemberRule::git_strategy, strategy_reason);
  if (part_ == GitPart::info) add_members("attributes", MemberRule::always, attributes_reason);
}

}  // namespace cloche
