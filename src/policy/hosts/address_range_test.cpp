#include "policy/hosts/address_range.hpp"

#include <gtest/gtest.h>

#include "policy/hosts/declared_hosts.hpp"

namespace cloche {
namespace {

TEST(AddressRange, IsReadOrRefused) {
  for (const char* good :
       {"10.0.0.0/8", "10.1.2.3/32", "192.168.0.0/16", "172.16.0.0/12", "100.64.0.0/10", "93.184.216.0/24",
        "fd12:3456::/32", "fd00::/16", "2001:4860::/32", "2001::/16", "fd12::/64", "fc01::1/128"})
    EXPECT_TRUE(read_address_range(good)) << good;
  for (const char* bad : {"",
                          "10.0.0.0",
                          "10.0.0.0/",
                          "10.0.0.0/33",
                          "10.0.0.0/08",
                          "10.0.0.0/-1",
                          "10.0.0.0/8 ",
                          "10.0.0/8",
                          "10.0.0.1/8",
                          "10.0.0.0/7",
                          "0.0.0.0/0",
                          "127.0.0.0/8",
                          "127.0.0.1/32",
                          "169.254.169.254/32",
                          "169.254.0.0/16",
                          "0.0.0.0/8",
                          "224.0.0.0/8",
                          "255.255.255.255/32",
                          "::/0",
                          "::1/128",
                          "::/16",
                          "::ffff:0:0/96",
                          "64:ff9b::/96",
                          "fe80::/16",
                          "ff02::/16",
                          "2002::/16",
                          "2002:a9fe:a9fe::/48",
                          "2001::/32",
                          "2001:0:a9fe:a9fe::/64",
                          "64:ff9b:1::/48",
                          "64:ff9b::a9fe:a9fe/128",
                          "::/96",
                          "::ffff:169.254.0.0/112",
                          "::ffff:0:0:0/96",
                          "fd12::5efe:0:0/96",
                          "fd12::200:5efe:a9fe:a9fe/128",
                          "2a00::5efe:7f00:0/104",
                          "fc00::/7",
                          "fd00::1/64",
                          "010.0.0.0/8",
                          "10.00.0.0/8",
                          "10.0.0.0/08",
                          "a/8",
                          "fd00::/129"})
    EXPECT_FALSE(read_address_range(bad)) << bad;
}

TEST(AddressRange, Contains) {
  const struct {
    const char* range;
    const char* address;
    bool contained;
  } rows[] = {
      {"10.1.0.0/16", "10.1.255.255", true},   {"10.1.0.0/16", "10.2.0.0", false},
      {"10.0.0.0/9", "10.127.0.1", true},      {"10.0.0.0/9", "10.128.0.1", false},
      {"10.1.2.3/32", "10.1.2.3", true},       {"10.1.2.3/32", "10.1.2.2", false},
      {"fd12::/16", "fd12::1", true},          {"fd12::/16", "fd13::1", false},
      {"10.0.0.0/8", "::ffff:a01:203", false},  // mapped: of the other family
  };
  for (const auto& row : rows)
    EXPECT_EQ(read_address_range(row.range).range->contains(*read_address(row.address)), row.contained)
        << row.range << " " << row.address;
}

TEST(HostRange, IsReadBackAsItWasWritten) {
  for (const char* text : {"a.org@10.0.0.0/8:443", "*.corp.example@fd12:3456::/32:8443"}) {
    const auto read = read_host_range(text);
    ASSERT_TRUE(read) << text;
    const std::string_view whole(text);
    const size_t at = whole.find('@');
    EXPECT_EQ(host_range_text(read->host, whole.substr(at + 1, whole.rfind(':') - at - 1)), text);
  }
  for (const char* bad : {"a.org:443", "a.org@10.0.0.0/8", "a.org@127.0.0.0/8:443", "a.org@:443"})
    EXPECT_FALSE(read_host_range(bad)) << bad;
}

TEST(HostRange, IsAboutANameAndAPort) {
  const HostEntry one = host_entry("a.org:443");
  const HostEntry below = host_entry("*.a.org:443");
  EXPECT_TRUE(is_about(one, "a.org", 443));
  EXPECT_FALSE(is_about(one, "a.org", 80));
  EXPECT_FALSE(is_about(one, "b.a.org", 443));
  EXPECT_TRUE(is_about(below, "b.a.org", 443));
  EXPECT_FALSE(is_about(below, "a.org", 443));
  EXPECT_FALSE(is_about(below, "xa.org", 443));
  EXPECT_FALSE(is_about(host_entry("*:443"), "a.org", 443)) << "no range is for any public name";
}

TEST(DeclareReach, OfAFlagsWord) {
  const struct {
    const char* word;
    std::vector<std::string> hosts;
    std::vector<std::string> ranges;
  } rows[] = {
      {"a.org", {"a.org:80", "a.org:443"}, {}},
      {"a.org@10.0.0.0/8", {"a.org:80", "a.org:443"}, {"a.org@10.0.0.0/8:80", "a.org@10.0.0.0/8:443"}},
      {"a.org@10.0.0.0/8:8443", {"a.org:8443"}, {"a.org@10.0.0.0/8:8443"}},
      {"*.a.org@fd12::/16:443", {"*.a.org:443"}, {"*.a.org@fd12::/16:443"}},
      {"A.org.@fd12::/16:443", {"a.org:443"}, {"a.org@fd12::/16:443"}},
  };
  for (const auto& row : rows) {
    std::vector<std::string> hosts;
    std::vector<std::string> ranges;
    ASSERT_TRUE(declare_reach(hosts, ranges, row.word).ok()) << row.word;
    EXPECT_EQ(hosts, row.hosts) << row.word;
    EXPECT_EQ(ranges, row.ranges) << row.word;
  }
  for (const char* bad :
       {"a.org@", "a.org@10.0.0.0", "a.org@10.0.0.0/8:", "a.org@10.0.0.0/8:0", "@10.0.0.0/8",
        "a.org:443@10.0.0.0/8", "localhost@10.0.0.0/8:80", "a.org@127.0.0.0/8", "a.org@169.254.169.254/32:80",
        "a.org@::ffff:a00:0/104", "u@a.org", "*@10.0.0.0/8"}) {
    std::vector<std::string> hosts;
    std::vector<std::string> ranges;
    EXPECT_FALSE(declare_reach(hosts, ranges, bad).ok()) << bad;
    EXPECT_TRUE(hosts.empty() && ranges.empty()) << bad;
  }
}

// What a project's file leaves of the operator's list: never more.
TEST(DeclaredHosts, AreNarrowed) {
  const struct {
    std::vector<std::string> words;
    std::vector<std::string> left;
    std::vector<std::string> expected;
  } rows[] = {
      {{"a.org", "b.org"}, {}, {}},
      {{"a.org", "b.org"}, {"a.org"}, {"a.org"}},
      {{"a.org"}, {"evil.org"}, {}},
      {{"*.a.org"}, {"x.a.org", "a.org"}, {"x.a.org"}},
      {{"x.a.org"}, {"*.a.org"}, {"x.a.org"}},
      {{"a.org"}, {"a.org:443"}, {"a.org:443"}},
      {{"a.org:443"}, {"a.org"}, {"a.org:443"}},
  };
  for (const auto& row : rows) EXPECT_EQ(narrowed_hosts(row.words, row.left), row.expected);
}

}  // namespace
}  // namespace cloche
