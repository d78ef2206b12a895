#include "doors/mcp/framing.hpp"

#include <utility>

namespace cloche::mcp {
namespace {

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

}  // namespace

void LineSplitter::add(std::string_view piece) {
  if (skipping_) return;
  if (begun_.size() + piece.size() > most_bytes_) {
    skipping_ = true;
    begun_ = {};
    return;
  }
  begun_ += piece;
}

std::optional<LineSplitter::Taken> LineSplitter::next() {
  line_ = {};
  while (!rest_.empty()) {
    const size_t end = rest_.find('\n');
    const std::string_view piece = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (end == std::string_view::npos) {
      add(piece);
    } else if (auto taken = finish(piece)) {
      return taken;
    }
  }
  return std::nullopt;
}

std::optional<LineSplitter::Taken> LineSplitter::last() { return finish({}); }

std::optional<LineSplitter::Taken> LineSplitter::finish(std::string_view piece) {
  const bool whole = begun_.empty() && !skipping_ && piece.size() <= most_bytes_;
  if (!whole) add(piece);  // most lines come in one piece, and are not copied
  line_ = std::exchange(begun_, {});
  if (std::exchange(skipping_, false)) return Taken{.too_long = true};
  const std::string_view text = whole ? piece : std::string_view(line_);
  return is_blank(text) ? std::nullopt : std::optional(Taken{.text = text});
}

}  // namespace cloche::mcp
