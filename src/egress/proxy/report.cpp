#include "egress/proxy/report.hpp"

#include <cstring>

#include "egress/proxy/address_guard.hpp"
#include "model/network.hpp"
#include "policy/hosts/declared_hosts.hpp"

namespace cloche {
namespace {

// %D is what was declared, %A the detail.
constexpr const char* reasons[] = {
    "not declared (%D)",
    "this port of it is not declared (%D)",
    "no name was looked up that has this address; connect to a declared name (%D)",
    "it resolves to %A, which is not a public address",
    "it resolves to %A",
    "%A",
    "the TLS greeting is for %A",
    "%A",
    "too many connections at once",
    "more than 32 connections to published ports at once",
    "no more files can be opened for it",
    "too many bytes to and from it",
    "nothing moved on it for too long",
    "it was open for too long",
    "too many different names below a wildcard, or too long ones",
    "the resolver knows no address of it",
    "the resolver does not answer",
    "no nameserver line of /etc/resolv.conf can be read",
    "",
    "this host has no route to %A: none at all, or one that says blackhole, unreachable or prohibit",
    "what the command sent last was still on its way two seconds after its end, and was dropped",
};
static_assert(connectors_of_published / 2 == 32, "as many as a reason says");
static_assert(std::size(reasons) == static_cast<size_t>(EgressReason::last) + 1);

std::string filled(std::string_view sentence, std::string_view declared, std::string_view detail) {
  std::string text;
  for (size_t i = 0; i < sentence.size(); ++i) {
    const bool slot = sentence[i] == '%' && i + 1 < sentence.size();
    if (!slot) {
      text += sentence[i];
    } else {
      const char what = sentence[++i];
      text += what == 'D' ? declared : detail;
    }
  }
  return text;
}

}  // namespace

std::optional<LimitId> limit_of(EgressReason reason) {
  switch (reason) {
    case EgressReason::too_many_connections: return LimitId::net_connections;
    case EgressReason::too_many_bytes: return LimitId::net_bytes;
    case EgressReason::too_long_idle: return LimitId::net_idle;
    case EgressReason::too_long_open: return LimitId::net_time;
    default: return {};
  }
}

std::string advice_about(EgressReason reason, std::string_view limited_by) {
  if (reason == EgressReason::too_many_files) return "; the operator can raise the limit (ulimit -Hn)";
  const auto limit = limit_of(reason);
  if (!limit) return {};
  const std::string flag(info_of(*limit).flag);
  if (limited_by.empty()) return "; the operator can raise " + flag;
  return "; this limit is lower than " + flag + " by " + std::string(limited_by);
}

std::string describe_looked_up(const std::vector<std::string>& names, uint64_t more) {
  std::string list;
  for (const auto& name : names) list += (list.empty() ? "" : ", ") + name;
  if (more > 0) list += " and " + std::to_string(more) + " more names";
  return "egress: this call has no network; it looked up " + list;
}

std::string advice_about_names(const std::vector<std::string>& names) {
  std::string flags;
  size_t declarable = 0;
  for (const auto& name : names) {
    const ReadHost host = read_wanted_host(name);
    if (!host || host.host->kind != DeclaredHost::Kind::name) continue;
    flags += " " + std::string(net_flag) + " " + name;
    ++declarable;
  }
  if (declarable == 0) return {};
  return ";" + flags + (declarable == 1 ? " lets it reach that host" : " lets it reach these hosts");
}

std::string advice_about_address(const EgressMessage& message) {
  const std::string detail = text_of(message.detail);
  const auto address = read_address(detail);
  if (!address || !why_not_in_range(*address).empty()) return {};
  const bool v4 = address->family == IpAddress::Family::v4;
  return "; " + std::string(net_flag) + " " + name_of(message.name) + "@" + detail + (v4 ? "/32" : "/128") +
         ":" + std::to_string(message.port) + " lets it lead there";
}

std::string describe(const EgressMessage& message, std::string_view declared) {
  const std::string name = name_of(message.name);
  const std::string place = name + ":" + std::to_string(message.port);
  if (message.reason > EgressReason::last) return "egress: a decision that is not on the list";
  std::string why = filled(reasons[static_cast<size_t>(message.reason)], declared, text_of(message.detail));
  if (message.reason == EgressReason::unreachable) {
    const char* meaning = strerrordesc_np(static_cast<int>(message.number));
    why = meaning != nullptr ? meaning : "unknown error";
  }
  if (message.reason == EgressReason::cut_at_end)
    return "egress: not everything reached " + place + ": " + why;
  if (message.news == EgressNews::failed) return "egress: " + place + " could not be reached: " + why;
  if (message.port == 0)
    return "egress: look-up of " + (name.empty() ? "the root" : name) + " refused: " + why;
  const bool cut =
      message.reason >= EgressReason::too_many_bytes && message.reason <= EgressReason::too_long_open;
  return cut ? "egress: the connection to " + place + " was ended: " + why
             : "egress: connect to " + place + " refused: " + why;
}

}  // namespace cloche
