// What the benchmark says: tables of numbers and the targets they are held against, as Markdown or as JSON.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json/json_writer.hpp"
#include "plot.hpp"
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
  std::string id;  // by which a document names the place that it stands at
  std::string title;
  std::vector<std::string> columns;
  std::vector<Row> rows = {};
  std::vector<std::string> notes = {};
};

// As whom, and on what machine: a quiet one, or one whose cores are all busy with something else.
enum class Situation { root, user, root_busy, user_busy };
Situation here();  // a quiet one

// One number that the project wants to reach. Those that say the same of several situations are one row.
struct Target {
  enum class Sense { at_most, at_least };
  std::string what;
  double measured = 0;
  std::optional<double> goal = {};  // none: it is shown beside those that have one
  Sense sense = Sense::at_most;
  Situation situation = here();

  bool is_reached() const {
    return !goal || (sense == Sense::at_most ? measured <= *goal : measured >= *goal);
  }
};

struct Report {
  std::vector<std::pair<std::string, std::string>> machine = {};
  std::vector<Table> tables = {};
  std::vector<Target> targets = {};
  std::vector<Plot> plots = {};
};

std::string to_markdown(const Report& report);
std::string to_json(const Report& report);

// The text of a document with what was measured in it: between `<!-- bench: ID -->` and `<!-- end -->` stands
// the table of that id, the table `reach`, or the list `machine`. What was not measured, or could not be,
// stays.
std::string with_tables(std::string document, const Report& report);

}  // namespace cloche::bench
