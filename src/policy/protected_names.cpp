#include "policy/protected_names.hpp"

#include <algorithm>
#include <iterator>

#include "policy/folded_name.hpp"

namespace cloche {
namespace {

// Sorted by path, for the search below; folded.
constexpr ProtectedName rows[] = {
    {".aider.conf.yml", "names commands that an agent on the host runs"},
    {".amazonq", "servers of an agent on the host"},
    {".bash_aliases", "bash runs it at start"},
    {".bash_login", "bash runs it at login"},
    {".bash_logout", "bash runs it at logout"},
    {".bash_profile", "bash runs it at login"},
    {".bashrc", "bash runs it at start"},
    {".claude", "hooks, servers and permissions of an agent on the host"},
    {".claude.json", "servers and permissions of an agent on the host"},
    {".cloche", "Cloche's own configuration of this project"},
    {".codex", "servers and permissions of an agent on the host"},
    {".config/autostart", "a graphical session starts what is in it"},
    {".config/fish", "fish runs what is in it at start"},
    {".config/git", "aliases, pagers and filters in it are commands"},
    {".config/nvim", "neovim runs what is in it"},
    {".config/systemd", "the user's systemd starts units from it"},
    {".continue", "servers of an agent on the host"},
    {".cshrc", "csh runs it at start"},
    {".cursor", "servers, hooks and permissions of an agent on the host"},
    {".devcontainer", "commands in it run on the host when the folder is opened (initializeCommand)"},
    {".devcontainer.json", "commands in it run on the host when the folder is opened (initializeCommand)"},
    {".dir-locals.el", "emacs evaluates it when a file of the directory is opened"},
    {".direnv", "direnv loads what is in it"},
    {".emacs", "emacs runs it"},
    {".emacs.d", "emacs runs what is in it"},
    {".envrc", "direnv runs it when a shell enters the directory"},
    {".exrc", "vim runs it from the directory where that is turned on"},
    {".fleet", "run configurations that the editor starts"},
    {".gdbinit", "gdb runs it"},
    {".gemini", "servers and permissions of an agent on the host"},
    {".gitconfig", "aliases, pagers and filters in it are commands"},
    {".gitmodules", "git submodule update fetches and checks out what it names"},
    {".husky", "npm packages set it as git's hooks directory"},
    {".idea", "run configurations, watchers and external tools that the editor starts"},
    {".inputrc", "binds keys to commands in every shell"},
    {".irbrc", "irb runs it from the directory"},
    {".kiro", "hooks and servers of an agent on the host"},
    {".kshrc", "ksh runs it at start"},
    {".lefthook", "lefthook's git hook runs the scripts in it"},
    {".lefthook.yml", "lefthook's git hook runs what it names"},
    {".lldbinit", "lldb runs it"},
    {".login", "csh runs it at login"},
    {".mcp.json", "an agent starts the servers that it names"},
    {".npmrc", "names the shell, the node and the registry that npm uses"},
    {".nvim.lua", "neovim runs it from the directory where that is turned on"},
    {".nvimrc", "neovim runs it from the directory where that is turned on"},
    {".opencode", "plugins and servers of an agent on the host"},
    {".overcommit.yml", "overcommit's git hook runs what it names"},
    {".pdbrc", "python's debugger runs it from the directory"},
    {".pnpmfile.cjs", "pnpm runs it at every install"},
    {".pre-commit-config.yaml", "pre-commit's git hook runs what it names"},
    {".pre-commit-hooks.yaml", "pre-commit's git hook runs what it names"},
    {".profile", "every login shell runs it"},
    {".pryrc", "pry runs it from the directory"},
    {".roo", "servers of an agent on the host"},
    {".rprofile", "R runs it from the directory"},
    {".screenrc", "screen runs commands from it"},
    {".ssh", "keys that let somebody in, and commands in its config"},
    {".tcshrc", "tcsh runs it at start"},
    {".tmux.conf", "tmux runs commands from it"},
    {".vim", "vim runs what is in it"},
    {".vimrc", "vim runs it"},
    {".vscode", "tasks, launch files and settings in it name programs that the editor starts"},
    {".windsurf", "servers and permissions of an agent on the host"},
    {".xinitrc", "a graphical session runs it"},
    {".xprofile", "a graphical session runs it"},
    {".xsession", "a graphical session runs it"},
    {".xsessionrc", "a graphical session runs it"},
    {".yarn/plugins", "yarn loads what is in it"},
    {".yarn/releases", "yarn runs what is in it in its own place"},
    {".yarnrc", "names a program that yarn runs in its own place"},
    {".yarnrc.yml", "names a program and plugins that yarn runs"},
    {".zed", "tasks and language servers that the editor starts"},
    {".zlogin", "zsh runs it at login"},
    {".zlogout", "zsh runs it at logout"},
    {".zprofile", "zsh runs it at login"},
    {".zshenv", "zsh runs it, for scripts as well"},
    {".zshrc", "zsh runs it at start"},
    {"git~1", "the short name that Windows gives .git"},
    {"lefthook.yml", "lefthook's git hook runs what it names"},
    {"opencode.json", "servers and permissions of an agent on the host"},
};

// What no search by letters finds.
constexpr ProtectedName globs[] = {
    {"gitmod~?", "the short names that Windows gives .gitmodules"},
    {"*.code-workspace", "holds the same tasks and settings as .vscode"},
};

// FNV-1a over the names, each with its end.
constexpr uint64_t fnv_start = 0xcbf29ce484222325;
template <size_t count>
constexpr uint64_t mixed(uint64_t sum, const ProtectedName (&table)[count]) {
  for (const auto& row : table) {
    for (const char c : row.path) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    sum = (sum ^ 0xff) * 0x100000001b3;
  }
  return sum;
}

constexpr std::string_view first_of(std::string_view path) { return path.substr(0, path.find('/')); }

constexpr bool comes_before(const ProtectedName& a, const ProtectedName& b) {
  return first_of(a.path) < first_of(b.path);
}
static_assert(std::is_sorted(std::begin(rows), std::end(rows), comes_before));

// The component of a row's path that follows `depth` others; empty: there is none.
std::string_view component(const ProtectedName& row, size_t depth) {
  std::string_view rest = row.path;
  for (; depth > 0; --depth) {
    const size_t slash = rest.find('/');
    if (slash == std::string_view::npos) return {};
    rest.remove_prefix(slash + 1);
  }
  return first_of(rest);
}

// * is any run of characters, ? any one. The table has one * in a name at most.
bool glob_matches(std::string_view pattern, std::string_view name) {
  const size_t star = pattern.find('*');
  const auto same = [](std::string_view wanted, std::string_view given) {
    return wanted.size() == given.size() && std::equal(wanted.begin(), wanted.end(), given.begin(),
                                                       [](char a, char b) { return a == '?' || a == b; });
  };
  if (star == std::string_view::npos) return same(pattern, name);
  const std::string_view before = pattern.substr(0, star);
  const std::string_view after = pattern.substr(star + 1);
  return name.size() >= before.size() + after.size() && same(before, name.substr(0, before.size())) &&
         same(after, name.substr(name.size() - after.size()));
}

void step_into(NameMatch& match, const ProtectedName& row, size_t depth) {
  if (component(row, depth).empty()) {
    match.member = &row;
  } else {
    match.trail.push_back({&row, depth});
  }
}

// The name is folded, and one component.
NameMatch match_folded(const Trail& trail, std::string_view name) {
  NameMatch match;
  for (const auto& step : trail) {
    if (component(*step.row, step.depth) == name) step_into(match, *step.row, step.depth + 1);
  }
  const auto [first, last] =
      std::equal_range(std::begin(rows), std::end(rows), ProtectedName{name, {}}, comes_before);
  for (const auto* row = first; row != last; ++row) step_into(match, *row, 1);
  for (const auto& row : globs) {
    if (glob_matches(row.path, name)) match.member = &row;
  }
  return match;
}

}  // namespace

bool is_plain_name(std::string_view name) {
  const auto is_plain = [](char c) {
    return c >= ' ' && c < 0x7f && !(c >= 'A' && c <= 'Z') && c != ':' && c != '\\';
  };
  return std::all_of(name.begin(), name.end(), is_plain) && !name.ends_with('.') && !name.ends_with(' ');
}

NameMatch match_name(const Trail& trail, std::string_view name) {
  if (is_plain_name(name)) return match_folded(trail, name);
  // Windows takes a backslash for a separator: such a name is a way of several steps.
  NameMatch match{nullptr, trail};
  for (std::string_view rest = name; !rest.empty() && match.member == nullptr;) {
    const size_t end = std::min(rest.find('\\'), rest.size());
    if (end > 0) match = match_folded(match.trail, folded_name(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return match;
}

uint64_t revision_of_protected_names() {
  static constexpr uint64_t revision = mixed(mixed(fnv_start, rows), globs);
  return revision;
}

std::vector<ProtectedName> protected_names() {
  std::vector<ProtectedName> all(std::begin(rows), std::end(rows));
  all.insert(all.end(), std::begin(globs), std::end(globs));
  return all;
}

}  // namespace cloche
