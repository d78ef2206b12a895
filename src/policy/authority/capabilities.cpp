#include "policy/authority/capabilities.hpp"

#include <algorithm>
#include <optional>

#include "base/json/json_writer.hpp"
#include "base/lists.hpp"
#include "base/sys/path.hpp"
#include "base/text/command_words.hpp"
#include "policy/plan/system_view.hpp"
#include "policy/rules/pattern.hpp"

namespace cloche {
namespace {

constexpr std::string_view glob_signs = "*?[{";
constexpr size_t longest_hint = 1024;

bool has_glob(std::string_view text) { return text.find_first_of(glob_signs) != std::string_view::npos; }

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
std::vector<std::string> homes_near(const std::string& path, const HostPaths& host) {
  std::vector<std::string> homes = {"/root"};
  if (!host.home.empty()) homes.push_back(host.home);
  const auto parts = components_of(path);
  if (parts.size() >= 2 && parts[0] == "home") homes.push_back("/home/" + std::string(parts[1]));
  return homes;
}

bool meets(const std::string& path, const std::string& secret) {
  if (secret.ends_with('*')) {
    const std::string begin = secret.substr(0, secret.size() - 1);
    return path.starts_with(begin) || is_beneath(path, std::string(parent_of(secret)));
  }
  return is_beneath(secret, path) || is_beneath(path, secret);
}

bool is_granted(const std::string& path, const HostPaths& host) {
  return std::ranges::any_of(host.secret_grants, [&](const std::string& grant) {
    const auto expanded = expand_hint(grant, host);
    return expanded.ok() && !has_glob(expanded.value()) && is_beneath(expanded.value(), path);
  });
}

}  // namespace

std::string problem_of_hint(std::string_view hint) {
  if (hint.empty()) return "is empty";
  if (hint.size() > longest_hint) return "is longer than " + std::to_string(longest_hint) + " bytes";
  if (std::ranges::any_of(hint, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }))
    return "has a control character in it";
  if (hint.starts_with('~') && hint != "~" && !hint.starts_with("~/"))
    return "names the home of another user";
  if (has_dots(hint)) return "has .. in it";
  if (const auto glob = compile_glob(hint); !glob.ok()) return glob.error().what.text();
  return {};
}

Result<std::string> expand_hint(std::string_view hint, const HostPaths& host) {
  if (const std::string problem = problem_of_hint(hint); !problem.empty())
    return refusal("the path " + json_quote(shown(hint, 80)) + " " + problem);
  if (hint.starts_with('/')) return tidied("/", std::string(hint));
  const bool at_home = hint.starts_with('~');
  const std::string& root = at_home ? host.home : host.workspace;
  if (root.empty())
    return refusal("the path " + json_quote(shown(hint, 80)) + " means nothing: there is no " +
                   (at_home ? "home" : "workspace"));
  return tidied("/", root + "/" + std::string(at_home ? hint.substr(1) : hint));
}

std::string mount_part(std::string_view pattern) {
  std::string mount;
  for (std::string_view part : components_of(pattern)) {
    if (has_glob(part)) break;
    mount += "/" + std::string(part);
  }
  return mount.empty() ? "/" : mount;
}

std::string secret_met(const std::string& path, const HostPaths& host) {
  for (const std::string& home : homes_near(path, host)) {
    for (std::string_view secret : home_secrets)
      if (std::string found = tidied(home, std::string(secret)); meets(path, found)) return found;
  }
  for (std::string_view secret : system_secrets)
    if (meets(path, std::string(secret))) return std::string(secret);
  for (const std::string& own : host.own)
    if (!own.empty() && meets(path, own)) return own;
  return {};
}

Result<void> judge_shown_path(const std::string& path, const HostPaths& host) {
  const std::string quoted = json_quote(shown(path, 80));
  const std::string fix = "name a directory below it";
  if (path == "/") return refusal("a capability comes down to /", fix);
  if (path == "/home" || (!host.home.empty() && is_beneath(path, host.home)))
    return refusal("a capability comes down to " + quoted + ", which is or has the home directory", fix);
  if (path == "/tmp" || path == "/var/tmp" || path == "/dev/shm")
    return refusal("a capability comes down to the host's " + path, fix);
  const std::string secret = secret_met(path, host);
  if (secret.empty() || is_granted(path, host)) return {};
  return refusal("a capability for " + quoted + " meets the secrets in " + secret,
                 "grant the path in the managed or the user's configuration, or name a narrower one");
}

Result<void> judge_written_path(const std::string& path, const HostPaths& host) {
  const std::string quoted = json_quote(shown(path, 80));
  for (const auto& root : refused_roots)
    if (path == root.path || (root.below && is_beneath(root.path, path)))
      return refusal("writing to " + quoted + " would be writing to the system", "name another directory");
  for (const std::string& home : homes_near(path, host)) {
    for (std::string_view name : home_executed)
      if (const std::string found = tidied(home, std::string(name));
          meets(path, found) && !is_granted(path, host))
        return refusal("writing to " + quoted + " would be writing to what runs outside later: " + found,
                       "grant the path in the managed or the user's configuration, or name a narrower one");
  }
  return {};
}

Result<void> judge_resolved(const std::string& declared, const std::string& resolved, const HostPaths& host) {
  const auto in_workspace = [&](const std::string& path) {
    return !host.workspace.empty() && is_beneath(host.workspace, path);
  };
  if (in_workspace(resolved)) return {};
  if (in_workspace(declared))
    return refusal("a link leads from " + json_quote(shown(declared, 80)) + " out of the workspace, to " +
                   json_quote(shown(resolved, 80)));
  return judge_shown_path(resolved, host);
}

bool covers(std::string_view pattern, std::string_view path) {
  const auto glob = compile_glob(pattern);
  return glob.ok() && is_plain_absolute(path) && found_in(*glob.value(), path);
}

std::vector<std::string> outermost(std::vector<std::string> paths) {
  std::ranges::sort(paths, [](const std::string& a, const std::string& b) {
    return std::pair(a.size(), a) < std::pair(b.size(), b);
  });
  std::vector<std::string> kept;
  for (auto& path : paths) {
    if (!is_beneath_any(kept, path)) kept.push_back(std::move(path));
  }
  return kept;
}

}  // namespace cloche
