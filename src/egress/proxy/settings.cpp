#include "egress/proxy/settings.hpp"

#include <charconv>

namespace cloche {
namespace {

std::string_view take_word(std::string_view& line) {
  const size_t end = line.find(' ');
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  return word;
}

template <typename Number>
bool take_number(std::string_view& line, Number& number) {
  const std::string_view word = take_word(line);
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), number);
  return problem == std::errc{} && end == word.data() + word.size() && !word.empty();
}

struct NumberLine {
  std::string_view word;
  uint64_t EgressSettings::*field;
};
constexpr NumberLine number_lines[] = {
    {"connections", &EgressSettings::connections},
    {"bytes", &EgressSettings::bytes},
    {"idle_ms", &EgressSettings::idle_ms},
    {"time_ms", &EgressSettings::time_ms},
};

bool read_named(std::string_view line, EgressSettings& settings) {
  NamedHost host;
  if (!take_number(line, host.offset)) return false;
  host.name = take_word(line);
  while (!line.empty()) {
    host.ports.emplace_back();
    if (!take_number(line, host.ports.back())) return false;
  }
  const bool good = !host.name.empty() && !host.ports.empty();
  settings.named.push_back(std::move(host));
  return good;
}

bool read_line(std::string_view line, EgressSettings& settings) {
  const std::string_view word = take_word(line);
  for (const auto& row : number_lines) {
    if (row.word == word) return take_number(line, settings.*row.field) && line.empty();
  }
  if (word == "ipv6") {
    settings.ipv6 = line == "1";
    return line == "1" || line == "0";
  }
  if (word == "below") {
    settings.below.push_back(host_entry(line));
    return settings.below.back().below && settings.below.back().port != 0;
  }
  if (word == "published") {
    PublishedPort port;
    if (!take_number(line, port.host) || !take_number(line, port.inside) || !line.empty()) return false;
    settings.published.push_back(port);
    return port.host != 0 && port.inside != 0 && settings.published.size() <= most_published;
  }
  if (word == "range") {
    auto range = read_host_range(line);
    if (range) settings.ranges.push_back(*std::move(range));
    return range.has_value();
  }
  return word == "name" && read_named(line, settings);
}

}  // namespace

EgressSettings egress_settings(const std::vector<std::string>& hosts, const Limits& limits, bool ipv6) {
  NetworkShape shape = shape_of(hosts);
  return {.named = std::move(shape.named),
          .below = std::move(shape.below),
          .connections = limits.net_connections,
          .bytes = limits.net_bytes,
          .idle_ms = limits.net_idle_ms,
          .time_ms = limits.net_time_ms,
          .ipv6 = ipv6};
}

EgressSettings egress_settings(const ConfinementPlan& plan, bool ipv6) {
  EgressSettings settings = egress_settings(plan.hosts, plan.limits, ipv6);
  for (const auto& text : plan.ranges)
    if (auto range = read_host_range(text)) settings.ranges.push_back(*std::move(range));
  settings.published = plan.published;
  return settings;
}

std::string to_text(const EgressSettings& settings) {
  std::string text = std::string("ipv6 ") + (settings.ipv6 ? "1" : "0") + "\n";
  for (const auto& row : number_lines)
    text += std::string(row.word) + " " + std::to_string(settings.*row.field) + "\n";
  for (const auto& host : settings.named) {
    text += "name " + std::to_string(host.offset) + " " + host.name;
    for (const uint16_t port : host.ports) text += " " + std::to_string(port);
    text += "\n";
  }
  for (const auto& port : settings.published)
    text += "published " + std::to_string(port.host) + " " + std::to_string(port.inside) + "\n";
  for (const auto& [host, range] : settings.ranges)
    text +=
        "range " +
        host_range_text(host, std::string(text_of(range.first).view()) + "/" + std::to_string(range.bits)) +
        "\n";
  for (const auto& entry : settings.below) text += "below " + to_text(entry) + "\n";
  return text;
}

Result<EgressSettings> read_egress_settings(std::string_view text) {
  EgressSettings settings;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return refusal("the egress settings are cut short");
    if (!read_line(text.substr(0, end), settings))
      return refusal("the egress settings have a line that is none: " + std::string(text.substr(0, end)));
    text.remove_prefix(end + 1);
  }
  const bool limited = settings.connections != 0 && settings.bytes != 0 && settings.idle_ms != 0;
  if (!limited || settings.time_ms == 0) return refusal("the egress settings have no limits");
  return settings;
}

}  // namespace cloche
