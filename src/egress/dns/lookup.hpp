// Names to addresses, outside: the host's own /etc/hosts, then its name servers. Nothing is kept for later,
// so that what is dialled is what was just judged.
//
// A look-up sends the questions for both families to one server after the other and takes the first answer to
// each. That a name has no address is believed when both were answered; packets get lost, and some servers
// say of a name that it does not exist when it has no address of one kind.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "egress/dns/dns_resolver.hpp"
#include "egress/dns/resolver_files.hpp"
#include "egress/proxy/loop.hpp"
#include "egress/proxy/report.hpp"
#include "policy/hosts/host_name.hpp"

namespace cloche::egress {

// The connection that asked.
class LookupClient {
 public:
  virtual ~LookupClient() = default;
  virtual void found(const std::vector<IpAddress>& addresses) = 0;
  virtual void not_found(EgressReason why) = 0;
};

// One name. Nothing that is heard late is lost: every server that was asked is heard until the end, and asked
// again with the same id.
class Lookup : public Mortal {
 public:
  Lookup(Loop& loop, const ResolverFiles& files, const HostName& name, LookupClient& asker);
  ~Lookup() override;

  // May tell the asker at once.
  void start();
  void look_at_clock();
  const HostName& name() const { return questions_[0].name; }
  bool over() const { return over_; }

 private:
  static constexpr size_t families = 2;
  // To one server: datagrams for both questions, or a stream for one whose answer was too long for them.
  struct Line : Handler {
    Line(Lookup& whose, OwnedFd socket) : owner(whose), fd(std::move(socket)) {}
    void ready(uint32_t) override { is_stream ? owner.hear_stream(*this) : owner.hear_datagrams(*this); }
    Lookup& owner;
    OwnedFd fd;
    bool is_stream = false;
    bool asked = false;
    size_t question = 0;  // of a stream
    std::string taken = {};
  };
  enum class Heard { nothing, all, no_use };  // of a question, since it was last asked

  void ask_next();
  bool ask(const NameServer& server);
  Line* line_to(const NameServer& server);
  void ask_over_stream(size_t question);
  void hear_datagrams(Line& line);
  void hear_stream(Line& line);
  void hear(Bytes message, bool over_stream);
  void no_use(size_t question);
  void look_at_answers();
  void conclude();

  Loop& loop_;
  const ResolverFiles& files_;
  LookupClient& asker_;
  std::array<dns::Question, families> questions_;
  std::array<Heard, families> heard_ = {};
  std::vector<IpAddress> addresses_;
  std::vector<std::unique_ptr<Line>> lines_;                  // of datagrams, one for each server so far
  std::array<std::unique_ptr<Line>, families> streams_ = {};  // one for each question
  size_t tries_ = 0;
  size_t useless_ = 0;  // of them
  uint64_t next_try_ms_ = 0;
  uint64_t give_up_ms_ = 0;
  bool over_ = false;
};

// All that are under way: those who wait for the same name share one.
class Lookups {
 public:
  Lookups(Loop& loop, const ResolverFiles& files) : loop_(loop), files_(files) {}

  // May tell the asker at once.
  void find(const HostName& name, LookupClient& asker);
  void forget(LookupClient& asker);  // it wants to be told no more
  void look_at_clock();

 private:
  struct Shared : LookupClient, Mortal {
    void found(const std::vector<IpAddress>& addresses) override;
    void not_found(EgressReason why) override;
    LookupClient* take_one();
    std::vector<LookupClient*> askers;
    std::unique_ptr<Lookup> lookup;
  };

  Loop& loop_;
  const ResolverFiles& files_;
  std::vector<std::unique_ptr<Shared>> running_;
};

}  // namespace cloche::egress
