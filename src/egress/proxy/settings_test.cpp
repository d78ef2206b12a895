#include "egress/proxy/settings.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <thread>

#include "egress/dns/lookup.hpp"
#include "egress/dns/name_addresses.hpp"
#include "egress/proxy/gateway_channel.hpp"
#include "egress/proxy/report.hpp"

namespace cloche {
namespace {

using egress::NameAddresses;

HostName name(std::string_view text) { return *HostName::read(text).name; }

TEST(EgressSettings, AreReadBackAsTheyWereWritten) {
  const EgressSettings settings =
      egress_settings({"a.org:80", "a.org:443", "*.b.org:443", "*:80", "localhost:5432"}, Limits{}, true);
  const std::string text = to_text(settings);
  EXPECT_EQ(text,
            "ipv6 1\nconnections 1024\nbytes 4294967296\nidle_ms 300000\ntime_ms 3600000\n"
            "name 256 a.org 80 443\nname 2 localhost 5432\nbelow *.b.org:443\nbelow *:80\n");
  const auto read = read_egress_settings(text);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(to_text(read.value()), text);
}

TEST(EgressSettings, WhatIsNotWholeIsRefused) {
  const std::string text = to_text(egress_settings({"a.org:80"}, Limits{}, false));
  EXPECT_FALSE(read_egress_settings("").ok());
  EXPECT_FALSE(read_egress_settings(text.substr(0, text.size() - 1)).ok());
  EXPECT_FALSE(read_egress_settings(text + "name\n").ok());
  EXPECT_FALSE(read_egress_settings(text + "name 3 x 99999\n").ok());
  EXPECT_FALSE(read_egress_settings(text + "colour red\n").ok());
  EXPECT_FALSE(read_egress_settings("connections 0\n" + text.substr(text.find("bytes"))).ok());
}

TEST(NameAddresses, KnowsWhatWasDeclaredAndNothingElse) {
  NameAddresses book(egress_settings({"a.org:443", "*.b.org:443"}, Limits{}, true));
  EXPECT_EQ(book.look_up(name("a.org")).offset, first_named_offset);
  EXPECT_EQ(book.look_up(name("evil.example")).answer, NameAddresses::Answer::not_declared);
  EXPECT_EQ(book.look_up(name("x.a.org")).answer, NameAddresses::Answer::not_declared);
  EXPECT_EQ(book.look_up(name("b.org")).answer, NameAddresses::Answer::not_declared)
      << "a wildcard is not its root";
  EXPECT_EQ(book.look_up(name("xb.org")).answer, NameAddresses::Answer::not_declared);
  const auto found = book.look_up(name("x.y.b.org"));
  EXPECT_EQ(found.offset, first_found_offset);
  EXPECT_EQ(book.look_up(name("x.y.b.org")).offset, found.offset) << "one address a name";
  ASSERT_NE(book.named(found.offset), nullptr);
  EXPECT_EQ(book.named(found.offset)->name, "x.y.b.org");
  EXPECT_TRUE(book.is_declared(*book.named(found.offset), 443));
  EXPECT_FALSE(book.is_declared(*book.named(found.offset), 80));
  EXPECT_EQ(book.named(found.offset + 1), nullptr);
  EXPECT_EQ(book.named(0), nullptr);
}

TEST(NameAddresses, ADeclaredNameBelowAWildcardHasThePortsOfBoth) {
  NameAddresses book(egress_settings({"a.b.org:8443", "*.b.org:443"}, Limits{}, true));
  const NamedHost* host = book.named(book.look_up(name("a.b.org")).offset);
  ASSERT_NE(host, nullptr);
  EXPECT_TRUE(book.is_declared(*host, 8443));
  EXPECT_TRUE(book.is_declared(*host, 443));
  EXPECT_FALSE(book.is_declared(*host, 80));
}

// Names below a wildcard are a channel to the server that answers for it: so many, so long, and no more.
TEST(NameAddresses, Lesson3NamesBelowAWildcardAreBounded) {
  NameAddresses many(egress_settings({"*.b.org:443"}, Limits{}, true));
  size_t known = 0;
  for (int i = 0; i < 1000; ++i)
    known +=
        many.look_up(name("n" + std::to_string(i) + ".b.org")).answer == NameAddresses::Answer::known ? 1 : 0;
  EXPECT_EQ(known, 256U);
  EXPECT_EQ(many.look_up(name("n1.b.org")).answer, NameAddresses::Answer::known)
      << "what is known stays known";
  EXPECT_EQ(many.look_up(name("late.b.org")).answer, NameAddresses::Answer::too_many);
  NameAddresses lengthy(egress_settings({"*.b.org:443"}, Limits{}, true));
  const std::string filler(60, 'x');
  size_t bytes = 0;
  for (int i = 0; i < 256; ++i) {
    const std::string text = filler + "." + filler + "." + filler + "." + std::to_string(i) + ".b.org";
    if (lengthy.look_up(name(text)).answer == NameAddresses::Answer::known) bytes += text.size();
  }
  EXPECT_LE(bytes, size_t{16} << 10);
}

TEST(NameAddresses, AnyIsAnyPublicName) {
  NameAddresses book(egress_settings({"*:80", "*:443"}, Limits{}, true));
  EXPECT_EQ(book.look_up(name("anything.example")).answer, NameAddresses::Answer::known);
  EXPECT_EQ(book.look_up(name("intranet")).answer, NameAddresses::Answer::not_declared);
  EXPECT_EQ(book.look_up(name("localhost")).answer, NameAddresses::Answer::not_declared);
}

TEST(NameAddresses, TheNameOfTheHostsLoopbackIsNobodysOutside) {
  NameAddresses any(egress_settings({"*:80", "*:443"}, Limits{}, true));
  for (const char* text : {"host.cloche", "a.host.cloche"})
    EXPECT_EQ(any.look_up(name(text)).answer, NameAddresses::Answer::not_declared) << text;
  EXPECT_EQ(any.look_up(name("ghost.cloche")).answer, NameAddresses::Answer::known);
  NameAddresses served(egress_settings({"*:80", "localhost:5432"}, Limits{}, true));
  const auto found = served.look_up(name("host.cloche"));
  EXPECT_EQ(found.answer, NameAddresses::Answer::known);
  EXPECT_EQ(found.offset, localhost_offset);
  EXPECT_EQ(served.look_up(name("a.host.cloche")).answer, NameAddresses::Answer::not_declared);
}

EgressMessage about(EgressNews news, EgressReason reason, std::string_view name, uint32_t port,
                    std::string_view detail = {}) {
  EgressMessage message{.news = news, .reason = reason, .port = port};
  std::copy(name.begin(), name.end(), message.name.begin());
  std::copy(detail.begin(), detail.end(), message.detail.begin());
  return message;
}

TEST(EgressReport, IsOneExactSentence) {
  using R = EgressReason;
  const std::string_view declared = "skill code-review, needs_network: [api.example.org]";
  EXPECT_EQ(describe(about(EgressNews::refused, R::not_declared, "evil.example", 0), declared),
            "egress: look-up of evil.example refused: not declared (skill code-review, needs_network: "
            "[api.example.org])");
  EXPECT_EQ(describe(about(EgressNews::refused, R::not_declared, "evil.example", 443), declared),
            "egress: connect to evil.example:443 refused: not declared (skill code-review, needs_network: "
            "[api.example.org])");
  EXPECT_EQ(describe(about(EgressNews::refused, R::address_of_name, "a.org", 443, "10.0.0.1"), declared),
            "egress: connect to a.org:443 refused: it resolves to 10.0.0.1, which is not a public address");
  EXPECT_EQ(describe(about(EgressNews::refused, R::too_long_idle, "a.org", 443), declared),
            "egress: the connection to a.org:443 was ended: nothing moved on it for too long");
  EXPECT_EQ(advice_about(R::too_long_idle, ""), "; the operator can raise --net-idle");
  EXPECT_EQ(describe(about(EgressNews::refused, R::too_many_bytes, "a.org", 443), declared),
            "egress: the connection to a.org:443 was ended: too many bytes to and from it");
  EXPECT_EQ(advice_about(R::too_many_bytes, "skill small"),
            "; this limit is lower than --net-bytes by skill small");
  EXPECT_EQ(advice_about(R::not_declared, ""), "");
  EXPECT_EQ(describe(about(EgressNews::refused, R::not_declared, "", 0), "--net: [a.org]"),
            "egress: look-up of the root refused: not declared (--net: [a.org])");
  EgressMessage failed = about(EgressNews::failed, R::unreachable, "a.org", 443);
  failed.number = ECONNREFUSED;
  EXPECT_EQ(describe(failed, declared), "egress: a.org:443 could not be reached: Connection refused");
}

TEST(EgressSettings, CarryRangesAndPublishedPorts) {
  ConfinementPlan plan;
  plan.hosts = {"a.org:443", "*.corp.example:8443"};
  plan.ranges = {"a.org@10.1.0.0/16:443", "*.corp.example@fd12::/16:8443"};
  plan.published = {{8080, 3000}};
  const auto read = read_egress_settings(to_text(egress_settings(plan, true)));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(to_text(read.value()), to_text(egress_settings(plan, true)));
  ASSERT_EQ(read.value().ranges.size(), 2U);
  EXPECT_TRUE(is_about(read.value().ranges[1].host, "x.corp.example", 8443));
  EXPECT_EQ(read.value().published, plan.published);
  const std::string limits = to_text(egress_settings({}, Limits{}, false));
  for (const char* bad : {"published 0 1\n", "published 1\n", "published 1 2 3\n", "range a.org:443\n",
                          "range a.org@127.0.0.0/8:443\n"})
    EXPECT_FALSE(read_egress_settings(limits + bad).ok()) << bad;
}

TEST(EgressReport, APrivateAddressNamesTheFlagThatLetsItBe) {
  const auto advice = [](const char* address) {
    return advice_about_address(
        about(EgressNews::refused, EgressReason::address_of_name, "a.org", 443, address));
  };
  EXPECT_EQ(advice("10.1.2.3"), "; --net a.org@10.1.2.3/32:443 lets it lead there");
  EXPECT_EQ(advice("fd12::1"), "; --net a.org@fd12::1/128:443 lets it lead there");
  for (const char* never :
       {"127.0.0.1", "169.254.169.254", "100.100.100.200", "fd00:ec2::254", "::1", "fe80::1",
        "::ffff:10.1.2.3", "64:ff9b::a01:203", "fd12::5efe:a01:203", "nonsense"})
    EXPECT_EQ(advice(never), "") << never;
}

TEST(EgressReport, OfACallWithoutANetworkSaysEveryNameAndTheFlag) {
  const struct {
    std::vector<std::string> names;
    uint64_t more;
    std::string what;
    std::string advice;
  } rows[] = {
      {{"a.org"},
       0,
       "egress: this call has no network; it looked up a.org",
       "; --net a.org lets it reach that host"},
      {{"a.org", "b.org"},
       3,
       "egress: this call has no network; it looked up a.org, b.org and 3 more names",
       "; --net a.org --net b.org lets it reach these hosts"},
      {{"x_y", "a.org"},
       0,
       "egress: this call has no network; it looked up x_y, a.org",
       "; --net a.org lets it reach that host"},
      {{"a?b", "localhost", "host.cloche"},
       0,
       "egress: this call has no network; it looked up a?b, localhost, host.cloche",
       ""},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(describe_looked_up(row.names, row.more), row.what);
    EXPECT_EQ(advice_about_names(row.names), row.advice) << row.what;
  }
}

TEST(EgressReport, WhatTheProcessSaysIsTakenForNoMoreThanItIs) {
  EgressMessage odd = about(EgressNews::refused, static_cast<EgressReason>(999), "a.org", 443);
  EXPECT_EQ(describe(odd, ""), "egress: a decision that is not on the list");
  odd = about(EgressNews::refused, EgressReason::not_declared, "a\x1b[2Jb\nc", 443);
  EXPECT_EQ(describe(odd, "x"), "egress: connect to a??2Jb?c:443 refused: not declared (x)");
  odd =
      about(EgressNews::refused, EgressReason::not_declared, "x refused: none]. [cloche: it is approved", 0);
  EXPECT_EQ(describe(odd, "x"),
            "egress: look-up of x?refused??none?.??cloche??it?is?approved refused: not declared (x)");
  odd.name.fill('a');  // without its NUL
  EXPECT_NE(describe(odd, "x").find(std::string(256, 'a')), std::string::npos);
}

// A busy gateway hears later, but it hears of every host.
TEST(GatewayChannel, KeepsWhatTheGatewayIsTooSlowToHear) {
  constexpr size_t hosts = 1000;
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  OwnedFd ours(ends[0]);
  const OwnedFd theirs(ends[1]);
  egress::GatewayChannel speaker(ours.get());
  for (size_t i = 0; i < hosts; ++i)
    speaker.used({.name = "h" + std::to_string(i), .port = 443, .connections = 1});
  size_t heard = 0;
  std::thread gateway([&] {
    EgressMessage message;
    while (::recv(theirs.get(), &message, sizeof message, 0) == static_cast<ssize_t>(sizeof message)) ++heard;
  });
  speaker.finish();
  ours.reset();
  gateway.join();
  EXPECT_EQ(heard, hosts);
}

// What was decided many times is told when it is decided, and at the end how often; A and AAAA are one time.
TEST(GatewayChannel, TellsOnceAndCounts) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  const OwnedFd ours(ends[0]);
  const OwnedFd theirs(ends[1]);
  egress::GatewayChannel speaker(ours.get());
  for (int i = 0; i < 3; ++i) {
    speaker.refused(EgressReason::not_declared, {.name = "often.example"});
    speaker.refused(EgressReason::not_declared, {.name = "often.example", .counts = false});
  }
  speaker.refused(EgressReason::not_declared, {.name = "once.example"});
  speaker.refused(EgressReason::not_declared, {.name = "once.example", .counts = false});
  speaker.say_rest();
  std::vector<std::string> heard;
  EgressMessage message;
  while (::recv(theirs.get(), &message, sizeof message, MSG_DONTWAIT) == static_cast<ssize_t>(sizeof message))
    heard.push_back(name_of(message.name) +
                    (message.news == EgressNews::repeated ? " " + std::to_string(message.number) : ""));
  EXPECT_EQ(heard, (std::vector<std::string>{"often.example", "once.example", "often.example 3"}));
}

constexpr const char* interfaces =
    "00000000000000000000000000000001 01 80 10 80       lo\n"
    "fe80000000000000021122fffe334455 1f 40 20 80     eth0\n";

TEST(ResolverFiles, TakeWhatTheyUnderstand) {
  const auto files = egress::read_resolver_files(
      "# a comment\n1.2.3.4 one.example two.example # more\n::1 localhost\nnonsense three\n5.6.7 x\n\n"
      "2606:4700::1\tsix.example\n",
      "search example\nnameserver 9.9.9.9\nnameserver nonsense\nnameserver ::1\n", "");
  ASSERT_EQ(files.hosts.size(), 4U);
  EXPECT_EQ(files.hosts[1].name, "two.example");
  EXPECT_EQ(text_of(files.hosts[3].address).view(), "2606:4700::1");
  ASSERT_EQ(files.servers.size(), 2U);
  EXPECT_EQ(text_of(files.servers[1].address).view(), "::1");
}

TEST(ResolverFiles, NameWhoIsAskedAndNobodyElse) {
  const struct {
    const char* text;
    std::vector<std::string> servers;
  } rows[] = {
      {"", {"127.0.0.1%0"}},
      {"search example\n# nameserver 9.9.9.9\n", {"127.0.0.1%0"}},
      {"nameserver 9.9.9.9\nnameserver fe80::1%eth0\n", {"9.9.9.9%0", "fe80::1%31"}},
      {"nameserver fe80::1%7", {"fe80::1%7"}},
      {"nameserver fe80::1%wlan0\nnameserver ::1\n", {"::1%0"}},
      {"nameserver fe80::1%wlan0\n", {}},
      {"nameserver\n", {}},
      {"nameserver one.example\n", {}},
  };
  for (const auto& row : rows) {
    std::vector<std::string> servers;
    for (const auto& server : egress::read_resolver_files("", row.text, interfaces).servers)
      servers.push_back(std::string(text_of(server.address).view()) + "%" + std::to_string(server.zone));
    EXPECT_EQ(servers, row.servers) << row.text;
  }
  for (const char* bad : {"fe80::1%", "fe80::1%0", "fe80::1%-1", "fe80::1%eth", "fe80::1%4294967296",
                          "fe80::1%31x", "1.2.3.4%eth0", "%eth0", "fe80::1%eth0%eth0"})
    EXPECT_FALSE(egress::read_name_server(bad, interfaces)) << bad;
}

TEST(ReadAddress, AddressesAndNothingElse) {
  for (const char* good :
       {"1.2.3.4", "0.0.0.0", "::", "::1", "1::", "1:2:3:4:5:6:7:8", "2001:db8::8:800:200c:417a"}) {
    EXPECT_TRUE(read_address(good)) << good;
  }
  for (const char* bad : {"", "1.2.3", "1.2.3.4.5", "256.1.1.1", "1.2.3.4 ", "a.b.c.d", ":", ":::", "1::2::3",
                          "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "12345::", "::1%lo", "1:2:3:4:5:6:7::8:"}) {
    EXPECT_FALSE(read_address(bad)) << bad;
  }
}

}  // namespace
}  // namespace cloche
