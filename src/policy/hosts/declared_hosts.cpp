#include "policy/hosts/declared_hosts.hpp"

#include <algorithm>

#include "base/lists.hpp"
#include "base/text/pieces.hpp"
#include "base/text/visible_text.hpp"
#include "model/network.hpp"
#include "policy/hosts/address_range.hpp"

namespace cloche {
namespace {

constexpr size_t most_ports = 16;  // different ones, of a plan

Result<void> add(std::vector<std::string>& hosts, const HostEntry& entry) {
  std::string text = to_text(entry);
  if (contains(hosts, text)) return {};
  if (hosts.size() >= most_hosts)
    return usage_error("more than " + std::to_string(most_hosts) + " hosts and ports are declared");
  std::vector<uint16_t> ports = {entry.port};
  for (const auto& host : hosts) {
    const uint16_t port = host_entry(host).port;
    if (!contains(ports, port)) ports.push_back(port);
  }
  if (ports.size() > most_ports)
    return usage_error("more than " + std::to_string(most_ports) + " different ports are declared");
  hosts.push_back(std::move(text));
  return {};
}

bool is_any(const std::string& host) { return host == any_host || host.starts_with("*:"); }

// What of a list is about one name.
struct NameAndPorts {
  std::string name;  // as it is compared, with the "*." of a pattern
  std::vector<uint16_t> ports = {};

  bool has(uint16_t port) const { return contains(ports, port); }
  // A name alone means both of the web's ports; the loopback has no such name.
  bool has_the_web() const { return has(80) && has(443) && name != "localhost"; }
};

std::vector<NameAndPorts> by_name(const std::vector<std::string>& hosts) {
  std::vector<NameAndPorts> names;
  for (const auto& host : hosts) {
    const ReadHost read = read_declared_host(host);
    if (!read) continue;  // any_host, which has no name; nothing else was taken into a list
    const bool below = read.host->kind == DeclaredHost::Kind::below;
    const std::string name = (below ? "*." : "") + std::string(read.host->name.text());
    auto known = std::ranges::find_if(names, [&](const auto& one) { return one.name == name; });
    if (known == names.end()) known = names.insert(names.end(), {name});
    for (const uint16_t port : read.host->ports.list())
      if (!known->has(port)) known->ports.push_back(port);
  }
  return names;
}

std::vector<std::string> shown_hosts(const std::vector<std::string>& hosts) {
  std::vector<std::string> list;
  for (const auto& host : by_name(hosts)) {
    const bool web = host.has_the_web();
    if (web) list.push_back(host.name);
    for (const uint16_t port : host.ports)
      if (!web || !Ports::web().contain(port)) list.push_back(host.name + ":" + std::to_string(port));
  }
  return list;
}

std::string in_brackets(const std::vector<std::string>& words) { return "[" + comma_separated(words) + "]"; }

}  // namespace

Result<void> declare_host(std::vector<std::string>& hosts, std::string_view word) {
  const ReadHost read = read_declared_host(word);
  if (!read) {
    return usage_error(
        "'" + shown(std::string(word), 120) + "' declares no host: " + std::string(read.problem),
        "write NAME, NAME:PORT, *.NAME or localhost:PORT");
  }
  for (const uint16_t port : read.host->ports.list()) {
    TRY(add(hosts, {.name = std::string(read.host->name.text()),
                    .port = port,
                    .below = read.host->kind == DeclaredHost::Kind::below}));
  }
  return {};
}

std::string without_range(std::string_view word) {
  const size_t at = word.find('@');
  if (at == std::string_view::npos) return std::string(word);
  const size_t slash = word.find('/', at);
  const size_t colon = slash == std::string_view::npos ? slash : word.find(':', slash);
  return std::string(word.substr(0, at)) +
         (colon == std::string_view::npos ? "" : std::string(word.substr(colon)));
}

Result<void> declare_reach(std::vector<std::string>& hosts, std::vector<std::string>& ranges,
                           std::string_view word) {
  const size_t at = word.find('@');
  if (at == std::string_view::npos) return declare_host(hosts, word);
  const std::string plain = without_range(word);
  const std::string_view behind = word.substr(at + 1);
  const size_t slash = behind.find('/');
  const size_t colon = slash == std::string_view::npos ? slash : behind.find(':', slash);
  const ReadRange range = read_address_range(behind.substr(0, colon));
  const ReadHost host = read_declared_host(plain);
  const bool named = host && host.host->kind != DeclaredHost::Kind::host_loopback;
  const bool port_first = word.substr(0, at).find(':') != std::string_view::npos;
  if (!range || !named || port_first) {
    const std::string why(!range ? range.problem : host ? "a range is for a name" : host.problem);
    return usage_error("'" + shown(std::string(word), 120) + "' declares no host: " + why,
                       "write NAME@CIDR or NAME@CIDR:PORT, as mirror.example@10.1.0.0/16:443");
  }
  constexpr size_t most_ranges = 64;
  TRY(declare_host(hosts, plain));
  const std::string cidr =
      std::string(text_of(range.range->first).view()) + "/" + std::to_string(range.range->bits);
  for (const uint16_t port : host.host->ports.list()) {
    const HostEntry entry{.name = std::string(host.host->name.text()),
                          .port = port,
                          .below = host.host->kind == DeclaredHost::Kind::below};
    std::string text = host_range_text(entry, cidr);
    if (!contains(ranges, text)) ranges.push_back(std::move(text));
  }
  if (ranges.size() > most_ranges)
    return usage_error("more than " + std::to_string(most_ranges) + " ranges of addresses are declared");
  return {};
}

std::vector<std::string> hosts_within(const std::string& declared, const std::vector<std::string>& words) {
  std::vector<std::string> kept;
  const ReadHost wanted = read_declared_host(declared);
  if (wanted && is_declared(*wanted.host, {std::string(any_host)}) && contains(words, any_host))
    return {declared};
  for (const auto& word : words) {
    const ReadHost given = read_declared_host(word);
    if (!wanted || !given) continue;
    if (covers(*given.host, *wanted.host)) return {declared};
    if (covers(*wanted.host, *given.host)) kept.push_back(word);
  }
  return kept;
}

std::vector<std::string> narrowed_hosts(const std::vector<std::string>& words,
                                        const std::vector<std::string>& left) {
  std::vector<std::string> kept;
  for (const auto& declared : left)
    for (auto& host : hosts_within(declared, words))
      if (!contains(kept, host)) kept.push_back(std::move(host));
  return kept;
}

Result<void> declare_any_host(std::vector<std::string>& hosts) {
  const Ports web = Ports::web();
  for (const uint16_t port : web.list()) TRY(add(hosts, {.port = port, .below = true}));
  return {};
}

bool is_declared(const DeclaredHost& wanted, const std::vector<std::string>& words) {
  return std::ranges::any_of(words, [&](const std::string& word) {
    if (word == any_host)
      return wanted.kind != DeclaredHost::Kind::host_loopback && Ports::web().contain(wanted.ports);
    const ReadHost declared = read_declared_host(word);
    return declared && covers(*declared.host, wanted);
  });
}

std::string describe_declared(std::string_view by, const std::vector<std::string>& hosts) {
  if (by.empty()) by = "the operator";
  std::vector<std::string> list = shown_hosts(hosts);
  const bool any = std::ranges::any_of(hosts, is_any);
  if (any && by.ends_with(net_flag)) {
    const std::string named = list.empty() ? "" : ", " + std::string(net_flag) + ": " + in_brackets(list);
    return std::string(by) + "-any" + named;
  }
  if (any) list.insert(list.begin(), "any public name");
  return std::string(by) + ": " + in_brackets(list);
}

}  // namespace cloche
