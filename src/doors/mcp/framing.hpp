// Bytes to lines: MCP on stdio puts one message on a line. A line that is longer than a message may be is
// skipped and reported. Lines are taken one by one, because the reader looks at other events between two of
// them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace cloche::mcp {

class LineSplitter {
 public:
  struct Taken {
    std::string_view text = {};  // without its end; good until the next call
    bool too_long = false;       // and skipped: there is no text
  };

  explicit LineSplitter(size_t most_bytes) : most_bytes_(most_bytes) {}

  // When has_more() is false. The bytes have to stay where they are until it is so again.
  void feed(std::string_view bytes) { rest_ = bytes; }
  bool has_more() const { return !rest_.empty(); }
  // The next line that ends in them and is not blank.
  std::optional<Taken> next();
  // What stood behind the last line's end, when there is nothing more to come.
  std::optional<Taken> last();

 private:
  void add(std::string_view piece);
  std::optional<Taken> finish(std::string_view piece);

  size_t most_bytes_;
  std::string_view rest_;  // not looked at yet
  std::string begun_;      // of a line whose end has not come
  std::string line_;       // that was in several pieces
  bool skipping_ = false;
};

}  // namespace cloche::mcp
