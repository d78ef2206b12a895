// Feeds bytes to both ends of DNS. A query that is answered gets a whole message which our own resolver
// understands, an answer is never answered, and what a resolver takes from bytes is bounded.
#include <cstdint>
#include <cstdlib>

#include "egress/dns/dns_resolver.hpp"
#include "egress/dns/dns_stub.hpp"

namespace {

void require(bool truth) {
  if (!truth) std::abort();
}

using namespace cloche;
using namespace cloche::dns;

void check_stub(Bytes message) {
  const Query query = read_query(message);
  const IpAddress address{.bytes = {198, 18, 1, 2}};
  const Message reply = write_reply(query, Reply::address, address);
  require(reply.view().empty() == (query.asked == QueryKind::nothing));
  require(read_query(reply.view()).asked == QueryKind::nothing);
  if (query.asked != QueryKind::look_up || !query.host || query.type != type_a) return;
  const Answer answer = read_answer(reply.view(), {.name = *query.host, .id = query.id});
  require(answer.kind == Answer::Kind::addresses && answer.count == 1 && answer.list[0] == address);
}

void check_resolver(Bytes message) {
  static const HostName name = *HostName::read("example.org").name;
  for (const auto family : {IpAddress::Family::v4, IpAddress::Family::v6}) {
    const Answer answer = read_answer(message, {.name = name, .family = family, .id = 0x1234});
    require(answer.count <= max_addresses && (answer.count == 0 || answer.kind == Answer::Kind::addresses));
    for (const IpAddress& one : answer.addresses()) require(one.family == family);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes message(data, size);
  check_stub(message);
  check_resolver(message);
  const Frame frame = read_frame(message, max_query_bytes);
  require(frame.state != Frame::State::whole || frame.message.size() + 2 <= size);
  return 0;
}
