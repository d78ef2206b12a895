// Toolchains in a home that the test makes: what is shown, what stands on PATH, and that no credential ever
// is in a tree.
#include "store/host/toolchains.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/sys/path.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

class Toolchains : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(::mkdtemp(home_.data()), nullptr);
    home_ = fs::canonical(home_).string();
  }
  void TearDown() override { fs::remove_all(home_); }

  void add(const std::string& file) const {
    fs::create_directories((home_ + "/" + file).substr(0, (home_ + "/" + file).rfind('/')));
    std::ofstream(home_ + "/" + file) << "content";
  }
  Result<std::vector<ToolchainFact>> find(const std::string& wanted) const {
    return find_toolchains({wanted, home_, path_, [this](std::string_view name) {
                              const auto at = variables_.find(std::string(name));
                              return at != variables_.end() ? at->second : std::string();
                            }});
  }
  // The one of this name; the host may have others in /usr/local and /opt.
  ToolchainFact one(const std::string& name) const {
    auto chains = find(name);
    EXPECT_TRUE(chains.ok()) << chains.error().what;
    return chains.ok() && !chains.value().empty() ? chains.value()[0] : ToolchainFact{};
  }
  static bool shows(const ToolchainFact& chain, const std::string& path) {
    return std::any_of(chain.trees.begin(), chain.trees.end(),
                       [&](const FileFact& tree) { return is_beneath(tree.path, path); });
  }

  std::string home_ = testing::TempDir() + "cloche-unit-XXXXXX";
  std::string path_ = "/usr/bin:/bin";
  std::map<std::string, std::string> variables_;
};

TEST_F(Toolchains, NoneMeansNone) {
  add(".cargo/bin/cargo");
  EXPECT_TRUE(find("none").value().empty());
}

TEST_F(Toolchains, AnEmptyHomeHasNoneOfItsOwn) {
  const auto chains = find("auto").value();
  for (const auto& chain : chains) EXPECT_TRUE(chain.trees.empty()) << chain.name;
}

// A link that the caller made is no permission to show what it leads to.
TEST_F(Toolchains, ACacheThatLeadsToSecretsIsNotShown) {
  const std::pair<const char*, const char*> rows[] = {
      {".cache/pip/wheels", ".ssh"},
      {".npm/_cacache", ".aws/sso"},
      {".m2/repository", ".config"},
      {".cargo/registry", ".gnupg"},
      {".pyenv", ""},
      {"go/bin", ".."},
      {".cache/ms-playwright", "../.."},
      {".local/bin/uv", ".netrc"},
      {".rustup", ".docker"},
      {".nvm/versions/node", "/etc/ssh"},
  };
  for (const char* file :
       {".ssh/id", ".aws/sso/token", ".config/gh/hosts.yml", ".gnupg/key", ".docker/config.json", ".netrc",
        "versions/3.12/bin/python", ".cargo/bin/cargo", ".rustup.real/toolchains/x/y", "data/wheels/a.whl"})
    add(file);
  for (const auto& [link, target] : rows) {
    fs::create_directories((home_ + "/" + link).substr(0, (home_ + "/" + link).rfind('/')));
    const fs::path leads = *target == '/' ? fs::path(target) : fs::path(home_) / target;
    fs::create_symlink(leads, home_ + "/" + link);
  }
  for (const auto& chain : find("auto").value())
    for (const auto& tree : chain.trees)
      EXPECT_EQ(tree.path, home_ + "/.cargo/bin") << chain.name << " shows what it must not";
  // The control: another link is followed.
  fs::remove(home_ + "/.cache/pip/wheels");
  fs::create_symlink(home_ + "/data/wheels", home_ + "/.cache/pip/wheels");
  EXPECT_TRUE(shows(one("pip"), home_ + "/data/wheels"));
}

TEST_F(Toolchains, AnUnknownNameIsAUsageError) {
  add(".cargo/bin/cargo");
  for (const char* wanted :
       {"rust", "", "cargo,", ",cargo", "cargo,,go", "cargo,rust", "Cargo", " cargo", "all"}) {
    const auto chains = find(wanted);
    ASSERT_FALSE(chains.ok()) << wanted;
    EXPECT_EQ(chains.error().cause, Cause::usage) << wanted;
  }
}

TEST_F(Toolchains, ANamedOneThatIsNotThereIsReportedEmpty) {
  for (const char* wanted : {"pyenv", "nvm", "cargo", "uv"}) {
    const auto chains = find(wanted);
    ASSERT_TRUE(chains.ok()) << wanted;
    ASSERT_EQ(chains.value().size(), 1U);
    EXPECT_EQ(chains.value()[0].name, wanted);
    EXPECT_TRUE(chains.value()[0].trees.empty() && chains.value()[0].path.empty());
  }
}

// pyenv's pip ends with 1 after an installation that went well, because the shims cannot be written.
TEST_F(Toolchains, PyenvsRehashAfterPipIsMasked) {
  add(".pyenv/versions/3.12.1/bin/python3");
  EXPECT_TRUE(one("pyenv").masked.empty());
  add(".pyenv/pyenv.d/exec/pip-rehash/pip");
  EXPECT_EQ(one("pyenv").masked, (std::vector<std::string>{home_ + "/.pyenv/pyenv.d/exec/pip-rehash"}));
}

TEST_F(Toolchains, PyenvIsItsRootWithShims) {
  add(".pyenv/versions/3.12.1/bin/python3");
  add(".pyenv/shims/python3");
  const ToolchainFact chain = one("pyenv");
  ASSERT_EQ(chain.trees.size(), 1U);
  EXPECT_EQ(chain.trees[0].path, home_ + "/.pyenv");
  EXPECT_EQ(chain.path, (std::vector<std::string>{home_ + "/.pyenv/shims", home_ + "/.pyenv/bin"}));
  EXPECT_EQ(chain.environment.at("PYENV_ROOT"), home_ + "/.pyenv");
}

TEST_F(Toolchains, NvmIsTheVersionOfTheCallersPath) {
  add(".nvm/versions/node/v18.1.0/bin/node");
  add(".nvm/versions/node/v20.2.0/bin/node");
  EXPECT_EQ(one("nvm").path, (std::vector<std::string>{home_ + "/.nvm/versions/node/v20.2.0/bin"}));
  path_ = home_ + "/.nvm/versions/node/v18.1.0/bin:/usr/bin";
  EXPECT_EQ(one("nvm").path, (std::vector<std::string>{home_ + "/.nvm/versions/node/v18.1.0/bin"}));
}

TEST_F(Toolchains, TheNewestNodeIsTheOneWithTheGreatestNumbers) {
  for (const char* version : {"v9.11.2", "v20.1.0", "v18.20.4", "v20.0.9"})
    add(".nvm/versions/node/" + std::string(version) + "/bin/node");
  EXPECT_EQ(one("nvm").path, std::vector<std::string>{home_ + "/.nvm/versions/node/v20.1.0/bin"});
}

TEST_F(Toolchains, OneBehindALinkIsShownWhereItIsAndByItsName) {
  add("elsewhere/pyenv/versions/3.12.1/bin/python3");
  fs::create_directory_symlink(home_ + "/elsewhere/pyenv", home_ + "/.pyenv");
  const ToolchainFact chain = one("pyenv");
  ASSERT_EQ(chain.trees.size(), 2U);
  EXPECT_EQ(chain.trees[0].kind, FileFact::Kind::link);
  EXPECT_EQ(chain.trees[0].path, home_ + "/.pyenv");
  EXPECT_EQ(chain.trees[0].link, home_ + "/elsewhere/pyenv");
  EXPECT_EQ(chain.trees[1].path, home_ + "/elsewhere/pyenv");
  EXPECT_EQ(chain.environment.at("PYENV_ROOT"), home_ + "/.pyenv");
}

TEST_F(Toolchains, CargoIsItsProgramsAndTheToolchainsNeverItsHome) {
  add(".cargo/bin/cargo");
  add(".cargo/credentials.toml");
  add(".cargo/credentials");
  add(".cargo/config.toml");
  add(".rustup/toolchains/stable/bin/rustc");
  const ToolchainFact chain = one("cargo");
  EXPECT_TRUE(shows(chain, home_ + "/.cargo/bin/cargo"));
  EXPECT_TRUE(shows(chain, home_ + "/.rustup/toolchains/stable/bin/rustc"));
  EXPECT_EQ(chain.path, (std::vector<std::string>{home_ + "/.cargo/bin"}));
  EXPECT_EQ(chain.environment.at("RUSTUP_HOME"), home_ + "/.rustup");
  EXPECT_FALSE(chain.environment.contains("CARGO_HOME")) << "cargo writes to a home of its own inside";
}

TEST_F(Toolchains, GoToolsAndUvAndConda) {
  add("go/bin/gopls");
  add("go/pkg/mod/cache");
  EXPECT_TRUE(shows(one("go"), home_ + "/go/bin/gopls"));
  EXPECT_FALSE(shows(one("go"), home_ + "/go/pkg/mod/cache"));
  add(".local/bin/uv");
  add(".local/bin/other-tool");
  add(".local/share/uv/python/cpython/bin/python3");
  add(".local/share/uv/credentials/token");
  const ToolchainFact uv = one("uv");
  EXPECT_TRUE(shows(uv, home_ + "/.local/bin/uv"));
  EXPECT_FALSE(shows(uv, home_ + "/.local/bin/other-tool"));
  EXPECT_TRUE(shows(uv, home_ + "/.local/share/uv/python/cpython/bin/python3"));
  EXPECT_FALSE(shows(uv, home_ + "/.local/share/uv/credentials/token"));
  add("miniconda3/bin/conda");
  EXPECT_TRUE(shows(one("conda"), home_ + "/miniconda3/bin/conda"));
}

TEST_F(Toolchains, WhatWasFetchedIsShownAndLedTo) {
  for (const char* file :
       {".cargo/registry/index/x", "go/pkg/mod/cache/download/a/@v/v1.zip", ".npm/_cacache/x",
        ".m2/repository/a/a.jar", ".cache/pip/wheels/a.whl", ".cache/ms-playwright/chromium/chrome"})
    add(file);
  EXPECT_TRUE(shows(one("cargo"), home_ + "/.cargo/registry/index/x"));
  EXPECT_EQ(one("cargo").offline.at("CARGO_HOME"), home_ + "/.cargo");
  EXPECT_TRUE(shows(one("npm"), home_ + "/.npm/_cacache/x"));
  EXPECT_EQ(one("npm").offline.at("npm_config_cache"), home_ + "/.npm");
  EXPECT_TRUE(shows(one("maven"), home_ + "/.m2/repository/a/a.jar"));
  EXPECT_EQ(one("maven").offline.at("MAVEN_OPTS"), "-Dmaven.repo.local=" + home_ + "/.m2/repository");
  EXPECT_TRUE(shows(one("pip"), home_ + "/.cache/pip/wheels/a.whl"));
  EXPECT_TRUE(shows(one("playwright"), home_ + "/.cache/ms-playwright/chromium/chrome"));
  EXPECT_EQ(one("playwright").environment.at("PLAYWRIGHT_BROWSERS_PATH"), home_ + "/.cache/ms-playwright");
  const ToolchainFact go = one("go");
  EXPECT_TRUE(shows(go, home_ + "/go/pkg/mod/cache/download/a/@v/v1.zip"));
  EXPECT_EQ(go.environment.at("GOPROXY"),
            "file://" + home_ + "/go/pkg/mod/cache/download,https://proxy.golang.org,direct");
  EXPECT_TRUE(go.offline.empty()) << "go copies what it takes from there";
}

// Everything installed at once, with everything that must stay out beside it.
TEST_F(Toolchains, NoCredentialIsInAnyTree) {
  for (const char* file :
       {".pyenv/versions/3.12/bin/python3", ".nvm/versions/node/v20/bin/node", ".cargo/bin/cargo",
        ".rustup/toolchains/stable/bin/rustc", "go/bin/gopls", ".local/bin/uv", ".local/bin/uvx",
        ".local/share/uv/python/x/bin/python3", "miniconda3/bin/conda", ".cargo/registry/index/x",
        "go/pkg/mod/cache/download/x", ".npm/_cacache/x", ".m2/repository/x", ".cache/pip/wheels/x",
        ".cache/ms-playwright/x"}) {
    add(file);
  }
  const char* secrets[] = {".cargo/credentials.toml",
                           ".cargo/git/db/private/FETCH_HEAD",
                           "go/pkg/mod/cache/vcs/private/config",
                           ".npm/_logs/debug.log",
                           ".m2/settings.xml",
                           ".m2/settings-security.xml",
                           ".cache/pip/http/x",
                           ".cargo/credentials",
                           ".npmrc",
                           ".nvm/.npmrc",
                           ".netrc",
                           ".pypirc",
                           ".ssh/id_ed25519",
                           ".aws/credentials",
                           ".config/gh/hosts.yml",
                           ".git-credentials",
                           ".docker/config.json",
                           ".condarc",
                           ".conda/aau_token",
                           ".local/share/keyrings/login.keyring",
                           ".local/share/uv/credentials/credentials.toml",
                           ".bash_history"};
  for (const char* secret : secrets) add(secret);
  const auto chains = find("auto").value();
  EXPECT_GE(chains.size(), 6U);
  for (const auto& chain : chains) {
    for (const char* secret : secrets)
      EXPECT_FALSE(shows(chain, home_ + "/" + secret)) << chain.name << " shows " << secret;
    EXPECT_FALSE(shows(chain, home_ + "/anything")) << chain.name << " shows the whole home";
  }
}

TEST_F(Toolchains, AVariableNamesAnotherPlace) {
  add("elsewhere/versions/3.12/bin/python3");
  variables_["PYENV_ROOT"] = home_ + "/elsewhere";
  EXPECT_EQ(one("pyenv").trees[0].path, home_ + "/elsewhere");
}

TEST_F(Toolchains, AVariableThatNamesTheHomeOrTheRootIsNotBelieved) {
  add("versions/3.12/bin/python3");
  add("bin/cargo");
  for (const std::string& value : {home_, std::string("/"), std::string("relative"), home_ + "/",
                                   home_ + "/../" + fs::path(home_).filename().string()}) {
    variables_ = {{"PYENV_ROOT", value}, {"CARGO_HOME", value}, {"NVM_DIR", value}, {"GOPATH", value}};
    const auto chains = find("auto").value();
    for (const auto& chain : chains) EXPECT_TRUE(chain.trees.empty()) << chain.name << " by " << value;
  }
}

TEST_F(Toolchains, WithoutAHomeOnlyVariablesCount) {
  add(".cargo/bin/cargo");
  const auto chains = find_toolchains({"auto", "", path_, [](std::string_view) { return std::string(); }});
  for (const auto& chain : chains.value()) EXPECT_TRUE(chain.trees.empty()) << chain.name;
}

TEST_F(Toolchains, SeveralByNameComeInOneOrder) {
  add(".cargo/bin/cargo");
  add(".pyenv/versions/3.12/bin/python3");
  for (const char* wanted : {"cargo,pyenv", "pyenv,cargo"}) {
    const auto chains = find(wanted).value();
    ASSERT_EQ(chains.size(), 2U);
    EXPECT_EQ(chains[0].name, "pyenv");
    EXPECT_EQ(chains[1].name, "cargo");
  }
}

}  // namespace
}  // namespace cloche
