#include "egress/protocol/http_head.hpp"

#include <optional>

#include "base/text/ascii.hpp"
#include "policy/hosts/host_patterns.hpp"

namespace cloche {
namespace {

constexpr std::string_view bad_line = "the request line is malformed";
constexpr std::string_view bad_field = "a field of the request is malformed";
constexpr std::string_view bad_length = "Content-Length is not one plain number";
constexpr std::string_view bad_encoding = "Transfer-Encoding is something else than chunked";
constexpr std::string_view two_framings = "the end of the request's body is said in two ways";
constexpr std::string_view idle_body =
    "a request of this method has no body: a server may take it for the next request";
constexpr std::string_view offered_body =
    "a request with a body offers HTTP/2 (h2c): a server may read on in it; have the client speak HTTP/1.1";
constexpr std::string_view other_protocol =
    "Upgrade asks for another protocol, which cannot be judged: use TLS, as in wss://";
constexpr std::string_view other_host = "Host is not the name that was connected to";
constexpr std::string_view other_target =
    "the request is for another host than the name that was connected to";

bool is_token_character(char c) {
  return ascii::is_letter(c) || ascii::is_digit(c) ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}
bool is_token(std::string_view text) { return !text.empty() && ascii::all(text, is_token_character); }
bool is_printable(char c) { return c > ' ' && c < 0x7f; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Up to `mark`, which is taken as well. Nothing: it is not there.
std::optional<std::string_view> take_until(std::string_view& rest, std::string_view mark) {
  const size_t at = rest.find(mark);
  if (at == std::string_view::npos) return {};
  const std::string_view part = rest.substr(0, at);
  rest.remove_prefix(at + mark.size());
  return part;
}

// NAME or NAME:PORT, as Host and a whole address have it.
bool is_authority_of(std::string_view text, const Destination& destination) {
  const size_t colon = text.find(':');
  const ReadName read = HostName::read(text.substr(0, colon));
  if (!read || *read.name != destination.name) return false;
  return colon == std::string_view::npos || read_port(text.substr(colon + 1)) == destination.port;
}

// Methods have letters of one size; who takes `get` for GET reads another request than who does not.
bool is_known_method_in_other_letters(std::string_view method) {
  for (const std::string_view known :
       {"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"})
    if (ascii::same_without_case(method, known)) return method != known;
  return false;
}

std::string_view problem_of_target(std::string_view method, std::string_view target,
                                   const Destination& destination) {
  constexpr std::string_view scheme = "http://";
  if (target.front() == '/' || (target == "*" && method == "OPTIONS")) return {};
  if (!ascii::same_without_case(target.substr(0, scheme.size()), scheme))
    return "the request's target is of no known form";
  target.remove_prefix(scheme.size());
  // Who reads the authority up to the slash finds a user in front of another host.
  if (target.substr(0, target.find('/')).find('@') != std::string_view::npos) return other_target;
  return is_authority_of(target.substr(0, target.find_first_of("/?")), destination) ? std::string_view{}
                                                                                    : other_target;
}

// Names that a server behind a server might read as one that decides: with _ for -, as CGI spells them.
bool is_lookalike(std::string_view name, std::string_view real) {
  if (name.size() != real.size() || name.find('_') == std::string_view::npos) return false;
  for (size_t i = 0; i < name.size(); ++i)
    if (ascii::lower(name[i] == '_' ? '-' : name[i]) != real[i]) return false;
  return true;
}

std::optional<uint64_t> read_length(std::string_view digits) {
  if (digits.empty() || digits.size() > 18 || !ascii::all(digits, ascii::is_digit)) return {};
  uint64_t value = 0;
  for (const char c : digits) value = value * 10 + static_cast<uint64_t>(c - '0');
  return value;
}

// What the fields said so far, and what is wrong with them.
class Fields {
 public:
  explicit Fields(const Destination& destination) : destination_(destination) {}

  std::string_view take(std::string_view line) {
    if (line.front() == ' ' || line.front() == '\t') return "a field of the request goes on in a second line";
    const size_t colon = line.find(':');
    const std::string_view name = line.substr(0, colon);
    if (colon == std::string_view::npos || !is_token(name)) return bad_field;
    return take(name, trimmed(line.substr(colon + 1)));
  }

  std::string_view finish(bool is_first_version, RequestHead& head) const {
    if (!has_host_) return "the request names no Host";
    if (is_chunked_ && has_length_) return two_framings;
    if (is_chunked_ && is_first_version) return "HTTP/1.0 has no Transfer-Encoding";
    head.body = is_chunked_   ? RequestHead::Body::chunked
                : has_length_ ? RequestHead::Body::counted
                              : RequestHead::Body::none;
    head.body_bytes = length_;
    return problem_of_body(head);
  }

 private:
  std::string_view take(std::string_view name, std::string_view value) {
    const auto is = [&](std::string_view other) { return ascii::same_without_case(name, other); };
    if (is("host")) return take_host(value);
    if (is("content-length")) return take_length(value);
    if (is("transfer-encoding")) return take_encoding(value);
    if (is("connection")) return take_connection(value);
    if (is("upgrade")) return take_upgrade(value);
    for (const std::string_view real : {"content-length", "transfer-encoding"})
      if (is_lookalike(name, real)) return bad_field;
    return {};
  }

  std::string_view take_host(std::string_view value) {
    if (has_host_) return "the request names more than one Host";
    has_host_ = true;
    return is_authority_of(value, destination_) ? std::string_view{} : other_host;
  }

  std::string_view take_length(std::string_view value) {
    if (has_length_) return two_framings;
    const auto length = read_length(value);
    has_length_ = true;
    length_ = length.value_or(0);
    return length ? std::string_view{} : bad_length;
  }

  std::string_view take_encoding(std::string_view value) {
    if (is_chunked_) return two_framings;
    is_chunked_ = ascii::same_without_case(value, "chunked");
    return is_chunked_ ? std::string_view{} : bad_encoding;
  }

  // A server in the middle drops what is named here, and the next one reads another request.
  static std::string_view take_connection(std::string_view value) {
    while (!value.empty()) {
      const size_t comma = value.find(',');
      const std::string_view name = trimmed(value.substr(0, comma));
      for (const std::string_view kept : {"host", "content-length", "transfer-encoding"})
        if (ascii::same_without_case(name, kept)) return "Connection names a field that must not be dropped";
      value.remove_prefix(comma == std::string_view::npos ? value.size() : comma + 1);
    }
    return {};
  }

  // An offer of HTTP/2 is made by clients that go on without it, and what follows is held to HTTP/1 in any
  // case. Every other protocol would be cut off by that in the middle: better at once, and with the reason.
  std::string_view take_upgrade(std::string_view value) {
    offers_http2_ = ascii::same_without_case(value, "h2c");
    return offers_http2_ ? std::string_view{} : other_protocol;
  }

  // A body is passed on unread, and some servers do not read it either: where it means nothing they go on
  // with what is in it as the next request, and behind an offer of HTTP/2 as the new protocol.
  std::string_view problem_of_body(const RequestHead& head) const {
    if (!is_chunked_ && length_ == 0) return {};
    for (const std::string_view method : {"GET", "HEAD", "TRACE"})
      if (head.method == method) return idle_body;
    return offers_http2_ ? offered_body : std::string_view{};
  }

  const Destination& destination_;
  bool has_host_ = false;
  bool is_chunked_ = false;
  bool has_length_ = false;
  bool offers_http2_ = false;
  uint64_t length_ = 0;
};

// METHOD SP TARGET SP VERSION; `is_first_version` is of HTTP/1.0.
std::string_view read_line(std::string_view line, const Destination& destination, RequestHead& head,
                           bool& is_first_version) {
  const auto method = take_until(line, " ");
  const auto target = take_until(line, " ");
  if (!method || !target || !is_token(*method) || target->empty() || !ascii::all(*target, is_printable))
    return bad_line;
  if (target->find('#') != std::string_view::npos) return "the request's target has a # in it";
  if (is_known_method_in_other_letters(*method)) return "the request's method is not in capitals";
  head.method = *method;
  if (*method == "PRI" && line == "HTTP/2.0") return "HTTP/2 without TLS cannot be judged";
  if (line != "HTTP/1.1" && line != "HTTP/1.0")
    return "the version of the request is neither HTTP/1.1 nor HTTP/1.0";
  is_first_version = line == "HTTP/1.0";
  if (*method == "CONNECT") return "CONNECT asks for a way to somewhere else";
  return problem_of_target(*method, *target, destination);
}

std::string_view read_lines(std::string_view head, const Destination& destination, RequestHead& result) {
  constexpr std::string_view end_of_line = "\r\n";
  bool is_first_version = false;
  const auto first = take_until(head, end_of_line);
  if (!first) return bad_line;
  if (const auto problem = read_line(*first, destination, result, is_first_version); !problem.empty())
    return problem;
  Fields fields(destination);
  while (const auto line = take_until(head, end_of_line)) {
    if (line->empty()) return head.empty() ? fields.finish(is_first_version, result) : bad_field;
    if (const auto problem = fields.take(*line); !problem.empty()) return problem;
  }
  return bad_field;
}

}  // namespace

std::string_view problem_of_request_line(std::string_view line, const Destination& destination) {
  RequestHead ignored;
  bool is_first_version = false;
  return read_line(line, destination, ignored, is_first_version);
}

RequestHead read_request_head(std::string_view head, const Destination& destination) {
  RequestHead result;
  result.refused = read_lines(head, destination, result);
  return result;
}

}  // namespace cloche
