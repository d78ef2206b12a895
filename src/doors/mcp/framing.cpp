#include "doors/mcp/framing.hpp"

namespace cloche::mcp {

void LineSplitter::keep(std::string_view piece) {
  if (skipping_) return;
  if (kept_.size() + piece.size() > most_bytes_) {
    skipping_ = true;
    kept_ = {};
    return;
  }
  kept_ += piece;
}

bool LineSplitter::is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace cloche::mcp
