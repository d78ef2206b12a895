// The server: requests as values in, responses as values out, whatever the era and the transport.
//
// Theory of operation. One thread, the reader's, calls read(), take() and end(). What can be answered at once
// is answered there; a tool call, or what has to be fetched, goes to the queue, whose threads carry it out
// and answer it. A request in flight is known by its id until just before its answer is sent, so that it can
// be called off; a call that was called off by the client is ended and not answered. What a client says in
// answer to a question of ours is handed to the call that waits for it, which is not counted among those that
// run meanwhile.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/sys/fd.hpp"
#include "doors/mcp/call_queue.hpp"
#include "doors/mcp/catalog.hpp"
#include "doors/mcp/elicitation.hpp"
#include "doors/mcp/framing.hpp"
#include "doors/mcp/handshake_codec.hpp"
#include "doors/mcp/outbox.hpp"
#include "doors/mcp/request_state.hpp"
#include "doors/mcp/requests.hpp"
#include "gateway/gateway.hpp"

namespace cloche::mcp {

struct ServerOptions {
  std::optional<std::string> task = {};
  std::string role = "agent";
  const Skill* skill = nullptr;
  std::string state_key = {};  // what request states are sealed with
  std::string instructions = {};
  std::function<void()> before_call = [] {};
};

class Server {
 public:
  Server(Gateway& gateway, Catalog catalog, ServerOptions options, Outbox& outbox);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() = default;

  // What a line holds, for take(): one message unless it is a batch.
  std::vector<Incoming> read(const LineSplitter::Taken& line) const;
  void take(const Incoming& incoming);

  // Calls have this long to end by themselves, then they are ended. False: something would not end, which
  // only the end of this process can change.
  bool end(unsigned grace_ms);

 private:
  enum class Era { handshake, stateless };

  // A request that is not answered yet.
  struct Flight {
    std::string id;
    Era era = Era::handshake;
    Terms terms = {};
    std::optional<CallQueue::Ticket> ticket = {};  // the reader's; none: a subscription, which waits nowhere
    CallTool call = {};
    std::string uri = {};  // of a resource that is read
    std::optional<ReturningApprover::Brought> brought = {};
    std::shared_ptr<Progress> progress = {};  // none: the client wants to hear nothing of it
    // Guarded by the lock of the flights.
    OwnedFd stop = {};  // an eventfd, from when it begins
    bool called_off = false;
    bool cut_off = false;  // because everything ends: it is answered all the same
  };
  using SharedFlight = std::shared_ptr<Flight>;

  struct Desk;

  void take_bad(const Incoming& incoming);
  void take_request(const Incoming& incoming);
  void take_notification(const Incoming& incoming);

  Response welcome(const Initialize& wanted);
  std::optional<RpcError> take_off(const SharedFlight& flight);
  // Nothing: it is answered later.
  std::optional<Response> line_up(const SharedFlight& flight, void (Server::*work)(const SharedFlight&));
  std::optional<Response> call(const SharedFlight& flight);
  std::optional<RpcError> listen(const SharedFlight& flight);
  std::optional<RpcError> check_state(Flight& flight);
  void call_off(const std::string& id);
  void cut_off();

  // On a thread of the queue.
  void fly(const SharedFlight& flight);
  void fetch(const SharedFlight& flight);
  Response read_resource(const std::string& uri) const;
  bool begin(Flight& flight);
  CallContext context_of(const Flight& flight) const;
  Response refuse_busy(const Flight& flight);
  Response carry_out(Flight& flight);
  Response carry_out(Flight& flight, Approver& approver, const ReturningApprover* returning);
  Response response_to(CallResult result) const;
  void land_alone(const SharedFlight& flight, const Response& response);
  void log(const Flight& flight, const CallResult& result);
  void land(const SharedFlight& flight, const Response& response);

  static std::string write(Era era, const std::string& id, const Response& response);

  Gateway& gateway_;
  const Catalog catalog_;
  const ServerOptions options_;
  Outbox& outbox_;
  handshake::Agreed agreed_;  // the reader's alone
  Conversation conversation_;
  std::mutex fetching_;
  std::mutex states_lock_;
  RequestStates states_;
  std::mutex flights_lock_;
  std::map<std::string, SharedFlight> flights_;  // by id
  size_t listening_ = 0;                         // of them
  CallQueue queue_;                              // last: its threads use all of the above
};

}  // namespace cloche::mcp
