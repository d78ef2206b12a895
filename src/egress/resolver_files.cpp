#include "egress/resolver_files.hpp"

#include <array>
#include <charconv>

#include "policy/host_name.hpp"

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

std::optional<IpAddress> read_v4(std::string_view text) {
  std::array<uint8_t, 4> bytes{};
  const char* at = text.data();
  const char* end = at + text.size();
  for (size_t i = 0; i < 4; ++i) {
    if (i > 0 && (at == end || *at++ != '.')) return {};
    const auto [next, problem] = std::from_chars(at, end, bytes[i]);
    if (problem != std::errc{} || next == at) return {};
    at = next;
  }
  if (at != end) return {};
  return IpAddress::v4(bytes);
}

// Groups of hexadecimal digits; at most one "::"; no dotted tail and no zone, which no public address has.
std::optional<IpAddress> read_v6(std::string_view text) {
  std::vector<uint16_t> groups;
  std::optional<size_t> gap;
  while (!text.empty()) {
    if (text.starts_with("::")) {
      if (gap) return {};
      gap = groups.size();
      text.remove_prefix(2);
      continue;
    }
    if (!groups.empty() && gap != groups.size()) {
      if (text[0] != ':') return {};
      text.remove_prefix(1);
    }
    uint16_t group = 0;
    const auto [next, problem] = std::from_chars(text.data(), text.data() + text.size(), group, 16);
    const auto length = static_cast<size_t>(next - text.data());
    if (problem != std::errc{} || length == 0 || length > 4 || groups.size() == 8) return {};
    groups.push_back(group);
    text.remove_prefix(length);
  }
  if (gap ? groups.size() > 7 : groups.size() != 8) return {};
  if (gap) groups.insert(groups.begin() + static_cast<ptrdiff_t>(*gap), 8 - groups.size(), 0);
  std::array<uint8_t, 16> bytes{};
  for (size_t i = 0; i < 8; ++i) {
    bytes[2 * i] = static_cast<uint8_t>(groups[i] >> 8);
    bytes[2 * i + 1] = static_cast<uint8_t>(groups[i]);
  }
  return IpAddress::v6(bytes);
}

}  // namespace

std::optional<IpAddress> read_address(std::string_view text) {
  return text.find(':') == std::string_view::npos ? read_v4(text) : read_v6(text);
}

ResolverFiles read_resolver_files(std::string_view hosts, std::string_view resolver) {
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
  while (!resolver.empty() && files.servers.size() < most_servers) {
    std::string_view line = take_line(resolver);
    if (take_word(line) != "nameserver") continue;
    if (const auto address = read_address(take_word(line))) files.servers.push_back(*address);
  }
  // As every resolver does without one: this host's own.
  if (files.servers.empty()) files.servers.push_back(IpAddress::v4(std::array<uint8_t, 4>{127, 0, 0, 1}));
  return files;
}

}  // namespace cloche::egress
