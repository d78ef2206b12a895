// Whether a file is an image that models can be shown, by its first bytes and never by its name.
#pragma once

#include <cstddef>
#include <string_view>

namespace cloche {

inline constexpr size_t most_image_bytes = size_t{5} << 20;  // of one that is shown

// "image/png", "image/jpeg", "image/gif" or "image/webp"; empty: it is none of these. Pure.
std::string_view image_type(std::string_view bytes);

}  // namespace cloche
