// stat_text() of change_text.hpp: a line for each file, as `git diff --stat` writes it.
#include <algorithm>

#include "base/text/amounts.hpp"
#include "doors/changes/change_text.hpp"
#include "doors/changes/visible_bytes.hpp"

namespace cloche {
namespace {

constexpr size_t least_width = 40;
constexpr size_t least_graph = 10;

struct StatLine {
  std::string name = {};
  std::string amount = {};  // lines as a number, or what stands instead of them
  uint64_t removed = 0;
  uint64_t added = 0;
  std::string note = {};
};

std::string note_of(const ShownChange& file, ShownGroup group) {
  std::string note(file.verdict.fate == Fate::asked ? "waits for an answer" : name_of(group));
  if (file.ignored) note += note.empty() ? "ignored" : ", ignored";
  return note.empty() ? "" : " (" + note + ")";
}

StatLine line_of(const ShownChange& file, ShownGroup group, size_t most_name, uint64_t& work) {
  StatLine line{.name = short_name(file.path, most_name), .note = note_of(file, group)};
  const ContentsDiff diff = contents_diff(file, work);
  switch (diff.kind) {
    case ContentsDiff::Kind::none: line.amount = "0"; break;
    case ContentsDiff::Kind::binary: line.amount = "Bin " + sizes_text(file.change); break;
    case ContentsDiff::Kind::too_large: line.amount = sizes_text(file.change); break;
    case ContentsDiff::Kind::lines:
      line.removed = diff.lines.removed;
      line.added = diff.lines.added;
      line.amount = std::to_string(line.removed + line.added);
      break;
  }
  return line;
}

// How many signs stand for `part` lines where `most` lines fill the graph; what is there has one at least.
size_t signs(uint64_t part, uint64_t most, size_t graph) {
  if (part == 0 || most <= graph) return part;
  return 1 + static_cast<size_t>(static_cast<double>(part) * static_cast<double>(graph - 2) /
                                 static_cast<double>(most));
}

std::string rows_text(const std::vector<StatLine>& lines, const DiffOptions& options, size_t width) {
  size_t name = 0;
  size_t number = 1;
  uint64_t most = 0;
  for (const StatLine& line : lines) {
    name = std::max(name, line.name.size());
    if (line.removed + line.added > 0) number = std::max(number, line.amount.size());
    most = std::max(most, line.removed + line.added);
  }
  const size_t used = name + number + 5;  // " name | number graph"
  const size_t graph = std::max(least_graph, width > used ? width - used : 0);
  std::string text;
  for (const StatLine& line : lines) {
    text += " " + line.name + std::string(name - line.name.size(), ' ') + " | ";
    if (line.amount.size() < number) text += std::string(number - line.amount.size(), ' ');
    text += line.amount;
    const std::string plus(signs(line.added, most, graph), '+');
    const std::string minus(signs(line.removed, most, graph), '-');
    if (!plus.empty() || !minus.empty()) text += " ";
    if (!plus.empty()) text += painted(options.colour, "\x1b[32m", plus);
    if (!minus.empty()) text += painted(options.colour, "\x1b[31m", minus);
    text += line.note + "\n";
  }
  return text;
}

std::string totals_text(const std::vector<StatLine>& lines, uint64_t files) {
  uint64_t removed = 0;
  uint64_t added = 0;
  for (const StatLine& line : lines) {
    removed += line.removed;
    added += line.added;
  }
  std::string text = " " + count_text(files, "file") + " changed";
  if (added > 0 || removed == 0) text += ", " + count_text(added, "insertion") + "(+)";
  if (removed > 0 || added == 0) text += ", " + count_text(removed, "deletion") + "(-)";
  return text + "\n";
}

}  // namespace

std::string stat_text(const std::vector<ShownChange>& files, const DiffOptions& options) {
  const size_t width = std::max(options.width, least_width);
  const auto order = display_order(files);
  if (order.empty()) return "";
  uint64_t work = options.work;
  size_t others = 0;
  std::vector<StatLine> lines;
  for (const ShownPlace& place : order) {
    if (place.group != ShownGroup::other || others++ < options.most_stat_lines)
      lines.push_back(line_of(files[place.index], place.group, width / 2, work));
  }
  std::string text = rows_text(lines, options, width);
  if (lines.size() < order.size())
    text += " … and " + count_text(order.size() - lines.size(), "more file") + "\n";
  return text + totals_text(lines, order.size());
}

}  // namespace cloche
