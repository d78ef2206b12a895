#include "policy/authority/capabilities.hpp"

#include <algorithm>
#include <optional>

#include "base/json/json_writer.hpp"
#include "base/sys/path.hpp"
#include "base/text/command_words.hpp"
#include "policy/plan/system_view.hpp"
#include "policy/rules/pattern.hpp"

namespace cloche {
namespace {

constexpr std::string_view glob_signs = "*?[{";
constexpr size_t longest_hint = 1024;

bool has_glob(std::string_view text) { return text.find_first_of(glob_signs) != std::string_view::npos; }

std::string joined(const std::string& root, std::string_view rest) {
  std::string path = root == "/" ? "" : root;
  for (std::string_view part : components_of(rest)) path += "/" + std::string(part);
  return path.empty() ? "/" : path;
}

// Whether the inside of a set has the slash in it, by itself or within a range: a set stays within a
// component.
bool has_slash(std::string_view set) {
  for (size_t i = 0; i < set.size(); ++i) {
    if (set[i] == '/') return true;
    if (i + 2 < set.size() && set[i + 1] == '-' && set[i] <= '/' && set[i + 2] >= '/') return true;
  }
  return false;
}

// A glob as a pattern of RE2. Nothing: its brackets do not close, or hold a slash.
class GlobTranslator {
 public:
  explicit GlobTranslator(std::string_view glob) : glob_(glob) {}

  std::optional<std::string> translate() {
    while (at_ < glob_.size()) {
      if (!step()) return {};
    }
    if (braces_ != 0) return {};
    // Without a glob it is a file, or a directory with all that is in it.
    return "^(?:" + pattern_ + (has_glob(glob_) ? ")$" : "(?:/.*)?)$");
  }

 private:
  bool step() {
    const char c = glob_[at_++];
    switch (c) {
      case '/': return slash();
      case '*': pattern_ += "[^/]*"; return true;
      case '?': pattern_ += "[^/]"; return true;
      case '[': return set();
      case '{':
        pattern_ += "(?:";
        ++braces_;
        return true;
      case '}':
        if (braces_ == 0) return literal(c);
        pattern_ += ")";
        --braces_;
        return true;
      case ',':
        if (braces_ == 0) return literal(c);
        pattern_ += "|";
        return true;
      default: return literal(c);
    }
  }

  bool literal(char c) {
    pattern_ += RE2::QuoteMeta(re2::StringPiece(&c, 1));
    return true;
  }

  // A whole component ** is any number of components; a/** is a as well.
  bool slash() {
    const std::string_view rest = glob_.substr(at_);
    if (rest == "**" || rest.starts_with("**/")) {
      pattern_ += "(?:/[^/]+)*";
      at_ += 2;
      return true;
    }
    return literal('/');
  }

  bool set() {
    const size_t end = glob_.find(']', at_ + (at_ < glob_.size() && glob_[at_] == '!' ? 2 : 1));
    if (end == std::string_view::npos) return false;
    std::string_view inside = glob_.substr(at_, end - at_);
    at_ = end + 1;
    const bool negated = inside.starts_with('!');
    if (negated) inside.remove_prefix(1);
    if (inside.empty() || has_slash(inside)) return false;
    pattern_ += negated ? "[^/" : "[";
    for (char c : inside) {
      if (c == '\\' || c == '[' || c == ']' || c == '^') pattern_ += '\\';
      pattern_ += c;
    }
    pattern_ += "]";
    return true;
  }

  std::string_view glob_;
  size_t at_ = 0;
  int braces_ = 0;
  std::string pattern_ = {};
};

Result<std::shared_ptr<const RE2>> compile_glob(std::string_view glob) {
  const auto pattern = GlobTranslator(glob).translate();
  if (!pattern) return refusal("has brackets that do not close or hold a slash");
  return compile_pattern(*pattern, Dot::matches_newline);
}

// The directories that have a home's secrets in them: ours, root's, and each below /home.
std::vector<std::string> homes_near(const std::string& place, const HostNames& names) {
  std::vector<std::string> homes = {"/root"};
  if (!names.home.empty()) homes.push_back(names.home);
  const auto parts = components_of(place);
  if (parts.size() >= 2 && parts[0] == "home") homes.push_back("/home/" + std::string(parts[1]));
  return homes;
}

bool meets(const std::string& place, const std::string& secret) {
  if (secret.ends_with('*')) {
    const std::string begin = secret.substr(0, secret.size() - 1);
    return place.starts_with(begin) || is_beneath(place, std::string(parent_of(secret)));
  }
  return is_beneath(secret, place) || is_beneath(place, secret);
}

bool is_granted(const std::string& place, const HostNames& names) {
  return std::any_of(names.secret_grants.begin(), names.secret_grants.end(), [&](const std::string& grant) {
    const auto expanded = expand_hint(grant, names);
    return expanded.ok() && !has_glob(expanded.value()) && is_beneath(expanded.value(), place);
  });
}

}  // namespace

std::string problem_of_hint(std::string_view hint) {
  if (hint.empty()) return "is empty";
  if (hint.size() > longest_hint) return "is longer than " + std::to_string(longest_hint) + " bytes";
  if (std::any_of(hint.begin(), hint.end(),
                  [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }))
    return "has a control character in it";
  if (hint.starts_with('~') && hint != "~" && !hint.starts_with("~/"))
    return "names the home of another user";
  const auto parts = components_of(hint);
  if (std::find(parts.begin(), parts.end(), "..") != parts.end()) return "has .. in it";
  if (const auto glob = compile_glob(hint); !glob.ok()) return glob.error().what.text();
  return {};
}

Result<std::string> expand_hint(std::string_view hint, const HostNames& names) {
  if (const std::string problem = problem_of_hint(hint); !problem.empty())
    return refusal("the path " + json_quote(shown(hint, 80)) + " " + problem);
  if (hint.starts_with('/')) return joined("/", hint);
  const bool at_home = hint.starts_with('~');
  const std::string& root = at_home ? names.home : names.workspace;
  if (root.empty())
    return refusal("the path " + json_quote(shown(hint, 80)) + " means nothing: there is no " +
                   (at_home ? "home" : "workspace"));
  return joined(root, at_home ? hint.substr(1) : hint);
}

std::string mount_part(std::string_view pattern) {
  std::string mount;
  for (std::string_view part : components_of(pattern)) {
    if (has_glob(part)) break;
    mount += "/" + std::string(part);
  }
  return mount.empty() ? "/" : mount;
}

std::string secret_met(const std::string& place, const HostNames& names) {
  for (const std::string& home : homes_near(place, names)) {
    for (std::string_view secret : home_secrets)
      if (const std::string path = joined(home, secret); meets(place, path)) return path;
  }
  for (std::string_view secret : system_secrets)
    if (meets(place, std::string(secret))) return std::string(secret);
  for (const std::string& own : names.own)
    if (!own.empty() && meets(place, own)) return own;
  return {};
}

Result<void> judge_place(const std::string& place, const HostNames& names) {
  const std::string shown_place = json_quote(shown(place, 80));
  const std::string fix = "name a directory below it";
  if (place == "/") return refusal("a capability comes down to /", fix);
  if (place == "/home" || (!names.home.empty() && is_beneath(place, names.home)))
    return refusal("a capability comes down to " + shown_place + ", which is or has the home directory", fix);
  if (place == "/tmp" || place == "/var/tmp" || place == "/dev/shm")
    return refusal("a capability comes down to the host's " + place, fix);
  const std::string secret = secret_met(place, names);
  if (secret.empty() || is_granted(place, names)) return {};
  return refusal("a capability for " + shown_place + " meets the secrets in " + secret,
                 "grant the path in the managed or the user's configuration, or name a narrower one");
}

Result<void> judge_written_place(const std::string& place, const HostNames& names) {
  const std::string shown_place = json_quote(shown(place, 80));
  for (const auto& root : refused_roots)
    if (place == root.path || (root.below && is_beneath(root.path, place)))
      return refusal("writing to " + shown_place + " would be writing to the system",
                     "name another directory");
  for (const std::string& home : homes_near(place, names)) {
    for (std::string_view name : home_executed)
      if (const std::string path = joined(home, name); meets(place, path) && !is_granted(place, names))
        return refusal("writing to " + shown_place + " would be writing to what runs outside later: " + path,
                       "grant the path in the managed or the user's configuration, or name a narrower one");
  }
  return {};
}

Result<void> judge_resolved(const std::string& declared, const std::string& resolved,
                            const HostNames& names) {
  const auto in_workspace = [&](const std::string& path) {
    return !names.workspace.empty() && is_beneath(names.workspace, path);
  };
  if (in_workspace(resolved)) return {};
  if (in_workspace(declared))
    return refusal("a link leads from " + json_quote(shown(declared, 80)) + " out of the workspace, to " +
                   json_quote(shown(resolved, 80)));
  return judge_place(resolved, names);
}

bool covers(std::string_view pattern, std::string_view path) {
  const auto glob = compile_glob(pattern);
  return glob.ok() && is_plain_absolute(path) && found_in(*glob.value(), path);
}

std::vector<std::string> outermost(std::vector<std::string> paths) {
  std::sort(paths.begin(), paths.end(), [](const std::string& a, const std::string& b) {
    return std::pair(a.size(), a) < std::pair(b.size(), b);
  });
  std::vector<std::string> kept;
  for (auto& path : paths) {
    const bool within = std::any_of(kept.begin(), kept.end(),
                                    [&](const std::string& other) { return is_beneath(other, path); });
    if (!within) kept.push_back(std::move(path));
  }
  return kept;
}

}  // namespace cloche
