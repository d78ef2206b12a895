#include "policy/protected/git_config.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "base/lists.hpp"
#include "base/sys/path.hpp"
#include "base/text/ascii.hpp"
#include "base/text/pieces.hpp"
#include "policy/protected/folded_name.hpp"
#include "policy/protected/git_config_reader.hpp"

namespace cloche {
namespace {

// "section.key", or "section.*.key" where the section has a name of its own ([remote "origin"]). Lower case:
// git compares sections and keys without it.
constexpr std::string_view harmless[] = {
    "branch.*.description",
    "branch.*.merge",       // by is_no_option
    "branch.*.pushremote",  // by is_remote_name
    "branch.*.rebase",
    "branch.*.remote",  // by is_remote_name
    "branch.autosetupmerge",
    "branch.autosetuprebase",
    "branch.sort",
    "color.branch",
    "color.diff",
    "color.status",
    "color.ui",
    "column.ui",
    "commit.gpgsign",  // runs the host's own gpg, not one that is named here
    "commit.status",
    "commit.verbose",
    "core.abbrev",
    "core.autocrlf",
    "core.bare",
    "core.commitgraph",
    "core.compression",
    "core.eol",
    "core.excludesfile",  // by is_excludes_file
    "core.filemode",
    "core.fsmonitor",  // by is_no
    "core.ignorecase",
    "core.logallrefupdates",
    "core.longpaths",
    "core.multipackindex",
    "core.precomposeunicode",
    "core.preloadindex",
    "core.protecthfs",
    "core.protectntfs",
    "core.quotepath",
    "core.repositoryformatversion",
    "core.safecrlf",
    "core.sharedrepository",  // by is_private
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "core.symlinks",
    "core.untrackedcache",
    "core.whitespace",
    "diff.algorithm",
    "diff.colormoved",
    "diff.colormovedws",
    "diff.context",
    "diff.interhunkcontext",
    "diff.mnemonicprefix",
    "diff.noprefix",
    "diff.renamelimit",
    "diff.renames",
    "diff.submodule",
    "diff.wserrorhighlight",
    "extensions.objectformat",
    "extensions.partialclone",  // by is_remote_name
    "extensions.refstorage",
    "extensions.relativeworktrees",
    "extensions.worktreeconfig",  // that file is judged as well
    "fetch.fsckobjects",
    "fetch.parallel",
    "fetch.prune",
    "fetch.prunetags",
    "fetch.writecommitgraph",
    "gc.auto",
    "gc.autodetach",
    "gc.writecommitgraph",
    "index.sparse",
    "index.threads",
    "index.version",
    "init.defaultbranch",
    "log.abbrevcommit",
    "log.date",
    "log.decorate",
    "maintenance.auto",
    "maintenance.strategy",
    "merge.autostash",
    "merge.conflictstyle",
    "merge.ff",
    "merge.log",
    "merge.renames",
    "pack.threads",
    "pull.ff",
    "pull.rebase",
    "push.autosetupremote",
    "push.default",
    "push.followtags",
    "rebase.abbreviatecommands",
    "rebase.autosquash",
    "rebase.autostash",
    "rebase.missingcommitscheck",
    "rebase.updaterefs",
    "receive.denycurrentbranch",
    "receive.denynonfastforwards",
    "receive.fsckobjects",
    "remote.*.fetch",
    "remote.*.mirror",
    "remote.*.partialclonefilter",
    "remote.*.promisor",
    "remote.*.prune",
    "remote.*.pushurl",  // by is_url_harmless
    "remote.*.tagopt",
    "remote.*.url",  // by is_url_harmless
    "rerere.autoupdate",
    "rerere.enabled",
    "stash.showpatch",
    "stash.showstat",
    "status.branch",
    "status.relativepaths",
    "status.short",
    "status.showuntrackedfiles",
    "status.submodulesummary",
    "submodule.*.active",
    "submodule.*.branch",  // by is_no_option
    "submodule.*.url",     // by is_url_harmless
    "submodule.active",
    "tag.gpgsign",
    "tag.sort",
    "transfer.fsckobjects",
    "uploadpack.allowanysha1inwant",
    "uploadpack.allowfilter",
    "uploadpack.allowreachablesha1inwant",
    "uploadpack.allowtipsha1inwant",
    "user.email",
    "user.name",
    "user.signingkey",
    "user.useconfigonly",
    "worktree.guessremote",
    "worktree.userelativepaths",
};
static_assert(std::ranges::is_sorted(harmless));

// A backslash continues a line or hides a character, and control characters are read in different ways: none
// of them stands in what git itself writes on Linux.
bool is_plain_text(std::string_view text) {
  return std::ranges::none_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return c == '\\' || byte == 0x7f || (byte < ' ' && c != '\n' && c != '\t');
  });
}

// For every other git looks for a program of that name.
bool is_scheme_harmless(std::string_view url) {
  constexpr std::string_view gits_own[] = {"file", "ftp",   "ftps", "git",    "git+ssh",
                                           "http", "https", "ssh",  "ssh+git"};
  const size_t end = url.find("://");
  return end == std::string_view::npos || contains(gits_own, url.substr(0, end));
}

// "ext::sh -c ..." is a command, and "x::y" is the program git-remote-x; a host that begins with a dash was
// an option of ssh.
bool is_url_harmless(std::string_view value) {
  return value.find("::") == std::string_view::npos && value.find("//-") == std::string_view::npos &&
         value.find('"') == std::string_view::npos && !value.starts_with('-') && is_scheme_harmless(value);
}

// What git writes for a branch. It would take a URL or a path there as well, and fetch from that without a
// remote being named anywhere.
bool is_remote_name(std::string_view value) {
  const auto is_plain = [](char c) {
    return ascii::is_letter_or_digit(c) || std::string_view("-._/").find(c) != std::string_view::npos;
  };
  if (value == ".") return true;  // a branch of the same repository
  return !value.empty() && std::ranges::all_of(value, is_plain) && value.front() != '.' &&
         value.front() != '/' && value.front() != '-' && value.find("..") == std::string_view::npos;
}

// Git hands names of sections on to programs of its own, as words.
bool is_no_option(std::string_view word) { return !word.starts_with('-'); }

// A path of the checkout, and none of git's.
bool is_path_of_checkout(std::string_view value) {
  const auto names = components_of(value);
  const auto is_gits = [](std::string_view name) { return folded_name(name) == ".git"; };
  return is_no_option(value) && !value.starts_with('/') && !has_dots(value) &&
         std::ranges::none_of(names, is_gits);
}

// As git reads one, but for other ways to write 0. A key alone is a yes, and any other value a program; a yes
// starts a program of git's own, which goes on.
bool is_no(const GitConfigEntry& entry) {
  constexpr std::string_view words[] = {"", "0", "false", "no", "off"};
  return entry.has_value && contains(words, ascii::lowered(entry.value));
}

// A file of patterns in the checkout can do what a .gitignore or .git/info/exclude can, which every call may
// write: keep files out of `git status`, or bring back what the user's own patterns keep out. At another
// place git would open a device or a pipe. Git puts a home for "~" and its own directory for "%(prefix)".
bool is_excludes_file(std::string_view value) {
  return !value.empty() && is_path_of_checkout(value) &&
         std::string_view("~%:").find(value.front()) == std::string_view::npos;
}

// A word, of which none lets every user write, or the mode that git gives its files, in octal.
bool is_private(std::string_view value) {
  const bool is_word = std::all_of(value.begin(), value.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  const bool is_octal = std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '7'; });
  return is_word || value == "2" || (is_octal && (value.back() & 2) == 0);
}

bool is_name_harmless(const GitConfigEntry& entry) {
  return entry.section == "remote" ? is_remote_name(entry.name) : is_no_option(entry.name);
}

std::optional<std::string> danger_in(const GitConfigEntry& entry) {
  const std::string name = kind_of(entry);
  const bool is_advice = entry.section == "advice" && !entry.has_name;  // which hints git prints
  if (!is_advice && !std::ranges::binary_search(harmless, std::string_view(name)))
    return name + " is not known to run nothing";
  if (entry.has_name && !is_name_harmless(entry)) return name + ", by its name, may be an option or a URL";
  const bool is_url = name.ends_with(".url") || name.ends_with(".pushurl");
  if (is_url && !is_url_harmless(entry.value)) return name + " names a program";
  const bool is_remote =
      name == "branch.*.remote" || name == "branch.*.pushremote" || name == "extensions.partialclone";
  if (is_remote && !is_remote_name(entry.value)) return name + " is not the name of a remote";
  if (name == "core.sharedrepository" && !is_private(entry.value))
    return name + " lets every user write to what git writes";
  if (name == "core.fsmonitor" && !is_no(entry)) return name + " runs a program";
  if (name == "core.excludesfile" && !is_excludes_file(entry.value))
    return name + " names no file of the checkout";
  const bool is_branch = name == "branch.*.merge" || name == "submodule.*.branch";
  if (is_branch && !is_no_option(entry.value)) return name + " is an option";
  return std::nullopt;
}

// What only a .gitmodules says.
bool is_known_of_submodule(const GitConfigEntry& entry) {
  constexpr std::string_view updates[] = {"checkout", "merge", "none", "rebase"};
  const std::string kind = kind_of(entry);
  if (kind == "submodule.*.path") return is_path_of_checkout(entry.value);
  if (kind == "submodule.*.update") return contains(updates, entry.value);
  return kind == "submodule.*.shallow" || kind == "submodule.*.ignore" ||
         kind == "submodule.*.fetchrecursesubmodules";
}

std::string percent_decoded(std::string_view text) {
  const auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; };
  const auto is_hex = [](char c) {
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
  };
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_code = text[i] == '%' && i + 2 < text.size() && is_hex(text[i + 1]) && is_hex(text[i + 2]);
    decoded += is_code ? static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2])) : text[i];
    if (is_code) i += 2;
  }
  return decoded;
}

struct Danger {
  std::string written;  // empty: nothing that could have been there before as well
  std::string what;     // for a sentence
};

// No value holds a NUL, so two entries are written the same only when they are.
std::string written(const GitConfigEntry& entry) {
  std::string text = entry.section;
  if (entry.has_name) text += " \"" + entry.name + "\"";
  return text + "\n" + entry.key + "=" + entry.value;
}

std::vector<Danger> all_dangers(std::string_view text, const AllowsWorktree& allows_worktree = {}) {
  if (text.size() > max_git_config_bytes) return {{"", "it is too long to be judged"}};
  std::vector<Danger> found;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = take_line(rest);
    if (!is_plain_text(line))
      found.push_back({std::string(line), "it holds a backslash or a control character"});
  }
  GitConfigReader reader(text);
  while (const auto entry = reader.next()) {
    const bool is_worktree = kind_of(*entry) == "core.worktree";
    if (is_worktree && allows_worktree && allows_worktree(entry->value)) continue;
    if (auto danger = danger_in(*entry)) found.push_back({written(*entry), std::move(*danger)});
  }
  if (reader.has_failed()) found.push_back({"", "a line in it cannot be read"});
  return found;
}

std::string_view first_word(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  // Whatever could end a word for some version of git.
  return line.substr(0, line.find_first_of(std::string_view(" \t\r\v\f\0", 6)));
}

constexpr std::string_view key = "strategy";

}  // namespace

std::vector<std::string> dangers_in_git_config(std::string_view text) {
  std::vector<std::string> found;
  for (auto& danger : all_dangers(text)) {
    const bool is_whole = danger.written.find('\0') == std::string::npos;
    if (!danger.written.empty() && is_whole) found.push_back(std::move(danger.written));
  }
  return found;
}

std::optional<std::string> danger_in_git_config(std::string_view text, const std::vector<std::string>& before,
                                                const AllowsWorktree& allows_worktree) {
  for (auto& danger : all_dangers(text, allows_worktree)) {
    const bool was_there = !danger.written.empty() && contains(before, danger.written);
    if (!was_there) return std::move(danger.what);
  }
  return std::nullopt;
}

std::string object_format(std::string_view text) {
  std::string format = "sha1";
  GitConfigReader reader(text);
  while (const auto entry = reader.next())
    if (kind_of(*entry) == "extensions.objectformat") format = entry->value;
  return format;
}

std::vector<std::string> local_remotes(std::string_view text) {
  constexpr std::string_view scheme = "file://";
  std::vector<std::string> paths;
  GitConfigReader reader(text);
  while (const auto entry = reader.next()) {
    const std::string kind = kind_of(*entry);
    if (kind != "remote.*.url" && kind != "remote.*.pushurl") continue;
    if (entry->value.starts_with(scheme)) {
      const std::string path = percent_decoded(std::string_view(entry->value).substr(scheme.size()));
      paths.push_back(path.substr(std::min(path.find('/'), path.size())));  // behind the name of a host
    } else if (entry->value.find(':') >= entry->value.find('/')) {
      paths.push_back(entry->value);  // and not HOST:PATH
    }
  }
  return paths;
}

bool is_gitmodules(std::string_view name) { return folded_name(name) == ".gitmodules"; }

std::optional<std::string> danger_in_gitmodules(std::string_view text) {
  if (text.size() > max_git_config_bytes) return "it is too long to be judged";
  if (!std::ranges::all_of(text, [](char c) { return is_plain_text({&c, 1}); }))
    return "it holds a backslash or a control character";
  GitConfigReader reader(text);
  while (const auto entry = reader.next()) {
    if (!is_known_of_submodule(*entry)) {
      if (auto danger = danger_in(*entry)) return danger;
    } else if (!is_name_harmless(*entry) || has_dots(entry->name)) {
      return kind_of(*entry) + ", by its name, may be an option or another directory";
    }
  }
  if (reader.has_failed()) return "a line in it cannot be read";
  return std::nullopt;
}

bool has_exec_line(std::string_view todo) {
  while (!todo.empty()) {
    const std::string_view word = first_word(take_line(todo));
    if (word == "exec" || word == "x") return true;
  }
  return false;
}

bool is_strategy_by_path(std::string_view text) { return text.find('/') != std::string_view::npos; }

// Git reads it as a configuration. A backslash hides characters and ends of lines, and git writes none.
bool has_strategy_by_path(std::string_view opts) {
  if (opts.find('\\') != std::string_view::npos) return true;
  const std::string text = ascii::lowered(opts);
  for (size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 1)) {
    const std::string_view rest = std::string_view(text).substr(at + key.size());
    if (rest.starts_with("-option")) continue;
    if (is_strategy_by_path(rest.substr(0, rest.find('\n')))) return true;
  }
  return false;
}

}  // namespace cloche
