// Names of hosts and declarations of them, by table and by properties over generated names.
#include "policy/host_names.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "base/utf8.hpp"
#include "policy/idna.hpp"

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
       "labels are made of"},
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
      {"xn--", "not the one spelling"},
      {"xn--abc-", "not the one spelling"},
      {"xn--abc", "nobody would see"},
      {"xn--a-b", "no punycode"},
      {"xn--99999999", "no punycode"},
      {"xn---bcher-kva", "not the one spelling"},
      {"xn--ab-m1t", "nobody would see"},   // a joiner
      {"xn--4ca460n", "nobody would see"},  // a space of no width
      {"xn--bc-bz3n", "nobody would see"},  // full width
      {"xn--ab-r13a", "nobody would see"},  // a stop that is read as a dot
      {"xn--xy-c6t", "nobody would see"},   // a slash
      {"xn--x-i411m", "nobody would see"},  // a tag
      {"xn--zn7c", "nobody would see"},     // the mark of what was no character
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

TEST(HostDeclaration, TakesLettersOfOtherScripts) {
  const struct {
    const char* text;
    const char* name;
  } rows[] = {
      {"bücher.example", "xn--bcher-kva.example"},
      {"BÜCHER.example", "xn--bcher-kva.example"},
      {"*.münchen.de", "xn--mnchen-3ya.de"},
      {"παράδειγμα.gr", "xn--hxajbheg2az3al.gr"},
      {"ΠΑΡΆΔΕΙΓΜΑ.gr", "xn--hxajbheg2az3al.gr"},
      {"пример.рф", "xn--e1afmkfd.xn--p1ai"},
      {"ПРИМЕР.РФ", "xn--e1afmkfd.xn--p1ai"},
      {"日本語.jp", "xn--wgv71a119e.jp"},
      {"例え名前.jp", "xn--r8jz45gt2bg7b.jp"},
      {"食狮.cn", "xn--85x722f.cn"},
      {"한국.kr", "xn--3e0b707e.kr"},
      {"ČEŠTINA.cz", "xn--etina-gya30d.cz"},
      {"Ёлка.ru", "xn--80atc1g.ru"},
      {"ĄĆĘ.pl", "xn--2dae8c.pl"},
      {"ŁÓDŹ.pl", "xn--d-uga0v4h.pl"},
  };
  for (const auto& row : rows) {
    const ReadHost read = read_declared_host(row.text);
    ASSERT_TRUE(read) << row.text << ": " << read.problem;
    EXPECT_EQ(read.host->name.text(), row.name) << row.text;
    EXPECT_FALSE(HostName::read(row.text)) << "a protocol has no such letters";
  }
}

TEST(HostDeclaration, RefusesLettersThatNeedMoreThanThat) {
  for (const char* text : {
           "pаypal.com",                // Cyrillic among Latin
           "日本abc.jp",                // ASCII letters among Han
           "한국日本.kr",               // two scripts
           "straße.de",                 // read in two ways
           "ελλάς.gr",                  // a final sigma: likewise
           "ıstanbul.tr",               // no dot
           "İstanbul.tr",               // a dot too many
           "مثال.example",              // right to left
           "אתר.example",               // right to left
           "नमस्ते.in",                   // marks
           "u\xcc\x88.de",              // a mark instead of a letter
           "a\xe2\x80\x8d\xc3\xa4.de",  // a joiner
           "\xc2\xad\xc3\xa4.de",       // a hyphen that is not seen
           "ｅxample.org",              // full width
           "example。org",              // another dot
           "example．org",              // another dot
           "ﬁ.org",                     // a ligature
           "℡.org",                     // a symbol
           "❤.ws",                      // a symbol
           "-ä.de",
           "ä-.de",     // edges
           "xn--ä.de",  // one spelling within another
           "ab--ä.de",  // likewise
           "\xff.de",
           "\xc3.de",
           "\xed\xa0\x80.de",
           "\xc0\xaf.de",  // not UTF-8
       }) {
    EXPECT_FALSE(read_declared_host(text)) << text << " is " << declared(text);
  }
  EXPECT_FALSE(HostName::read_declared(std::string(3 * 60, '\xe3') + ".jp"));
  std::string kana;
  for (int i = 0; i < 64; ++i) kana += "あ";
  EXPECT_NE(declared(kana + ".jp").find("longer than 63"), std::string::npos);
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
      {"*.example.org", "localhost:80", false},     {"bücher.example", "xn--bcher-kva.example", true},
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
    EXPECT_EQ(HostName::read_declared(text).name, first.name) << "in ASCII there is no difference";
  }
  EXPECT_GT(names, 1000);
}

TEST(HostNameProperties, LettersOfOtherScriptsComeBackFromTheirPunycode) {
  std::mt19937 random(7);
  constexpr std::string_view scripts[] = {"äöüéèñçõåæøčšžąłőř-a0", "абвгдежзийклмнё-1", "αβγδεζηθικλμνξοάέ-2",
                                          "あいうえおカキク日本語々ー3", "가나다라마바사한국-4"};
  for (int i = 0; i < 20000; ++i) {
    std::vector<std::string> letters;
    for (std::string_view rest = scripts[random() % 5]; !rest.empty();) {
      letters.emplace_back(rest.substr(0, utf8::sequence_length(rest)));
      rest.remove_prefix(letters.back().size());
    }
    std::string label;
    for (size_t left = 1 + random() % 12; left > 0; --left) label += letters[random() % letters.size()];
    const AceLabel ace = ace_label(letters[0] + label + letters[0]);
    if (!ace.problem.empty()) continue;  // hyphens in the third and fourth place
    EXPECT_EQ(problem_of_ace(ace.text.view()), "") << label;
    EXPECT_TRUE(HostName::read(ace.text.view())) << label;
  }
}

}  // namespace
}  // namespace cloche
