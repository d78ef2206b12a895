#include "egress/proxy/gateway_channel.hpp"

#include <sys/socket.h>

#include <algorithm>

namespace cloche::egress {
namespace {

constexpr size_t most_known = 8192;  // so that each is counted once
constexpr size_t most_said = 256;    // of them, one by one
constexpr size_t most_waiting = 4096;

template <size_t size>
void put(std::array<char, size>& field, std::string_view text) {
  const size_t length = std::min(text.size(), size - 1);
  std::copy_n(text.begin(), length, field.begin());
}

EgressMessage message_about(EgressNews news, EgressReason reason, const GatewayChannel::About& about) {
  EgressMessage message;
  message.news = news;
  message.reason = reason;
  message.port = about.port;
  message.number = static_cast<uint32_t>(about.number);
  put(message.name, about.name);
  put(message.detail, about.detail);
  return message;
}

}  // namespace

// False: too much was said that was not read.
bool GatewayChannel::say(const EgressMessage& message) {
  const bool fits = waiting_.size() < most_waiting;
  if (fits) waiting_.push_back(message);
  send_waiting(MSG_DONTWAIT);
  return fits;
}

void GatewayChannel::send_waiting(int flags) {
  while (!waiting_.empty()) {
    const EgressMessage& message = waiting_.front();
    if (::send(control_, &message, sizeof message, MSG_NOSIGNAL | flags) < 0) return;
    waiting_.pop_front();
  }
}

void GatewayChannel::finish() { send_waiting(0); }

void GatewayChannel::refused(EgressReason reason, const About& about) {
  std::string key = std::string(about.name) + ":" + std::to_string(about.port) + ":" +
                    std::to_string(static_cast<uint32_t>(reason)) + ":" + std::string(about.detail);
  if (const auto place = known_.find(key); place != known_.end()) {
    if (place->second != untold && about.counts) ++told_[place->second].number;
    return;
  }
  if (known_.size() >= most_known) {
    forgets_ = true;
    return;
  }
  EgressMessage message = message_about(EgressNews::refused, reason, about);
  const bool said = told_.size() < most_said && say(message);
  known_.emplace(std::move(key), said ? told_.size() : untold);
  if (!said) {
    ++refused_unsaid_;
    return;
  }
  message.news = EgressNews::repeated;
  message.number = about.counts ? 1 : 0;
  told_.push_back(message);
}

void GatewayChannel::failed(EgressReason reason, const About& about) {
  if (!say(message_about(EgressNews::failed, reason, about))) ++failed_unsaid_;
}

void GatewayChannel::say_rest() {
  for (const EgressMessage& told : told_) {
    if (told.number > 1) say(told);
    send_waiting(0);
  }
  EgressMessage message;
  message.news = EgressNews::more_refused;
  message.number = static_cast<uint32_t>(refused_unsaid_);
  message.at_least = forgets_ ? 1 : 0;
  if (refused_unsaid_ > 0) say(message);
  message.news = EgressNews::more_failed;
  message.number = static_cast<uint32_t>(failed_unsaid_);
  message.at_least = 0;
  if (failed_unsaid_ > 0) say(message);
  finish();
}

void GatewayChannel::used(const HostCount& count) {
  EgressMessage message;
  message.news = EgressNews::used;
  message.port = count.port;
  put(message.name, count.name);
  message.connections = count.connections;
  message.bytes_out = count.bytes_out;
  message.bytes_in = count.bytes_in;
  say(message);
}

}  // namespace cloche::egress
