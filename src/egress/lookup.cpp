#include "egress/lookup.hpp"

#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "egress/sockets.hpp"

namespace cloche::egress {
namespace {

constexpr uint64_t try_ms = 1500;
constexpr uint64_t all_tries_ms = 6000;
constexpr uint64_t second_family_ms = 200;  // how long one family waits for the other
constexpr size_t rounds = 2;                // over all servers, if what they say is of no use
constexpr size_t most_servers = 3;
constexpr size_t most_known = 4096;
constexpr uint16_t dns_port = 53;

std::string_view take_line(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line.substr(0, line.find('#'));
}

std::string_view take_word(std::string_view& line) {
  constexpr std::string_view blank = " \t\r";
  const size_t begin = line.find_first_not_of(blank);
  if (begin == std::string_view::npos) return line = {}, line;
  const size_t end = line.find_first_of(blank, begin);
  const std::string_view word = line.substr(begin, end == std::string_view::npos ? end : end - begin);
  line.remove_prefix(end == std::string_view::npos ? line.size() : end);
  return word;
}

std::optional<IpAddress> read_v4(std::string_view text) {
  std::array<uint8_t, 4> bytes{};
  const char* at = text.data();
  const char* end = at + text.size();
  for (size_t i = 0; i < 4; ++i) {
    if (i > 0 && (at == end || *at++ != '.')) return {};
    const auto [next, problem] = std::from_chars(at, end, bytes[i]);
    if (problem != std::errc{} || next == at) return {};
    at = next;
  }
  if (at != end) return {};
  return IpAddress::v4(bytes);
}

// Groups of hexadecimal digits; at most one "::"; no dotted tail and no zone, which no public address has.
std::optional<IpAddress> read_v6(std::string_view text) {
  std::vector<uint16_t> groups;
  std::optional<size_t> gap;
  while (!text.empty()) {
    if (text.starts_with("::")) {
      if (gap) return {};
      gap = groups.size();
      text.remove_prefix(2);
      continue;
    }
    if (!groups.empty() && gap != groups.size()) {
      if (text[0] != ':') return {};
      text.remove_prefix(1);
    }
    uint16_t group = 0;
    const auto [next, problem] = std::from_chars(text.data(), text.data() + text.size(), group, 16);
    const auto length = static_cast<size_t>(next - text.data());
    if (problem != std::errc{} || length == 0 || length > 4 || groups.size() == 8) return {};
    groups.push_back(group);
    text.remove_prefix(length);
  }
  if (gap ? groups.size() > 7 : groups.size() != 8) return {};
  if (gap) groups.insert(groups.begin() + static_cast<ptrdiff_t>(*gap), 8 - groups.size(), 0);
  std::array<uint8_t, 16> bytes{};
  for (size_t i = 0; i < 8; ++i) {
    bytes[2 * i] = static_cast<uint8_t>(groups[i] >> 8);
    bytes[2 * i + 1] = static_cast<uint8_t>(groups[i]);
  }
  return IpAddress::v6(bytes);
}

uint16_t unguessable() {
  uint16_t number = 0;
  (void)!::getrandom(&number, sizeof number, 0);
  return number;
}

}  // namespace

std::optional<IpAddress> read_address(std::string_view text) {
  return text.find(':') == std::string_view::npos ? read_v4(text) : read_v6(text);
}

ResolverFiles read_resolver_files(std::string_view hosts, std::string_view resolver) {
  ResolverFiles files;
  while (!hosts.empty() && files.hosts.size() < most_known) {
    std::string_view line = take_line(hosts);
    const auto address = read_address(take_word(line));
    if (!address) continue;
    for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
      if (const ReadName name = HostName::read(word))
        files.hosts.push_back({std::string(name.name->text()), *address});
    }
  }
  while (!resolver.empty() && files.servers.size() < most_servers) {
    std::string_view line = take_line(resolver);
    if (take_word(line) != "nameserver") continue;
    if (const auto address = read_address(take_word(line))) files.servers.push_back(*address);
  }
  // As every resolver does without one: this host's own.
  if (files.servers.empty()) files.servers.push_back(IpAddress::v4(std::array<uint8_t, 4>{127, 0, 0, 1}));
  return files;
}

Lookup::Lookup(Loop& loop, const ResolverFiles& files, const HostName& name, Asker& asker)
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
bool Lookup::ask(const IpAddress& server) {
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

Lookup::Line* Lookup::line_to(const IpAddress& server) {
  const size_t index = (tries_ - 1) % files_.servers.size();
  if (index < lines_.size()) return lines_[index]->fd ? lines_[index].get() : nullptr;
  lines_.push_back(std::make_unique<Line>(*this, datagrams_to(server, dns_port)));
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
    ++useless_;  // nobody is there
    return ask_next();
  }
}

// The server that was last asked: one that cuts its answers short has to say them over a stream.
void Lookup::ask_over_stream(size_t question) {
  if (streams_[question] && streams_[question]->fd) return;
  if (streams_[question]) loop_.forget(*streams_[question]);
  const IpAddress& server = files_.servers[(tries_ - 1) % files_.servers.size()];
  const SocketPlace place = place_of(server, dns_port);
  auto line = std::make_unique<Line>(*this, stream_to(server));
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

Asker* Lookups::Shared::take_one() {
  if (askers.empty()) return nullptr;
  Asker* asker = askers.front();
  askers.erase(askers.begin());
  return asker;
}

void Lookups::Shared::found(const std::vector<IpAddress>& addresses) {
  while (Asker* asker = take_one()) asker->found(addresses);
}

void Lookups::Shared::not_found(EgressReason why) {
  while (Asker* asker = take_one()) asker->not_found(why);
}

void Lookups::find(const HostName& name, Asker& asker) {
  for (const auto& shared : running_) {
    if (!shared->lookup->over() && shared->lookup->name() == name) return shared->askers.push_back(&asker);
  }
  auto shared = std::make_unique<Shared>();
  shared->askers.push_back(&asker);
  shared->lookup = std::make_unique<Lookup>(loop_, files_, name, *shared);
  running_.push_back(std::move(shared));
  running_.back()->lookup->start();
}

void Lookups::forget(Asker& asker) {
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
