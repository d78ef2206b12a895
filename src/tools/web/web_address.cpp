#include "tools/web/web_address.hpp"

#include <algorithm>
#include <optional>

#include "base/text/ascii.hpp"
#include "policy/hosts/host_patterns.hpp"

namespace cloche {
namespace {

constexpr std::string_view not_an_address =
    "url is not http://HOST... or https://HOST... without a user name";
constexpr std::string_view not_plain =
    "url has a character in it that belongs percent-encoded: a blank, a backslash, a control character or "
    "one beyond ASCII";

struct Scheme {
  std::string_view begin;
  bool secure;
  std::string_view port;
};
constexpr Scheme schemes[] = {{"http://", false, "80"}, {"https://", true, "443"}};

const Scheme* scheme_of(std::string_view text) {
  for (const auto& scheme : schemes) {
    const size_t length = scheme.begin.size();
    if (text.size() > length && ascii::same_without_case(text.substr(0, length), scheme.begin))
      return &scheme;
  }
  return nullptr;
}

bool is_plain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f && c != '\\'; });
}

// NAME:PORT in the one spelling of names; as it is written where it is no name, for the gate to refuse.
std::string host_at(std::string_view authority, std::string_view standard_port) {
  std::string host(authority);
  if (host.ends_with(':')) host.pop_back();
  if (host.find(':') == std::string::npos) host += ":" + std::string(standard_port);
  const ReadHost read = read_wanted_host(host);
  if (!read) return host;
  return std::string(read.host->name.text()) + ":" + std::to_string(read.host->ports.list().front());
}

}  // namespace

WebAddress read_web_address(std::string_view text) {
  const Scheme* scheme = scheme_of(text);
  if (scheme == nullptr) return {.problem = std::string(not_an_address)};
  text.remove_prefix(scheme->begin.size());
  const std::string_view authority = text.substr(0, text.find_first_of("/?#\\"));
  std::string_view rest = text.substr(authority.size());
  rest = rest.substr(0, rest.find('#'));
  if (authority.empty() || authority.find('@') != std::string_view::npos)
    return {.problem = std::string(not_an_address)};
  if (!is_plain(rest)) return {.problem = std::string(not_plain)};
  WebAddress address{.secure = scheme->secure, .host = host_at(authority, scheme->port)};
  address.rest = (rest.starts_with('/') ? "" : "/") + std::string(rest);
  const std::string usual_port = ":" + std::string(scheme->port);
  std::string shown_host = address.host;
  if (shown_host.ends_with(usual_port)) shown_host.resize(shown_host.size() - usual_port.size());
  address.url = std::string(scheme->begin) + shown_host + address.rest;
  return address;
}

}  // namespace cloche
