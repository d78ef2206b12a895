// Bytes to lines: MCP on stdio puts one message on a line. What is longer than a message may be is skipped up
// to its end without being kept, and said to be so.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cloche::mcp {

class LineSplitter {
 public:
  explicit LineSplitter(size_t most_bytes) : most_bytes_(most_bytes) {}

  // Calls `line(text)` for each line that ends in these bytes, without its end and without blank ones, and
  // `skipped()` for each that was too long.
  template <typename TakeLine, typename Skipped>
  void feed(std::string_view bytes, const TakeLine& line, const Skipped& skipped) {
    while (!bytes.empty()) {
      const size_t end = bytes.find('\n');
      const std::string_view piece = bytes.substr(0, end);
      if (end == std::string_view::npos) return keep(piece);
      bytes.remove_prefix(end + 1);
      finish(piece, line, skipped);
    }
  }

  // What stood behind the last line's end, when there is nothing more to come.
  template <typename TakeLine, typename Skipped>
  void end(const TakeLine& line, const Skipped& skipped) {
    if (!kept_.empty() || skipping_) finish({}, line, skipped);
  }

 private:
  void keep(std::string_view piece);
  static bool is_blank(std::string_view line);

  template <typename TakeLine, typename Skipped>
  void finish(std::string_view piece, const TakeLine& line, const Skipped& skipped) {
    const bool whole = kept_.empty() && !skipping_ && piece.size() <= most_bytes_;
    if (!whole) keep(piece);  // most lines come in one piece, and are not copied
    const bool was_skipped = skipping_;
    const std::string before = std::move(kept_);
    kept_ = {};
    skipping_ = false;
    const std::string_view text = whole ? piece : std::string_view(before);
    if (was_skipped) {
      skipped();
    } else if (!is_blank(text)) {
      line(text);
    }
  }

  size_t most_bytes_;
  std::string kept_;
  bool skipping_ = false;
};

}  // namespace cloche::mcp
