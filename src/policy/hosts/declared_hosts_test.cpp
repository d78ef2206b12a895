#include "policy/hosts/declared_hosts.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

using Hosts = std::vector<std::string>;

TEST(DeclaredHosts, HaveOneSpellingAndTheirPorts) {
  Hosts hosts;
  for (const char* word : {"PyPI.org", "*.Example.org:8443", "localhost:5432", "pypi.org:443", "pypi.org."})
    EXPECT_TRUE(declare_host(hosts, word).ok()) << word;
  EXPECT_EQ(hosts, (Hosts{"pypi.org:80", "pypi.org:443", "*.example.org:8443", "localhost:5432"}));
  EXPECT_TRUE(declare_any_host(hosts).ok());
  EXPECT_EQ(hosts.back(), "*:443");
}

TEST(DeclaredHosts, WhatIsNoNameIsAUsageError) {
  for (const char* word : {"", "*", "*.org", "1.2.3.4", "[::1]", "localhost", "a b", "a.org:0", "a.org:99999",
                           "a.org:80:80", "https://a.org", "a..org", "-a.org", "2130706433", "0x7f.1"}) {
    Hosts hosts;
    const auto declared = declare_host(hosts, word);
    ASSERT_FALSE(declared.ok()) << word;
    EXPECT_EQ(declared.error().cause, Cause::usage) << word;
    EXPECT_TRUE(hosts.empty()) << word;
  }
}

TEST(DeclaredHosts, AreDescribedAsTheyAreUsuallyWritten) {
  const struct {
    const char* by;
    Hosts hosts;
    const char* text;
  } rows[] = {
      {"--net",
       {"pypi.org:80", "pypi.org:443", "*.example.org:8443"},
       "--net: [pypi.org, *.example.org:8443]"},
      {"skill s, needs_network",
       {"a.org", "localhost:5432"},
       "skill s, needs_network: [a.org, localhost:5432]"},
      {"--net", {}, "--net: []"},
      // A name alone would mean both of the web's ports.
      {"--net", {"a.org:443"}, "--net: [a.org:443]"},
      {"executor t, capabilities", {"*.a.org:80"}, "executor t, capabilities: [*.a.org:80]"},
      {"--net", {"a.org:443", "b.org", "a.org:80"}, "--net: [a.org, b.org]"},
      {"--net", {"a.org:80", "a.org:8443", "a.org:443"}, "--net: [a.org, a.org:8443]"},
      {"--net", {"a.org:80", "*.a.org:443"}, "--net: [a.org:80, *.a.org:443]"},
      {"--net", {"localhost:80", "localhost:443"}, "--net: [localhost:80, localhost:443]"},
      {"--net", {"A.org.", "xn--bcher-kva.example"}, "--net: [a.org, xn--bcher-kva.example]"},
      // What the operator wrote for "any" is a flag, not a name.
      {"--net", {"*:80", "*:443"}, "--net-any"},
      {"--net", {"*", "localhost:80"}, "--net-any, --net: [localhost:80]"},
      {"skill s, needs_network: true, with --net", {"*"}, "skill s, needs_network: true, with --net-any"},
      {"skill s, needs_network: true and capabilities",
       {"*", "a.org:22"},
       "skill s, needs_network: true and capabilities: [any public name, a.org:22]"},
  };
  for (const auto& row : rows) EXPECT_EQ(describe_declared(row.by, row.hosts), row.text);
}

TEST(DeclaredHosts, AreBounded) {
  Hosts hosts;
  for (int i = 0; i < 16; ++i) EXPECT_TRUE(declare_host(hosts, "a.org:" + std::to_string(1000 + i)).ok());
  EXPECT_FALSE(declare_host(hosts, "a.org:2000").ok()) << "more ports than there can be listeners";
  hosts.clear();
  for (int i = 0; i < 128; ++i) EXPECT_TRUE(declare_host(hosts, "h" + std::to_string(i) + ".org").ok());
  EXPECT_FALSE(declare_host(hosts, "one-more.org").ok());
}

}  // namespace
}  // namespace cloche
