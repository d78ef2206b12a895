// What a declared name resolves to outside is judged before it is dialled, whichever server answers for the
// name.
#include <algorithm>

#include "egress/fixture.hpp"

namespace cloche::test {
namespace {

using Kind = DnsAnswer::Kind;

class Addresses : public Egress {
 protected:
  // One connection to each name at the echo's port, in one call.
  Called echo(const std::vector<std::string>& names) {
    Words words = {"talk"};
    Words hosts;
    for (const auto& name : names) {
      hosts.push_back(name + ":7000");
      words.push_back(file(name, name + " 7000 9 0 0\nping"));
    }
    return client(hosts, words);
  }
};

TEST_P(Addresses, ThatAreNotPublicAreRefusedBeforeTheyAreDialled) {
  const std::vector<std::string> refused = {"127.0.0.1",
                                            "0.0.0.0",
                                            "10.1.2.3",
                                            "172.16.1.1",
                                            "192.168.1.1",
                                            "169.254.169.254",
                                            "100.64.0.1",
                                            "100.100.100.200",
                                            "224.0.0.1",
                                            "255.255.255.255",
                                            "198.18.0.1",
                                            "198.51.100.7",
                                            "240.0.0.1",
                                            own_address,
                                            "::1",
                                            "::",
                                            "fe80::1",
                                            "fd00:ec2::254",
                                            "ff02::1",
                                            "64:ff9b::5db8:d823",
                                            "2002:5db8:d823::1",
                                            "::ffff:93.184.216.35",
                                            "2001:0:1::1",
                                            own_address6};
  const std::vector<std::string> there = {"10.1.2.3", "169.254.169.254", "100.64.0.1", "64:ff9b::5db8:d823"};
  const size_t earlier = stage().echo.accepted();
  for (const auto& address : there)
    ASSERT_TRUE(reachable(address, echo_port))
        << address << ": it would not be refused, it would not be there";
  std::vector<std::string> names;
  for (const auto& address : refused) {
    names.push_back("a" + std::to_string(names.size()) + ".refused.cloche.test");
    stage().dns.tell(names.back(), address);
  }
  ASSERT_TRUE(soon([&] { return stage().echo.accepted() == earlier + there.size(); }));
  const size_t before = stage().echo.accepted();
  const Called called = echo(names);
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_TRUE(called.denied("connect to " + names[i] + ":7000 refused: it resolves to "))
        << refused[i] << called;
    EXPECT_TRUE(contains(called.out, names[i] + " reset\n")) << refused[i] << called;
  }
  EXPECT_TRUE(called.used.empty()) << called;
  EXPECT_EQ(stage().echo.accepted(), before);
}

// NAME@CIDR: the way for a company's mirrors. It opens the range that was named, and no other address of the
// same name or of another.
TEST_P(Addresses, InARangeThatTheOperatorNamesAreReached) {
  const struct {
    const char* address;
    const char* range;
    bool reached;
  } rows[] = {
      {"10.1.2.3", "10.1.0.0/16", true},          {"10.1.2.3", "10.1.2.3/32", true},
      {"100.64.0.1", "100.64.0.0/10", true},      {"10.1.2.3", "10.2.0.0/16", false},
      {"10.1.2.3", "fd12::/16", false},           {"::ffff:10.1.2.3", "10.1.0.0/16", false},
      {"64:ff9b::a01:203", "10.1.0.0/16", false}, {"100.100.100.200", "100.64.0.0/10", false},
      {"fd00:ec2::254", "fd00::/16", false},      {own_address, "93.184.217.0/24", false},
      {tool_address, "10.1.0.0/16", true},
  };
  Words names;
  Words hosts;
  Words words = {"talk"};
  for (const auto& row : rows) {
    names.push_back("range" + std::to_string(names.size()) + ".cloche.test");
    stage().dns.tell(names.back(), row.address);
    hosts.push_back(names.back() + "@" + row.range + ":7000");
    words.push_back(file(names.back(), names.back() + " 7000 9 0 0\nping"));
  }
  const Called called = client(hosts, words);
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(called.use_of(names[i] + ":7000").connections, rows[i].reached ? 1 : 0)
        << rows[i].address << " " << rows[i].range << called;
    EXPECT_EQ(called.denied("connect to " + names[i] + ":7000 refused: it resolves to "), !rows[i].reached)
        << rows[i].address << " " << rows[i].range << called;
  }
}

TEST_P(Addresses, ARefusalOfAPrivateOneNamesTheFlagAndAConfigurationCanSayIt) {
  stage().dns.tell("mirror.cloche.test", "10.1.2.3");
  const Words words = {"talk", file("mirror", "mirror.cloche.test 7000 9 0 0\nping")};
  EXPECT_TRUE(client({"mirror.cloche.test:7000"}, words)
                  .denied("it resolves to 10.1.2.3, which is not a public address; --net "
                          "mirror.cloche.test@10.1.2.3/32:7000 lets it lead there"));
  const fs::path home = scene().root() / "config-home";
  scene().write(
      "config-home/cloche/config.json",
      R"({"net": [{"host": "mirror.cloche.test", "addresses": ["10.1.0.0/16"], "ports": [7000]}]})");
  const Command how{.argv = {}, .env = {{"XDG_CONFIG_HOME", home.string()}}};
  EXPECT_EQ(client({}, words, {}, how).use_of("mirror.cloche.test:7000").connections, 1);
  const Called without = client({}, words, {"--profile", "workspace-write-no-network"}, how);
  EXPECT_TRUE(without.denied("egress: this call has no network; it looked up mirror.cloche.test")) << without;
  file(".cloche/config.json", R"({"net": []})");
  const Called less = client({}, words, {}, how);
  EXPECT_TRUE(less.denied("egress: this call has no network; it looked up mirror.cloche.test")) << less;
}

// What is public and stays on this host: only the kernel's routes know of them all.
TEST_P(Addresses, OfThisHostAreRefusedHoweverTheyBecameItsOwn) {
  const std::vector<std::string> own = {own_address,       own_address6,       second_own_address,
                                        own_range_address, own_range_address6, "2606:2800:222::ffff"};
  TcpServer here(World::socket_here(World::Kind::stream, "", echo_port), Manner::echo);
  std::vector<std::string> names;
  for (const auto& address : own) {
    ASSERT_TRUE(reachable(address, echo_port)) << address;
    names.push_back("own" + std::to_string(names.size()) + ".cloche.test");
    stage().dns.tell(names.back(), address);
  }
  ASSERT_TRUE(soon([&] { return here.accepted() == own.size(); }));
  const Called called = echo(names);
  for (size_t i = 0; i < names.size(); ++i)
    EXPECT_TRUE(called.denied("connect to " + names[i] + ":7000 refused: it resolves to " + own[i] +
                              ", which is this host's own"))
        << called;
  EXPECT_EQ(here.accepted(), own.size());
  EXPECT_TRUE(called.used.empty()) << called;
}

TEST_P(Addresses, OfMoreThanOneHostAreRefused) {
  stage().dns.tell("broadcast.cloche.test", "93.184.217.255");
  const Called called = echo({"broadcast.cloche.test"});
  EXPECT_TRUE(
      called.denied("connect to broadcast.cloche.test:7000 refused: it resolves to 93.184.217.255, "
                    "which is not the address of one host"))
      << called;
}

// The host's own routes say no: that is no decision about this call.
TEST_P(Addresses, WithoutARouteAreAFailure) {
  const std::vector<std::string> lost = {"93.184.220.1",     "93.184.221.1",     "93.184.222.1",
                                         "2606:2800:223::1", "2606:2800:224::1", "2606:2800:225::1"};
  std::vector<std::string> names;
  for (const auto& address : lost) {
    names.push_back("lost" + std::to_string(names.size()) + ".cloche.test");
    stage().dns.tell(names.back(), address);
  }
  stage().dns.tell("half-lost.cloche.test", {{.addresses = {lost[0], tool_address}}});
  names.push_back("half-lost.cloche.test");
  const Called called = echo(names);
  for (size_t i = 0; i < lost.size(); ++i)
    EXPECT_TRUE(called.failed("egress: " + names[i] +
                              ":7000 could not be reached: this host has no route to " + lost[i] +
                              ": none at all, or one that says blackhole, unreachable or prohibit"))
        << called;
  EXPECT_TRUE(called.denials.empty()) << called;
  EXPECT_TRUE(contains(called.out, "half-lost.cloche.test seen ping\n")) << called;
}

TEST_P(Addresses, OfTheHostsOwnFileAreJudgedAsWell) {
  const Called called = echo({"private-in-file.cloche.test", "from-file.cloche.test"});
  EXPECT_TRUE(called.denied("private-in-file.cloche.test:7000 refused: it resolves to 10.1.2.3")) << called;
  EXPECT_TRUE(contains(called.out, "from-file.cloche.test seen ping")) << called;
}

// Rebinding: the name is looked up once for a connection, and what was judged is what is dialled.
TEST_P(Addresses, ThatChangeBetweenLookUpsAreJudgedEachTime) {
  const std::string name = std::string(name_of(as())) + ".rebind.cloche.test";
  stage().dns.tell(
      name, {{.addresses = {tool_address}}, {.addresses = {"10.1.2.3"}}, {.addresses = {tool_address}}});
  const std::string script = file("again", name + " 7000 9 0 0\nping");
  const size_t before = stage().echo.accepted();
  const Called called = client({name + ":7000"}, {"talk", script, script, script});
  EXPECT_EQ(called.out, name + " seen ping\n" + name + " reset\n" + name + " seen ping\n") << called;
  EXPECT_EQ(called.use_of(name + ":7000").connections, 2) << called;
  EXPECT_EQ(stage().echo.accepted(), before + 2);
}

TEST_P(Addresses, OfBothKindsLeadToThePublicOneAlone) {
  stage().dns.tell(
      "mixed.cloche.test",
      {{.addresses = {"10.1.2.3", "127.0.0.1", tool_address, "fd00:ec2::254", "169.254.169.254"}}});
  const Called called = echo({"mixed.cloche.test"});
  EXPECT_EQ(called.out, "mixed.cloche.test seen ping\n") << called;
  EXPECT_EQ(called.use_of("mixed.cloche.test:7000").connections, 1) << called;
}

// 93.184.217.2 is there and has no web server; the next address does.
TEST_P(Addresses, AreTriedInTurn) {
  stage().dns.tell("in-turn.cloche.test", {{.addresses = {"93.184.217.2", tool_address}}});
  const std::string script =
      file("in-turn", "in-turn.cloche.test 80 99 0 0\nGET / HTTP/1.1\r\nHost: in-turn.cloche.test\r\n\r\n");
  const Called called = client({"in-turn.cloche.test"}, {"talk", script});
  EXPECT_EQ(called.out, "in-turn.cloche.test seen seen\n") << called;
  EXPECT_EQ(called.use_of("in-turn.cloche.test:80").connections, 1) << called;
  EXPECT_TRUE(called.failures.empty()) << called;
}

TEST_P(Addresses, BehindAnAliasAreJudged) {
  stage().dns.tell("alias.cloche.test", {{.addresses = {tool_address}, .alias = "cdn.example"}});
  stage().dns.tell("bad-alias.cloche.test", {{.addresses = {"192.168.1.1"}, .alias = "cdn.example"}});
  const Called called = echo({"alias.cloche.test", "bad-alias.cloche.test"});
  EXPECT_EQ(called.out, "alias.cloche.test seen ping\nbad-alias.cloche.test reset\n") << called;
  EXPECT_TRUE(called.denied("bad-alias.cloche.test:7000 refused: it resolves to 192.168.1.1")) << called;
}

TEST_P(Addresses, FromForgedAnswersAreNotTaken) {
  stage().dns.tell("forged.cloche.test", {{.kind = Kind::forged, .addresses = {tool_address}}});
  const Called called = echo({"forged.cloche.test"});
  EXPECT_EQ(called.out, "forged.cloche.test seen ping\n") << called;
}

// A resolver that is of no use fails the connection, with a sentence; it takes no decision.
TEST_P(Addresses, ThatNobodyKnowsAreAFailureNotADenial) {
  stage().dns.tell("failed.cloche.test", {{.kind = Kind::failed}});
  stage().dns.tell("malformed.cloche.test", {{.kind = Kind::malformed}});
  stage().dns.tell("truncated.cloche.test", {{.kind = Kind::truncated, .addresses = {tool_address}}});
  const Called called = echo(
      {"nobody-knows.cloche.test", "failed.cloche.test", "malformed.cloche.test", "truncated.cloche.test"});
  EXPECT_TRUE(called.failed(
      "egress: nobody-knows.cloche.test:7000 could not be reached: the resolver knows no address of it"))
      << called;
  for (const char* name : {"failed", "malformed", "truncated"})
    EXPECT_TRUE(called.failed("egress: " + std::string(name) +
                              ".cloche.test:7000 could not be reached: the resolver"))
        << name << called;
  EXPECT_TRUE(called.denials.empty()) << called;
}

// Packets are lost, servers are slow, and some say of a name that it does not exist when it has no IPv6.
TEST_P(Addresses, OfAResolverThatIsNotPerfectAreFound) {
  using Answers = std::vector<DnsAnswer>;
  const DnsAnswer good{.addresses = {tool_address}};
  const struct {
    std::string name;
    Answers in_turn;
  } rows[] = {
      {"lost.cloche.test", {{.kind = Kind::silent, .kind6 = Kind::addresses}, good}},
      {"lost6.cloche.test", {{.kind = Kind::addresses, .addresses = {tool_address}, .kind6 = Kind::silent}}},
      {"only4.cloche.test", {{.addresses = {tool_address}, .kind6 = Kind::no_such_name, .after_ms = 50}}},
      {"only6.cloche.test",
       {{.kind = Kind::no_such_name, .addresses = {tool_address6}, .kind6 = Kind::addresses}}},
      {"fails6.cloche.test", {{.addresses = {tool_address}, .kind6 = Kind::failed}}},
      {"slow.cloche.test", {{.addresses = {tool_address}, .after_ms = 3000}}},
      {"long.cloche.test", {{.kind = Kind::truncated, .addresses = {tool_address}, .whole_over_tcp = true}}},
  };
  std::vector<std::string> names;
  std::string all;
  for (const auto& row : rows) {
    stage().dns.tell(row.name, row.in_turn);
    names.push_back(row.name);
    all += row.name + " seen ping\n";
  }
  const Called called = echo(names);
  EXPECT_EQ(called.out, all) << called;
  EXPECT_TRUE(called.failures.empty() && called.denials.empty()) << called;
}

TEST_P(Addresses, AreAskedOfAResolverNextDoor) {
  DnsServer near(stage().world, std::string(near_resolver_address) + "%in0");
  near.tell("near.cloche.test",
            {{.kind = Kind::truncated, .addresses = {tool_address}, .whole_over_tcp = true}});
  const PutOver resolver("/etc/resolv.conf", "nameserver " + std::string(near_resolver_address) + "%out0\n");
  const Called called = echo({"near.cloche.test"});
  EXPECT_EQ(called.out, "near.cloche.test seen ping\n") << called;
}

// No server is asked that was not named.
TEST_P(Addresses, AreAskedOfNobodyWhereTheResolversCannotBeRead) {
  const PutOver resolver("/etc/resolv.conf", "nameserver fe80::53%no-such-link\nnameserver one.example\n");
  const Called called = echo({"tool.cloche.test"});
  EXPECT_TRUE(
      called.failed("egress: tool.cloche.test:7000 could not be reached: no nameserver line of "
                    "/etc/resolv.conf can be read"))
      << called;
  EXPECT_LT(called.ran.seconds, 3) << called;
}

// Those who wait for the same name at the same time share its look-up.
TEST_P(Addresses, AreLookedUpOnceForManyWhoWait) {
  const DnsAnswer late{.addresses = {tool_address}, .after_ms = 400};
  stage().dns.tell("shared.cloche.test", std::vector{late});
  file("many.py", R"(import socket
held = [socket.create_connection(('shared.cloche.test', 7000)) for i in range(100)]
for s in held: s.sendall(b'x')
print(sum(len(s.recv(1)) for s in held))
)");
  const size_t before = stage().dns.asked().size();
  const Called called = call({"shared.cloche.test:7000"}, {"/usr/bin/python3", "many.py"});
  EXPECT_EQ(called.out, "100\n") << called;
  EXPECT_LE(stage().dns.asked().size() - before, 8U);
}

// 93.184.216.99 answers nobody: the other family is tried soon, beside it.
TEST_P(Addresses, ThatLeadNowhereDoNotHoldUpTheOthers) {
  stage().dns.tell("half-dead.cloche.test", {{.addresses = {dead_address, tool_address6}}});
  stage().dns.tell("almost-dead.cloche.test", {{.addresses = {dead_address, tool_address}}});
  const Called called = echo({"half-dead.cloche.test", "almost-dead.cloche.test"});
  EXPECT_EQ(called.out, "half-dead.cloche.test seen ping\nalmost-dead.cloche.test seen ping\n") << called;
  EXPECT_LT(called.ran.seconds, 5) << called;
}

TEST_P(Addresses, ThatLeadNowhereAreDialledForTheTimeOfAConnection) {
  stage().dns.tell("nowhere.cloche.test", dead_address);
  const std::string script = file("nowhere", "nowhere.cloche.test 7000 9 0 0\nping");
  const Called called = client({"nowhere.cloche.test:7000"}, {"talk", script}, {"--net-time", "1s"});
  EXPECT_EQ(called.out, "nowhere.cloche.test reset\n") << called;
  EXPECT_TRUE(
      called.denied("egress: the connection to nowhere.cloche.test:7000 was ended: it was open for too long"))
      << called;
  EXPECT_LT(called.ran.seconds, 5) << called;
}

TEST_P(Addresses, OfAResolverThatIsSilentAreGivenUp) {
  stage().dns.tell("silent.cloche.test", {{.kind = Kind::silent}});
  const Called called = echo({"silent.cloche.test"});
  EXPECT_TRUE(called.failed("silent.cloche.test:7000 could not be reached: the resolver does not answer"))
      << called;
  EXPECT_LT(called.ran.seconds, 12) << called;
}

TEST_P(Addresses, WhereNobodyListensAreAFailure) {
  stage().dns.tell("closed.cloche.test", tool_address);
  const std::string script = file("closed", "closed.cloche.test 7999 9 0 0\nping");
  const Called called = client({"closed.cloche.test:7999"}, {"talk", script});
  EXPECT_EQ(called.out, "closed.cloche.test reset\n") << called;
  EXPECT_TRUE(called.failed("egress: closed.cloche.test:7999 could not be reached: Connection refused"))
      << called;
  EXPECT_TRUE(called.denials.empty()) << called;
}

FOR_EVERYONE(Addresses);

}  // namespace
}  // namespace cloche::test
