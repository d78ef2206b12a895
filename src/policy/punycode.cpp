#include "policy/punycode.hpp"

#include <algorithm>

#include "base/ascii.hpp"

namespace cloche {
namespace {

// The parameters of RFC 3492, section 5.
constexpr uint32_t base = 36;
constexpr uint32_t least_threshold = 1;
constexpr uint32_t most_threshold = 26;
constexpr uint32_t skew = 38;
constexpr uint32_t damp = 700;
constexpr uint32_t initial_bias = 72;
constexpr char32_t first_beyond_ascii = 0x80;
constexpr char32_t last_code_point = 0x10ffff;

// Sums stay far below what 64 bits hold: a delta is at most (0x10ffff + 1) * 64, and is checked while it is
// read.
constexpr uint64_t most_delta = uint64_t{last_code_point + 1} * (max_label + 1);

uint32_t adapted_bias(uint64_t delta, size_t count, bool first) {
  delta = first ? delta / damp : delta / 2;
  delta += delta / count;
  uint32_t steps = 0;
  for (; delta > ((base - least_threshold) * most_threshold) / 2; steps += base)
    delta /= base - least_threshold;
  return static_cast<uint32_t>(steps + (base - least_threshold + 1) * delta / (delta + skew));
}

uint32_t threshold_at(uint32_t position, uint32_t bias) {
  return position <= bias ? least_threshold : std::min(position - bias, most_threshold);
}

char digit_of(uint64_t value) { return static_cast<char>(value < 26 ? 'a' + value : '0' + (value - 26)); }

std::optional<uint32_t> value_of(char digit) {
  if (ascii::is_digit(digit)) return static_cast<uint32_t>(digit - '0') + 26;
  if (ascii::is_letter(digit)) return static_cast<uint32_t>(ascii::lower(digit) - 'a');
  return {};
}

// One delta as a number of variable length.
bool append_delta(LabelText& out, uint64_t delta, uint32_t bias) {
  for (uint32_t position = base;; position += base) {
    const uint32_t threshold = threshold_at(position, bias);
    if (delta < threshold) return out.append(digit_of(delta));
    if (!out.append(digit_of(threshold + (delta - threshold) % (base - threshold)))) return false;
    delta = (delta - threshold) / (base - threshold);
  }
}

// Takes one delta off the front of `text`.
std::optional<uint64_t> take_delta(std::string_view& text, uint32_t bias) {
  uint64_t delta = 0;
  uint64_t weight = 1;
  for (uint32_t position = base; !text.empty(); position += base) {
    const auto digit = value_of(text.front());
    text.remove_prefix(1);
    if (!digit) return {};
    delta += *digit * weight;
    if (delta > most_delta) return {};
    const uint32_t threshold = threshold_at(position, bias);
    if (*digit < threshold) return delta;
    weight *= base - threshold;
    if (weight > most_delta) return {};
  }
  return {};  // it ends within a number
}

char32_t smallest_from(std::span<const char32_t> points, char32_t floor) {
  char32_t smallest = last_code_point + 1;
  for (const char32_t point : points)
    if (point >= floor) smallest = std::min(smallest, point);
  return smallest;
}

bool append_basic(LabelText& out, std::span<const char32_t> points) {
  for (const char32_t point : points)
    if (point < first_beyond_ascii && !out.append(static_cast<char>(point))) return false;
  return out.size() == 0 || out.append('-');
}

void insert(LabelPoints& result, size_t index, char32_t point) {
  std::copy_backward(result.points.begin() + index, result.points.begin() + result.count,
                     result.points.begin() + result.count + 1);
  result.points[index] = point;
  ++result.count;
}

}  // namespace

std::optional<LabelText> punycode_encode(std::span<const char32_t> points) {
  LabelText out;
  if (points.size() > max_label || !append_basic(out, points)) return {};
  const size_t basic = out.size() == 0 ? 0 : out.size() - 1;
  size_t handled = basic;
  char32_t next = first_beyond_ascii;
  uint32_t bias = initial_bias;
  uint64_t delta = 0;
  while (handled < points.size()) {
    const char32_t point = smallest_from(points, next);
    if (point > last_code_point) return {};
    delta += uint64_t{point - next} * (handled + 1);
    next = point;
    for (const char32_t seen : points) {
      if (seen < next) ++delta;
      if (seen != next) continue;
      if (!append_delta(out, delta, bias)) return {};
      bias = adapted_bias(delta, handled + 1, handled == basic);
      delta = 0;
      ++handled;
    }
    ++delta;
    ++next;
  }
  return out;
}

std::optional<LabelPoints> punycode_decode(std::string_view text) {
  LabelPoints result;
  if (text.size() > max_label) return {};
  if (const size_t dash = text.rfind('-'); dash != std::string_view::npos) {
    for (const char c : text.substr(0, dash)) {
      if (static_cast<unsigned char>(c) >= first_beyond_ascii) return {};
      result.points[result.count++] = static_cast<unsigned char>(c);
    }
    text.remove_prefix(dash + 1);
  }
  uint64_t point = first_beyond_ascii;
  uint64_t index = 0;
  uint32_t bias = initial_bias;
  for (bool first = true; !text.empty(); first = false) {
    const auto delta = take_delta(text, bias);
    if (!delta) return {};
    index += *delta;
    const size_t count = result.count + 1;
    bias = adapted_bias(*delta, count, first);
    point += index / count;
    index %= count;
    if (point > last_code_point || result.count == max_label) return {};
    insert(result, index, static_cast<char32_t>(point));
    ++index;
  }
  return result;
}

}  // namespace cloche
