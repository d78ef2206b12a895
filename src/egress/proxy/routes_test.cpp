#include "egress/proxy/routes.hpp"

#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "egress/dns/resolver_files.hpp"

namespace cloche::egress {
namespace {

constexpr uint32_t ours = 7;

template <typename Body>
std::vector<uint8_t> message(uint16_t type, uint32_t sequence, const Body& body) {
  nlmsghdr head{};
  head.nlmsg_len = sizeof head + sizeof body;
  head.nlmsg_type = type;
  head.nlmsg_seq = sequence;
  std::vector<uint8_t> bytes(head.nlmsg_len);
  std::memcpy(bytes.data(), &head, sizeof head);
  std::memcpy(bytes.data() + sizeof head, &body, sizeof body);
  return bytes;
}

std::vector<uint8_t> route(unsigned type, uint32_t sequence = ours) {
  rtmsg body{};
  body.rtm_type = static_cast<uint8_t>(type);
  return message(RTM_NEWROUTE, sequence, body);
}

std::vector<uint8_t> error(int number) { return message(NLMSG_ERROR, ours, -number); }

TEST(Route, OnlyOneThatLeadsToOneOtherHostIsTaken) {
  const struct {
    const char* what;
    std::vector<uint8_t> answer;
    std::optional<Way> way;
  } rows[] = {
      {"unicast", route(RTN_UNICAST), Way::out},
      {"local", route(RTN_LOCAL), Way::own},
      {"broadcast", route(RTN_BROADCAST), Way::many},
      {"multicast", route(RTN_MULTICAST), Way::many},
      {"anycast", route(RTN_ANYCAST), Way::many},
      {"blackhole", route(RTN_BLACKHOLE), Way::none},
      {"unreachable", route(RTN_UNREACHABLE), Way::none},
      {"prohibit", route(RTN_PROHIBIT), Way::none},
      {"throw", route(RTN_THROW), Way::none},
      {"unspecified", route(RTN_UNSPEC), Way::unknown},
      {"a type of later", route(200), Way::unknown},
      {"told as a blackhole", error(EINVAL), Way::none},
      {"told as unreachable", error(EHOSTUNREACH), Way::none},
      {"told as prohibited", error(EACCES), Way::none},
      {"no route", error(ENETUNREACH), Way::none},
      {"no memory", error(ENOMEM), Way::no_room},
      {"no buffers", error(ENOBUFS), Way::no_room},
      {"not permitted", error(EPERM), Way::unknown},
      {"no error", error(0), Way::unknown},
      {"of another question", route(RTN_UNICAST, ours - 1), std::nullopt},
      {"of another kind", message(RTM_NEWLINK, ours, rtmsg{}), Way::unknown},
      {"nothing", {}, Way::unknown},
  };
  for (const auto& row : rows) EXPECT_EQ(read_route_answer(row.answer, ours), row.way) << row.what;
  auto cut = route(RTN_UNICAST);
  cut.pop_back();
  EXPECT_EQ(read_route_answer(cut, ours), Way::unknown);
}

TEST(Route, IsRefusedOrAFailure) {
  for (const Way way : {Way::own, Way::many, Way::unknown}) EXPECT_FALSE(why_refused(way).empty());
  for (const Way way : {Way::out, Way::none, Way::no_room}) EXPECT_TRUE(why_refused(way).empty());
}

TEST(Route, OnlyOurOwnShortageIsOne) {
  for (const int number : {EMFILE, ENFILE, ENOBUFS, ENOMEM}) EXPECT_TRUE(is_no_room(number)) << number;
  for (const int number : {0, EACCES, EINVAL, EHOSTUNREACH, ECONNREFUSED, ETIMEDOUT, EPERM})
    EXPECT_FALSE(is_no_room(number)) << number;
}

TEST(Route, QuestionsFitAndSayHowLongTheyAre) {
  for (const char* text : {"1.2.3.4", "2606:4700::1"}) {
    const RouteQuestion question = write_route_question(*read_address(text), 443, ours);
    nlmsghdr head{};
    std::memcpy(&head, question.bytes.data(), sizeof head);
    EXPECT_EQ(head.nlmsg_len, question.size) << text;
    EXPECT_EQ(head.nlmsg_type, RTM_GETROUTE) << text;
    EXPECT_LE(question.size, question.bytes.size()) << text;
  }
}

// Of the kernel itself: the loopback is in every network namespace that is up, and in the others leads
// nowhere.
TEST(Route, OfTheLoopbackNeverLeadsOut) {
  Routes routes;
  ASSERT_TRUE(routes.works());
  for (const char* text : {"127.0.0.1", "127.8.7.6", "::1"}) {
    const Way way = routes.way_to(*read_address(text), 80);
    EXPECT_TRUE(way == Way::own || way == Way::none) << text;
  }
}

// An attacker who takes the gate over learns no more by it than where an address leads.
TEST(Route, SocketHearsOfNothingElse) {
  const OwnedFd fd = route_socket();
  ASSERT_TRUE(fd);
  auto links = message(RTM_GETLINK, ours, rtgenmsg{AF_UNSPEC});
  nlmsghdr head{};
  std::memcpy(&head, links.data(), sizeof head);
  head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  std::memcpy(links.data(), &head, sizeof head);
  ASSERT_EQ(::send(fd.get(), links.data(), links.size(), 0), static_cast<ssize_t>(links.size()));
  char byte = 0;
  EXPECT_EQ(::recv(fd.get(), &byte, 1, MSG_DONTWAIT), -1);
  EXPECT_EQ(errno, EAGAIN);
  const int none = 0;
  EXPECT_EQ(::setsockopt(fd.get(), SOL_SOCKET, SO_DETACH_FILTER, &none, sizeof none), -1);
  EXPECT_EQ(errno, EPERM);
}

}  // namespace
}  // namespace cloche::egress
