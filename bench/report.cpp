#include "report.hpp"

#include <cstdio>

namespace cloche::bench {
namespace {

std::string fixed(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string line_of(const std::vector<std::string>& words) {
  std::string line = "|";
  for (const auto& word : words) line += " " + word + " |";
  return line + "\n";
}

std::string rule_of(size_t columns) {
  std::string line = "|---|";
  for (size_t i = 1; i < columns; ++i) line += "---:|";
  return line + "\n";
}

std::string markdown_of(const Table& table) {
  std::string text = "\n## " + std::to_string(table.section) + ". " + table.title + "\n\n";
  if (!table.rows.empty()) text += line_of(table.columns) + rule_of(table.columns.size());
  for (const auto& row : table.rows) {
    std::vector<std::string> words;
    for (const auto& cell : row) words.push_back(cell.markdown());
    text += line_of(words);
  }
  for (const auto& note : table.notes) text += "\n" + note + "\n";
  return text;
}

std::string sign_of(const Target& target) { return target.sense == Target::Sense::at_most ? "<= " : ">= "; }

// The measured number as it is printed decides, so that no line says "1.05 <= 1.05: not reached".
Target as_printed(Target target) {
  target.measured = std::stod(fixed(target.measured, 2));
  return target;
}

std::string verdict_of(const Target& target) {
  if (target.stretch && target.reached(*target.stretch)) return "reached, stretch too";
  return target.reached(target.goal) ? "reached" : "**not reached**";
}

std::string markdown_of(const std::vector<Target>& targets) {
  std::string text = "\n## Targets\n\n" + line_of({"target", "goal", "stretch", "measured", "verdict"});
  text += "|---|---:|---:|---:|---|\n";
  for (const auto& raw : targets) {
    const Target target = as_printed(raw);
    text += line_of({target.what, sign_of(target) + fixed(target.goal, 2),
                     target.stretch ? sign_of(target) + fixed(*target.stretch, 2) : "",
                     fixed(target.measured, 2), verdict_of(target)});
  }
  return text;
}

void write(JsonWriter& out, const Table& table) {
  out.begin_object().member("section", table.section).member("title", table.title);
  out.key("rows").begin_array();
  for (const auto& row : table.rows) {
    out.begin_object();
    for (size_t i = 0; i < row.size(); ++i) row[i].write(out.key(table.columns[i]));
    out.end_object();
  }
  out.end_array().key("notes").begin_array();
  for (const auto& note : table.notes) out.value(note);
  out.end_array().end_object();
}

void write(JsonWriter& out, const Target& raw) {
  const Target target = as_printed(raw);
  out.begin_object().member("what", target.what);
  out.member("sense", target.sense == Target::Sense::at_most ? "at most" : "at least");
  out.key("goal").raw(fixed(target.goal, 2)).key("measured").raw(fixed(target.measured, 2));
  out.member("reached", target.reached(target.goal));
  if (target.stretch) {
    out.key("stretch")
        .raw(fixed(*target.stretch, 2))
        .member("stretch_reached", target.reached(*target.stretch));
  }
  out.end_object();
}

}  // namespace

Cell Cell::number(double value, int decimals) {
  Cell cell("");
  cell.spread_ = Spread{value, value, value};
  cell.single_ = true;
  cell.decimals_ = decimals;
  return cell;
}

Cell Cell::spread(const Spread& spread, int decimals) {
  Cell cell("");
  cell.spread_ = spread;
  cell.decimals_ = decimals;
  return cell;
}

std::string Cell::markdown() const {
  if (!spread_) return text_;
  const std::string middle = fixed(spread_->middle, decimals_);
  if (single_) return middle;
  return middle + " (" + fixed(spread_->low, decimals_) + ".." + fixed(spread_->high, decimals_) + ")";
}

void Cell::write(JsonWriter& out) const {
  if (!spread_) {
    out.value(text_);
  } else if (single_) {
    out.raw(fixed(spread_->middle, decimals_));
  } else {
    out.begin_object().key("value").raw(fixed(spread_->middle, decimals_));
    out.key("low")
        .raw(fixed(spread_->low, decimals_))
        .key("high")
        .raw(fixed(spread_->high, decimals_))
        .end_object();
  }
}

std::string to_markdown(const Report& report) {
  std::string text = "# Cloche, measured\n\n";
  for (const auto& [name, value] : report.machine) text += "- " + name + ": " + value + "\n";
  for (const auto& table : report.tables) text += markdown_of(table);
  if (!report.targets.empty()) text += markdown_of(report.targets);
  return text;
}

std::string to_json(const Report& report) {
  JsonWriter out(JsonWriter::Layout::indented);
  out.begin_object().key("machine").begin_object();
  for (const auto& [name, value] : report.machine) out.member(name, value);
  out.end_object().key("tables").begin_array();
  for (const auto& table : report.tables) write(out, table);
  out.end_array().key("targets").begin_array();
  for (const auto& target : report.targets) write(out, target);
  out.end_array().end_object();
  return out.text() + "\n";
}

}  // namespace cloche::bench
