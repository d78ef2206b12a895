#include "egress/protocol/request_stream.hpp"

#include <algorithm>

#include "base/text/ascii.hpp"

namespace cloche {
namespace {

constexpr std::string_view bare_end = "a line of the request ends without both CR and LF";
constexpr std::string_view bad_chunk = "a chunk of the request's body is malformed";
constexpr size_t max_size_digits = 15;  // far more bytes than any connection carries

bool is_control(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; }

uint64_t hex_value(std::string_view digits) {
  uint64_t value = 0;
  for (const char c : digits)
    value = value << 4 | static_cast<uint64_t>(ascii::is_digit(c) ? c - '0' : ascii::lower(c) - 'a' + 10);
  return value;
}

}  // namespace

RequestStream::Step RequestStream::feed(std::string_view held) {
  Step step;
  while (refused_.empty() && step.forward < held.size()) {
    const size_t taken = take(held.substr(step.forward));
    if (taken == 0) break;
    step.forward += taken;
  }
  step.refused = refused_;
  return step;
}

size_t RequestStream::take(std::string_view held) {
  switch (at_) {
    case At::head: return take_head(held);
    case At::counted_body: return take_data(held, At::head);
    case At::chunk_size: return take_chunk_size(held);
    case At::chunk_data: return take_data(held, At::chunk_end);
    case At::chunk_end: return take_line_end(held, At::chunk_size);
    case At::last_end: return take_line_end(held, At::head);
  }
  return 0;
}

size_t RequestStream::take_head(std::string_view held) {
  const size_t end = end_of_head(held);
  if (refused_.empty() && (end > max_head_bytes || (end == 0 && held.size() >= max_head_bytes)))
    refused_ = "the request's head is too long";
  if (end == 0 || !refused_.empty()) return 0;
  const RequestHead head = read_request_head(held.substr(0, end), destination_);
  refused_ = head.refused;
  if (!refused_.empty()) return 0;
  begin_body(head);
  return end;
}

// Zero: not there yet. Bytes that belong to no head are refused as they come, so that another protocol is not
// waited on.
size_t RequestStream::end_of_head(std::string_view held) {
  for (; scanned_ < held.size(); ++scanned_) {
    const char c = held[scanned_];
    if (c == '\r') {
      if (scanned_ + 1 == held.size()) return 0;
      if (held[scanned_ + 1] != '\n') break;
      if (scanned_ == 0) {
        refused_ = "an empty line stands where a request begins";
        return 0;
      }
      if (line_begin_ == 0) refused_ = problem_of_request_line(held.substr(0, scanned_), destination_);
      if (!refused_.empty()) return 0;
      const bool empty = scanned_ == line_begin_;
      line_begin_ = ++scanned_ + 1;
      if (empty) return line_begin_;
    } else if (is_control(c)) {
      refused_ = c == '\n' ? bare_end : "the request's head holds a control character";
      return 0;
    }
  }
  if (scanned_ < held.size()) refused_ = bare_end;
  return 0;
}

void RequestStream::begin_body(const RequestHead& head) {
  ++requests_;
  scanned_ = line_begin_ = 0;
  left_ = head.body_bytes;
  if (head.body == RequestHead::Body::chunked) at_ = At::chunk_size;
  if (head.body == RequestHead::Body::counted && left_ > 0) at_ = At::counted_body;
}

size_t RequestStream::take_data(std::string_view held, At next) {
  const size_t taken = static_cast<size_t>(std::min<uint64_t>(left_, held.size()));
  left_ -= taken;
  if (left_ == 0) at_ = next;
  return taken;
}

// Digits and the end of the line: no extensions, which servers read differently and no client needs.
size_t RequestStream::take_chunk_size(std::string_view held) {
  size_t digits = 0;
  while (digits < held.size() && ascii::is_hex(held[digits])) ++digits;
  const std::string_view behind = held.substr(digits, 2);
  if (digits > max_size_digits || (digits == 0 && !held.empty()) ||
      !std::string_view("\r\n").starts_with(behind)) {
    refused_ = bad_chunk;
    return 0;
  }
  if (behind.size() < 2) return 0;
  left_ = hex_value(held.substr(0, digits));
  at_ = left_ == 0 ? At::last_end : At::chunk_data;
  return digits + 2;
}

// Behind the last chunk as well: fields there (trailers) are refused.
size_t RequestStream::take_line_end(std::string_view held, At next) {
  const std::string_view end = held.substr(0, 2);
  if (!std::string_view("\r\n").starts_with(end)) {
    refused_ = at_ == At::last_end ? "the request has fields behind its body (trailers)" : bad_chunk;
    return 0;
  }
  if (end.size() < 2) return 0;
  at_ = next;
  return 2;
}

}  // namespace cloche
