#include "model/limits.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/json/json_writer.hpp"
#include "base/text/visible_text.hpp"

namespace cloche {
namespace {

struct Unit {
  std::string_view name;
  uint64_t factor;
};

constexpr Unit durations[] = {{"ms", 1},     {"", 1000},       {"s", 1000},
                              {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
constexpr uint64_t kibi = 1ULL << 10;
constexpr uint64_t mebi = 1ULL << 20;
constexpr uint64_t gibi = 1ULL << 30;
constexpr uint64_t tebi = 1ULL << 40;
constexpr Unit sizes[] = {{"", 1},       {"B", 1},    {"K", kibi},   {"KiB", kibi}, {"M", mebi},
                          {"MiB", mebi}, {"G", gibi}, {"GiB", gibi}, {"T", tebi},   {"TiB", tebi}};
constexpr Unit counts[] = {{"", 1}};
// Above this the kernel's own arithmetic on limits would overflow; no such limit is meant.
constexpr uint64_t largest = std::numeric_limits<int64_t>::max() / 4;

template <size_t N>
Result<uint64_t> parse(std::string_view flag, std::string_view text, const Unit (&units)[N],
                       const char* like) {
  const std::string said = std::string(flag) + " " + std::string(text);
  uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem == std::errc::result_out_of_range) return usage_error(said + " is too large");
  if (problem != std::errc{})
    return usage_error(said + " is not a number", std::string("write it like ") + like);
  const std::string_view suffix = text.substr(static_cast<size_t>(end - text.data()));
  for (const auto& unit : units) {
    if (unit.name != suffix) continue;
    if (number == 0) return usage_error(said + ": zero is not a limit", "leave the flag out for the default");
    if (number > largest / unit.factor) return usage_error(said + " is too large");
    return number * unit.factor;
  }
  return usage_error(said + " has an unknown unit", std::string("write it like ") + like);
}

const LimitInfo* find_limit(std::string_view name) {
  for (const auto& row : limit_table) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace

Result<uint64_t> parse_duration_ms(std::string_view flag, std::string_view text) {
  return parse(flag, text, durations, "30s, 5m, 7d or 500ms");
}

Result<uint64_t> parse_size(std::string_view flag, std::string_view text) {
  return parse(flag, text, sizes, "512M or 2GiB");
}

Result<uint64_t> parse_count(std::string_view flag, std::string_view text) {
  return parse(flag, text, counts, "64");
}

Result<void> set_limit(Limits& limits, const LimitInfo& row, std::string_view text) {
  uint64_t& field = limits.*row.field;
  switch (row.unit) {
    case LimitInfo::Unit::milliseconds: field = TRY(parse_duration_ms(row.flag, text)); break;
    case LimitInfo::Unit::seconds: {
      const uint64_t milliseconds = TRY(parse_duration_ms(row.flag, text));
      field = (milliseconds + 999) / 1000;
      break;
    }
    case LimitInfo::Unit::bytes: field = TRY(parse_size(row.flag, text)); break;
    case LimitInfo::Unit::count: field = TRY(parse_count(row.flag, text)); break;
  }
  if (field < row.least) {
    const std::string least = row.unit == LimitInfo::Unit::bytes ? std::to_string(row.least >> 20) + "M"
                                                                 : std::to_string(row.least);
    return usage_error(std::string(row.flag) + " " + std::string(text) + " is too small: nothing could start",
                       "the least is " + least);
  }
  return {};
}

std::string show_size(uint64_t bytes) {
  constexpr std::string_view suffixes[] = {"", "K", "M", "G", "T"};
  size_t suffix = 0;
  while (bytes != 0 && bytes % 1024 == 0 && suffix + 1 < std::size(suffixes)) {
    bytes /= 1024;
    ++suffix;
  }
  return std::to_string(bytes) + std::string(suffixes[suffix]);
}

std::string show_duration_ms(uint64_t milliseconds) {
  if (milliseconds % 1000 != 0) return std::to_string(milliseconds) + "ms";
  const uint64_t seconds = milliseconds / 1000;
  if (seconds % 3600 == 0) return std::to_string(seconds / 3600) + "h";
  if (seconds % 60 == 0) return std::to_string(seconds / 60) + "m";
  return std::to_string(seconds) + "s";
}

std::string show_limit(const Limits& limits, const LimitInfo& row) {
  const uint64_t value = limits.*row.field;
  switch (row.unit) {
    case LimitInfo::Unit::milliseconds: return show_duration_ms(value);
    case LimitInfo::Unit::seconds: return show_duration_ms(value * 1000);
    case LimitInfo::Unit::bytes: return show_size(value);
    case LimitInfo::Unit::count: return std::to_string(value);
  }
  return {};
}

void note_lowered(std::vector<LimitSource>& sources, const Limits& before, const Limits& now,
                  std::string_view by) {
  for (const LimitInfo& row : limit_table) {
    if (now.*row.field >= before.*row.field) continue;
    std::erase_if(sources, [&](const LimitSource& source) { return source.id == row.id; });
    sources.push_back({row.id, std::string(by)});
  }
}

std::string_view source_of(const std::vector<LimitSource>& sources, LimitId id) {
  const auto at = std::find_if(sources.begin(), sources.end(),
                               [&](const LimitSource& source) { return source.id == id; });
  return at == sources.end() ? std::string_view{} : at->by;
}

Result<std::vector<LimitSetting>> read_limit_settings(const JsonValue& object, const std::string& source) {
  if (!object.is_object()) return json_error(source, object.line, "limits is not an object");
  std::vector<LimitSetting> words;
  for (const auto& [name, line, value] : object.members) {
    const LimitInfo* row = find_limit(name);
    if (row == nullptr)
      return json_error(source, line, "limits: unknown limit " + json_quote(shown(name, 80)));
    const bool is_number = value.is_number() && value.whole;
    if (!value.is_string() && !is_number)
      return json_error(source, value.line,
                        "limits: " + name + " is not a whole number or a text like \"30s\" or \"512M\"");
    Limits read;
    const auto set = set_limit(read, *row, value.is_string() ? value.text : std::to_string(value.integer));
    if (!set.ok()) return json_error(source, value.line, "limits: " + describe(set.error()));
    words.push_back({row->id, read.*row->field, line});
  }
  return words;
}

std::string show_limit(LimitId id, uint64_t value) {
  const LimitInfo& row = info_of(id);
  Limits limits;
  limits.*row.field = value;
  return show_limit(limits, row);
}

void narrow(Limits& limits, const std::vector<LimitSetting>& words) {
  for (const auto& word : words) {
    uint64_t& field = limits.*info_of(word.id).field;
    field = std::min(field, word.value);
  }
}

}  // namespace cloche
