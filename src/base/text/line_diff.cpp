#include "base/text/line_diff.hpp"

#include <algorithm>

#include "base/text/ascii.hpp"
#include "base/text/line_matching.hpp"

namespace cloche {
namespace {

constexpr size_t most_heading = 80;  // bytes, as git cuts it

using Lines = std::vector<std::string_view>;  // each with its newline, which the last one may lack

Lines split_lines(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

struct Numbered {
  std::vector<size_t> before = {};
  std::vector<size_t> after = {};
};

// Equal lines get equal numbers. By sorting: a table of hashes can be made slow by the author of the lines.
Numbered number_lines(const Lines& before, const Lines& after) {
  std::vector<size_t> order(before.size() + after.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto line = [&](size_t i) { return i < before.size() ? before[i] : after[i - before.size()]; };
  // Any order will do: the lengths are compared first, which is quicker.
  std::ranges::sort(order, [&](size_t x, size_t y) {
    const std::string_view a = line(x);
    const std::string_view b = line(y);
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  Numbered numbered{std::vector<size_t>(before.size()), std::vector<size_t>(after.size())};
  size_t number = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && line(order[i]) != line(order[i - 1])) ++number;
    const size_t place = order[i];
    (place < before.size() ? numbered.before[place] : numbered.after[place - before.size()]) = number;
  }
  return numbered;
}

LineMatching matching_of(const Lines& before, const Lines& after, const DiffBounds& bounds) {
  const Numbered numbered = number_lines(before, after);
  LineMatching matching = match_lines(numbered.before, numbered.after, bounds.work, bounds.differences);
  const uint64_t most = bounds.work + bounds.work / 4;  // for a nicer place: less than for the search
  slide_changes(matching.removed, {before, numbered.before}, matching.added, matching.work, most);
  slide_changes(matching.added, {after, numbered.after}, matching.removed, matching.work, most);
  return matching;
}

DiffLine line_of(LineFate fate, std::string_view line) {
  const bool has_newline = line.ends_with('\n');
  line.remove_suffix(has_newline ? 1 : 0);
  return {fate, line, has_newline};
}

// Changed lines that stand together, as half-open ranges of both texts.
struct Run {
  size_t before_first, before_last, after_first, after_last;
};

std::vector<Run> runs_of(const LineMatching& matching) {
  std::vector<Run> runs;
  size_t a = 0;
  size_t b = 0;
  while (a < matching.removed.size() || b < matching.added.size()) {
    Run run{a, a, b, b};
    while (run.before_last < matching.removed.size() && matching.removed[run.before_last]) ++run.before_last;
    while (run.after_last < matching.added.size() && matching.added[run.after_last]) ++run.after_last;
    if (run.before_last != a || run.after_last != b) runs.push_back(run);
    a = run.before_last + 1;
    b = run.after_last + 1;
  }
  return runs;
}

class HunkBuilder {
 public:
  HunkBuilder(const Lines& before, const Lines& after, size_t context)
      : before_(before), after_(after), context_(context) {}

  // Runs from `first` on whose lines around them touch.
  Hunk build(const std::vector<Run>& runs, size_t first, size_t last) {
    const size_t above = std::min(context_, runs[first].before_first);
    Hunk hunk;
    hunk.before_first = runs[first].before_first - above;
    hunk.after_first = runs[first].after_first - above;
    hunk.heading = heading_above(hunk.before_first);
    size_t a = hunk.before_first;
    for (size_t i = first; i < last; ++i) {
      add(hunk, LineFate::kept, before_, a, runs[i].before_first);
      add(hunk, LineFate::removed, before_, runs[i].before_first, runs[i].before_last);
      add(hunk, LineFate::added, after_, runs[i].after_first, runs[i].after_last);
      a = runs[i].before_last;
    }
    const size_t below = std::min(context_, before_.size() - a);
    add(hunk, LineFate::kept, before_, a, a + below);
    hunk.before_count = a + below - hunk.before_first;
    hunk.after_count = runs[last - 1].after_last + below - hunk.after_first;
    return hunk;
  }

 private:
  static void add(Hunk& hunk, LineFate fate, const Lines& lines, size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) hunk.lines.push_back(line_of(fate, lines[i]));
  }

  // Hunks come in order, so each line is looked at once.
  std::string_view heading_above(size_t line) {
    for (; seen_ < line; ++seen_) {
      const char c = before_[seen_][0];
      if (ascii::is_letter(c) || c == '_' || c == '$') heading_ = before_[seen_];
    }
    std::string_view heading = heading_.substr(0, most_heading);
    constexpr std::string_view blanks = " \t\n\v\f\r";
    const size_t end = heading.find_last_not_of(blanks);
    return heading.substr(0, end == std::string_view::npos ? 0 : end + 1);
  }

  const Lines& before_;
  const Lines& after_;
  size_t context_;
  size_t seen_ = 0;
  std::string_view heading_ = {};
};

// "7,3": lines count from 1, a single one has no count, and what is empty stands behind the line before it.
std::string range_text(size_t first, size_t count) {
  std::string text = std::to_string(count == 0 ? first : first + 1);
  if (count != 1) text += "," + std::to_string(count);
  return text;
}

}  // namespace

LineDiff diff_lines(std::string_view before, std::string_view after, const DiffBounds& bounds) {
  if (before == after) return {};
  const Lines a = split_lines(before);
  const Lines b = split_lines(after);
  const LineMatching matching = matching_of(a, b, bounds);
  const std::vector<Run> runs = runs_of(matching);
  LineDiff diff{.work = matching.work, .is_minimal = matching.is_minimal};
  HunkBuilder builder(a, b, bounds.context);
  for (size_t first = 0; first < runs.size();) {
    size_t last = first + 1;
    while (last < runs.size() && runs[last].before_first - runs[last - 1].before_last <= 2 * bounds.context)
      ++last;
    diff.hunks.push_back(builder.build(runs, first, last));
    first = last;
  }
  for (const Run& run : runs) {
    diff.removed += run.before_last - run.before_first;
    diff.added += run.after_last - run.after_first;
  }
  return diff;
}

std::string hunk_header(const Hunk& hunk) {
  std::string text = "@@ -" + range_text(hunk.before_first, hunk.before_count) + " +" +
                     range_text(hunk.after_first, hunk.after_count) + " @@";
  if (!hunk.heading.empty()) text += " " + std::string(hunk.heading);
  return text;
}

std::string unified_text(const LineDiff& diff) {
  std::string text;
  for (const Hunk& hunk : diff.hunks) {
    text += hunk_header(hunk) + "\n";
    for (const DiffLine& line : hunk.lines) {
      text += line.fate == LineFate::kept ? ' ' : line.fate == LineFate::removed ? '-' : '+';
      text += line.text;
      text += '\n';
      if (!line.has_newline) text += std::string(no_newline_mark) + "\n";
    }
  }
  return text;
}

}  // namespace cloche
