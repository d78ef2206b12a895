#include "model/network.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace cloche {
namespace {

TEST(HostEntry, IsReadBackAsItWasWritten) {
  for (const char* text : {"pypi.org:443", "*.example.org:8443", "localhost:5432", "*:80", "a.b:1"}) {
    EXPECT_EQ(to_text(host_entry(text)), text);
  }
  EXPECT_TRUE(host_entry("localhost:80").is_localhost());
  EXPECT_FALSE(host_entry("*.localhost:80").is_localhost());
  EXPECT_TRUE(host_entry("*:443").is_any());
  EXPECT_FALSE(host_entry("*.x:443").is_any());
}

TEST(InsideAddress, GoesBothWaysAndMeansNothingElse) {
  for (const uint32_t offset :
       {0U, resolver_offset, localhost_offset, first_named_offset, first_found_offset, (1U << 17) - 1}) {
    EXPECT_EQ(offset_of(inside_address4(offset)), offset);
    EXPECT_EQ(offset_of(inside_address6(offset)), offset);
  }
  EXPECT_EQ(dotted(first_named_offset + 2), "198.18.1.2");
  EXPECT_EQ(dotted(first_found_offset), "198.19.0.0");
  NetAddress outside = inside_address4(0);
  outside[13] = 20;  // 198.20.0.0
  EXPECT_EQ(offset_of(outside), no_offset);
  NetAddress loopback = {};
  loopback[15] = 1;
  EXPECT_EQ(offset_of(loopback), no_offset);
  EXPECT_EQ(reached_offset(loopback), localhost_offset);
  NetAddress other_prefix = inside_address6(5);
  other_prefix[1] = 'x';
  EXPECT_EQ(offset_of(other_prefix), no_offset);
}

TEST(InsideAddress, TheLoopbackIsLocalhostsAndNoOtherAddressIs) {
  const NetAddress own4 = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1};
  const NetAddress own6 = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  const NetAddress second4 = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 2};
  for (const auto& address : {own4, own6}) EXPECT_EQ(reached_offset(address), localhost_offset);
  EXPECT_EQ(reached_offset(second4), no_offset);
  EXPECT_EQ(reached_offset(NetAddress{}), no_offset);
  EXPECT_EQ(reached_offset(inside_address6(first_named_offset)), first_named_offset);
}

std::vector<std::string> shown(const std::vector<NetworkListener>& listeners) {
  std::vector<std::string> texts;
  for (const auto& listener : listeners) {
    const uint32_t offset = offset_of(listener.address);
    texts.push_back(std::string(listener.kind == NetworkListener::Kind::stream ? "tcp " : "udp ") +
                    (offset == no_offset ? "any" : dotted(offset)) +
                    (listener.address[0] == 0xfd ? "/6" : "") + ":" + std::to_string(listener.port));
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST(NetworkShape, NothingDeclaredIsAResolverAlone) {
  const auto listeners = shape_of({}).listeners;
  ASSERT_EQ(listeners.size(), 1U);
  EXPECT_EQ(listeners[0].kind, NetworkListener::Kind::datagram);
  EXPECT_EQ(listeners[0].port, dns_port);
  EXPECT_TRUE(is_loopback(listeners[0].address));
  EXPECT_TRUE(shape_of({}).named.empty());
}

TEST(NetworkShape, WhatTheSandboxCouldUseItselfIsTakenAtDeclaredAddressesAlone) {
  const NetworkShape shape = shape_of({"a.org:80", "a.org:443", "b.org:8443", "localhost:5432"});
  EXPECT_EQ(shown(shape.listeners),
            (Texts{"udp 198.18.0.1:53", "tcp 198.18.0.1:53", "tcp any:80", "tcp any:443",
                   "tcp 198.18.1.1:8443", "tcp 198.18.1.1/6:8443", "tcp any:5432"}));
  ASSERT_EQ(shape.named.size(), 3U);
  EXPECT_EQ(shape.named[0].ports, (std::vector<uint16_t>{80, 443}));
  EXPECT_EQ(shape.named[2].offset, localhost_offset);
}

TEST(NetworkShape, NamesThatNobodyKnowsYetNeedADoorForEveryAddress) {
  EXPECT_EQ(shown(shape_of({"*.a.org:8443", "b.org:8443"}).listeners),
            (Texts{"udp 198.18.0.1:53", "tcp 198.18.0.1:53", "tcp any:8443"}));
  EXPECT_EQ(shape_of({"*:80", "*:443"}).listeners.size(), 4U);
}

TEST(NetworkShape, NeverMoreDoorsThanTheJailTakes) {
  for (const unsigned names : {1U, 2U, 4U, 8U, 9U, 16U}) {
    std::vector<std::string> hosts;
    for (unsigned i = 0; i < 16 * names; ++i)
      hosts.push_back("h" + std::to_string(i / 16) + ".org:" + std::to_string(8000 + i % 16));
    const NetworkShape shape = shape_of(hosts);
    EXPECT_LE(shape.listeners.size(), most_listeners) << names;
    for (unsigned i = 0; i < 16; ++i) {
      const auto leads = [&](const NetworkListener& listener) { return listener.port == 8000 + i; };
      EXPECT_TRUE(std::any_of(shape.listeners.begin(), shape.listeners.end(), leads)) << names << " " << i;
    }
  }
}

TEST(NetworkFiles, SayWhatThePlanHas) {
  EXPECT_TRUE(resolver_file_for({}).ends_with("\nnameserver 127.0.0.1\n"))
      << "named, because some programs ask no server without a line that names one";
  EXPECT_TRUE(resolver_file_for({"a.org:80"}).starts_with("nameserver 198.18.0.1\n"));
  EXPECT_TRUE(hosts_file_for({"a.org:80"}).starts_with("127.0.0.1 localhost"));
  EXPECT_EQ(hosts_file_for({"localhost:80"}), hosts_file_for({}) + "198.18.0.2 host.cloche\n");
}

}  // namespace
}  // namespace cloche
