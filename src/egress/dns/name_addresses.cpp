#include "egress/dns/name_addresses.hpp"

#include <algorithm>

namespace cloche::egress {
namespace {

// One label or more below `parent`.
bool is_below(std::string_view name, std::string_view parent) {
  return name.size() > parent.size() + 1 && name.ends_with(parent) &&
         name[name.size() - parent.size() - 1] == '.';
}

bool fits(const HostEntry& entry, std::string_view name) {
  // Any public name: one label alone is a name of a private network.
  if (entry.is_any()) return name.find('.') != std::string_view::npos;
  return is_below(name, entry.name);
}

const NamedHost* find(const std::vector<NamedHost>& hosts, std::string_view name) {
  const auto at =
      std::find_if(hosts.begin(), hosts.end(), [&](const NamedHost& host) { return host.name == name; });
  return at == hosts.end() ? nullptr : &*at;
}

}  // namespace

NameAddresses::NameAddresses(const EgressSettings& settings)
    : declared_(settings.named), below_(settings.below) {
  const bool any = std::any_of(below_.begin(), below_.end(), [](const HostEntry& e) { return e.is_any(); });
  if (any) {  // no zone in particular: what one of them could hear is the same with one name or many
    most_found_ = 4096;
    most_found_bytes_ = size_t{256} << 10;
  }
}

NameAddresses::Found NameAddresses::look_up(const HostName& name) {
  if (is_host_loopback_name(name.text())) return look_up_host_loopback(name.text());
  if (const auto* host = find(declared_, name.text())) return {Answer::known, host->offset};
  if (const auto* host = find(found_, name.text())) return {Answer::known, host->offset};
  const bool below = std::any_of(below_.begin(), below_.end(),
                                 [&](const HostEntry& entry) { return fits(entry, name.text()); });
  return below ? add(name) : Found{};
}

// Never a name of a host outside, whatever wildcards say.
NameAddresses::Found NameAddresses::look_up_host_loopback(std::string_view name) const {
  const bool served = name == host_loopback_name && named(localhost_offset) != nullptr;
  return served ? Found{Answer::known, localhost_offset} : Found{};
}

NameAddresses::Found NameAddresses::add(const HostName& name) {
  const std::string_view text = name.text();
  if (found_.size() >= most_found_ || found_bytes_ + text.size() > most_found_bytes_)
    return {Answer::too_many, 0};
  NamedHost host{std::string(text), first_found_offset + static_cast<uint32_t>(found_.size()), {}};
  for (const auto& entry : below_) {
    if (fits(entry, text)) host.ports.push_back(entry.port);
  }
  found_bytes_ += text.size();
  found_.push_back(std::move(host));
  return {Answer::known, found_.back().offset};
}

const NamedHost* NameAddresses::named(uint32_t offset) const {
  if (offset >= first_found_offset) {
    const size_t index = offset - first_found_offset;
    return index < found_.size() ? &found_[index] : nullptr;
  }
  const auto at = std::find_if(declared_.begin(), declared_.end(),
                               [&](const NamedHost& host) { return host.offset == offset; });
  return at == declared_.end() ? nullptr : &*at;
}

// A name that is declared may lie below a wildcard as well.
bool NameAddresses::is_declared(const NamedHost& host, uint16_t port) const {
  if (std::find(host.ports.begin(), host.ports.end(), port) != host.ports.end()) return true;
  return std::any_of(below_.begin(), below_.end(),
                     [&](const HostEntry& entry) { return entry.port == port && fits(entry, host.name); });
}

}  // namespace cloche::egress
