// What the benchmark says: tables of numbers and the targets they are held against, as Markdown or as JSON.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json/json_writer.hpp"
#include "statistics.hpp"

namespace cloche::bench {

class Cell {
 public:
  Cell(std::string text) : text_(std::move(text)) {}  // NOLINT: implicit by design
  Cell(const char* text) : text_(text) {}             // NOLINT: implicit by design
  static Cell number(double value, int decimals);
  static Cell spread(const Spread& spread, int decimals = 2);

  std::string markdown() const;
  void write(JsonWriter& out) const;

 private:
  std::string text_;
  std::optional<Spread> spread_ = {};
  bool single_ = false;
  int decimals_ = 0;
};

using Row = std::vector<Cell>;

struct Table {
  int section = 0;
  std::string title;
  std::vector<std::string> columns;
  std::vector<Row> rows = {};
  std::vector<std::string> notes = {};
};

// One number that the project promised to reach.
struct Target {
  enum class Sense { at_most, at_least };
  std::string what;
  double measured = 0;
  double goal = 0;
  Sense sense = Sense::at_most;
  std::optional<double> stretch = {};

  bool reached(double limit) const { return sense == Sense::at_most ? measured <= limit : measured >= limit; }
};

struct Report {
  std::vector<std::pair<std::string, std::string>> machine = {};
  std::vector<Table> tables = {};
  std::vector<Target> targets = {};
};

std::string to_markdown(const Report& report);
std::string to_json(const Report& report);

}  // namespace cloche::bench
