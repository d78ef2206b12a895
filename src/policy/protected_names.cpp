#include "policy/protected_names.hpp"

#include <algorithm>
#include <iterator>

#include "policy/folded_name.hpp"

namespace cloche {
namespace {

// Sorted by path, for the search below; folded.
constexpr ProtectedName rows[] = {
    {".agent", "plugins and scripts of agents on the host"},
    {".agents", "plugins and scripts of agents on the host"},
    {".aider.conf.yml", "names commands that an agent on the host runs"},
    {".amazonq", "servers of an agent on the host"},
    {".amp", "servers and permissions of an agent on the host"},
    {".arcconfig", "names libraries that arc loads"},
    {".asdfrc", "holds commands that asdf runs"},
    {".augment", "hooks and servers of an agent on the host"},
    {".autoenv", "autoenv runs it when a shell enters or leaves the directory"},
    {".autoenv.zsh", "autoenv runs it when a shell enters or leaves the directory"},
    {".autoenv_leave.zsh", "autoenv runs it when a shell enters or leaves the directory"},
    {".bash_aliases", "bash runs it at start"},
    {".bash_completion", "bash runs it at start"},
    {".bash_login", "bash runs it at login"},
    {".bash_logout", "bash runs it at logout"},
    {".bash_profile", "bash runs it at login"},
    {".bashrc", "bash runs it at start"},
    {".bashrc.d", "bash runs what is in it at start, where .bashrc says so"},
    {".bazeliskrc", "names the bazel that is fetched and run"},
    {".bazelrc", "names programs that bazel runs with every command, also for an editor"},
    {".bsp", "names build servers that an editor starts when the folder is opened"},
    {".buckconfig", "names programs that buck runs with every command, also for an editor"},
    {".byebugrc", "ruby's debugger runs it from the directory"},
    {".cargo/config", "names the compiler, the linker and aliases that cargo runs, also for an editor"},
    {".cargo/config.toml", "names the compiler, the linker and aliases that cargo runs, also for an editor"},
    {".cargo-husky", "a build makes git hooks from it"},
    {".claude", "hooks, servers and permissions of an agent on the host"},
    {".claude.json", "servers and permissions of an agent on the host"},
    {".cline", "hooks and servers of an agent on the host"},
    {".clinerules/hooks", "hooks that an agent on the host runs"},
    {".cloche", "Cloche's own configuration of this project"},
    {".codebuddy", "hooks, servers and permissions of an agent on the host"},
    {".codex", "servers and permissions of an agent on the host"},
    {".config/autostart", "a graphical session starts what is in it"},
    {".config/bash_completion", "bash runs it at start"},
    {".config/crush", "servers and permissions of an agent on the host"},
    {".config/direnv", "direnv runs what is in it"},
    {".config/emacs", "emacs runs what is in it"},
    {".config/environment.d", "sets the environment of everything the user's systemd starts"},
    {".config/fish", "fish runs what is in it at start"},
    {".config/git", "aliases, pagers and filters in it are commands"},
    {".config/goose", "servers and extensions of an agent on the host"},
    {".config/helix", "names language servers and formatters that the editor starts"},
    {".config/hypr", "the window manager starts programs from it"},
    {".config/i3", "the window manager starts programs from it"},
    {".config/jj", "aliases, pagers and fix tools in it are commands that Jujutsu runs"},
    {".config/kitty", "the terminal starts programs from it"},
    {".config/lefthook-local.json", "lefthook's git hook runs what it names"},
    {".config/lefthook-local.jsonc", "lefthook's git hook runs what it names"},
    {".config/lefthook-local.toml", "lefthook's git hook runs what it names"},
    {".config/lefthook-local.yaml", "lefthook's git hook runs what it names"},
    {".config/lefthook-local.yml", "lefthook's git hook runs what it names"},
    {".config/lefthook.json", "lefthook's git hook runs what it names"},
    {".config/lefthook.jsonc", "lefthook's git hook runs what it names"},
    {".config/lefthook.toml", "lefthook's git hook runs what it names"},
    {".config/lefthook.yaml", "lefthook's git hook runs what it names"},
    {".config/lefthook.yml", "lefthook's git hook runs what it names"},
    {".config/mise", "mise takes hooks, tools and PATH from it when a shell enters the directory"},
    {".config/mise.toml", "mise takes hooks, tools and PATH from it when a shell enters the directory"},
    {".config/nushell", "nushell runs what is in it at start"},
    {".config/nvim", "neovim runs what is in it"},
    {".config/opencode", "plugins and servers of an agent on the host"},
    {".config/powershell", "powershell runs what is in it at start"},
    {".config/sway", "the window manager starts programs from it"},
    {".config/systemd", "the user's systemd starts units from it"},
    {".config/tmux", "tmux runs commands from it"},
    {".config/wezterm", "the terminal runs what is in it"},
    {".config/zed", "tasks and language servers that the editor starts"},
    {".continue", "servers of an agent on the host"},
    {".continuerc.json", "servers and permissions of an agent on the host"},
    {".copilot", "hooks, servers and permissions of an agent on the host"},
    {".crush", "servers and permissions of an agent on the host"},
    {".crush.json", "servers and permissions of an agent on the host"},
    {".cshrc", "csh runs it at start"},
    {".cursor", "servers, hooks and permissions of an agent on the host"},
    {".devcontainer", "commands in it run on the host when the folder is opened (initializeCommand)"},
    {".devcontainer.json", "commands in it run on the host when the folder is opened (initializeCommand)"},
    {".dir-locals-2.el", "emacs evaluates it when a file of the directory is opened"},
    {".dir-locals.el", "emacs evaluates it when a file of the directory is opened"},
    {".direnv", "direnv loads what is in it"},
    {".direnvrc", "direnv runs it with every .envrc"},
    {".emacs", "emacs runs it"},
    {".emacs.d", "emacs runs what is in it"},
    {".emacs.el", "emacs runs it"},
    {".emacs.elc", "emacs runs it"},
    {".envrc", "direnv runs it when a shell enters the directory"},
    {".envrc.local", ".envrc files take it in"},
    {".envrc.private", ".envrc files take it in"},
    {".erlang", "erl runs it from the directory"},
    {".exrc", "vim runs it from the directory where that is turned on"},
    {".externaltoolbuilders", "programs that Eclipse runs with every build"},
    {".factory", "hooks, servers and permissions of an agent on the host"},
    {".fleet", "run configurations that the editor starts"},
    {".forward", "names programs that mail is handed to"},
    {".gclient", "gclient runs it with every command"},
    {".gdbearlyinit", "gdb runs it"},
    {".gdbinit", "gdb runs it"},
    {".gemini", "servers and permissions of an agent on the host"},
    {".ghci", "ghci runs it from the directory"},
    {".gitconfig", "aliases, pagers and filters in it are commands"},
    {".githooks", "the usual place of git hooks that a repository brings along"},
    {".github/copilot", "hooks, servers and permissions of an agent on the host"},
    {".github/hooks", "hooks that an agent on the host runs"},
    {".gitmodules", "git submodule update fetches and checks out what it names"},
    {".gvimrc", "vim runs it"},
    {".helix", "names language servers and formatters that the editor starts"},
    {".hg/hgrc", "hooks, aliases and extensions in it are commands, and hg status runs some"},
    {".hg/hgrc-not-shared", "as .hg/hgrc, for one of several shared repositories"},
    {".hg/sharedpath", "tells Mercurial to take its configuration from another directory"},
    {".hgrc", "hooks, aliases and extensions in it are commands"},
    {".husky", "npm packages set it as git's hooks directory"},
    {".huskyrc", "husky's git hook runs what it names"},
    {".huskyrc.cjs", "husky's git hook runs what it names"},
    {".huskyrc.js", "husky's git hook runs what it names"},
    {".huskyrc.json", "husky's git hook runs what it names"},
    {".huskyrc.yaml", "husky's git hook runs what it names"},
    {".huskyrc.yml", "husky's git hook runs what it names"},
    {".idea", "run configurations, watchers and external tools that the editor starts"},
    {".iex.exs", "iex runs it from the directory"},
    {".iflow", "servers and permissions of an agent on the host"},
    {".inputrc", "binds keys to commands in every shell"},
    {".irbrc", "irb runs it from the directory"},
    {".jj/repo/config.toml", "aliases, pagers and fix tools in it are commands that Jujutsu runs"},
    {".jj/workspace-config.toml", "as .jj/repo/config.toml, for one workspace"},
    {".junie", "servers of an agent on the host"},
    {".kilocode", "servers of an agent on the host"},
    {".kiro", "hooks and servers of an agent on the host"},
    {".kshrc", "ksh runs it at start"},
    {".lapce", "run configurations and settings that name programs"},
    {".lazy.lua", "a plugin of neovim's runs it from the directory"},
    {".lazygit.yml", "names pagers and commands that lazygit runs"},
    {".lefthook", "lefthook's git hook runs the scripts in it"},
    {".lefthook-local", "lefthook's git hook runs the scripts in it"},
    {".lefthook-local.json", "lefthook's git hook runs what it names"},
    {".lefthook-local.jsonc", "lefthook's git hook runs what it names"},
    {".lefthook-local.toml", "lefthook's git hook runs what it names"},
    {".lefthook-local.yaml", "lefthook's git hook runs what it names"},
    {".lefthook-local.yml", "lefthook's git hook runs what it names"},
    {".lefthook.json", "lefthook's git hook runs what it names"},
    {".lefthook.jsonc", "lefthook's git hook runs what it names"},
    {".lefthook.toml", "lefthook's git hook runs what it names"},
    {".lefthook.yaml", "lefthook's git hook runs what it names"},
    {".lefthook.yml", "lefthook's git hook runs what it names"},
    {".lldbinit", "lldb runs it"},
    {".local/bin", "mostly the first directory of PATH, so what is in it runs in place of other programs"},
    {".local/lib", "python runs what is in its site-packages at every start"},
    {".local/share/bash-completion", "bash runs what is in it when a command is completed"},
    {".login", "csh runs it at login"},
    {".lvimrc", "a plugin of vim's runs it from the directory"},
    {".mcp.json", "an agent starts the servers that it names"},
    {".mise", "mise takes hooks, tools and PATH from it when a shell enters the directory"},
    {".mise.local.toml", "mise takes hooks, tools and PATH from it when a shell enters the directory"},
    {".mise.toml", "mise takes hooks, tools and PATH from it when a shell enters the directory"},
    {".nova", "tasks that the editor starts"},
    {".npmrc", "names the shell, the node and the registry that npm uses"},
    {".nvim.lua", "neovim runs it from the directory where that is turned on"},
    {".nvimrc", "neovim runs it from the directory where that is turned on"},
    {".ocamlinit", "ocaml runs it from the directory"},
    {".octaverc", "octave runs it from the directory"},
    {".opencode", "plugins and servers of an agent on the host"},
    {".opencode.json", "servers and permissions of an agent on the host"},
    {".opencode.jsonc", "servers and permissions of an agent on the host"},
    {".openhands", "scripts that an agent runs when it opens the project"},
    {".overcommit.yml", "overcommit's git hook runs what it names"},
    {".pdbrc", "python's debugger runs it from the directory"},
    {".perldb", "perl's debugger runs it from the directory"},
    {".pi", "extensions and settings of an agent on the host"},
    {".pijul/config", "hooks in it are commands that Pijul runs"},
    {".pnpmfile.cjs", "pnpm runs it at every install"},
    {".pnpmfile.js", "pnpm runs it at every install"},
    {".pnpmfile.mjs", "pnpm runs it at every install"},
    {".powrc", "pow runs it with the application"},
    {".pre-commit-config.yaml", "pre-commit's git hook runs what it names"},
    {".pre-commit-config.yml", "pre-commit's git hook runs what it names"},
    {".pre-commit-hooks.yaml", "pre-commit's git hook runs what it names"},
    {".profile", "every login shell runs it"},
    {".pryrc", "pry runs it from the directory"},
    {".qoder", "servers of an agent on the host"},
    {".qwen", "hooks, servers and permissions of an agent on the host"},
    {".radare2rc", "radare2 runs it"},
    {".renviron", "sets what R runs at start"},
    {".repo/repo", "repo runs what is in it in its own place"},
    {".roo", "servers of an agent on the host"},
    {".rprofile", "R runs it from the directory"},
    {".rtx.toml", "mise takes hooks, tools and PATH from it when a shell enters the directory"},
    {".rvmrc", "rvm runs it when a shell enters the directory"},
    {".screenrc", "screen runs commands from it"},
    {".shadowenv.d", "shadowenv runs it when a shell enters the directory"},
    {".simple-git-hooks.cjs", "git hooks are made from it"},
    {".simple-git-hooks.js", "git hooks are made from it"},
    {".simple-git-hooks.json", "git hooks are made from it"},
    {".sl/config", "hooks and aliases in it are commands that Sapling runs"},
    {".sl/sharedpath", "tells Sapling to take its configuration from another directory"},
    {".ssh", "keys that let somebody in, and commands in its config"},
    {".tabnine", "servers of an agent on the host"},
    {".tcshrc", "tcsh runs it at start"},
    {".theia", "tasks, launch files and settings in it name programs that the editor starts"},
    {".tmux.conf", "tmux runs commands from it"},
    {".tool-versions", "asdf and mise start programs from the paths that it names"},
    {".trae", "servers of an agent on the host"},
    {".vibe", "tools, servers and permissions of an agent on the host"},
    {".vim", "vim runs what is in it"},
    {".vimrc", "vim runs it"},
    {".vscode", "tasks, launch files and settings in it name programs that the editor starts"},
    {".wezterm.lua", "the terminal runs it"},
    {".windsurf", "servers and permissions of an agent on the host"},
    {".xinitrc", "a graphical session runs it"},
    {".xprofile", "a graphical session runs it"},
    {".xsession", "a graphical session runs it"},
    {".xsessionrc", "a graphical session runs it"},
    {".yarn/plugins", "yarn loads what is in it"},
    {".yarn/releases", "yarn runs what is in it in its own place"},
    {".yarnrc", "names a program that yarn runs in its own place"},
    {".yarnrc.yml", "names a program and plugins that yarn runs"},
    {".ycm_extra_conf.py", "a plugin of vim's runs it"},
    {".zed", "tasks and language servers that the editor starts"},
    {".zencoder", "servers of an agent on the host"},
    {".zlogin", "zsh runs it at login"},
    {".zlogin.zwc", "zsh runs it in place of .zlogin"},
    {".zlogout", "zsh runs it at logout"},
    {".zlogout.zwc", "zsh runs it in place of .zlogout"},
    {".zprofile", "zsh runs it at login"},
    {".zprofile.zwc", "zsh runs it in place of .zprofile"},
    {".zshenv", "zsh runs it, for scripts as well"},
    {".zshenv.zwc", "zsh runs it in place of .zshenv"},
    {".zshrc", "zsh runs it at start"},
    {".zshrc.zwc", "zsh runs it in place of .zshrc"},
    {"_darcs/prefs/defaults", "hooks in it are commands that Darcs runs"},
    {"bunfig.toml", "names what bun loads before everything else"},
    {"captainhook.json", "captainhook's git hook runs what it names"},
    {"crush.json", "servers and permissions of an agent on the host"},
    {"git~1", "the short name that Windows gives .git"},
    {"grumphp.yaml", "grumphp's git hook runs what it names"},
    {"grumphp.yaml.dist", "grumphp's git hook runs what it names"},
    {"grumphp.yml", "grumphp's git hook runs what it names"},
    {"grumphp.yml.dist", "grumphp's git hook runs what it names"},
    {"hk.pkl", "hk's git hook runs what it names"},
    {"husky.config.cjs", "husky's git hook runs what it names"},
    {"husky.config.js", "husky's git hook runs what it names"},
    {"jupyter_config.json", "names programs and code that jupyter runs from the directory"},
    {"jupyter_config.py", "jupyter runs it from the directory"},
    {"jupyter_lab_config.json", "names programs and code that jupyter runs from the directory"},
    {"jupyter_lab_config.py", "jupyter runs it from the directory"},
    {"jupyter_notebook_config.json", "names programs and code that jupyter runs from the directory"},
    {"jupyter_notebook_config.py", "jupyter runs it from the directory"},
    {"jupyter_server_config.json", "names programs and code that jupyter runs from the directory"},
    {"jupyter_server_config.py", "jupyter runs it from the directory"},
    {"lefthook-local.json", "lefthook's git hook runs what it names"},
    {"lefthook-local.jsonc", "lefthook's git hook runs what it names"},
    {"lefthook-local.toml", "lefthook's git hook runs what it names"},
    {"lefthook-local.yaml", "lefthook's git hook runs what it names"},
    {"lefthook-local.yml", "lefthook's git hook runs what it names"},
    {"lefthook.json", "lefthook's git hook runs what it names"},
    {"lefthook.jsonc", "lefthook's git hook runs what it names"},
    {"lefthook.toml", "lefthook's git hook runs what it names"},
    {"lefthook.yaml", "lefthook's git hook runs what it names"},
    {"lefthook.yml", "lefthook's git hook runs what it names"},
    {"mise/config.toml", "as mise.toml"},
    {"mise.local.toml", "mise takes hooks, tools and PATH from it when a shell enters the directory"},
    {"mise.toml", "mise takes hooks, tools and PATH from it when a shell enters the directory"},
    {"opencode.json", "servers and permissions of an agent on the host"},
    {"opencode.jsonc", "servers and permissions of an agent on the host"},
    {"pnpmfile.js", "pnpm runs it at every install"},
    {"prek.toml", "prek's git hook runs what it names"},
    {"simple-git-hooks.cjs", "git hooks are made from it"},
    {"simple-git-hooks.js", "git hooks are made from it"},
    {"simple-git-hooks.json", "git hooks are made from it"},
};

// What no search by letters finds.
constexpr ProtectedName globs[] = {
    {"gitmod~?", "the short names that Windows gives .gitmodules"},
    {"mise.*.toml", "as mise.toml, for one of its environments"},
    {".mise.*.toml", "as mise.toml, for one of its environments"},
    {".zcompdump*", "zsh runs it at start"},
    {"*.code-workspace", "holds the same tasks and settings as .vscode"},
    {"*.sublime-project", "settings in it name programs that the editor starts"},
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
