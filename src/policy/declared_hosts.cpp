#include "policy/declared_hosts.hpp"

#include <algorithm>

#include "base/shown.hpp"
#include "model/network.hpp"

namespace cloche {
namespace {

constexpr size_t most_ports = 16;  // different ones, of a plan

Result<void> add(std::vector<std::string>& hosts, const HostEntry& entry) {
  std::string text = to_text(entry);
  if (std::find(hosts.begin(), hosts.end(), text) != hosts.end()) return {};
  if (hosts.size() >= most_hosts)
    return usage_error("more than " + std::to_string(most_hosts) + " hosts and ports are declared");
  std::vector<uint16_t> ports = {entry.port};
  for (const auto& host : hosts) {
    const uint16_t port = host_entry(host).port;
    if (std::find(ports.begin(), ports.end(), port) == ports.end()) ports.push_back(port);
  }
  if (ports.size() > most_ports)
    return usage_error("more than " + std::to_string(most_ports) + " different ports are declared");
  hosts.push_back(std::move(text));
  return {};
}

// A name at one of the web's ports is shown as it is usually declared.
std::string without_web_port(const std::string& host) {
  const size_t colon = host.rfind(':');
  if (colon == std::string::npos) return host;
  const std::string_view port = std::string_view(host).substr(colon);
  return port == ":80" || port == ":443" ? host.substr(0, colon) : host;
}

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

Result<void> declare_any_host(std::vector<std::string>& hosts) {
  const Ports web = Ports::web();
  for (const uint16_t port : web.list()) TRY(add(hosts, {.port = port, .below = true}));
  return {};
}

bool is_declared(const DeclaredHost& wanted, const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    if (word == any_host)
      return wanted.kind != DeclaredHost::Kind::host_loopback && Ports::web().contain(wanted.ports);
    const ReadHost declared = read_declared_host(word);
    return declared && covers(*declared.host, wanted);
  });
}

std::string describe_declared(std::string_view by, const std::vector<std::string>& hosts) {
  std::string list;
  std::string last;
  for (const auto& host : hosts) {
    std::string text = without_web_port(host);
    if (text == last) continue;  // its other port
    list += (list.empty() ? "" : ", ") + text;
    last = std::move(text);
  }
  return std::string(by) + ": [" + list + "]";
}

}  // namespace cloche
