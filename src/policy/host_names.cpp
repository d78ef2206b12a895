#include "policy/host_names.hpp"

#include <algorithm>
#include <charconv>

namespace cloche {
namespace {

bool is_label(std::string_view label) {
  const auto good = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return !label.empty() && label.size() <= 63 && label.front() != '-' && label.back() != '-' &&
         std::all_of(label.begin(), label.end(), good);
}

bool is_host_name(std::string_view name) {
  if (name.empty() || name.size() > 253) return false;
  while (true) {
    const std::string_view label = name.substr(0, name.find('.'));
    if (!is_label(label)) return false;
    if (label.size() == name.size()) return true;
    name.remove_prefix(label.size() + 1);
  }
}

}  // namespace

std::optional<HostPort> parse_host(std::string_view text) {
  HostPort host;
  const size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    const char* end = text.data() + text.size();
    uint16_t port = 0;
    const auto [at, problem] = std::from_chars(text.data() + colon + 1, end, port);
    if (problem != std::errc{} || at != end || port == 0) return {};
    host.port = port;
  }
  host.name = text.substr(0, colon);
  if (host.name.ends_with('.')) host.name.pop_back();
  for (char& c : host.name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (!is_host_name(host.name)) return {};
  return host;
}

std::optional<HostPort> parse_host_pattern(std::string_view text) {
  const bool wildcard = text.starts_with("*.");
  auto host = parse_host(wildcard ? text.substr(2) : text);
  if (host) host->wildcard = wildcard;
  return host;
}

bool covers(const HostPort& pattern, const HostPort& host) {
  if (pattern.port && host.port != pattern.port) return false;
  if (!pattern.wildcard) return pattern.name == host.name;
  return host.name.size() > pattern.name.size() + 1 && host.name.ends_with("." + pattern.name);
}

}  // namespace cloche
