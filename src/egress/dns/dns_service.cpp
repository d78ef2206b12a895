#include "egress/dns/dns_service.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace cloche::egress {
namespace {

constexpr size_t most_streams = 32;
constexpr uint64_t stream_ms = 5000;

IpAddress inside_address(uint32_t offset, uint16_t type) {
  const NetAddress address = type == dns::type_aaaa ? inside_address6(offset) : inside_address4(offset);
  if (type == dns::type_aaaa) return IpAddress::v6(address);
  std::array<uint8_t, 4> low{};
  std::memcpy(low.data(), &address[12], low.size());
  return IpAddress::v4(low);
}

}  // namespace

dns::Message answer_question(Bytes message, NameAddresses& names, bool ipv6, GatewayChannel& speaker) {
  const dns::Query query = dns::read_query(message);
  if (query.asked != dns::QueryKind::look_up) return dns::write_reply(query, dns::Reply::refused);
  const auto found = query.host ? names.look_up(*query.host) : NameAddresses::Found{};
  const auto shown = [&] { return query.host ? std::string(query.host->text()) : dns::escaped(query.name); };
  // A and AAAA are asked together.
  const auto refuse = [&](EgressReason reason) {
    const std::string name = shown();
    speaker.refused(reason, {.name = name, .counts = query.type == dns::type_a});
  };
  switch (found.answer) {
    case NameAddresses::Answer::known: break;
    case NameAddresses::Answer::too_many:
      refuse(EgressReason::too_many_names);
      return dns::write_reply(query, dns::Reply::no_such_name);
    case NameAddresses::Answer::not_declared:
      refuse(EgressReason::not_declared);
      return dns::write_reply(query, dns::Reply::no_such_name);
  }
  if (query.type == dns::type_aaaa && !ipv6) return dns::write_reply(query, dns::Reply::no_data);
  return dns::write_reply(query, dns::Reply::address, inside_address(found.offset, query.type));
}

bool DnsService::serve(OwnedFd datagrams, OwnedFd streams) {
  datagrams_.fd = std::move(datagrams);
  streams_listener_.fd = std::move(streams);
  return loop_.watch(datagrams_.fd.get(), datagrams_) &&
         (!streams_listener_.fd || loop_.watch(streams_listener_.fd.get(), streams_listener_));
}

void DnsService::Datagrams::ready(uint32_t) {
  std::array<uint8_t, dns::max_query_bytes + 1> room;
  for (int i = 0; i < 64; ++i) {
    sockaddr_in6 peer{};
    socklen_t size = sizeof peer;
    const ssize_t got = ::recvfrom(fd.get(), room.data(), room.size(), MSG_DONTWAIT | MSG_TRUNC,
                                   reinterpret_cast<sockaddr*>(&peer), &size);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) continue;
    // Of one that is too long there is one byte more than a question has, which is answered as malformed.
    const size_t size_kept = std::min(static_cast<size_t>(got), room.size());
    dns::Message reply =
        answer_question({room.data(), size_kept}, service.names_, service.ipv6_, service.gateway_);
    const auto bytes = reply.view();
    if (!bytes.empty())
      (void)::sendto(fd.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                     reinterpret_cast<const sockaddr*>(&peer), size);
  }
  service.loop_.again(*this);
}

void DnsService::Streams::ready(uint32_t) {
  while (true) {
    OwnedFd client(::accept4(fd.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!client) return;
    service.sweep();
    if (service.streams_.size() >= most_streams) continue;
    auto stream = std::make_unique<Stream>(service, std::move(client));
    stream->began_ms = service.loop_.now_ms();
    if (!service.loop_.watch(stream->fd.get(), *stream)) continue;
    service.streams_.push_back(std::move(stream));
  }
}

void DnsService::Stream::ready(uint32_t) {
  std::array<char, dns::max_query_bytes + 2> room;
  while (fd) {
    const ssize_t got = ::recv(fd.get(), room.data(), room.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return fd.reset();
    taken.append(room.data(), static_cast<size_t>(got));
    while (fd) {
      const Bytes stream(reinterpret_cast<const uint8_t*>(taken.data()), taken.size());
      const dns::Frame frame = dns::read_frame(stream, dns::max_query_bytes);
      if (frame.state == dns::Frame::State::need_more) break;
      if (frame.state == dns::Frame::State::refused) return fd.reset();
      dns::Message reply = answer_question(frame.message, service.names_, service.ipv6_, service.gateway_);
      const auto bytes = reply.framed();
      const bool sent = !reply.view().empty() &&
                        ::send(fd.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) ==
                            static_cast<ssize_t>(bytes.size());
      if (!sent) return fd.reset();
      taken.erase(0, frame.message.size() + 2);
    }
  }
}

// Only from where no stream of them is being told of anything.
void DnsService::sweep() {
  for (auto& stream : streams_) {
    if (stream->fd && loop_.now_ms() - stream->began_ms <= stream_ms) continue;
    stream->fd.reset();
    loop_.forget(*stream);
    loop_.bury(std::move(stream));
  }
  std::erase(streams_, nullptr);
}

void DnsService::look_at_clock() { sweep(); }

}  // namespace cloche::egress
