#include "policy/git_config.hpp"

#include <algorithm>
#include <iterator>

namespace cloche {
namespace {

// "section.key", or "section.*.key" where the section has a name of its own ([remote "origin"]). Lower case:
// git compares sections and keys without it.
constexpr std::string_view harmless[] = {
    "branch.*.description",
    "branch.*.merge",
    "branch.*.pushremote",  // by is_remote_name
    "branch.*.rebase",
    "branch.*.remote",  // by is_remote_name
    "color.branch",
    "color.diff",
    "color.status",
    "color.ui",
    "commit.gpgsign",  // runs the host's own gpg, not one that is named here
    "core.abbrev",
    "core.autocrlf",
    "core.bare",
    "core.compression",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.logallrefupdates",
    "core.precomposeunicode",
    "core.preloadindex",
    "core.protecthfs",
    "core.protectntfs",
    "core.quotepath",
    "core.repositoryformatversion",
    "core.safecrlf",
    "core.sharedrepository",
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "core.symlinks",
    "core.untrackedcache",
    "core.whitespace",
    "extensions.objectformat",
    "extensions.partialclone",
    "extensions.refstorage",
    "extensions.worktreeconfig",  // that file is judged as well
    "fetch.prune",
    "gc.auto",
    "gc.autodetach",
    "index.version",
    "init.defaultbranch",
    "merge.conflictstyle",
    "merge.ff",
    "pack.threads",
    "pull.ff",
    "pull.rebase",
    "push.autosetupremote",
    "push.default",
    "receive.denycurrentbranch",
    "remote.*.fetch",
    "remote.*.mirror",
    "remote.*.partialclonefilter",
    "remote.*.promisor",
    "remote.*.prune",
    "remote.*.pushurl",  // by is_url_harmless
    "remote.*.tagopt",
    "remote.*.url",  // by is_url_harmless
    "rerere.enabled",
    "submodule.*.active",
    "submodule.*.branch",
    "submodule.*.url",  // by is_url_harmless
    "submodule.active",
    "tag.gpgsign",
    "user.email",
    "user.name",
    "user.signingkey",
};
static_assert(std::is_sorted(std::begin(harmless), std::end(harmless)));

bool is_key_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// A backslash continues a line or hides a character, and control characters are read in different ways: none
// of them stands in what git itself writes on Linux.
bool is_plain_text(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return c == '\\' || byte == 0x7f || (byte < ' ' && c != '\n' && c != '\t');
  });
}

// "ext::sh -c ..." is a command, and "x::y" is the program git-remote-x; a host that begins with a dash was
// an option of ssh.
bool is_url_harmless(std::string_view value) {
  return value.find("::") == std::string_view::npos && value.find("//-") == std::string_view::npos &&
         value.find('"') == std::string_view::npos && !value.starts_with('-');
}

// What git writes for a branch. It would take a URL or a path there as well, and fetch from that without a
// remote being named anywhere.
bool is_remote_name(std::string_view value) {
  const auto is_plain = [](char c) { return is_key_byte(c) || c == '.' || c == '_' || c == '/'; };
  if (value == ".") return true;  // a branch of the same repository
  return !value.empty() && std::all_of(value.begin(), value.end(), is_plain) && value.front() != '.' &&
         value.front() != '/' && value.front() != '-' && value.find("..") == std::string_view::npos;
}

// [core] or [remote "origin"], alone on its line; "" and "*" for what stands between section and key.
struct Section {
  std::string name;
  bool has_name = false;
};
std::optional<Section> read_section(std::string_view line) {
  if (line.size() < 3 || line.front() != '[' || line.back() != ']') return std::nullopt;
  const std::string_view inner = line.substr(1, line.size() - 2);
  const size_t end = static_cast<size_t>(
      std::distance(inner.begin(), std::find_if_not(inner.begin(), inner.end(), is_key_byte)));
  if (end == 0) return std::nullopt;
  Section section{lower(inner.substr(0, end))};
  if (end == inner.size()) return section;
  const std::string_view quoted = trimmed(inner.substr(end));
  if (quoted.size() < 2 || quoted.front() != '"' || quoted.find('"', 1) != quoted.size() - 1)
    return std::nullopt;
  section.has_name = true;
  return section;
}

struct Assignment {
  std::string key;
  std::string_view value;
};
std::optional<Assignment> read_assignment(std::string_view line) {
  const size_t equals = std::min(line.find('='), line.size());
  const std::string_view key = trimmed(line.substr(0, equals));
  if (key.empty() || !std::all_of(key.begin(), key.end(), is_key_byte)) return std::nullopt;
  return Assignment{lower(key), equals < line.size() ? trimmed(line.substr(equals + 1)) : ""};
}

std::optional<std::string> danger_in(const Section& section, const Assignment& assignment) {
  const std::string name = section.name + (section.has_name ? ".*." : ".") + assignment.key;
  if (!std::binary_search(std::begin(harmless), std::end(harmless), std::string_view(name)))
    return name + " is not known to run nothing";
  const bool is_url = name.ends_with(".url") || name.ends_with(".pushurl");
  if (is_url && !is_url_harmless(assignment.value)) return name + " names a program";
  const bool is_remote = name == "branch.*.remote" || name == "branch.*.pushremote";
  if (is_remote && !is_remote_name(assignment.value)) return name + " is not the name of a remote";
  return std::nullopt;
}

}  // namespace

// Reads what it can: a configuration that was there before the command is the user's, whatever is in it.
std::vector<ExecutedPlace> executed_places(std::string_view text) {
  std::vector<ExecutedPlace> places;
  std::optional<Section> section;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && line.front() == '[') section = read_section(line);
    const auto assignment = section ? read_assignment(line) : std::nullopt;
    if (!assignment) continue;
    const bool hooks = section->name == "core" && assignment->key == "hookspath";
    const bool included =
        (section->name == "include" || section->name == "includeif") && assignment->key == "path";
    std::string path(assignment->value);
    std::erase(path, '"');
    if ((hooks || included) && !path.empty()) places.push_back({std::move(path), included});
  }
  return places;
}

std::optional<std::string> danger_in_git_config(std::string_view text) {
  if (text.size() > max_git_config_bytes) return "it is too long to be judged";
  if (!is_plain_text(text)) return "it holds a backslash or a control character";
  std::optional<Section> section;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[') {
      section = read_section(line);
      if (!section) return "a section in it cannot be read";
      continue;
    }
    const auto assignment = read_assignment(line);
    if (!section || !assignment) return "a line in it cannot be read";
    if (auto danger = danger_in(*section, *assignment)) return danger;
  }
  return std::nullopt;
}

}  // namespace cloche
