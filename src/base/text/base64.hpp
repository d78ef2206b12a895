// Base64 of RFC 4648, with padding: how JSON carries bytes.
#pragma once

#include <string>
#include <string_view>

namespace cloche {

std::string base64(std::string_view bytes);

}  // namespace cloche
