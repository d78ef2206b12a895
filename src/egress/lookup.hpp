// Names to addresses, outside: the host's own /etc/hosts, then its name servers. Each connection asks anew,
// so that what is dialled is what was just judged.
//
// A look-up sends the questions for both families to one server at a time and takes the first answer to each;
// a server that is silent gives way to the next.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "egress/dns_resolver.hpp"
#include "egress/loop.hpp"
#include "egress/report.hpp"
#include "policy/host_name.hpp"

namespace cloche::egress {

// What /etc/hosts and /etc/resolv.conf say; whatever is not understood is passed over.
struct KnownHost {
  std::string name;
  IpAddress address;
};
struct ResolverFiles {
  std::vector<KnownHost> hosts = {};
  std::vector<IpAddress> servers = {};
};
std::optional<IpAddress> read_address(std::string_view text);
ResolverFiles read_resolver_files(std::string_view hosts, std::string_view resolver);

// Whoever asked.
class Asker {
 public:
  virtual ~Asker() = default;
  virtual void found(const std::vector<IpAddress>& addresses) = 0;
  virtual void not_found(EgressReason why) = 0;
};

class Lookup : public Handler, public Mortal {
 public:
  Lookup(Loop& loop, const ResolverFiles& files, const HostName& name, Asker& asker);

  // May tell the asker at once.
  void start();
  void ready(uint32_t events) override;
  void look_at_clock();

 private:
  void ask_next();
  void hear(Bytes message);
  void conclude();

  Loop& loop_;
  const ResolverFiles& files_;
  HostName name_;
  Asker& asker_;
  OwnedFd socket_;
  dns::Question questions_[2];
  bool answered_[2] = {false, false};
  bool unknown_ = false;  // some server said that there is no such name, or that it has no address
  std::vector<IpAddress> addresses_;
  size_t tries_ = 0;
  uint64_t deadline_ms_ = 0;
  bool over_ = false;
};

}  // namespace cloche::egress
