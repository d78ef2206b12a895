#include "report.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iterator>

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

std::string rows_of(const Table& table) {
  if (table.rows.empty()) return "";
  std::string text = line_of(table.columns) + rule_of(table.columns.size());
  for (const auto& row : table.rows) {
    std::vector<std::string> words;
    for (const auto& cell : row) words.push_back(cell.markdown());
    text += line_of(words);
  }
  return text;
}

std::string section_of(const Table& table) {
  std::string text = "\n## " + table.title + "\n\n" + rows_of(table);
  for (const auto& note : table.notes) text += "\n" + note + "\n";
  return text;
}

std::string sign_of(const Target& target) { return target.sense == Target::Sense::at_most ? "<= " : ">= "; }

// The measured number as it is printed decides, so that no line says "1.05 <= 1.05: missed".
Target as_printed(Target target) {
  target.measured = std::stod(fixed(target.measured, 2));
  return target;
}

bool is_busy(const Target& target) {
  return target.situation == Situation::root_busy || target.situation == Situation::user_busy;
}

constexpr std::pair<Situation, const char*> situations[] = {{Situation::root, "root"},
                                                            {Situation::user, "user"},
                                                            {Situation::root_busy, "root, busy"},
                                                            {Situation::user_busy, "user, busy"}};

const char* name_of(Situation situation) {
  for (const auto& [known, name] : situations) {
    if (known == situation) return name;
  }
  return "";
}

// The targets of one row of the table Reach.
std::vector<std::string> words_of(const std::vector<const Target*>& alike) {
  std::string quiet_goal;
  std::string busy_goal;
  bool is_reached = true;
  std::vector<std::string> measured(std::size(situations), "-");
  for (const Target* target : alike) {
    const std::string number = fixed(target->measured, 2);
    const bool reached = target->is_reached();
    is_reached = is_reached && reached;
    measured[static_cast<size_t>(target->situation)] = reached ? number : "**" + number + "**";
    if (target->goal)
      (is_busy(*target) ? busy_goal : quiet_goal) = sign_of(*target) + fixed(*target->goal, 2);
  }
  if (!busy_goal.empty()) busy_goal = (quiet_goal.empty() ? "busy " : "; busy ") + busy_goal;
  std::vector<std::string> words = {alike.front()->what, quiet_goal + busy_goal};
  words.insert(words.end(), measured.begin(), measured.end());
  words.emplace_back((quiet_goal + busy_goal).empty() ? "" : is_reached ? "reached" : "**missed**");
  return words;
}

// A row for each thing that is said, in the order in which they were first measured.
Table reach_of(const std::vector<Target>& targets) {
  std::vector<Target> printed;
  for (const auto& target : targets) printed.push_back(as_printed(target));
  Table table{"reach", "Reach", {"work", "goal"}};
  for (const auto& [situation, name] : situations) table.columns.emplace_back(name);
  table.columns.emplace_back("");
  for (size_t i = 0; i < printed.size(); ++i) {
    std::vector<const Target*> alike;
    size_t first = i;
    for (size_t j = 0; j < printed.size(); ++j) {
      if (printed[j].what != printed[i].what) continue;
      alike.push_back(&printed[j]);
      first = std::min(first, j);
    }
    if (first != i) continue;
    Row row;
    for (const auto& word : words_of(alike)) row.emplace_back(word);
    table.rows.push_back(std::move(row));
  }
  table.notes.emplace_back(
      "Ratios of medians, where nothing else is said. Busy: every core has another process to run. Bold is "
      "what misses its goal.");
  return table;
}

std::string list_of(const std::vector<std::pair<std::string, std::string>>& machine) {
  std::string text;
  for (const auto& [name, value] : machine) text += "- " + name + ": " + value + "\n";
  return text;
}

// Between the two marks of this id, where the document has them.
void replace_between(std::string& document, const std::string& id, const std::string& text) {
  const std::string mark = "<!-- bench: " + id + " -->\n";
  const size_t begin = document.find(mark);
  const size_t end = document.find("<!-- end -->", begin);
  if (text.empty() || begin == std::string::npos || end == std::string::npos) return;
  document.replace(begin + mark.size(), end - begin - mark.size(), "\n" + text + "\n");
}

void write(JsonWriter& out, const Table& table) {
  out.begin_object().member("id", table.id).member("title", table.title);
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
  out.member("situation", name_of(target.situation));
  if (target.goal) out.key("goal").raw(fixed(*target.goal, 2));
  out.key("measured").raw(fixed(target.measured, 2)).member("reached", target.is_reached());
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

Situation here() { return ::geteuid() == 0 ? Situation::root : Situation::user; }

std::string to_markdown(const Report& report) {
  std::string text = "# Cloche, measured\n\n" + list_of(report.machine);
  if (!report.targets.empty()) text += section_of(reach_of(report.targets));
  for (const auto& table : report.tables) text += section_of(table);
  return text;
}

std::string with_tables(std::string document, const Report& report) {
  replace_between(document, "machine", list_of(report.machine));
  replace_between(document, "reach", rows_of(reach_of(report.targets)));
  for (const auto& table : report.tables) replace_between(document, table.id, rows_of(table));
  return document;
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
