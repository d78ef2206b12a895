#include "policy/hosts/host_patterns.hpp"

#include <algorithm>

#include "base/lists.hpp"
#include "base/text/ascii.hpp"
#include "model/network.hpp"

namespace cloche {
namespace {

using Kind = DeclaredHost::Kind;

constexpr std::string_view bad_port = "the port is not one of 1 to 65535";
constexpr std::string_view bare_localhost =
    "localhost is a service on the host's loopback and needs its port, as in localhost:5432";
constexpr std::string_view below_localhost = "names below localhost are the loopback: write localhost:PORT";
constexpr std::string_view below_host_cloche =
    "host.cloche is this host's own loopback, and no name outside: write localhost:PORT";
constexpr std::string_view resolvers_port =
    "port 53 belongs to the call's own resolver, which answers every look-up";
constexpr std::string_view all_hosts = "a wildcard stands below a name, as in *.example.org";
constexpr std::string_view all_of_a_domain =
    "a wildcard stands below two labels or more, as in *.example.org, not below a whole top-level domain";
constexpr std::string_view one_wildcard = "a wildcard is the whole first label, as in *.example.org";
constexpr std::string_view whole_url = "a host is named alone, without a scheme, a user or a path";
constexpr std::string_view no_pattern = "a pattern is not the name of one host";

bool is_localhost(const HostName& name) { return name.text() == "localhost"; }
bool is_below_localhost(const HostName& name) { return name.text().ends_with(".localhost"); }

// What is wrong with the stars of a declaration; `text` is without its port.
std::string_view problem_of_wildcard(std::string_view text) {
  if (text == "*" || text == "*.") return all_hosts;
  const size_t star = text.rfind('*');
  return star == std::string_view::npos || (star == 0 && text.starts_with("*.")) ? std::string_view{}
                                                                                 : one_wildcard;
}

std::string_view problem_of(const DeclaredHost& host, bool has_port) {
  if (is_below_localhost(host.name)) return below_localhost;
  if (is_host_loopback_name(host.name.text())) return below_host_cloche;
  if (host.ports.contain(dns_port)) return resolvers_port;
  if (host.kind == Kind::below && is_localhost(host.name)) return below_localhost;
  if (host.kind == Kind::below && host.name.has_one_label()) return all_of_a_domain;
  if (host.kind == Kind::host_loopback && !has_port) return bare_localhost;
  return {};
}

}  // namespace

bool Ports::contain(uint16_t port) const {
  const auto mine = list();
  return contains(mine, port);
}

bool Ports::contain(const Ports& others) const {
  const auto theirs = others.list();
  return std::ranges::all_of(theirs, [&](uint16_t port) { return contain(port); });
}

std::optional<uint16_t> read_port(std::string_view text) {
  if (text.empty() || text.size() > 5 || text.front() == '0' || !ascii::all(text, ascii::is_digit)) return {};
  uint32_t port = 0;
  for (const char c : text) port = port * 10 + static_cast<uint32_t>(c - '0');
  if (port > UINT16_MAX) return {};
  return static_cast<uint16_t>(port);
}

ReadHost read_declared_host(std::string_view text) {
  if (text.find_first_of("/@?#\\") != std::string_view::npos) return {.problem = whole_url};
  // More colons than one are an address of IPv6, and the name says so.
  const bool has_port = std::ranges::count(text, ':') == 1;
  const std::string_view written = has_port ? text.substr(0, text.find(':')) : text;
  if (const auto problem = problem_of_wildcard(written); !problem.empty()) return {.problem = problem};
  const bool wildcard = written.starts_with("*.");
  const ReadName read = HostName::read(wildcard ? written.substr(2) : written);
  if (!read) return {.problem = read.problem};
  const Kind kind = wildcard ? Kind::below : is_localhost(*read.name) ? Kind::host_loopback : Kind::name;
  DeclaredHost host{.kind = kind, .name = *read.name};
  if (has_port) {
    const auto port = read_port(text.substr(written.size() + 1));
    if (!port) return {.problem = bad_port};
    host.ports = Ports::one(*port);
  }
  if (const auto problem = problem_of(host, has_port); !problem.empty()) return {.problem = problem};
  return {.host = host};
}

ReadHost read_wanted_host(std::string_view text) {
  const ReadHost read = read_declared_host(text);
  if (read && read.host->kind == Kind::below) return {.problem = no_pattern};
  return read;
}

bool covers(const DeclaredHost& wide, const DeclaredHost& narrow) {
  if (!wide.ports.contain(narrow.ports)) return false;
  if (wide.kind != Kind::below) return wide.kind == narrow.kind && wide.name == narrow.name;
  return (narrow.kind == Kind::below && narrow.name == wide.name) || narrow.name.is_below(wide.name);
}

bool covers(const DeclaredHost& wide, const HostName& name) {
  if (wide.kind == Kind::host_loopback) return false;
  return wide.kind == Kind::below ? name.is_below(wide.name) : name == wide.name;
}

bool covers(const DeclaredHost& wide, const HostName& name, uint16_t port) {
  return covers(wide, name) && wide.ports.contain(port);
}

}  // namespace cloche
