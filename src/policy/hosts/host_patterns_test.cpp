// Names of hosts and declarations of them, by table and by properties over generated names.
#include "policy/hosts/host_patterns.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace cloche {
namespace {

std::string long_name(size_t length) {
  std::string name;
  while (name.size() < length) name += name.size() % 64 == 63 ? '.' : 'a';
  return name;
}

std::string read(std::string_view text) {
  const ReadName read = HostName::read(text);
  return read ? std::string(read.name->text()) : "no: " + std::string(read.problem);
}

std::string declared(std::string_view text) {
  const ReadHost read = read_declared_host(text);
  if (!read) return "no: " + std::string(read.problem);
  std::string shown = read.host->kind == DeclaredHost::Kind::below           ? "below "
                      : read.host->kind == DeclaredHost::Kind::host_loopback ? "loopback "
                                                                             : "";
  shown += read.host->name.text();
  for (const uint16_t port : read.host->ports.list()) shown += " " + std::to_string(port);
  return shown;
}

TEST(HostName, HasOneSpelling) {
  const struct {
    std::string text;
    std::string name;
  } rows[] = {
      {"example.org", "example.org"},
      {"EXAMPLE.Org", "example.org"},
      {"example.org.", "example.org"},
      {"a", "a"},
      {"a-b.example", "a-b.example"},
      {"1and1.com", "1and1.com"},
      {"4.a", "4.a"},
      {"0x7f.example", "0x7f.example"},
      {"r3---sn-x.example.com", "r3---sn-x.example.com"},
      {"XN--BCHER-KVA.example", "xn--bcher-kva.example"},
      {"xn--mgbh0fb.example", "xn--mgbh0fb.example"},
      {"xn--h2bhs4b8d8a", "xn--h2bhs4b8d8a"},
      {"xn--fa-hia.de", "xn--fa-hia.de"},
      {std::string(63, 'a') + ".org", std::string(63, 'a') + ".org"},
      {long_name(253), long_name(253)},
      {long_name(253) + ".", long_name(253)},
  };
  for (const auto& row : rows) EXPECT_EQ(read(row.text), row.name);
}

TEST(HostName, RefusesWhatIsNone) {
  const struct {
    std::string text;
    std::string problem;
  } rows[] = {
      {"", "empty"},
      {".", "empty label"},
      {"..", "empty label"},
      {"a..b", "empty label"},
      {".a", "empty label"},
      {"a..", "empty label"},
      {"-a.b", "hyphen"},
      {"a-.b", "hyphen"},
      {"a b", "labels are made of"},
      {" a", "labels are made of"},
      {"a_b.org", "labels are made of"},
      {"*.a.org", "labels are made of"},
      {"a/b", "labels are made of"},
      {"a:80", "labels are made of"},
      {"a%2eb", "labels are made of"},
      {"a\r\nb", "labels are made of"},
      {"b\xc3\xbc"
       "cher.de",
       "write its xn-- form"},
      {std::string("a\0.org", 6), "labels are made of"},
      {std::string(64, 'a') + ".org", "63"},
      {long_name(254), "253"},
      {std::string(100000, 'a'), "63"},
      {"1.2.3.4", "an address"},
      {"1.2.3.4.", "an address"},
      {"1.2.3", "an address"},
      {"0x7f.1", "an address"},
      {"0x7f.0x1", "an address"},
      {"127.0.0.0X1", "an address"},
      {"0x", "an address"},
      {"2130706433", "an address"},
      {"017700000001", "an address"},
      {"example.1", "an address"},
      {"[::1]", "an address"},
      {"::1", "an address"},
      {"::ffff:127.0.0.1", "an address"},
      {"xn--", "hyphen"},
      {"xn--abc-", "hyphen"},
  };
  for (const auto& row : rows) EXPECT_NE(read(row.text).find("no: "), std::string::npos) << row.text;
  for (const auto& row : rows)
    EXPECT_NE(read(row.text).find(row.problem), std::string::npos) << read(row.text);
}

TEST(HostDeclaration, SaysKindNameAndPorts) {
  const struct {
    std::string text;
    std::string meaning;
  } rows[] = {
      {"example.org", "example.org 80 443"},
      {"example.org:8443", "example.org 8443"},
      {"Example.ORG.:1", "example.org 1"},
      {"example.org:65535", "example.org 65535"},
      {"*.example.org", "below example.org 80 443"},
      {"*.example.org:443", "below example.org 443"},
      {"localhost:5432", "loopback localhost 5432"},
      {"LOCALHOST.:5432", "loopback localhost 5432"},
      {"intranet", "intranet 80 443"},
      {"notlocalhost", "notlocalhost 80 443"},
      {"localhost.example", "localhost.example 80 443"},
      {"ghost.cloche", "ghost.cloche 80 443"},
      {"host.cloche.example:5353", "host.cloche.example 5353"},
      {"*.co.uk", "below co.uk 80 443"},  // shared suffixes are not known
  };
  for (const auto& row : rows) EXPECT_EQ(declared(row.text), row.meaning);
}

TEST(HostDeclaration, RefusesWithASentence) {
  const struct {
    std::string text;
    std::string problem;
  } rows[] = {
      {"localhost", "needs its port, as in localhost:5432"},
      {"localhost.", "needs its port"},
      {"a.localhost", "names below localhost"},
      {"a.localhost:80", "names below localhost"},
      {"*.localhost:80", "names below localhost"},
      {"host.cloche", "host.cloche is this host's own loopback"},
      {"Host.Cloche.:8080", "write localhost:PORT"},
      {"a.host.cloche", "write localhost:PORT"},
      {"*.host.cloche:80", "write localhost:PORT"},
      {"a.org:53", "port 53 belongs to the call's own resolver"},
      {"*.a.org:53", "port 53 belongs to the call's own resolver"},
      {"localhost:53", "port 53 belongs to the call's own resolver"},
      {"*", "below a name"},
      {"*.", "below a name"},
      {"*:443", "below a name"},
      {"*.org", "top-level domain"},
      {"*.xn--p1ai", "top-level domain"},
      {"*.*.org", "whole first label"},
      {"a.*.org", "whole first label"},
      {"a*.example.org", "whole first label"},
      {"*a.example.org", "whole first label"},
      {"**.example.org", "whole first label"},
      {"*.1.2.3.4", "an address"},
      {"a.org:", "1 to 65535"},
      {"a.org:0", "1 to 65535"},
      {"a.org:65536", "1 to 65535"},
      {"a.org:080", "1 to 65535"},
      {"a.org:+80", "1 to 65535"},
      {"a.org:80 ", "1 to 65535"},
      {"a.org:http", "1 to 65535"},
      {"a.org:99999999999999999999", "1 to 65535"},
      {"a.org:*", "1 to 65535"},
      {":80", "empty"},
      {"a:1:2", "an address"},
      {"[::1]:80", "an address"},
      {"127.0.0.1:80", "an address"},
      {"https://a.org/", "named alone"},
      {"u@a.org", "named alone"},
  };
  for (const auto& row : rows)
    EXPECT_NE(declared(row.text).find(row.problem), std::string::npos)
        << row.text << " is " << declared(row.text);
  EXPECT_TRUE(read_wanted_host("a.org:80"));
  EXPECT_FALSE(read_wanted_host("*.a.org:80"));
}

// No letter beyond ASCII is turned into another spelling, so that none can stand for a name that it is not.
TEST(HostDeclaration, RefusesLettersBeyondAscii) {
  for (const char* text : {
           "bücher.example",
           "*.münchen.de",
           "παράδειγμα.gr",
           "пример.рф",
           "日本語.jp",
           "한국.kr",
           "pаypal.com",                // Cyrillic among Latin
           "straße.de",                 // read in two ways
           "İstanbul.tr",               // a dot too many
           "مثال.example",              // right to left
           "u\xcc\x88.de",              // a mark instead of a letter
           "a\xe2\x80\x8d\xc3\xa4.de",  // a joiner
           "\xc2\xad\xc3\xa4.de",       // a hyphen that is not seen
           "ｅxample.org",              // full width
           "example。org",              // another dot
           "ﬁ.org",                     // a ligature
           "xn--ä.de",                  // one spelling within another
           "\xff.de",                   // not UTF-8
           "\xed\xa0\x80.de",
       }) {
    EXPECT_NE(declared(text).find("write its xn-- form"), std::string::npos)
        << text << " is " << declared(text);
  }
  EXPECT_EQ(declared("XN--bcher-kva.example"), "xn--bcher-kva.example 80 443") << "as it is, and in one case";
}

TEST(HostDeclaration, CoversByLabelsAndPorts) {
  const struct {
    const char* wide;
    const char* narrow;
    bool covered;
  } rows[] = {
      {"example.org", "example.org", true},         {"example.org", "EXAMPLE.ORG.", true},
      {"example.org", "a.example.org", false},      {"example.org", "example.org.evil.com", false},
      {"example.org", "example.org:443", true},     {"example.org", "example.org:80", true},
      {"example.org", "example.org:8080", false},   {"example.org:443", "example.org:443", true},
      {"example.org:443", "example.org:80", false}, {"example.org:443", "example.org", false},
      {"*.example.org", "a.example.org", true},     {"*.example.org", "a.b.example.org", true},
      {"*.example.org", "example.org", false},      {"*.example.org", "evilexample.org", false},
      {"*.example.org", "*.example.org", true},     {"*.example.org", "*.b.example.org:80", true},
      {"*.b.example.org", "*.example.org", false},  {"a.example.org", "*.example.org", false},
      {"localhost:5432", "localhost:5432", true},   {"localhost:5432", "localhost:5433", false},
      {"*.example.org", "localhost:80", false},     {"XN--bcher-kva.example", "xn--bcher-kva.example", true},
  };
  for (const auto& row : rows)
    EXPECT_EQ(covers(*read_declared_host(row.wide).host, *read_declared_host(row.narrow).host), row.covered)
        << row.wide << " " << row.narrow;
}

// A look-up of localhost gets nothing by a declaration of its service, and no port comes with a name alone.
TEST(HostDeclaration, CoversANameThatWasLookedUp) {
  const auto host = [](const char* text) { return *read_declared_host(text).host; };
  const auto name = [](const char* text) { return *HostName::read(text).name; };
  EXPECT_TRUE(covers(host("a.org:22"), name("A.org.")));
  EXPECT_TRUE(covers(host("a.org:22"), name("a.org"), 22));
  EXPECT_FALSE(covers(host("a.org:22"), name("a.org"), 443));
  EXPECT_TRUE(covers(host("*.a.org"), name("x.a.org"), 443));
  EXPECT_FALSE(covers(host("*.a.org"), name("a.org")));
  EXPECT_FALSE(covers(host("localhost:80"), name("localhost")));
  EXPECT_FALSE(covers(host("localhost:80"), name("localhost"), 80));
}

// LESSONS.md 3: data left in the labels of look-ups. A name is bounded, and what no declaration covers is no
// name to look up.
TEST(HostNameRegression, Lesson3DataInLabelsIsBoundedAndUncovered) {
  const auto declared = *read_declared_host("example.org").host;
  EXPECT_FALSE(covers(declared, *HostName::read("c2VjcmV0.example.org").name));
  EXPECT_FALSE(HostName::read(std::string(64, 'x') + ".example.org"));
  EXPECT_FALSE(HostName::read(long_name(254)));
}

// LESSONS.md 6: attacker.com\0.google.com passed a check of its suffix.
TEST(HostNameRegression, Lesson6NulAndOtherBytesNeverReachAComparison) {
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const bool fine =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    const std::string text = std::string("attacker.com") + c + "x.google.com";
    EXPECT_EQ(static_cast<bool>(HostName::read(text)), fine) << byte;
    EXPECT_EQ(static_cast<bool>(read_wanted_host(text)), fine) << byte;
  }
  EXPECT_FALSE(read_wanted_host(std::string_view("attacker.com\0.google.com", 24)));
}

// LESSONS.md 7: an empty list of hosts meant all of them.
TEST(HostNameRegression, Lesson7NothingDeclaredIsNothing) {
  EXPECT_FALSE(read_declared_host(""));
  EXPECT_FALSE(read_declared_host("*"));
  EXPECT_FALSE(read_declared_host("*."));
}

// LESSONS.md 25: a service on the host's loopback was out of reach, or all of the loopback was not.
TEST(HostNameRegression, Lesson25LocalhostIsOneServiceByItsPort) {
  const ReadHost service = read_declared_host("localhost:5432");
  ASSERT_TRUE(service);
  EXPECT_EQ(service.host->kind, DeclaredHost::Kind::host_loopback);
  EXPECT_EQ(service.host->ports, Ports::one(5432));
  EXPECT_FALSE(read_declared_host("localhost"));
  EXPECT_FALSE(read_declared_host("127.0.0.1:5432"));
}

std::string generated_name(std::mt19937& random) {
  constexpr std::string_view alphabet = "abcxyzABCXYZ019--..\0_* :x";
  std::string name;
  for (size_t length = random() % 24; name.size() < length;) name += alphabet[random() % alphabet.size()];
  return name;
}

TEST(HostNameProperties, WhatIsReadReadsAsItself) {
  std::mt19937 random(6);
  int names = 0;
  for (int i = 0; i < 50000; ++i) {
    const std::string text = generated_name(random);
    const ReadName first = HostName::read(text);
    EXPECT_EQ(first.problem.empty(), first.name.has_value()) << text;
    if (!first) continue;
    ++names;
    const ReadName again = HostName::read(first.name->text());
    ASSERT_TRUE(again) << text;
    EXPECT_EQ(*again.name, *first.name);
    EXPECT_FALSE(first.name->is_below(*first.name));
    const ReadName below = HostName::read("x." + std::string(first.name->text()));
    EXPECT_TRUE(below && below.name->is_below(*first.name));
  }
  EXPECT_GT(names, 1000);
}

}  // namespace
}  // namespace cloche
