#include "store/host/toolchains.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/sys/directory.hpp"
#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "base/text/ascii.hpp"
#include "policy/authority/capabilities.hpp"
#include "store/host/system_facts.hpp"

namespace cloche {
namespace {

FileFact look_through(const std::string& path) {
  FileFact fact{.path = path};
  auto held = sys::hold(path);
  struct stat seen {};
  if (!held.ok() || ::fstat(held.value().fd.get(), &seen) != 0) return fact;
  return fact_from(seen, std::move(held.value().path));
}

// A directory may be a link of the caller's own, made for some other reason: what it leads to is shown no
// more than a capability for it would be.
bool leads_to_secrets(const ToolchainQuery& query, const std::string& path, const FileFact& fact) {
  if (fact.path == path) return false;
  const auto home = sys::hold(query.home);  // may be behind a link as well
  return !judge_shown_path(fact.path, {.home = home.ok() ? home.value().path : query.home}).ok();
}

// Trees below /usr are in every view already. One that stands behind a link is shown where it is, and the
// name that the caller's PATH and settings use leads there.
bool show(const ToolchainQuery& query, ToolchainFact& chain, const std::string& path) {
  if (::access(path.c_str(), F_OK) != 0) return false;  // usual, and cheaper than to open it
  FileFact fact = look_through(path);
  if (!fact.exists() || leads_to_secrets(query, path, fact)) return false;
  if (fact.path != path && is_plain_absolute(path) && is_plain_absolute(fact.path)) {
    chain.trees.push_back({.kind = FileFact::Kind::link, .path = path, .link = fact.path});
  }
  const bool shown_anyway = is_beneath("/usr", fact.path) || is_beneath("/opt", fact.path);
  if (!shown_anyway && is_plain_absolute(fact.path)) chain.trees.push_back(std::move(fact));
  return true;
}

std::string root_of(const ToolchainQuery& query, std::string_view variable, std::string_view below_home) {
  std::string root = query.variable(variable);
  if (root.empty() && !query.home.empty()) root = query.home + std::string(below_home);
  return is_plain_absolute(root) && root != "/" && root != query.home ? root : std::string();
}

// Absolute, and the same in an address or an option that words are split from.
bool is_plain_address(std::string_view path) {
  return is_plain_absolute(path) && std::ranges::all_of(path, [](char c) {
           return ascii::is_letter_or_digit(c) ||
                  std::string_view("/._-+@").find(c) != std::string_view::npos;
         });
}

bool is_directory(const std::string& path) {
  struct stat seen {};
  return ::stat(path.c_str(), &seen) == 0 && S_ISDIR(seen.st_mode);
}

ToolchainFact pyenv(const ToolchainQuery& query) {
  ToolchainFact chain{.name = "pyenv"};
  const std::string root = root_of(query, "PYENV_ROOT", "/.pyenv");
  if (root.empty() || !is_directory(root + "/versions") || !show(query, chain, root)) return chain;
  chain.path = {root + "/shims", root + "/bin"};
  chain.environment["PYENV_ROOT"] = root;
  // What a shim executes instead of pip: pip, and then pyenv's rehash, which writes to the shims and fails.
  const std::string rehash = "/pyenv.d/exec/pip-rehash";
  if (!chain.trees.empty() && is_directory(root + rehash))
    chain.masked.push_back(chain.trees.back().path + rehash);
  return chain;
}

// "v9.11.2" before "v20.1.0": runs of digits count as numbers.
bool is_older(const std::string& a, const std::string& b) {
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() && j < b.size()) {
    uint64_t left = 0;
    uint64_t right = 0;
    const auto* after_left = std::from_chars(a.data() + i, a.data() + a.size(), left).ptr;
    const auto* after_right = std::from_chars(b.data() + j, b.data() + b.size(), right).ptr;
    if (after_left != a.data() + i && after_right != b.data() + j) {
      if (left != right) return left < right;
      i = static_cast<size_t>(after_left - a.data());
      j = static_cast<size_t>(after_right - b.data());
    } else if (a[i] != b[j]) {
      return a[i] < b[j];
    } else {
      ++i;
      ++j;
    }
  }
  return a.size() - i < b.size() - j;
}

// The version that the caller's shell chose, by its PATH; else the last one installed.
ToolchainFact nvm(const ToolchainQuery& query) {
  ToolchainFact chain{.name = "nvm"};
  const std::string root = root_of(query, "NVM_DIR", "/.nvm");
  const std::string versions = root + "/versions/node";
  if (root.empty() || !is_directory(versions) || !show(query, chain, versions)) return chain;
  const auto names = names_in(versions);
  for (const auto& name : names) {
    const std::string bin = versions + "/" + name + "/bin";
    if ((":" + query.path + ":").find(":" + bin + ":") != std::string::npos) chain.path.push_back(bin);
  }
  const auto newest = std::max_element(names.begin(), names.end(), is_older);
  if (chain.path.empty() && newest != names.end()) chain.path.push_back(versions + "/" + *newest + "/bin");
  return chain;
}

// Never ~/.cargo itself: it holds credentials.toml. Cargo writes to a home of its own inside. Of what it
// fetched from repositories of git nothing is shown, for their addresses may hold a password.
ToolchainFact cargo(const ToolchainQuery& query) {
  ToolchainFact chain{.name = "cargo"};
  const std::string home = root_of(query, "CARGO_HOME", "/.cargo");
  const std::string rustup = root_of(query, "RUSTUP_HOME", "/.rustup");
  if (home.empty()) return chain;
  if (show(query, chain, home + "/registry")) chain.offline["CARGO_HOME"] = home;
  if (!show(query, chain, home + "/bin")) return chain;
  chain.path = {home + "/bin"};
  if (!rustup.empty() && is_directory(rustup + "/toolchains") && show(query, chain, rustup)) {
    chain.environment["RUSTUP_HOME"] = rustup;
  }
  return chain;
}

ToolchainFact go(const ToolchainQuery& query) {
  ToolchainFact chain{.name = "go"};
  if (is_directory("/usr/local/go/bin")) chain.path.emplace_back("/usr/local/go/bin");
  const std::string tools = root_of(query, "GOPATH", "/go");
  if (!tools.empty() && is_directory(tools + "/bin") && show(query, chain, tools + "/bin"))
    chain.path.push_back(tools + "/bin");
  // What was downloaded is laid out as a proxy answers, and go asks that before any other. Not the rest of
  // the module cache: it has clones of repositories, whose addresses may hold a password.
  const std::string modules = query.variable("GOMODCACHE");
  const std::string fetched =
      (modules.empty() && !tools.empty() ? tools + "/pkg/mod" : modules) + "/cache/download";
  if (is_plain_address(fetched) && is_directory(fetched) && show(query, chain, fetched))
    chain.environment["GOPROXY"] = "file://" + fetched + ",https://proxy.golang.org,direct";
  return chain;
}

// Not ~/.npm itself, which has logs.
ToolchainFact npm(const ToolchainQuery& query) {
  ToolchainFact chain{.name = "npm"};
  const std::string cache = root_of(query, "npm_config_cache", "/.npm");
  if (!cache.empty() && show(query, chain, cache + "/_cacache")) chain.offline["npm_config_cache"] = cache;
  return chain;
}

// Not ~/.m2 itself: it holds settings.xml.
ToolchainFact maven(const ToolchainQuery& query) {
  ToolchainFact chain{.name = "maven"};
  const std::string repository = query.home + "/.m2/repository";
  if (!query.home.empty() && is_plain_address(repository) && show(query, chain, repository))
    chain.offline["MAVEN_OPTS"] = "-Dmaven.repo.local=" + repository;
  return chain;
}

// The wheels that pip built. It reads no cache that it cannot write to, so no variable leads there.
ToolchainFact pip(const ToolchainQuery& query) {
  ToolchainFact chain{.name = "pip"};
  const std::string cache = root_of(query, "PIP_CACHE_DIR", "/.cache/pip");
  if (!cache.empty()) show(query, chain, cache + "/wheels");
  return chain;
}

ToolchainFact playwright(const ToolchainQuery& query) {
  ToolchainFact chain{.name = "playwright"};
  const std::string browsers = root_of(query, "PLAYWRIGHT_BROWSERS_PATH", "/.cache/ms-playwright");
  if (!browsers.empty() && show(query, chain, browsers))
    chain.environment["PLAYWRIGHT_BROWSERS_PATH"] = browsers;
  return chain;
}

ToolchainFact uv(const ToolchainQuery& query) {
  ToolchainFact chain{.name = "uv"};
  if (query.home.empty()) return chain;
  const std::string bin = query.home + "/.local/bin";
  const bool found = show(query, chain, bin + "/uv");
  show(query, chain, bin + "/uvx");
  if (found) chain.path.push_back(bin);
  show(query, chain, query.home + "/.local/share/uv/python");
  return chain;
}

ToolchainFact conda(const ToolchainQuery& query) {
  ToolchainFact chain{.name = "conda"};
  for (const char* name : {"/miniconda3", "/anaconda3", "/miniforge3", "/mambaforge"}) {
    if (query.home.empty() || !is_directory(query.home + name + "/bin")) continue;
    if (show(query, chain, query.home + name)) chain.path.push_back(query.home + name + "/bin");
  }
  if (is_directory("/opt/conda/bin")) chain.path.emplace_back("/opt/conda/bin");
  return chain;
}

struct Finder {
  std::string_view name;
  ToolchainFact (*find)(const ToolchainQuery&);
};
constexpr Finder finders[] = {
    {"pyenv", pyenv}, {"nvm", nvm}, {"cargo", cargo}, {"go", go},   {"uv", uv},
    {"conda", conda}, {"npm", npm}, {"maven", maven}, {"pip", pip}, {"playwright", playwright}};

Result<std::vector<std::string>> names_wanted(const std::string& wanted) {
  std::vector<std::string> names;
  size_t begin = 0;
  while (begin <= wanted.size()) {
    const size_t end = std::min(wanted.find(',', begin), wanted.size());
    const std::string name = wanted.substr(begin, end - begin);
    const bool known = std::any_of(std::begin(finders), std::end(finders),
                                   [&](const Finder& finder) { return finder.name == name; });
    if (!known) {
      return usage_error(
          "--toolchains " + wanted + ": unknown toolchain '" + name + "'",
          "known are pyenv, nvm, cargo, go, uv, conda, npm, maven, pip, playwright; or auto, or none");
    }
    names.push_back(name);
    begin = end + 1;
  }
  return names;
}

}  // namespace

Result<std::vector<ToolchainFact>> find_toolchains(const ToolchainQuery& query) {
  std::vector<ToolchainFact> chains;
  if (query.wanted == "none") return chains;
  const bool by_itself = query.wanted == "auto";
  const auto names = by_itself ? std::vector<std::string>() : TRY(names_wanted(query.wanted));
  for (const auto& finder : finders) {
    if (!by_itself && std::find(names.begin(), names.end(), finder.name) == names.end()) continue;
    ToolchainFact chain = finder.find(query);
    const bool installed = !chain.trees.empty() || !chain.path.empty();
    if (installed || !by_itself) chains.push_back(std::move(chain));
  }
  return chains;
}

}  // namespace cloche
