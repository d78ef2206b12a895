#include "egress/speaker.hpp"

#include <sys/socket.h>

#include <algorithm>

namespace cloche::egress {
namespace {

constexpr size_t most_said = 256;
constexpr size_t most_waiting = 4096;

template <size_t size>
void put(std::array<char, size>& field, std::string_view text) {
  const size_t length = std::min(text.size(), size - 1);
  std::copy_n(text.begin(), length, field.begin());
}

EgressMessage message_about(EgressNews news, EgressReason reason, const Speaker::About& about) {
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

void Speaker::say(const EgressMessage& message) {
  if (waiting_.size() < most_waiting) waiting_.push_back(message);
  send_waiting(MSG_DONTWAIT);
}

void Speaker::send_waiting(int flags) {
  while (!waiting_.empty()) {
    const EgressMessage& message = waiting_.front();
    if (::send(control_, &message, sizeof message, MSG_NOSIGNAL | flags) < 0) return;
    waiting_.pop_front();
  }
}

void Speaker::finish() { send_waiting(0); }

void Speaker::refused(EgressReason reason, const About& about) {
  std::string key = std::string(about.name) + ":" + std::to_string(about.port) + ":" +
                    std::to_string(static_cast<uint32_t>(reason)) + ":" + std::string(about.detail);
  if (said_.size() >= most_said || std::find(said_.begin(), said_.end(), key) != said_.end()) return;
  said_.push_back(std::move(key));
  say(message_about(EgressNews::refused, reason, about));
}

void Speaker::failed(EgressReason reason, const About& about) {
  say(message_about(EgressNews::failed, reason, about));
}

void Speaker::used(const HostCount& count) {
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
