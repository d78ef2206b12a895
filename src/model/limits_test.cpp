#include "model/limits.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>

namespace cloche {
namespace {

constexpr uint64_t kibi = 1024;
constexpr uint64_t mebi = kibi * 1024;
constexpr uint64_t gibi = mebi * 1024;
constexpr uint64_t tebi = gibi * 1024;
constexpr uint64_t largest = std::numeric_limits<int64_t>::max() / 4;

using Parser = Result<uint64_t> (*)(std::string_view flag, std::string_view text);

struct Good {
  Parser parse;
  const char* text;
  uint64_t value;
};

TEST(Limits, ParsesWhatPeopleWrite) {
  const Good rows[] = {
      {parse_duration_ms, "30", 30'000},
      {parse_duration_ms, "30s", 30'000},
      {parse_duration_ms, "1s", 1000},
      {parse_duration_ms, "5m", 300'000},
      {parse_duration_ms, "2h", 7'200'000},
      {parse_duration_ms, "7d", 604'800'000},
      {parse_duration_ms, "500ms", 500},
      {parse_duration_ms, "1ms", 1},
      {parse_duration_ms, "0030s", 30'000},
      {parse_duration_ms, "2305843009213693951ms", largest},
      {parse_size, "4096", 4096},
      {parse_size, "1", 1},
      {parse_size, "1B", 1},
      {parse_size, "64K", 64 * kibi},
      {parse_size, "64KiB", 64 * kibi},
      {parse_size, "512M", 512 * mebi},
      {parse_size, "512MiB", 512 * mebi},
      {parse_size, "1G", gibi},
      {parse_size, "2GiB", 2 * gibi},
      {parse_size, "1T", tebi},
      {parse_size, "3TiB", 3 * tebi},
      {parse_size, "2305843009213693951", largest},
      {parse_count, "64", 64},
      {parse_count, "1", 1},
      {parse_count, "2305843009213693951", largest},
  };
  for (const auto& [parse, text, value] : rows) {
    const auto parsed = parse("--flag", text);
    ASSERT_TRUE(parsed.ok()) << text << ": " << parsed.error().what;
    EXPECT_EQ(parsed.value(), value) << text;
  }
}

struct Bad {
  const char* text;
  const char* complaint;  // part of the sentence
};

void expect_refused(Parser parse, const Bad& row) {
  const auto parsed = parse("--flag", row.text);
  ASSERT_FALSE(parsed.ok()) << "'" << row.text << "' gave " << parsed.value();
  EXPECT_EQ(parsed.error().cause, Cause::usage) << row.text;
  EXPECT_NE(parsed.error().what.text().find(row.complaint), std::string::npos)
      << row.text << ": " << parsed.error().what;
  EXPECT_TRUE(parsed.error().what.text().starts_with("--flag ")) << parsed.error().what;
}

TEST(Limits, RefusesInEveryUnit) {
  const Bad rows[] = {
      {"", "not a number"},
      {" ", "not a number"},
      {"-1", "not a number"},
      {"+1", "not a number"},
      {" 1", "not a number"},
      {"s", "not a number"},
      {"M", "not a number"},
      {"abc", "not a number"},
      {"unlimited", "not a number"},
      {"infinity", "not a number"},
      {"0", "zero"},
      {"000", "zero"},
      {"1 ", "unknown unit"},
      {"1x", "unknown unit"},
      {"1.5", "unknown unit"},
      {"1,000", "unknown unit"},
      {"0x10", "unknown unit"},
      {"1e3", "unknown unit"},
      {"1\n", "unknown unit"},
      {"18446744073709551616", "too large"},
      {"99999999999999999999", "too large"},
      {"18446744073709551615", "too large"},
      {"2305843009213693952", "too large"},
  };
  for (const auto& row : rows) {
    expect_refused(parse_size, row);
    expect_refused(parse_count, row);
    expect_refused(parse_duration_ms, row);
  }
}

TEST(Limits, RefusesUnitsOfTheOtherKind) {
  for (const char* text :
       {"30s", "5m", "2h", "500ms", "1k", "1m", "1KB", "1kiB", "1MB", "1P", "1 M", "1MiBs"}) {
    expect_refused(parse_size, {text, "unknown unit"});
  }
  for (const char* text : {"512M", "1G", "1S", "1min", "1 s", "1D", "1days", "1ss", "1hs"}) {
    expect_refused(parse_duration_ms, {text, "unknown unit"});
  }
  for (const char* text : {"64s", "64K", "64B"}) expect_refused(parse_count, {text, "unknown unit"});
  for (const char* text : {"0s", "0ms", "0h", "0d"}) expect_refused(parse_duration_ms, {text, "zero"});
  for (const char* text : {"0M", "0GiB", "0B"}) expect_refused(parse_size, {text, "zero"});
  // The number fits and its product with the unit does not.
  expect_refused(parse_size, {"2097152T", "too large"});
  expect_refused(parse_size, {"18446744073709551615T", "too large"});
  expect_refused(parse_duration_ms, {"2305843009213693951s", "too large"});
  EXPECT_TRUE(parse_size("--flag", "2097151T").ok());
}

// Values that people choose, values next to every power of two, and random ones of every length.
std::vector<uint64_t> many_values() {
  std::vector<uint64_t> values;
  for (uint64_t value = 1; value <= 5000; ++value) values.push_back(value);
  for (int bit = 0; bit < 61; ++bit) {
    for (int64_t off : {-1, 0, 1, 1000}) values.push_back((1ULL << bit) + static_cast<uint64_t>(off));
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 5000; ++i) values.push_back(random() >> (3 + random() % 60));
  for (uint64_t unit : {1000ULL, 60'000ULL, 3'600'000ULL}) {
    for (uint64_t count : {1ULL, 59ULL, 60ULL, 61ULL, 3600ULL}) values.push_back(unit * count);
  }
  std::erase_if(values, [](uint64_t value) { return value == 0 || value > largest; });
  return values;
}

TEST(Limits, WhatIsShownIsReadBackTheSame) {
  for (uint64_t value : many_values()) {
    ASSERT_EQ(parse_size("", show_size(value)).value(), value) << show_size(value);
    ASSERT_EQ(parse_duration_ms("", show_duration_ms(value)).value(), value) << show_duration_ms(value);
  }
}

TEST(Limits, AreShownInTheLargestUnitThatIsExact) {
  EXPECT_EQ(show_size(512 * mebi), "512M");
  EXPECT_EQ(show_size(gibi), "1G");
  EXPECT_EQ(show_size(gibi + 1), "1073741825");
  EXPECT_EQ(show_size(1536 * mebi), "1536M");
  EXPECT_EQ(show_size(2048 * tebi), "2048T");
  EXPECT_EQ(show_duration_ms(3'600'000), "1h");
  EXPECT_EQ(show_duration_ms(90'000), "90s");
  EXPECT_EQ(show_duration_ms(120'000), "2m");
  EXPECT_EQ(show_duration_ms(1500), "1500ms");
}

TEST(LimitTable, HasOneCompleteRowForEachLimit) {
  std::set<std::string_view> names;
  std::set<std::string_view> flags;
  std::set<const uint64_t*> fields;
  const Limits limits;
  for (size_t i = 0; i < std::size(limit_table); ++i) {
    const LimitInfo& row = limit_table[i];
    EXPECT_EQ(static_cast<size_t>(row.id), i) << "info_of() indexes by id";
    EXPECT_EQ(&info_of(row.id), &row);
    EXPECT_TRUE(row.flag.starts_with("--")) << row.flag;
    EXPECT_FALSE(row.name.empty() || row.what.empty());
    EXPECT_GT(limits.*row.field, 0U) << row.name << " has a default, and 0 never means unlimited";
    names.insert(row.name);
    flags.insert(row.flag);
    fields.insert(&(limits.*row.field));
  }
  EXPECT_EQ(names.size(), std::size(limit_table));
  EXPECT_EQ(flags.size(), std::size(limit_table));
  EXPECT_EQ(fields.size(), std::size(limit_table)) << "no two rows share a field";
  EXPECT_EQ(sizeof(Limits), std::size(limit_table) * sizeof(uint64_t)) << "no field is without a row";
}

TEST(LimitTable, EveryRowIsSetByItsUnitAndShownBack) {
  for (const auto& row : limit_table) {
    Limits limits;
    const bool in_time = row.unit == LimitInfo::Unit::milliseconds || row.unit == LimitInfo::Unit::seconds;
    const char* text = row.unit == LimitInfo::Unit::bytes ? "3M" : (in_time ? "7m" : "77");
    ASSERT_TRUE(set_limit(limits, row, text).ok()) << row.name;
    EXPECT_EQ(show_limit(limits, row), text) << row.name;
    Limits untouched;
    untouched.*row.field = limits.*row.field;
    for (const auto& other : limit_table)
      EXPECT_EQ(limits.*other.field, untouched.*other.field) << other.name;

    const uint64_t before = limits.*row.field;
    const auto refused = set_limit(limits, row, "0");
    ASSERT_FALSE(refused.ok());
    EXPECT_TRUE(refused.error().what.text().starts_with(row.flag)) << refused.error().what;
    EXPECT_EQ(limits.*row.field, before) << "a refused text changes nothing";
  }
}

TEST(LimitTable, DefaultsCanBeReadBack) {
  const Limits defaults;
  for (const auto& row : limit_table) {
    Limits again;
    again.*row.field = 1;
    ASSERT_TRUE(set_limit(again, row, show_limit(defaults, row)).ok()) << row.name;
    EXPECT_EQ(again.*row.field, defaults.*row.field) << row.name;
  }
}

TEST(LimitTable, PartsOfASecondRoundUp) {
  Limits limits;
  for (const auto& [text, seconds] :
       {std::pair{"1ms", 1U}, {"999ms", 1U}, {"1000ms", 1U}, {"1001ms", 2U}, {"2s", 2U}}) {
    ASSERT_TRUE(set_limit(limits, info_of(LimitId::cpu), text).ok());
    EXPECT_EQ(limits.cpu_s, seconds) << text;
  }
}

TEST(LimitSource, IsWhoLoweredItLast) {
  std::vector<LimitSource> sources;
  Limits limits;
  const auto lower = [&](uint64_t bytes, uint64_t connections, std::string_view by) {
    const Limits before = limits;
    limits.net_bytes = bytes;
    limits.net_connections = connections;
    note_lowered(sources, before, limits, by);
  };
  EXPECT_EQ(source_of(sources, LimitId::net_bytes), "");
  lower(limits.net_bytes, limits.net_connections, "nobody");
  EXPECT_TRUE(sources.empty());
  lower(1000, 8, "profile p");
  lower(500, 8, "skill s");
  EXPECT_EQ(source_of(sources, LimitId::net_bytes), "skill s");
  EXPECT_EQ(source_of(sources, LimitId::net_connections), "profile p");
  EXPECT_EQ(source_of(sources, LimitId::net_idle), "");
  EXPECT_EQ(sources.size(), 2U);
}

}  // namespace

}  // namespace cloche
