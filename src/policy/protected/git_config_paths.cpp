#include "policy/protected/git_config_paths.hpp"

#include <algorithm>
#include <iterator>

#include "base/lists.hpp"
#include "base/text/pieces.hpp"
#include "policy/protected/git_config_reader.hpp"

namespace cloche {
namespace {

// Keys whose value git runs, mostly by a shell; "section.*" for whatever key the section has. Not those of
// data, such as commit.template: to work on what these name is ordinary.
constexpr std::string_view programs[] = {
    "alias.*",
    "alias.*.command",
    "browser.*.cmd",
    "browser.*.path",
    "core.alternaterefscommand",
    "core.askpass",
    "core.attributesfile",  // no program, but it says for which files those of filters are run
    "core.editor",
    "core.fsmonitor",
    "core.gitproxy",
    "core.pager",
    "core.sshcommand",
    "credential.*.helper",
    "credential.helper",
    "diff.*.command",
    "diff.*.textconv",
    "diff.external",
    "difftool.*.cmd",
    "difftool.*.path",
    "filter.*.clean",
    "filter.*.process",
    "filter.*.smudge",
    "gc.recentobjectshook",
    "gpg.*.defaultkeycommand",
    "gpg.*.program",
    "gpg.program",
    "guitool.*.cmd",
    "hook.*.command",
    "imap.tunnel",
    "interactive.difffilter",
    "lfs.*.clean",
    "lfs.*.path",
    "lfs.*.smudge",
    "man.*.cmd",
    "man.*.path",
    "merge.*.driver",
    "mergetool.*.cmd",
    "mergetool.*.path",
    "pager.*",
    "remote.*.receivepack",
    "remote.*.uploadpack",
    "sendemail.*.cccmd",
    "sendemail.*.headercmd",
    "sendemail.*.sendmailcmd",
    "sendemail.*.smtpserver",
    "sendemail.*.tocmd",
    "sendemail.cccmd",
    "sendemail.headercmd",
    "sendemail.sendmailcmd",
    "sendemail.smtpserver",
    "sendemail.tocmd",
    "sequence.editor",
    "submodule.*.update",
    "svn.authorsprog",
    "tar.*.command",
    "trailer.*.cmd",
    "trailer.*.command",
    "uploadpack.packobjectshook",
};
static_assert(std::ranges::is_sorted(programs));

bool names_program(const GitConfigEntry& entry) {
  const auto is_listed = [](std::string_view kind) { return std::ranges::binary_search(programs, kind); };
  return is_listed(kind_of(entry)) || (!entry.has_name && is_listed(entry.section + ".*"));
}

// The first word of a command, as a shell takes it: pieces in quotes and letters behind a backslash are part
// of it. What is left begins behind it.
std::string take_word(std::string_view& command) {
  command.remove_prefix(std::min(command.find_first_not_of(" \t"), command.size()));
  std::string word;
  char quote = 0;
  size_t i = 0;
  for (; i < command.size(); ++i) {
    const char c = command[i];
    if (c == '\\' && quote != '\'' && i + 1 < command.size()) {
      word += command[++i];
    } else if (quote != 0 ? c == quote : c == '"' || c == '\'') {
      quote = quote != 0 ? 0 : c;
    } else if (quote == 0 && std::string_view(" \t\n;&|<>()").find(c) != std::string_view::npos) {
      break;
    } else {
      word += c;
    }
  }
  command.remove_prefix(std::min(i, command.size()));
  return word;
}

// Words that a shell takes for no program, or that only start another.
bool is_prefix(std::string_view word) {
  constexpr std::string_view starters[] = {"command", "env", "exec", "nice", "nohup", "time"};
  const size_t name =
      word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
  const bool is_assignment = name != std::string_view::npos && name > 0 && word[name] == '=';
  return is_assignment || contains(starters, word);
}

// "!" says that it is for a shell, which begins at the top of the working tree. One without a slash is looked
// for in PATH.
std::string program_in(std::string_view command) {
  command.remove_prefix(std::min(command.find_first_not_of("! \t"), command.size()));
  std::string word = take_word(command);
  while (is_prefix(word)) word = take_word(command);
  for (const std::string_view here : {"$PWD/", "${PWD}/"}) {
    if (word.starts_with(here)) word.erase(0, here.size() - 1).insert(0, ".");
  }
  for (const std::string_view home : {"$HOME/", "${HOME}/"}) {
    if (word.starts_with(home)) word.erase(0, home.size() - 1).insert(0, "~");
  }
  return word.find('/') != std::string::npos ? word : std::string();
}

// Git's strings end there.
std::string up_to_nul(std::string value) {
  value.resize(std::min(value.find('\0'), value.size()));
  return value;
}

bool is_hooks(std::string_view kind) { return kind == "core.hookspath" || kind == "init.templatedir"; }
bool is_include(std::string_view kind) { return kind == "include.path" || kind == "includeif.*.path"; }

}  // namespace

SaidPlaces places_said(std::string_view git_config) {
  SaidPlaces said;
  const auto add = [&](std::string path, PlaceKind kind) {
    if (!path.empty()) said.places.push_back({std::move(path), kind});
  };
  GitConfigReader reader(git_config);
  while (auto entry = reader.next()) {
    const std::string kind = kind_of(*entry);
    std::string value = up_to_nul(std::move(entry->value));
    if (kind == "core.worktree") {
      said.working_tree = std::move(value);
    } else if (is_hooks(kind)) {
      add(std::move(value), PlaceKind::hooks);
    } else if (is_include(kind)) {
      add(std::move(value), PlaceKind::config);
    } else if (names_program(*entry)) {
      add(program_in(value), PlaceKind::program);
    }
  }
  return said;
}

std::string home_in_passwd(std::string_view text, std::string_view user) {
  constexpr int home_field = 5;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    if (!line.starts_with(user) || line.substr(user.size(), 1) != ":") continue;
    for (int i = 0; i < home_field && !line.empty(); ++i)
      line.remove_prefix(std::min(line.find(':'), line.size() - 1) + 1);
    return std::string(line.substr(0, line.find(':')));
  }
  return {};
}

std::string place_from(std::string_view path, std::string_view base, const HomeOf& home_of) {
  constexpr std::string_view optional = ":(optional)";
  if (path.starts_with(optional)) path.remove_prefix(optional.size());
  if (path.empty() || path.starts_with("%(prefix)")) return {};  // git's own installation
  if (path[0] == '/') return std::string(path);
  if (path[0] != '~') return base.empty() ? std::string() : std::string(base) + "/" + std::string(path);
  const size_t end = std::min(path.find('/'), path.size());
  const std::string home = home_of(path.substr(1, end - 1));
  return home.empty() ? std::string() : home + std::string(path.substr(end));
}

std::string pointer_in(std::string_view text, std::string_view key, const std::string& base) {
  if (!text.starts_with(key)) return {};
  text.remove_prefix(key.size());
  text = text.substr(0, text.find('\0'));  // as git reads it
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  if (text.empty() || text[0] == '/') return std::string(text);
  return base + "/" + std::string(text);
}

}  // namespace cloche
