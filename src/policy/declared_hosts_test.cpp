#include "policy/declared_hosts.hpp"

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
    EXPECT_EQ(declared.error().fault, Fault::usage) << word;
    EXPECT_TRUE(hosts.empty()) << word;
  }
}

TEST(DeclaredHosts, AreDescribedAsTheyAreUsuallyWritten) {
  EXPECT_EQ(describe_declared("--net", {"pypi.org:80", "pypi.org:443", "*.example.org:8443"}),
            "--net: [pypi.org, *.example.org:8443]");
  EXPECT_EQ(describe_declared("skill s, needs_network", {"a.org", "localhost:5432"}),
            "skill s, needs_network: [a.org, localhost:5432]");
  EXPECT_EQ(describe_declared("--net", {"*:80", "*:443"}), "--net: [*]");
  EXPECT_EQ(describe_declared("--net", {}), "--net: []");
}

TEST(DeclaredHosts, AreBounded) {
  Hosts hosts;
  for (int i = 0; i < 16; ++i) EXPECT_TRUE(declare_host(hosts, "a.org:" + std::to_string(1000 + i)).ok());
  EXPECT_FALSE(declare_host(hosts, "a.org:2000").ok()) << "more ports than there can be doors";
  hosts.clear();
  for (int i = 0; i < 128; ++i) EXPECT_TRUE(declare_host(hosts, "h" + std::to_string(i) + ".org").ok());
  EXPECT_FALSE(declare_host(hosts, "one-more.org").ok());
}

}  // namespace
}  // namespace cloche
