// Names of variables and of hosts, by table.
#include <gtest/gtest.h>

#include "policy/host_names.hpp"
#include "policy/secret_names.hpp"

namespace cloche {
namespace {

TEST(SecretNames, AreDroppedEvenWhenListed) {
  for (const char* name : {"OPENAI_API_KEY",
                           "API_KEY",
                           "my_api_key",
                           "GITHUB_TOKEN",
                           "NPM_TOKEN",
                           "CLIENT_SECRET",
                           "DB_PASSWORD",
                           "PASSWORD",
                           "PGPASSWORD",
                           "MYSQL_PWD",
                           "DATABASE_URL",
                           "TEST_DATABASE_URL",
                           "GH_PAT",
                           "SSH_AUTH_SOCK",
                           "SSH_AGENT_PID",
                           "AWS_ACCESS_KEY_ID",
                           "AWS_PROFILE",
                           "STRIPE_SK",
                           "GOOGLE_APPLICATION_CREDENTIALS",
                           "AZURE_CLIENT_ID",
                           "KUBECONFIG",
                           "SENTRY_DSN",
                           "SESSION_COOKIE",
                           "SESSION_ID",
                           "PHP_SESSID",
                           "PGPASS",
                           "MYPASS",
                           "SMTP_PW",
                           "PIN",
                           "CARD_PIN",
                           "HTTPS_PROXY",
                           "http_proxy",
                           "all_proxy",
                           "KRB5CCNAME",
                           "JWT",
                           "REDIS_URL",
                           "MONGODB_URI",
                           "CLOCHE_SANDBOX",
                           "Token",
                           "KEY"}) {
    EXPECT_EQ(why_dropped(name), "it looks like a secret") << name;
  }
}

TEST(SecretNames, WhatChangesProgramsIsDroppedToo) {
  for (const char* name : {"LD_PRELOAD",
                           "LD_LIBRARY_PATH",
                           "PYTHONPATH",
                           "PYTHONSTARTUP",
                           "PYTHONHOME",
                           "RUBYOPT",
                           "RUBYLIB",
                           "NODE_OPTIONS",
                           "NODE_PATH",
                           "GOFLAGS",
                           "GOTOOLCHAIN",
                           "GOENV",
                           "PERL5OPT",
                           "BASH_ENV",
                           "ENV",
                           "PATH",
                           "HOME",
                           "GIT_SSH_COMMAND",
                           "GIT_CONFIG_COUNT",
                           "BUNDLE_GEMFILE",
                           "GEM_HOME",
                           "MYPYPATH",
                           "RUBOCOP_OPTS",
                           "npm_config_script_shell",
                           "IFS",
                           "EDITOR",
                           "PAGER",
                           "JAVA_TOOL_OPTIONS",
                           "MAKEFLAGS",
                           "XDG_DATA_HOME",
                           "XDG_CONFIG_HOME",
                           "XDG_DATA_DIRS",
                           "GEMRC",
                           "GEM_PATH",
                           "GEMSPEC_X",
                           "GOTOOLDIR",
                           "GOWORK",
                           "GOEXPERIMENT",
                           "GODEBUG",
                           "GOROOT",
                           "CC",
                           "CXX",
                           "CPP",
                           "LD",
                           "AR",
                           "CFLAGS",
                           "BUNDLER_VERSION",
                           "BUNDLE_PATH",
                           "RUBYGEMS_GEMDEPS",
                           "GLIBC_TUNABLES",
                           "VIRTUAL_ENV",
                           "CONDA_PREFIX",
                           "CARGO_BUILD_RUSTC",
                           "CARGO",
                           "RUSTFLAGS",
                           "RUSTC_WRAPPER",
                           "NPM_CONFIG_PREFIX",
                           "YARN_RC_FILENAME",
                           "PIP_CONFIG_FILE",
                           "MYPY_CACHE_DIR",
                           "PYTEST_ADDOPTS",
                           "PYTEST_PLUGINS",
                           "MAKEFILES",
                           "MAKE",
                           "GIT_DIR",
                           "JDK_JAVA_OPTIONS",
                           "_JAVA_OPTIONS",
                           "PERL5LIB",
                           "SHELLOPTS",
                           "BASHOPTS",
                           "PROMPT_COMMAND",
                           "LD_AUDIT",
                           "DYLD_INSERT_LIBRARIES",
                           "xdg_data_home"}) {
    EXPECT_EQ(why_dropped(name), "it changes what programs do") << name;
  }
}

TEST(SecretNames, OrdinaryOnesPass) {
  for (const char* name : {"CI",
                           "LANG",
                           "LC_ALL",
                           "TERM",
                           "TZ",
                           "NODE_ENV",
                           "DEBUG",
                           "MONKEY",
                           "KEYBOARD",
                           "SSL_CERT_FILE",
                           "GIT_AUTHOR_NAME",
                           "COMPASS",
                           "BYPASS_CACHE",
                           "NO_PROXY",
                           "PINNED",
                           "PATTERN",
                           "AUTHOR",
                           "NO_COLOR",
                           "COLUMNS",
                           "LC_CTYPE",
                           "GO",
                           "GO_ENV",
                           "CARGO_TERM_COLOR",
                           "RUST_LOG"}) {
    EXPECT_EQ(why_dropped(name), "") << name;
  }
  for (const char* name : {"", "A=B", "1A", "A B", "A-B", "\xc3\xa4"})
    EXPECT_EQ(why_dropped(name), "it is no name") << name;
}

TEST(HostNames, AreValidatedOnce) {
  for (const char* good :
       {"example.org", "EXAMPLE.org", "example.org.", "a-b.example:443", "localhost", "1.2.3.4"})
    EXPECT_TRUE(parse_host(good)) << good;
  for (const std::string bad : {"", ".", "a..b", "-a.b", "a-.b", "a b", "a_b", "a:0", "a:x", "a:70000",
                                "a:", "[::1]", "*.a", "a/b", "\xc3\xa4.de", "a:1:2", ".."}) {
    EXPECT_FALSE(parse_host(bad)) << bad;
  }
  EXPECT_FALSE(parse_host(std::string_view("evil.com\0.good.org", 18)));
  EXPECT_FALSE(parse_host(std::string(254, 'a')));
  EXPECT_FALSE(parse_host(std::string(64, 'a') + ".org"));
}

TEST(HostNames, AreComparedByLabels) {
  const struct {
    const char* pattern;
    const char* host;
    bool covered;
  } rows[] = {
      {"example.org", "example.org", true},         {"example.org", "EXAMPLE.ORG.", true},
      {"example.org", "a.example.org", false},      {"*.example.org", "a.example.org", true},
      {"*.example.org", "a.b.example.org", true},   {"*.example.org", "example.org", false},
      {"*.example.org", "evilexample.org", false},  {"example.org:443", "example.org:443", true},
      {"example.org:443", "example.org:80", false}, {"example.org:443", "example.org", false},
      {"example.org", "example.org:8080", true},    {"example.org", "example.org.evil.com", false},
  };
  for (const auto& row : rows)
    EXPECT_EQ(covers(*parse_host_pattern(row.pattern), *parse_host(row.host)), row.covered)
        << row.pattern << " " << row.host;
}

}  // namespace
}  // namespace cloche
