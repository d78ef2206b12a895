#include "base/text/line_matching.hpp"

#include <algorithm>
#include <optional>

namespace cloche {
namespace {

constexpr size_t tab_width = 8;
constexpr size_t most_indent = 200;

// Where a text has changed lines, by how many kept lines come before them.
std::vector<bool> changed_gaps(const std::vector<bool>& changed) {
  std::vector<bool> gaps(1, false);
  for (const bool is_changed : changed) {
    if (is_changed) {
      gaps.back() = true;
    } else {
      gaps.push_back(false);
    }
  }
  return gaps;
}

// Columns before the first word; none for a line without one.
std::optional<size_t> indent_of(std::string_view line) {
  size_t columns = 0;
  for (const char c : line.substr(0, most_indent)) {
    if (c == '\n' || c == '\r') return std::nullopt;
    if (c != ' ' && c != '\t') return columns;
    columns = c == '\t' ? (columns / tab_width + 1) * tab_width : columns + 1;
  }
  return line.size() > most_indent ? std::optional(columns) : std::nullopt;
}

class Slider {
 public:
  Slider(std::vector<bool>& changed, const NumberedLines& lines, const std::vector<bool>& changed_in_other,
         uint64_t& work, uint64_t most_work)
      : changed_(changed),
        lines_(lines),
        other_gaps_(changed_gaps(changed_in_other)),
        work_(work),
        most_work_(most_work) {}

  void run() {
    while (end_ < changed_.size() && work_ <= most_work_) {
      if (!changed_[end_]) {
        ++end_;
        ++kept_;
        continue;
      }
      start_ = end_;
      take_in_below();
      slide();
    }
  }

 private:
  void slide() {
    size_t size = 0;
    do {
      size = end_ - start_;
      while (can_rise()) rise();
      forget_places();
      note_place();
      while (can_sink()) {
        sink();
        note_place();
      }
    } while (size != end_ - start_ && work_ <= most_work_);
    const auto wanted = beside_other_ ? beside_other_ : paragraph_;
    while (wanted && end_ > *wanted && can_rise()) rise();
  }

  void forget_places() {
    beside_other_.reset();
    paragraph_.reset();
  }

  // The lowest of the good places, and of paragraphs one that is indented least.
  void note_place() {
    if (other_gaps_[kept_]) beside_other_ = end_;
    if (start_ == 0 || indent_of(lines_.texts[start_ - 1])) return;
    const auto indent = indent_of(lines_.texts[start_]);
    if (!indent || (paragraph_ && *indent > paragraph_indent_)) return;
    paragraph_ = end_;
    paragraph_indent_ = *indent;
  }

  bool can_rise() const { return start_ > 0 && lines_.numbers[start_ - 1] == lines_.numbers[end_ - 1]; }
  bool can_sink() const {
    return end_ < lines_.numbers.size() && lines_.numbers[start_] == lines_.numbers[end_];
  }

  void rise() {
    ++work_;
    changed_[--start_] = true;
    changed_[--end_] = false;
    --kept_;
    while (start_ > 0 && changed_[start_ - 1]) --start_;
  }

  void sink() {
    ++work_;
    changed_[start_++] = false;
    changed_[end_++] = true;
    ++kept_;
    take_in_below();
  }

  void take_in_below() {
    while (end_ < changed_.size() && changed_[end_]) ++end_;
  }

  std::vector<bool>& changed_;
  const NumberedLines& lines_;
  const std::vector<bool> other_gaps_;
  uint64_t& work_;
  uint64_t most_work_;
  size_t start_ = 0;
  size_t end_ = 0;
  size_t kept_ = 0;                          // lines above the run
  std::optional<size_t> beside_other_ = {};  // ends of the run at good places
  std::optional<size_t> paragraph_ = {};
  size_t paragraph_indent_ = 0;
};

}  // namespace

void slide_changes(std::vector<bool>& changed, const NumberedLines& lines,
                   const std::vector<bool>& changed_in_other, uint64_t& work, uint64_t most_work) {
  Slider(changed, lines, changed_in_other, work, most_work).run();
}

}  // namespace cloche
