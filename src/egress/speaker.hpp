// What an egress process says to its gateway. Never waits while there is something to relay: what the gateway
// is too slow to hear is kept for the next time, up to a bound, and the last words wait for it.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "egress/report.hpp"

namespace cloche::egress {

// What was reached: one for each name and port.
struct HostCount {
  std::string name;
  uint16_t port = 0;
  uint64_t* host_bytes = nullptr;  // of the name on all its ports, both ways
  uint64_t connections = 0;
  uint64_t bytes_out = 0;
  uint64_t bytes_in = 0;
};

class Speaker {
 public:
  explicit Speaker(int control) : control_(control) {}

  struct About {
    std::string_view name;
    uint16_t port = 0;
    std::string_view detail = {};
    int number = 0;
  };
  void refused(EgressReason reason, const About& about);
  void failed(EgressReason reason, const About& about);
  void used(const HostCount& count);
  // Until everything has been heard, or the gateway is gone.
  void finish();

 private:
  void say(const EgressMessage& message);
  void send_waiting(int flags);

  int control_;
  std::vector<std::string> said_;  // each decision once
  std::deque<EgressMessage> waiting_;
};

}  // namespace cloche::egress
