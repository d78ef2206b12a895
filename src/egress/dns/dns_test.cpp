// Queries from a sandbox, answers from a server, and what is made of each, by table.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "egress/dns/dns_resolver.hpp"
#include "egress/dns/dns_stub.hpp"

namespace cloche::dns {
namespace {

using Octets = std::vector<uint8_t>;

// A message in the making; what is wrong with it is written by hand.
struct Raw {
  Octets octets = {};

  Raw& u8(unsigned value) {
    octets.push_back(static_cast<uint8_t>(value));
    return *this;
  }
  Raw& u16(unsigned value) { return u8(value >> 8).u8(value & 0xff); }
  Raw& u32(unsigned value) { return u16(value >> 16).u16(value & 0xffff); }
  Raw& head(unsigned id, unsigned flags, unsigned questions, unsigned answers, unsigned authorities,
            unsigned additional) {
    return u16(id).u16(flags).u16(questions).u16(answers).u16(authorities).u16(additional);
  }
  Raw& label(std::string_view text) {
    u8(static_cast<unsigned>(text.size()));
    octets.insert(octets.end(), text.begin(), text.end());
    return *this;
  }
  Raw& name(std::string_view dotted) {
    while (!dotted.empty()) {
      const auto one = dotted.substr(0, dotted.find('.'));
      label(one);
      dotted.remove_prefix(std::min(dotted.size(), one.size() + 1));
    }
    return u8(0);
  }
  Raw& question(std::string_view dotted, unsigned type, unsigned type_class = class_in) {
    return name(dotted).u16(type).u16(type_class);
  }
  Raw& opt(unsigned version = 0, std::string_view options = "") {
    u8(0).u16(type_opt).u16(1232).u8(0).u8(version).u16(0).u16(static_cast<unsigned>(options.size()));
    octets.insert(octets.end(), options.begin(), options.end());
    return *this;
  }
  Raw& record(unsigned type, const Octets& data, unsigned type_class = class_in) {
    u16(type).u16(type_class).u32(300).u16(static_cast<unsigned>(data.size()));
    octets.insert(octets.end(), data.begin(), data.end());
    return *this;
  }
};

Octets asking(std::string_view name, unsigned type) {
  return Raw().head(7, 0x100, 1, 0, 0, 0).question(name, type).octets;
}

const HostName& example() {
  static const HostName name = *HostName::read("example.org").name;
  return name;
}

IpAddress address_of_call(IpAddress::Family family) {
  return family == IpAddress::Family::v4 ? IpAddress{.bytes = {198, 18, 0, 9}}
                                         : IpAddress{.family = family, .bytes = {0xfd, 0xc1, 0, 9}};
}

TEST(DnsStub, ReadsWhatIsAsked) {
  const std::string most(63, 'a');
  const std::string longest = most + "." + most + "." + most + "." + std::string(61, 'a');
  const std::string_view cookie("\0\12\0\10abcdefgh", 12);
  const struct {
    const char* what;
    Octets message;
    QueryKind asked;
    std::string host = "";
  } rows[] = {
      {"A", asking("example.org", type_a), QueryKind::look_up, "example.org"},
      {"AAAA", asking("example.org", type_aaaa), QueryKind::look_up, "example.org"},
      {"HTTPS", asking("example.org", type_https), QueryKind::look_up, "example.org"},
      {"SVCB", asking("example.org", type_svcb), QueryKind::look_up, "example.org"},
      {"capitals", asking("eXample.ORG", type_a), QueryKind::look_up, "example.org"},
      {"EDNS", Raw().head(7, 0x100, 1, 0, 0, 1).question("a.org", type_a).opt().octets, QueryKind::look_up,
       "a.org"},
      {"a cookie", Raw().head(7, 0x120, 1, 0, 0, 1).question("a.org", type_a).opt(0, cookie).octets,
       QueryKind::look_up, "a.org"},
      {"the longest name", asking(longest, type_a), QueryKind::look_up, longest},
      {"the root", asking("", type_a), QueryKind::look_up},
      {"an underscore", asking("_443._tcp.example.org", type_a), QueryKind::look_up},
      {"an address as a name", asking("1.2.3.4", type_a), QueryKind::look_up},
      {"bytes beyond ASCII",
       asking("b\xc3\xbc"
              "cher.de",
              type_a),
       QueryKind::look_up},
      {"a dot in a label",
       Raw().head(7, 0x100, 1, 0, 0, 0).label("evil.example").label("org").u8(0).u16(1).u16(1).octets,
       QueryKind::look_up},
      {"a NUL in a label",
       Raw()
           .head(7, 0x100, 1, 0, 0, 0)
           .label(std::string_view("evil\0", 5))
           .label("org")
           .u8(0)
           .u16(1)
           .u16(1)
           .octets,
       QueryKind::look_up},
      {"TXT", asking("example.org", 16), QueryKind::other_record, "example.org"},
      {"MX", asking("example.org", 15), QueryKind::other_record, "example.org"},
      {"PTR", asking("1.0.18.198.in-addr.arpa", 12), QueryKind::other_record, "1.0.18.198.in-addr.arpa"},
      {"ANY", asking("example.org", 255), QueryKind::other_record, "example.org"},
      {"AXFR", asking("example.org", 252), QueryKind::other_record, "example.org"},
      {"CNAME", asking("example.org", type_cname), QueryKind::other_record, "example.org"},
      {"NULL", asking("example.org", 10), QueryKind::other_record, "example.org"},
      {"another class", Raw().head(7, 0x100, 1, 0, 0, 0).question("version.bind", type_a, 3).octets,
       QueryKind::other_record, "version.bind"},
      {"empty", {}, QueryKind::nothing},
      {"half a head", Octets(11), QueryKind::nothing},
      {"an answer", Raw().head(7, 0x8100, 1, 0, 0, 0).question("a.org", 1).octets, QueryKind::nothing},
      {"an update", Raw().head(7, 0x2800, 1, 0, 0, 0).question("a.org", 1).octets,
       QueryKind::other_operation},
      {"a status", Raw().head(7, 0x1000, 0, 0, 0, 0).octets, QueryKind::other_operation},
      {"no question", Raw().head(7, 0x100, 0, 0, 0, 0).octets, QueryKind::malformed},
      {"two questions", Raw().head(7, 0x100, 2, 0, 0, 0).question("a.org", 1).question("b.org", 1).octets,
       QueryKind::malformed},
      {"an answer within", Raw().head(7, 0x100, 1, 1, 0, 0).question("a.org", 1).octets,
       QueryKind::malformed},
      {"an authority within", Raw().head(7, 0x100, 1, 0, 1, 0).question("a.org", 1).octets,
       QueryKind::malformed},
      {"truncated", Raw().head(7, 0x300, 1, 0, 0, 0).question("a.org", 1).octets, QueryKind::malformed},
      {"bytes behind it", Raw().head(7, 0x100, 1, 0, 0, 0).question("a.org", 1).u8(0).octets,
       QueryKind::malformed},
      {"no name", Raw().head(7, 0x100, 1, 0, 0, 0).octets, QueryKind::malformed},
      {"no end of the name", Raw().head(7, 0x100, 1, 0, 0, 0).label("a").octets, QueryKind::malformed},
      {"half a label", Raw().head(7, 0x100, 1, 0, 0, 0).u8(9).u8('a').octets, QueryKind::malformed},
      {"no type", Raw().head(7, 0x100, 1, 0, 0, 0).name("a.org").octets, QueryKind::malformed},
      {"half a class", Raw().head(7, 0x100, 1, 0, 0, 0).name("a.org").u16(1).u8(0).octets,
       QueryKind::malformed},
      {"a pointer to itself", Raw().head(7, 0x100, 1, 0, 0, 0).u16(0xc00c).u16(1).u16(1).octets,
       QueryKind::malformed},
      {"a pointer behind a label",
       Raw().head(7, 0x100, 1, 0, 0, 0).label("a").u16(0xc00c).u16(1).u16(1).octets, QueryKind::malformed},
      {"a pointer into the head", Raw().head(7, 0x100, 1, 0, 0, 0).u16(0xc000).u16(1).u16(1).octets,
       QueryKind::malformed},
      {"a label of a kind that is gone",
       Raw().head(7, 0x100, 1, 0, 0, 0).u8(0x41).u8(0).u8(0).u16(1).u16(1).octets, QueryKind::malformed},
      {"256 bytes of name", asking(longest + "b", type_a), QueryKind::malformed},
      {"EDNS of another version", Raw().head(7, 0x100, 1, 0, 0, 1).question("a.org", 1).opt(1).octets,
       QueryKind::malformed},
      {"two of EDNS", Raw().head(7, 0x100, 1, 0, 0, 2).question("a.org", 1).opt().opt().octets,
       QueryKind::malformed},
      {"something else behind",
       Raw().head(7, 0x100, 1, 0, 0, 1).question("a.org", 1).u8(0).record(16, {1, 'x'}).octets,
       QueryKind::malformed},
      {"EDNS that says more than it has",
       Raw().head(7, 0x100, 1, 0, 0, 1).question("a.org", 1).u8(0).u16(41).u16(512).u32(0).u16(9).octets,
       QueryKind::malformed},
      {"longer than any",
       Raw().head(7, 0x100, 1, 0, 0, 1).question("a.org", 1).opt(0, std::string(max_query_bytes, 'x')).octets,
       QueryKind::malformed},
  };
  for (const auto& row : rows) {
    const Query query = read_query(row.message);
    EXPECT_EQ(query.asked, row.asked) << row.what;
    EXPECT_EQ(query.host ? query.host->text() : "", row.host) << row.what;
  }
}

struct Told {
  Octets octets;
  unsigned rcode = 99, questions = 0, answers = 0, authorities = 0, additional = 0;
};

Told told(const Octets& message, Reply reply, const IpAddress& address = {}) {
  const Message out = write_reply(read_query(message), reply, address);
  Told result{.octets = Octets(out.view().begin(), out.view().end())};
  if (result.octets.empty()) return result;
  ByteReader reader(result.octets);
  EXPECT_EQ(reader.u16(), 7);
  const uint16_t flags = reader.u16();
  EXPECT_EQ(flags & 0x8380, 0x8180 & (0x8280 | (message[2] & 1 ? 0x100 : 0))) << "an answer, never truncated";
  result.rcode = rcode_of(flags);
  result.questions = reader.u16();
  result.answers = reader.u16();
  result.authorities = reader.u16();
  result.additional = reader.u16();
  return result;
}

TEST(DnsStub, AnswersInOneMessageThatIsNeverCut) {
  const IpAddress v4 = address_of_call(IpAddress::Family::v4);
  const IpAddress v6 = address_of_call(IpAddress::Family::v6);
  const struct {
    const char* what;
    Octets message;
    Reply reply;
    IpAddress address;
    unsigned rcode, questions, answers, authorities;
  } rows[] = {
      {"A", asking("a.org", type_a), Reply::address, v4, 0, 1, 1, 0},
      {"AAAA", asking("a.org", type_aaaa), Reply::address, v6, 0, 1, 1, 0},
      {"A, and there is only IPv6", asking("a.org", type_a), Reply::address, v6, 0, 1, 0, 1},
      {"HTTPS", asking("a.org", type_https), Reply::address, v4, 0, 1, 0, 1},
      {"SVCB", asking("a.org", type_svcb), Reply::address, v4, 0, 1, 0, 1},
      {"none of this type", asking("a.org", type_aaaa), Reply::no_data, {}, 0, 1, 0, 1},
      {"not declared", asking("a.org", type_a), Reply::no_such_name, {}, 3, 1, 0, 1},
      {"too many names", asking("a.org", type_a), Reply::refused, {}, 5, 1, 0, 0},
      {"we broke", asking("a.org", type_a), Reply::server_failure, {}, 2, 1, 0, 0},
      {"TXT, whatever is said", asking("a.org", 16), Reply::address, v4, 5, 1, 0, 0},
      {"malformed", Raw().head(7, 0x100, 0, 0, 0, 0).octets, Reply::address, v4, 1, 0, 0, 0},
      {"an update", Raw().head(7, 0x2800, 1, 0, 0, 0).question("a.org", 1).octets, Reply::address, v4, 4, 0,
       0, 0},
      {"an answer: silence", Raw().head(7, 0x8100, 1, 0, 0, 0).octets, Reply::address, v4, 99, 0, 0, 0},
  };
  for (const auto& row : rows) {
    const Told one = told(row.message, row.reply, row.address);
    EXPECT_EQ(one.rcode, row.rcode) << row.what;
    EXPECT_EQ(one.questions, row.questions) << row.what;
    EXPECT_EQ(one.answers, row.answers) << row.what;
    EXPECT_EQ(one.authorities, row.authorities) << row.what;
    EXPECT_EQ(one.additional, 0U) << row.what;
  }
}

TEST(DnsStub, AnswersByteByByte) {
  const IpAddress v4 = address_of_call(IpAddress::Family::v4);
  EXPECT_EQ(told(asking("A.org", type_a), Reply::address, v4).octets, Raw()
                                                                          .head(7, 0x8180, 1, 1, 0, 0)
                                                                          .question("A.org", type_a)
                                                                          .u16(0xc00c)
                                                                          .u16(1)
                                                                          .u16(1)
                                                                          .u32(60)
                                                                          .u16(4)
                                                                          .u8(198)
                                                                          .u8(18)
                                                                          .u8(0)
                                                                          .u8(9)
                                                                          .octets);
  EXPECT_EQ(told(Raw().head(7, 0x100, 1, 0, 0, 1).question("a.org", type_a).opt().octets, Reply::no_such_name)
                .octets,
            Raw()
                .head(7, 0x8183, 1, 0, 1, 1)
                .question("a.org", type_a)
                .u8(0)
                .u16(6)
                .u16(1)
                .u32(5)
                .u16(22)
                .u16(0)
                .u32(1)
                .u32(3600)
                .u32(600)
                .u32(86400)
                .u32(5)
                .u8(0)
                .u16(41)
                .u16(1024)
                .u32(0)
                .u16(0)
                .octets);
}

// The largest of each still fits by far, so the place for it is never too small.
TEST(DnsStub, TheLongestNameFits) {
  const std::string most(63, 'a');
  const std::string longest = most + "." + most + "." + most + "." + std::string(61, 'a');
  const auto query = Raw().head(7, 0x100, 1, 0, 0, 1).question(longest, type_aaaa).opt().octets;
  const size_t around = 12 + 259 + 11;
  EXPECT_EQ(told(query, Reply::address, address_of_call(IpAddress::Family::v6)).octets.size(),
            around + 12 + 16);
  EXPECT_EQ(told(query, Reply::no_such_name).octets.size(), around + 33);
}

TEST(DnsFrame, IsReadFromItsLength) {
  Message message = write_question({.name = example(), .id = 3});
  const Bytes framed = message.framed();
  ASSERT_EQ(framed.size(), message.view().size() + 2);
  for (size_t have = 0; have < framed.size(); ++have)
    EXPECT_EQ(read_frame(framed.first(have), max_query_bytes).state, Frame::State::need_more) << have;
  const Frame frame = read_frame(framed, max_query_bytes);
  ASSERT_EQ(frame.state, Frame::State::whole);
  EXPECT_EQ(read_query(frame.message).host, example());
  EXPECT_EQ(read_frame(Octets{0, 11}, max_query_bytes).state, Frame::State::refused);
  EXPECT_EQ(read_frame(Octets{0xff, 0xff}, max_query_bytes).state, Frame::State::refused);
}

const Question asked_outside{.name = example(), .id = 0x1234};

Raw answer(unsigned count, unsigned flags = 0x8180) {
  return Raw().head(0x1234, flags, 1, count, 0, 0).question("example.org", type_a);
}

std::string shown(const Answer& answer) {
  switch (answer.kind) {
    case Answer::Kind::not_ours: return "not ours";
    case Answer::Kind::malformed: return "malformed";
    case Answer::Kind::truncated: return "truncated";
    case Answer::Kind::failed: return "failed";
    case Answer::Kind::no_such_name: return "no such name";
    case Answer::Kind::addresses: break;
  }
  std::string text = "[";
  for (const IpAddress& one : answer.addresses())
    text += (text == "[" ? "" : " ") + std::string(text_of(one).view());
  return text + "]";
}

const Octets public_a = {93, 184, 216, 34};

TEST(DnsResolver, TakesWhatItAskedForAndNothingElse) {
  const Octets to_www = Raw().label("www").u16(0xc00c).octets;
  const Octets to_cdn = Raw().name("x_y.cdn.net").octets;
  const struct {
    const char* what;
    Octets message;
    std::string read;
  } rows[] = {
      {"one", answer(1).u16(0xc00c).record(type_a, public_a).octets, "[93.184.216.34]"},
      {"its name in full", answer(1).name("EXAMPLE.org").record(type_a, public_a).octets, "[93.184.216.34]"},
      {"two", answer(2).u16(0xc00c).record(type_a, public_a).u16(0xc00c).record(type_a, {1, 1, 1, 1}).octets,
       "[93.184.216.34 1.1.1.1]"},
      {"none", answer(0).octets, "[]"},
      {"of another name", answer(1).name("evil.com").record(type_a, public_a).octets, "[]"},
      {"of another type", answer(1).u16(0xc00c).record(type_aaaa, Octets(16, 1)).octets, "[]"},
      {"of another class", answer(1).u16(0xc00c).record(type_a, public_a, 3).octets, "[]"},
      {"an alias",
       answer(2).u16(0xc00c).record(type_cname, to_cdn).name("X_Y.cdn.net").record(type_a, public_a).octets,
       "[93.184.216.34]"},
      {"an alias, in the other order",
       answer(2).name("x_y.cdn.net").record(type_a, public_a).u16(0xc00c).record(type_cname, to_cdn).octets,
       "[93.184.216.34]"},
      {"an alias with a pointer",
       answer(2)
           .u16(0xc00c)
           .record(type_cname, to_www)
           .name("www.example.org")
           .record(type_a, public_a)
           .octets,
       "[93.184.216.34]"},
      {"an alias that leads nowhere", answer(1).u16(0xc00c).record(type_cname, to_cdn).octets, "[]"},
      {"an alias and an address of the name itself",
       answer(2).u16(0xc00c).record(type_cname, to_cdn).u16(0xc00c).record(type_a, public_a).octets, "[]"},
      {"two aliases of one name",
       answer(2).u16(0xc00c).record(type_cname, to_cdn).u16(0xc00c).record(type_cname, to_www).octets,
       "malformed"},
      {"an alias of itself", answer(1).u16(0xc00c).record(type_cname, Raw().u16(0xc00c).octets).octets,
       "malformed"},
      {"an alias with bytes behind it",
       answer(1).u16(0xc00c).record(type_cname, Raw().name("b.org").u8(0).octets).octets, "malformed"},
      {"an alias longer than its data",
       answer(1).u16(0xc00c).record(type_cname, Raw().u8(9).u8('a').octets).name("bcdefghi").octets,
       "malformed"},
      {"an address of three bytes", answer(1).u16(0xc00c).record(type_a, {1, 2, 3}).octets, "malformed"},
      {"an address of sixteen", answer(1).u16(0xc00c).record(type_a, Octets(16, 1)).octets, "malformed"},
      {"fewer than it says", answer(2).u16(0xc00c).record(type_a, public_a).octets, "malformed"},
      {"half a record", answer(1).u16(0xc00c).u16(1).u16(1).octets, "malformed"},
      {"a pointer forward", answer(1).u16(0xc0ff).record(type_a, public_a).octets, "malformed"},
      {"a pointer to itself", answer(1).u16(0xc01d).record(type_a, public_a).octets, "malformed"},
      {"a pointer into the head", answer(1).u16(0xc000).record(type_a, public_a).octets, "malformed"},
      {"more than there can be", answer(60000).octets, "malformed"},
      {"truncated", answer(0, 0x8380).octets, "truncated"},
      {"no such name", answer(0, 0x8183).octets, "no such name"},
      {"a server that broke", answer(0, 0x8182).octets, "failed"},
      {"a server that would not", answer(0, 0x8185).octets, "failed"},
      {"another id", Raw().head(0x1235, 0x8180, 1, 0, 0, 0).question("example.org", type_a).octets,
       "not ours"},
      {"a question", answer(0, 0x0100).octets, "not ours"},
      {"another operation", answer(0, 0xa180).octets, "not ours"},
      {"another name", Raw().head(0x1234, 0x8180, 1, 0, 0, 0).question("example.com", type_a).octets,
       "not ours"},
      {"another type", Raw().head(0x1234, 0x8180, 1, 0, 0, 0).question("example.org", type_aaaa).octets,
       "not ours"},
      {"another class", Raw().head(0x1234, 0x8180, 1, 0, 0, 0).question("example.org", type_a, 3).octets,
       "not ours"},
      {"no question", Raw().head(0x1234, 0x8180, 0, 0, 0, 0).octets, "not ours"},
      {"short", Octets{0x12, 0x34}, "not ours"},
      {"empty", {}, "not ours"},
  };
  for (const auto& row : rows)
    EXPECT_EQ(shown(read_answer(row.message, asked_outside)), row.read) << row.what;
}

// A chain of aliases: a1 leads to a2 and so on, and the last one has the address.
Octets chain(int aliases) {
  Raw raw = answer(static_cast<unsigned>(aliases) + 1);
  std::string name = "example.org";
  for (int i = 0; i < aliases; ++i) {
    const std::string next = "a" + std::to_string(i) + ".net";
    raw.name(name).record(type_cname, Raw().name(next).octets);
    name = next;
  }
  return raw.name(name).record(type_a, public_a).octets;
}

TEST(DnsResolver, FollowsAliasesForAWhile) {
  EXPECT_EQ(shown(read_answer(chain(8), asked_outside)), "[93.184.216.34]");
  EXPECT_EQ(shown(read_answer(chain(9), asked_outside)), "malformed");
  EXPECT_EQ(shown(read_answer(chain(100), asked_outside)), "malformed");
}

TEST(DnsResolver, KeepsTheFirstOfMany) {
  Raw raw = answer(40);
  for (int i = 0; i < 40; ++i) raw.u16(0xc00c).record(type_a, {1, 1, 1, static_cast<uint8_t>(i)});
  const Answer read = read_answer(raw.octets, asked_outside);
  EXPECT_EQ(read.count, max_addresses);
  EXPECT_EQ(text_of(read.list[15]).view(), "1.1.1.15");
}

TEST(DnsResolver, AsksOneQuestion) {
  const Question six{.name = example(), .family = IpAddress::Family::v6, .id = 0xbeef};
  const Message message = write_question(six);
  EXPECT_EQ(Octets(message.view().begin(), message.view().end()),
            Raw().head(0xbeef, 0x100, 1, 0, 0, 1).question("example.org", type_aaaa).opt().octets);
  const auto back = Raw()
                        .head(0xbeef, 0x8180, 1, 1, 0, 0)
                        .question("example.org", type_aaaa)
                        .u16(0xc00c)
                        .record(type_aaaa, {0x26, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1})
                        .octets;
  EXPECT_EQ(shown(read_answer(back, six)), "[2606::1]");
}

// Whatever the bytes, cut or changed: no crash, no address that is not in them, and an answer that is one.
TEST(DnsProperties, DamagedMessagesAreAnsweredOrPassedOver) {
  std::mt19937 random(3);
  const Octets whole[] = {asking("example.org", type_a), chain(3),
                          Raw().head(7, 0x100, 1, 0, 0, 1).question("a.org", type_a).opt().octets};
  for (int i = 0; i < 60000; ++i) {
    Octets message = whole[random() % 3];
    message.resize(random() % (message.size() + 1));
    for (size_t changes = random() % 4; changes > 0 && !message.empty(); --changes)
      message[random() % message.size()] = static_cast<uint8_t>(random());
    const Query query = read_query(message);
    const Message reply = write_reply(query, Reply::address, address_of_call(IpAddress::Family::v4));
    EXPECT_EQ(reply.view().empty(), query.asked == QueryKind::nothing);
    EXPECT_EQ(read_query(reply.view()).asked, QueryKind::nothing) << "an answer is never answered";
    const Answer read = read_answer(message, asked_outside);
    EXPECT_TRUE(read.kind == Answer::Kind::addresses || read.count == 0);
  }
}

// Nothing that stands in a label can be read as a sentence of ours, or as a name with other labels.
TEST(DnsNames, AreEscapedForAPerson) {
  const auto wire = [](const std::vector<std::string_view>& labels) {
    Raw raw;
    for (const auto label : labels) raw.label(label);
    raw.u8(0);
    WireName name;
    for (const uint8_t byte : raw.octets) EXPECT_TRUE(name.append(static_cast<char>(byte)));
    return name;
  };
  const struct {
    std::vector<std::string_view> labels;
    const char* shown;
  } rows[] = {
      {{}, ""},
      {{"Web", "test"}, "Web.test"},
      {{"_tcp", "a-b", "9"}, "_tcp.a-b.9"},
      {{"web.test"}, "web\\046test"},
      {{std::string_view("pypi.org\0evil", 13)}, "pypi\\046org\\000evil"},
      {{"x refused: none]", " [cloche: run"},
       "x\\032refused\\058\\032none\\093.\\032\\091cloche\\058\\032run"},
      {{"\\032"}, "\\092032"},
      {{"\xff\x1b[2J"}, "\\255\\027\\0912J"},
  };
  for (const auto& row : rows) EXPECT_EQ(escaped(wire(row.labels)), row.shown);
  const std::string blanks(63, ' ');
  const std::string longest = escaped(wire({blanks, blanks, blanks}));
  EXPECT_TRUE(longest.ends_with("\\032...")) << longest;
  EXPECT_LE(longest.size(), 208U);
}

TEST(DnsProperties, NamesComeBackFromTheWire) {
  std::mt19937 random(9);
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (size_t labels = 1 + random() % 6; labels > 0; --labels)
      text +=
          (text.empty() ? "" : ".") + std::string(1 + random() % 63, static_cast<char>('a' + random() % 26));
    const ReadName name = HostName::read(text);
    if (!name) continue;
    EXPECT_EQ(host_name(wire_name(*name.name)), name.name) << text;
  }
}

}  // namespace
}  // namespace cloche::dns
