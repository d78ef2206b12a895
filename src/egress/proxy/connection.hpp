// One connection that a call makes: from the listener it came to, through the judgement, to the address that
// was judged.
//
//   judging    on 443 until the TLS greeting has named a server, on 80 until the first request has; other
//              ports have nothing to be judged by
//   looking    the name is looked up outside
//   dialling   the addresses that passed, one after the other; who is slow to answer has the next one beside
//   it relaying   both directions until both have ended; on 80 every further request is judged as well over
//   both sockets are closed
//
// What a client has sent is passed on after its end as well, as a kernel would: the server's socket is closed
// when everything in it has been acknowledged, or when the call's time for that is over.
//
// The name is what the listener's address stands for. Nothing that the client says can make it another one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "egress/dns/lookup.hpp"
#include "egress/dns/name_addresses.hpp"
#include "egress/protocol/client_hello.hpp"
#include "egress/protocol/request_stream.hpp"
#include "egress/proxy/gateway_channel.hpp"
#include "egress/proxy/loop.hpp"
#include "egress/proxy/relay.hpp"
#include "egress/proxy/routes.hpp"
#include "egress/proxy/settings.hpp"
#include "egress/proxy/sockets.hpp"

namespace cloche::egress {

// What the connections of a process share.
struct House {
  Loop& loop;
  GatewayChannel& speaker;
  PipePool& pipes;
  Lookups& lookups;
  Routes& routes;
  const EgressSettings& settings;
};

class Connection : public Mortal, public LookupClient {
 public:
  // `host` and `count` live as long as the process.
  Connection(House& house, OwnedFd client, const HostName& host, bool localhost, HostCount& count,
             Buffers buffers);
  ~Connection() override;

  void start();
  bool over() const { return state_ == State::over; }
  void look_at_clock();

  // The command has ended: whether something that it sent is still on its way. Ends what has nothing to give.
  bool is_delivering();
  // And now the time for it is over: what is not delivered is reported, and nothing is left behind.
  void give_up();

 private:
  enum class State { judging, looking, dialling, relaying, over };

  enum class Side { client, server };
  struct End : Handler {
    End(Connection& whose, Side which) : owner(whose), side(which) {}
    void ready(uint32_t events) override { owner.ready(*this, events); }
    Connection& owner;
    Side side;
  };

  void ready(const End& end, uint32_t events);
  void judge();
  void judge_hello();
  void judge_request();
  bool judge_requests();
  enum class Heard { so_far, all, broken };
  Heard read_head();
  void dial();
  // An attempt at one address; the first that is answered becomes the server's end.
  struct Attempt {
    Attempt(Connection& whose, OwnedFd socket) : fd(std::move(socket)), end(whose, Side::server) {}
    OwnedFd fd;
    End end;
    uint64_t began_ms = 0;
  };
  void dial_next();
  bool begin_attempt(const IpAddress& address);
  void look_at_attempts(const End& end);
  void look_at_dialling();
  bool is_dialling() const;
  void found(const std::vector<IpAddress>& addresses) override;
  struct NotDialled;
  bool is_let_lead_to(const IpAddress& address) const;
  void judge_address(const IpAddress& address, NotDialled& others);
  void found_none(const NotDialled& why);
  void not_found(EgressReason why) override;
  void dialled(Attempt& attempt);
  void relay();
  Moved move_out();
  Moved move_in();
  Moved move_requests();
  // Of the bytes that the host may have, on all its connections: counted as soon as they are taken in.
  uint64_t bytes_left() const;
  bool take_bytes(size_t count);  // false: there are not so many left, and it is refused
  bool owes_server() const;
  bool is_delivered() const;  // every byte that was given to the server's socket
  void end_when_delivered();
  void end();
  void break_off();
  void refuse(EgressReason reason, std::string_view detail = {});
  void fail(EgressReason reason, int number = 0, std::string_view detail = {});

  House& house_;
  State state_ = State::judging;
  OwnedFd client_;
  OwnedFd server_;
  End client_end_{*this, Side::client};
  HostName host_;
  bool localhost_;
  HostCount& count_;
  Buffers buffers_;
  ClientHelloReader hello_;
  std::string head_;  // what the client has sent before it was judged
  std::optional<RequestStream> requests_;
  std::vector<std::unique_ptr<Attempt>> attempts_;  // with those that failed, whose events may still come
  std::vector<IpAddress> addresses_;                // that passed, and were not tried yet
  int last_error_ = 0;
  Relay out_;
  Relay in_;
  bool out_ended_ = false;
  bool in_ended_ = false;
  bool client_broke_ = false;  // it did not end as one does who has said everything
  uint64_t began_ms_;
  uint64_t moved_ms_;  // when something last did
};

}  // namespace cloche::egress
