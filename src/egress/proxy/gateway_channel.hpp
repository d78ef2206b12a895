// What an egress process says to its gateway. Never waits while there is something to relay: what the gateway
// is too slow to hear is kept for the next time, up to a bound, and the last words wait for it.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "egress/proxy/report.hpp"

namespace cloche::egress {

// What was reached: one for each name and port.
struct HostCount {
  std::string name;
  uint16_t port = 0;
  uint64_t* host_bytes = nullptr;  // of the name on all its ports, both ways, as they are taken in
  uint64_t connections = 0;
  uint64_t bytes_out = 0;
  uint64_t bytes_in = 0;
  uint64_t said = 0;  // the sum of these when the gateway was last told
};

class GatewayChannel {
 public:
  explicit GatewayChannel(int control) : control_(control) {}

  struct About {
    std::string_view name;
    uint16_t port = 0;
    std::string_view detail = {};
    int number = 0;
    bool counts = true;  // as one more time; what a client asks together counts once
  };
  void refused(EgressReason reason, const About& about);
  void failed(EgressReason reason, const About& about);
  void used(const HostCount& count);
  bool is_heard() const { return waiting_.empty(); }
  // Until everything has been heard, or the gateway is gone.
  void finish();
  // How much was not said one by one.
  void say_rest();

 private:
  bool say(const EgressMessage& message);
  void send_waiting(int flags);

  int control_;
  // Each decision once, with which of the told ones it is.
  static constexpr size_t untold = ~size_t{0};
  std::map<std::string, size_t> known_;
  std::vector<EgressMessage> told_;  // `number` is how often
  uint64_t refused_unsaid_ = 0;
  bool forgets_ = false;  // there were more than are known: some of them may have been the same
  uint64_t failed_unsaid_ = 0;
  std::deque<EgressMessage> waiting_;
};

}  // namespace cloche::egress
