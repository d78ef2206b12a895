#include "egress/dns/resolver_files.hpp"

#include <array>
#include <charconv>

#include "policy/hosts/host_name.hpp"

namespace cloche::egress {
namespace {

constexpr size_t most_servers = 3;
constexpr size_t most_known = 4096;

std::string_view take_line(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line.substr(0, line.find('#'));
}

std::string_view take_word(std::string_view& line) {
  constexpr std::string_view blank = " \t\r";
  const size_t begin = line.find_first_not_of(blank);
  if (begin == std::string_view::npos) return line = {}, line;
  const size_t end = line.find_first_of(blank, begin);
  const std::string_view word = line.substr(begin, end == std::string_view::npos ? end : end - begin);
  line.remove_prefix(end == std::string_view::npos ? line.size() : end);
  return word;
}

std::optional<uint32_t> read_number(std::string_view text, int base) {
  uint32_t number = 0;
  const char* end = text.data() + text.size();
  const auto [at, problem] = std::from_chars(text.data(), end, number, base);
  if (problem != std::errc{} || at != end || number == 0) return {};
  return number;
}

// Lines of the kernel's: ADDRESS NUMBER PREFIX SCOPE FLAGS NAME, the numbers in hexadecimal. An interface
// without an address of IPv6 is not there, and has no link-local neighbours either.
std::optional<uint32_t> read_zone(std::string_view zone, std::string_view interfaces) {
  while (!interfaces.empty()) {
    std::string_view line = take_line(interfaces);
    (void)take_word(line);
    const std::string_view number = take_word(line);
    for (int i = 0; i < 3; ++i) (void)take_word(line);
    if (!zone.empty() && take_word(line) == zone) return read_number(number, 16);
  }
  return read_number(zone, 10);
}

}  // namespace

std::optional<NameServer> read_name_server(std::string_view text, std::string_view interfaces) {
  const size_t mark = text.find('%');
  const auto address = read_address(text.substr(0, mark));
  if (!address) return {};
  if (mark == std::string_view::npos) return NameServer{*address};
  const auto zone = read_zone(text.substr(mark + 1), interfaces);
  if (!zone || address->family != IpAddress::Family::v6) return {};
  return NameServer{*address, *zone};
}

ResolverFiles read_resolver_files(std::string_view hosts, std::string_view resolver,
                                  std::string_view interfaces) {
  ResolverFiles files;
  while (!hosts.empty() && files.hosts.size() < most_known) {
    std::string_view line = take_line(hosts);
    const auto address = read_address(take_word(line));
    if (!address) continue;
    for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
      if (const ReadName name = HostName::read(word))
        files.hosts.push_back({std::string(name.name->text()), *address});
    }
  }
  bool any_named = false;
  while (!resolver.empty() && files.servers.size() < most_servers) {
    std::string_view line = take_line(resolver);
    if (take_word(line) != "nameserver") continue;
    any_named = true;
    if (const auto server = read_name_server(take_word(line), interfaces)) files.servers.push_back(*server);
  }
  // As every resolver does where none is named: this host's own. Where one is, no other is asked instead.
  if (!any_named) files.servers.push_back({IpAddress::v4(std::array<uint8_t, 4>{127, 0, 0, 1})});
  return files;
}

}  // namespace cloche::egress
