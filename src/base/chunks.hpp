// Bytes that are too many to have in memory all at once: their owner gives them piece by piece.
#pragma once

#include <functional>
#include <string_view>

#include "base/result.hpp"

namespace cloche {

using Sink = std::function<void(std::string_view piece)>;

// Gives all of it, in order, each time that it is called. An Error: not all of it could be had.
using Chunks = std::function<Result<void>(const Sink& sink)>;

// Of a text that outlives them.
inline Chunks chunks_of(std::string_view text) {
  return [text](const Sink& sink) -> Result<void> {
    constexpr size_t piece = size_t{32} << 10;
    for (size_t at = 0; at < text.size(); at += piece) sink(text.substr(at, piece));
    return {};
  };
}

}  // namespace cloche
