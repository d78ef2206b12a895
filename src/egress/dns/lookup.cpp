#include "egress/dns/lookup.hpp"

#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "egress/proxy/sockets.hpp"
#include "model/network.hpp"

namespace cloche::egress {
namespace {

constexpr uint64_t try_ms = 1500;
constexpr uint64_t all_tries_ms = 6000;
constexpr uint64_t second_family_ms = 200;  // how long one family waits for the other
constexpr size_t rounds = 2;                // over all servers, if what they say is of no use

uint16_t unguessable() {
  uint16_t number = 0;
  (void)!::getrandom(&number, sizeof number, 0);
  return number;
}

SocketPlace dns_place(const NameServer& server) { return place_of(server.address, dns_port, server.zone); }

}  // namespace

Lookup::Lookup(Loop& loop, const ResolverFiles& files, const HostName& name, LookupClient& asker)
    : loop_(loop),
      files_(files),
      asker_(asker),
      questions_{
          {{name, IpAddress::Family::v4, unguessable()}, {name, IpAddress::Family::v6, unguessable()}}} {}

Lookup::~Lookup() {
  for (const auto& line : lines_) loop_.forget(*line);
  for (const auto& stream : streams_)
    if (stream) loop_.forget(*stream);
}

void Lookup::start() {
  for (const auto& host : files_.hosts) {
    if (host.name == name().text()) addresses_.push_back(host.address);
  }
  if (!addresses_.empty()) return conclude();
  if (files_.servers.empty()) {
    over_ = true;
    return asker_.not_found(EgressReason::no_resolver);
  }
  give_up_ms_ = loop_.now_ms() + all_tries_ms;
  ask_next();
}

void Lookup::ask_next() {
  while (useless_ < rounds * files_.servers.size()) {
    next_try_ms_ = loop_.now_ms() + try_ms;
    for (auto& heard : heard_)
      if (heard == Heard::no_use) heard = Heard::nothing;
    if (ask(files_.servers[tries_++ % files_.servers.size()])) return;
    ++useless_;
  }
  conclude();
}

// What was not answered yet.
bool Lookup::ask(const NameServer& server) {
  const Line* line = line_to(server);
  if (line == nullptr) return false;
  for (size_t i = 0; i < families; ++i) {
    if (heard_[i] == Heard::all) continue;
    const dns::Message message = dns::write_question(questions_[i]);
    const auto bytes = message.view();
    if (::send(line->fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) return false;
  }
  return true;
}

Lookup::Line* Lookup::line_to(const NameServer& server) {
  const size_t index = (tries_ - 1) % files_.servers.size();
  if (index < lines_.size()) return lines_[index]->fd ? lines_[index].get() : nullptr;
  lines_.push_back(std::make_unique<Line>(*this, datagrams_to(server.address, dns_place(server))));
  Line& line = *lines_.back();
  return line.fd && loop_.watch(line.fd.get(), line) ? &line : nullptr;
}

void Lookup::hear_datagrams(Line& line) {
  std::array<uint8_t, dns::max_answer_bytes> room;
  while (!over_ && line.fd) {
    const ssize_t got = ::recv(line.fd.get(), room.data(), room.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got >= 0) {
      hear({room.data(), static_cast<size_t>(got)}, false);
      continue;
    }
    ++useless_;  // no server is there
    return ask_next();
  }
}

// The server that was last asked: one that cuts its answers short has to say them over a stream.
void Lookup::ask_over_stream(size_t question) {
  if (streams_[question] && streams_[question]->fd) return;
  if (streams_[question]) loop_.forget(*streams_[question]);
  const NameServer& server = files_.servers[(tries_ - 1) % files_.servers.size()];
  const SocketPlace place = dns_place(server);
  auto line = std::make_unique<Line>(*this, stream_to(server.address));
  line->is_stream = true;
  line->question = question;
  const bool begun = line->fd &&
                     (::connect(line->fd.get(), place.address(), place.size) == 0 || errno == EINPROGRESS) &&
                     loop_.watch(line->fd.get(), *line);
  streams_[question] = std::move(line);
  if (!begun) no_use(question);
}

void Lookup::hear_stream(Line& line) {
  if (over_ || !line.fd) return;
  if (!line.asked) {
    dns::Message message = dns::write_question(questions_[line.question]);
    const auto bytes = message.framed();
    const ssize_t sent = ::send(line.fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (sent != static_cast<ssize_t>(bytes.size())) return no_use(line.question);
    line.asked = true;
  }
  std::array<char, dns::max_answer_bytes> room;
  while (true) {
    const ssize_t got = ::recv(line.fd.get(), room.data(), room.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return no_use(line.question);
    line.taken.append(room.data(), static_cast<size_t>(got));
    const Bytes taken(reinterpret_cast<const uint8_t*>(line.taken.data()), line.taken.size());
    const dns::Frame frame = dns::read_frame(taken, dns::max_answer_bytes);
    if (frame.state == dns::Frame::State::refused) return no_use(line.question);
    if (frame.state == dns::Frame::State::whole) return hear(frame.message, true);
  }
}

void Lookup::hear(Bytes message, bool over_stream) {
  for (size_t i = 0; i < families; ++i) {
    if (heard_[i] == Heard::all) continue;
    const dns::Answer answer = dns::read_answer(message, questions_[i]);
    switch (answer.kind) {
      case dns::Answer::Kind::not_ours: continue;
      case dns::Answer::Kind::truncated: return over_stream ? no_use(i) : ask_over_stream(i);
      case dns::Answer::Kind::malformed:
      case dns::Answer::Kind::failed: return no_use(i);
      case dns::Answer::Kind::no_such_name:
      case dns::Answer::Kind::addresses: break;
    }
    heard_[i] = Heard::all;
    // IPv4 first: it is what every host has.
    const auto list = answer.addresses();
    addresses_.insert(i == 0 ? addresses_.begin() : addresses_.end(), list.begin(), list.end());
    return look_at_answers();
  }
}

void Lookup::no_use(size_t question) {
  if (streams_[question]) streams_[question]->fd.reset();
  heard_[question] = Heard::no_use;
  look_at_answers();
}

void Lookup::look_at_answers() {
  const auto has = [&](Heard what) { return std::find(heard_.begin(), heard_.end(), what) != heard_.end(); };
  if (has(Heard::nothing)) {
    if (!addresses_.empty()) give_up_ms_ = std::min(give_up_ms_, loop_.now_ms() + second_family_ms);
    return;
  }
  if (!has(Heard::no_use) || !addresses_.empty()) return conclude();
  ++useless_;
  ask_next();
}

void Lookup::look_at_clock() {
  if (over_) return;
  if (loop_.now_ms() >= give_up_ms_) return conclude();
  if (loop_.now_ms() >= next_try_ms_) ask_next();
}

void Lookup::conclude() {
  if (over_) return;
  over_ = true;
  for (const auto& line : lines_) line->fd.reset();
  for (const auto& stream : streams_)
    if (stream) stream->fd.reset();
  const bool both = heard_[0] == Heard::all && heard_[1] == Heard::all;
  if (addresses_.empty())
    return asker_.not_found(both ? EgressReason::unknown_outside : EgressReason::resolver_silent);
  asker_.found(addresses_);
}

LookupClient* Lookups::Shared::take_one() {
  if (askers.empty()) return nullptr;
  LookupClient* asker = askers.front();
  askers.erase(askers.begin());
  return asker;
}

void Lookups::Shared::found(const std::vector<IpAddress>& addresses) {
  while (LookupClient* asker = take_one()) asker->found(addresses);
}

void Lookups::Shared::not_found(EgressReason why) {
  while (LookupClient* asker = take_one()) asker->not_found(why);
}

void Lookups::find(const HostName& name, LookupClient& asker) {
  for (const auto& shared : running_) {
    if (!shared->lookup->over() && shared->lookup->name() == name) return shared->askers.push_back(&asker);
  }
  auto shared = std::make_unique<Shared>();
  shared->askers.push_back(&asker);
  shared->lookup = std::make_unique<Lookup>(loop_, files_, name, *shared);
  running_.push_back(std::move(shared));
  running_.back()->lookup->start();
}

void Lookups::forget(LookupClient& asker) {
  for (const auto& shared : running_)
    if (shared) std::erase(shared->askers, &asker);
}

void Lookups::look_at_clock() {
  for (auto& shared : running_) {
    shared->lookup->look_at_clock();
    if (shared->lookup->over() || shared->askers.empty()) loop_.bury(std::move(shared));
  }
  std::erase(running_, nullptr);
}

}  // namespace cloche::egress
