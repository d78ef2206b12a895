// What the guard says of addresses: the edges of every range, well-known addresses, and properties of all.
#include "egress/proxy/address_guard.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

namespace cloche {
namespace {

IpAddress address(const std::string& text) {
  IpAddress result;
  const bool v6 = text.find(':') != std::string::npos;
  if (v6) result.family = IpAddress::Family::v6;
  EXPECT_EQ(inet_pton(v6 ? AF_INET6 : AF_INET, text.c_str(), result.bytes.data()), 1) << text;
  return result;
}

std::string why(const IpAddress& one, std::span<const IpAddress> own = {}) {
  return std::string(why_not_dialled(one, own));
}

struct Row {
  const char* address;
  const char* reason;  // a part of it; empty: it may be dialled
};

// Of each range what lies before it, its first two, its middle, its last two, and what lies behind it.
constexpr Row rows[] = {
    {"0.0.0.0", "unspecified"},
    {"0.0.0.1", "this network"},
    {"0.1.2.3", "this network"},
    {"0.127.255.255", "this network"},
    {"0.255.255.254", "this network"},
    {"0.255.255.255", "this network"},
    {"1.0.0.0", ""},
    {"1.1.1.1", ""},
    {"8.8.8.8", ""},
    {"9.9.9.9", ""},
    {"9.255.255.255", ""},
    {"10.0.0.0", "private"},
    {"10.0.0.1", "private"},
    {"10.127.255.255", "private"},
    {"10.200.1.2", "private"},
    {"10.255.255.254", "private"},
    {"10.255.255.255", "private"},
    {"11.0.0.0", ""},
    {"52.95.110.1", ""},
    {"93.184.216.34", ""},
    {"100.63.0.1", ""},
    {"100.63.255.255", ""},
    {"100.64.0.0", "shared"},
    {"100.64.0.1", "shared"},
    {"100.95.255.255", "shared"},
    {"100.100.100.199", "shared"},
    {"100.100.100.200", "metadata"},
    {"100.100.100.201", "shared"},
    {"100.127.255.254", "shared"},
    {"100.127.255.255", "shared"},
    {"100.128.0.0", ""},
    {"100.128.0.1", ""},
    {"104.16.0.1", ""},
    {"126.255.255.255", ""},
    {"127.0.0.0", "loopback"},
    {"127.0.0.1", "loopback"},
    {"127.0.0.53", "loopback"},
    {"127.1.2.3", "loopback"},
    {"127.127.255.255", "loopback"},
    {"127.255.255.254", "loopback"},
    {"127.255.255.255", "loopback"},
    {"128.0.0.0", ""},
    {"140.82.112.3", ""},
    {"151.101.1.69", ""},
    {"168.63.129.15", ""},
    {"168.63.129.16", "metadata"},
    {"168.63.129.17", ""},
    {"169.253.255.255", ""},
    {"169.254.0.0", "link-local"},
    {"169.254.0.1", "link-local"},
    {"169.254.1.1", "link-local"},
    {"169.254.127.255", "link-local"},
    {"169.254.169.123", "link-local"},
    {"169.254.169.253", "link-local"},
    {"169.254.169.254", "metadata"},
    {"169.254.169.255", "link-local"},
    {"169.254.170.1", "link-local"},
    {"169.254.170.2", "metadata"},
    {"169.254.170.3", "link-local"},
    {"169.254.255.254", "link-local"},
    {"169.254.255.255", "link-local"},
    {"169.255.0.0", ""},
    {"172.15.1.1", ""},
    {"172.15.255.255", ""},
    {"172.16.0.0", "private"},
    {"172.16.0.1", "private"},
    {"172.17.0.1", "private"},
    {"172.23.255.255", "private"},
    {"172.31.1.1", "private"},
    {"172.31.255.254", "private"},
    {"172.31.255.255", "private"},
    {"172.32.0.0", ""},
    {"172.32.0.1", ""},
    {"191.255.255.255", ""},
    {"192.0.0.0", "protocols"},
    {"192.0.0.1", "protocols"},
    {"192.0.0.8", "protocols"},
    {"192.0.0.127", "protocols"},
    {"192.0.0.170", "protocols"},
    {"192.0.0.171", "protocols"},
    {"192.0.0.192", "metadata"},
    {"192.0.0.254", "protocols"},
    {"192.0.0.255", "protocols"},
    {"192.0.1.0", ""},
    {"192.0.1.255", ""},
    {"192.0.2.0", "documentation"},
    {"192.0.2.1", "documentation"},
    {"192.0.2.127", "documentation"},
    {"192.0.2.254", "documentation"},
    {"192.0.2.255", "documentation"},
    {"192.0.3.0", ""},
    {"192.1.1.1", ""},
    {"192.31.196.1", ""},
    {"192.88.98.255", ""},
    {"192.88.99.0", "6to4"},
    {"192.88.99.1", "6to4"},
    {"192.88.99.127", "6to4"},
    {"192.88.99.254", "6to4"},
    {"192.88.99.255", "6to4"},
    {"192.88.100.0", ""},
    {"192.167.255.255", ""},
    {"192.168.0.0", "private"},
    {"192.168.0.1", "private"},
    {"192.168.122.1", "private"},
    {"192.168.127.255", "private"},
    {"192.168.255.254", "private"},
    {"192.168.255.255", "private"},
    {"192.169.0.0", ""},
    {"192.175.48.1", ""},
    {"198.17.1.1", ""},
    {"198.17.255.255", ""},
    {"198.18.0.0", "benchmarks"},
    {"198.18.0.1", "benchmarks"},
    {"198.18.255.255", "benchmarks"},
    {"198.19.255.254", "benchmarks"},
    {"198.19.255.255", "benchmarks"},
    {"198.20.0.0", ""},
    {"198.20.0.1", ""},
    {"198.51.99.255", ""},
    {"198.51.100.0", "documentation"},
    {"198.51.100.1", "documentation"},
    {"198.51.100.127", "documentation"},
    {"198.51.100.254", "documentation"},
    {"198.51.100.255", "documentation"},
    {"198.51.101.0", ""},
    {"203.0.112.1", ""},
    {"203.0.112.255", ""},
    {"203.0.113.0", "documentation"},
    {"203.0.113.1", "documentation"},
    {"203.0.113.127", "documentation"},
    {"203.0.113.254", "documentation"},
    {"203.0.113.255", "documentation"},
    {"203.0.114.0", ""},
    {"203.0.114.1", ""},
    {"223.1.1.1", ""},
    {"223.255.255.255", ""},
    {"224.0.0.0", "multicast"},
    {"224.0.0.1", "multicast"},
    {"224.0.0.251", "multicast"},
    {"231.255.255.255", "multicast"},
    {"233.252.0.1", "multicast"},
    {"239.255.255.250", "multicast"},
    {"239.255.255.254", "multicast"},
    {"239.255.255.255", "multicast"},
    {"240.0.0.0", "reserved"},
    {"240.0.0.1", "reserved"},
    {"240.1.1.1", "reserved"},
    {"247.255.255.255", "reserved"},
    {"255.0.0.1", "reserved"},
    {"255.255.255.254", "reserved"},
    {"255.255.255.255", "broadcast"},
    {"::", "unspecified"},
    {"::1", "loopback"},
    {"::2", "IPv4 inside"},
    {"::a00:1", "IPv4 inside"},
    {"::7f00:1", "IPv4 inside"},
    {"::7fff:ffff", "IPv4 inside"},
    {"::ffff:fffe", "IPv4 inside"},
    {"::ffff:ffff", "IPv4 inside"},
    {"::1:0:0", "reserved"},
    {"::fffe:ffff:ffff", "reserved"},
    {"::ffff:0:0", "IPv4 inside"},
    {"::ffff:0:1", "IPv4 inside"},
    {"::ffff:808:808", "IPv4 inside"},
    {"::ffff:a00:1", "IPv4 inside"},
    {"::ffff:7f00:1", "IPv4 inside"},
    {"::ffff:7fff:ffff", "IPv4 inside"},
    {"::ffff:a9fe:a9fe", "IPv4 inside"},
    {"::ffff:ffff:fffe", "IPv4 inside"},
    {"::ffff:ffff:ffff", "IPv4 inside"},
    {"::1:0:0:0", "reserved"},
    {"::fffe:ffff:ffff:ffff", "reserved"},
    {"::ffff:0:0:0", "IPv4 inside"},
    {"::ffff:0:0:1", "IPv4 inside"},
    {"::ffff:0:7f00:1", "IPv4 inside"},
    {"::ffff:0:7fff:ffff", "IPv4 inside"},
    {"::ffff:0:ffff:fffe", "IPv4 inside"},
    {"::ffff:0:ffff:ffff", "IPv4 inside"},
    {"::ffff:1:0:0", "reserved"},
    {"64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff", "reserved"},
    {"64:ff9b::", "NAT64"},
    {"64:ff9b::1", "NAT64"},
    {"64:ff9b::808:808", "NAT64"},
    {"64:ff9b::7f00:1", "NAT64"},
    {"64:ff9b::7fff:ffff", "NAT64"},
    {"64:ff9b::a9fe:a9fe", "NAT64"},
    {"64:ff9b::ffff:fffe", "NAT64"},
    {"64:ff9b::ffff:ffff", "NAT64"},
    {"64:ff9b::1:0:0", "reserved"},
    {"64:ff9b:0:ffff:ffff:ffff:ffff:ffff", "reserved"},
    {"64:ff9b:1::", "NAT64"},
    {"64:ff9b:1::1", "NAT64"},
    {"64:ff9b:1:7fff:ffff:ffff:ffff:ffff", "NAT64"},
    {"64:ff9b:1:ffff::a00:1", "NAT64"},
    {"64:ff9b:1:ffff:ffff:ffff:ffff:fffe", "NAT64"},
    {"64:ff9b:1:ffff:ffff:ffff:ffff:ffff", "NAT64"},
    {"64:ff9b:2::", "reserved"},
    {"ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "reserved"},
    {"100::", "discards"},
    {"100::1", "discards"},
    {"100::7fff:ffff:ffff:ffff", "discards"},
    {"100::ffff:ffff:ffff:fffe", "discards"},
    {"100::ffff:ffff:ffff:ffff", "discards"},
    {"100:0:0:1::", "reserved"},
    {"100:0:0:1::1", "reserved"},
    {"200::1", "reserved"},
    {"400::1", "reserved"},
    {"1000::1", "reserved"},
    {"1fff::1", "reserved"},
    {"2000::1", ""},
    {"2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""},
    {"2001::", "Teredo"},
    {"2001::1", "Teredo"},
    {"2001:0:4136:e378:8000:63bf:3fff:fdd2", "Teredo"},
    {"2001:0:7fff:ffff:ffff:ffff:ffff:ffff", "Teredo"},
    {"2001:0:ffff:ffff:ffff:ffff:ffff:fffe", "Teredo"},
    {"2001:0:ffff:ffff:ffff:ffff:ffff:ffff", "Teredo"},
    {"2001:1::", "protocols"},
    {"2001:1::1", "protocols"},
    {"2001:1:ffff:ffff:ffff:ffff:ffff:ffff", "protocols"},
    {"2001:2::", "benchmarks"},
    {"2001:2::1", "benchmarks"},
    {"2001:2:0:7fff:ffff:ffff:ffff:ffff", "benchmarks"},
    {"2001:2:0:ffff:ffff:ffff:ffff:fffe", "benchmarks"},
    {"2001:2:0:ffff:ffff:ffff:ffff:ffff", "benchmarks"},
    {"2001:2:1::", "protocols"},
    {"2001:3::1", "protocols"},
    {"2001:4:112::1", "protocols"},
    {"2001:f:ffff:ffff:ffff:ffff:ffff:ffff", "protocols"},
    {"2001:10::", "ORCHID"},
    {"2001:10::1", "ORCHID"},
    {"2001:17:ffff:ffff:ffff:ffff:ffff:ffff", "ORCHID"},
    {"2001:1f:ffff:ffff:ffff:ffff:ffff:fffe", "ORCHID"},
    {"2001:1f:ffff:ffff:ffff:ffff:ffff:ffff", "ORCHID"},
    {"2001:20::", "ORCHID"},
    {"2001:20::1", "ORCHID"},
    {"2001:27:ffff:ffff:ffff:ffff:ffff:ffff", "ORCHID"},
    {"2001:2f:ffff::1", "ORCHID"},
    {"2001:2f:ffff:ffff:ffff:ffff:ffff:fffe", "ORCHID"},
    {"2001:2f:ffff:ffff:ffff:ffff:ffff:ffff", "ORCHID"},
    {"2001:30::", "protocols"},
    {"2001:30::1", "protocols"},
    {"2001:ff:ffff:ffff:ffff:ffff:ffff:ffff", "protocols"},
    {"2001:1ff:ffff:ffff:ffff:ffff:ffff:fffe", "protocols"},
    {"2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "protocols"},
    {"2001:200::", ""},
    {"2001:200::1", ""},
    {"2001:500:88:200::8", ""},
    {"2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", ""},
    {"2001:db8::", "documentation"},
    {"2001:db8::1", "documentation"},
    {"2001:db8:7fff:ffff:ffff:ffff:ffff:ffff", "documentation"},
    {"2001:db8:ffff::1", "documentation"},
    {"2001:db8:ffff:ffff:ffff:ffff:ffff:fffe", "documentation"},
    {"2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "documentation"},
    {"2001:db9::", ""},
    {"2001:4860:4860::8888", ""},
    {"2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""},
    {"2002::", "6to4"},
    {"2002::1", "6to4"},
    {"2002:808:808::1", "6to4"},
    {"2002:a00:1::1", "6to4"},
    {"2002:7f00:1::1", "6to4"},
    {"2002:7fff:ffff:ffff:ffff:ffff:ffff:ffff", "6to4"},
    {"2002:ffff:ffff:ffff:ffff:ffff:ffff:fffe", "6to4"},
    {"2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "6to4"},
    {"2003::", ""},
    {"2003::1", ""},
    {"2400:cb00:2048:1::6814:155", ""},
    {"2606:4700:4700::1111", ""},
    {"2620:fe::fe", ""},
    {"2a00:1450:4001:81b::200e", ""},
    {"2a04:4e42::645", ""},
    {"3000::1", ""},
    {"3ffe::1", ""},
    {"3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""},
    {"3fff::", "documentation"},
    {"3fff::1", "documentation"},
    {"3fff:7ff:ffff:ffff:ffff:ffff:ffff:ffff", "documentation"},
    {"3fff:fff::1", "documentation"},
    {"3fff:fff:ffff:ffff:ffff:ffff:ffff:fffe", "documentation"},
    {"3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "documentation"},
    {"3fff:1000::", ""},
    {"4000::1", "reserved"},
    {"5f00::1", "reserved"},
    {"6000::1", "reserved"},
    {"8000::1", "reserved"},
    {"c000::1", "reserved"},
    {"e000::1", "reserved"},
    {"f000::1", "reserved"},
    {"f800::1", "reserved"},
    {"fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "reserved"},
    {"fc00::", "private"},
    {"fc00::1", "private"},
    {"fcff::1", "private"},
    {"fcff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "private"},
    {"fd00::1", "private"},
    {"fd00:42::42", "metadata"},
    {"fd00:42::43", "private"},
    {"fd00:c1::a9fe:a9fe", "metadata"},
    {"fd00:c1::a9fe:a9ff", "private"},
    {"fd00:ec2::23", "metadata"},
    {"fd00:ec2::123", "service of a cloud"},
    {"fd00:ec2::124", "private"},
    {"fd00:ec2::253", "service of a cloud"},
    {"fd00:ec2::254", "metadata"},
    {"fd00:ec2::255", "private"},
    {"fd12:3456:789a:1::1", "private"},
    {"fd20:ce::253", "private"},
    {"fd20:ce::254", "metadata"},
    {"fd20:ce::255", "private"},
    {"fdff:ffff:ffff:ffff:ffff:ffff:ffff:fffe", "private"},
    {"fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "private"},
    {"fe00::", "reserved"},
    {"fe00::1", "reserved"},
    {"fe7f::1", "reserved"},
    {"fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "reserved"},
    {"fe80::", "link-local"},
    {"fe80::1", "link-local"},
    {"fe80::a00:27ff:fe4e:66a1", "link-local"},
    {"fe9f:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "link-local"},
    {"febf::1", "link-local"},
    {"febf:ffff:ffff:ffff:ffff:ffff:ffff:fffe", "link-local"},
    {"febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "link-local"},
    {"fec0::", "site-local"},
    {"fec0::1", "site-local"},
    {"fedf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "site-local"},
    {"feff::1", "site-local"},
    {"feff:ffff:ffff:ffff:ffff:ffff:ffff:fffe", "site-local"},
    {"feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "site-local"},
    {"ff00::", "multicast"},
    {"ff00::1", "multicast"},
    {"ff02::1", "multicast"},
    {"ff02::fb", "multicast"},
    {"ff05::1:3", "multicast"},
    {"ff7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "multicast"},
    {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe", "multicast"},
    {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "multicast"},
    {"2a00::5efe:10.0.0.1", "IPv4 inside"},
    {"2a00::200:5efe:8.8.8.8", "IPv4 inside"},
    {"2a00::5eff:a00:1", ""},
    {"2a00::100:5efe:a00:1", ""},
};

TEST(AddressGuard, JudgesEveryRangeByItsEdges) {
  for (const Row& row : rows) {
    const std::string reason = why(address(row.address));
    EXPECT_EQ(reason.empty(), std::string_view(row.reason).empty()) << row.address << " is " << reason;
    EXPECT_NE(reason.find(row.reason), std::string::npos) << row.address << " is " << reason;
  }
}

TEST(AddressGuard, RefusesTheAddressesOfThisHost) {
  const IpAddress own[] = {address("93.184.216.34"), address("2606:2800:220:1::1")};
  EXPECT_EQ(why(own[0], own), "an address of this host");
  EXPECT_EQ(why(own[1], own), "an address of this host");
  EXPECT_EQ(why(address("93.184.216.35"), own), "");
  EXPECT_EQ(why(address("2606:2800:220:1::2"), own), "");
  EXPECT_EQ(why(address("5db8:d822::"), own), "a reserved address")
      << "the same first bytes in the other family";
}

// Whatever is public as IPv4 is not reached through an address of IPv6 that holds it.
TEST(AddressGuardProperties, NoAddressOfIpv4IsReachedInsideOneOfIpv6) {
  std::mt19937 random(4);
  for (int i = 0; i < 20000; ++i) {
    const auto number = static_cast<uint32_t>(random());
    char v4[16];
    snprintf(v4, sizeof v4, "%u.%u.%u.%u", number >> 24, number >> 16 & 255, number >> 8 & 255, number & 255);
    for (const char* before : {"::", "::ffff:", "::ffff:0:", "64:ff9b::", "64:ff9b:1::", "fe80::5efe:",
                               "2a00::5efe:", "2a00::200:5efe:", "2001:0:", "2002:"}) {
      const bool upper =
          std::string_view(before).starts_with("2002") || std::string_view(before) == "2001:0:";
      char groups[16];
      snprintf(groups, sizeof groups, "%x:%x", number >> 16, number & 0xffff);
      const std::string text = upper ? before + std::string(groups) + "::1" : std::string(before) + v4;
      EXPECT_NE(why(address(text)), "") << text;
    }
  }
}

TEST(AddressGuardProperties, OnlyPublicUnicastPasses) {
  std::mt19937 random(5);
  for (int i = 0; i < 200000; ++i) {
    IpAddress one{.family = IpAddress::Family::v6};
    for (auto& byte : one.bytes) byte = static_cast<uint8_t>(random());
    EXPECT_TRUE(!why(one).empty() || (one.bytes[0] & 0xe0) == 0x20) << text_of(one).view();
    IpAddress four;
    for (size_t j = 0; j < 4; ++j) four.bytes[j] = static_cast<uint8_t>(random());
    const uint8_t first = four.bytes[0];
    const bool refused = first == 0 || first == 10 || first == 127 || first >= 224;
    EXPECT_TRUE(!refused || !why(four).empty()) << text_of(four).view();
  }
}

TEST(IpAddress, IsWrittenAsTheSystemWritesIt) {
  std::mt19937 random(6);
  for (const Row& row : rows)
    EXPECT_EQ(address(std::string(text_of(address(row.address)).view())), address(row.address));
  for (int i = 0; i < 20000; ++i) {
    IpAddress one{.family = IpAddress::Family::v6};
    for (auto& byte : one.bytes) byte = random() % 3 == 0 ? static_cast<uint8_t>(random()) : 0;
    one.bytes[0] = 0x20;  // the system writes what lies below ::/80 in its own way
    char text[INET6_ADDRSTRLEN];
    inet_ntop(AF_INET6, one.bytes.data(), text, sizeof text);
    EXPECT_EQ(text_of(one).view(), text);
  }
  EXPECT_EQ(text_of(address("10.0.255.7")).view(), "10.0.255.7");
  EXPECT_EQ(text_of(address("::")).view(), "::");
  EXPECT_EQ(text_of(address("::1")).view(), "::1");
  EXPECT_EQ(text_of(address("1::")).view(), "1::");
}

// In a range that the operator named: private addresses, and nothing that is behind another of them.
TEST(AddressGuard, ARangeLetsPrivateAddressesAloneThrough) {
  for (const char* good : {"10.0.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "fd12::1", "fc00::1",
                           "93.184.216.34", "2606:4700::1"})
    EXPECT_EQ(why_not_in_range(*read_address(good)), "") << good;
  for (const char* never : {"0.0.0.0",
                            "127.0.0.1",
                            "127.9.9.9",
                            "169.254.0.1",
                            "169.254.169.254",
                            "100.100.100.200",
                            "168.63.129.16",
                            "192.0.0.192",
                            "224.0.0.1",
                            "255.255.255.255",
                            "::",
                            "::1",
                            "fe80::1",
                            "ff02::1",
                            "fd00:ec2::254",
                            "fd00:ec2::23",
                            "fd00:ec2::253",
                            "fd00:ec2::123",
                            "fd00:42::42",
                            "fd00:c1::a9fe:a9fe",
                            "fd20:ce::254",
                            "::ffff:a00:1",
                            "::ffff:7f00:1",
                            "::a00:1",
                            "64:ff9b::a00:1",
                            "64:ff9b:1::a00:1",
                            "2002:a00:1::1",
                            "2001:0:1::1",
                            "fd12::5efe:a00:1",
                            "fd12::200:5efe:7f00:1"})
    EXPECT_NE(why_not_in_range(*read_address(never)), "") << never;
}

}  // namespace
}  // namespace cloche
