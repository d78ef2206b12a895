#include "tools/answer/image_type.hpp"

namespace cloche {
namespace {

using std::string_view_literals::operator""sv;

// Not the signature alone: what a client sends on to a model's API and is no image fails there, again and
// again.
bool is_png(std::string_view bytes) { return bytes.starts_with("\x89PNG\r\n\x1a\n\0\0\0\rIHDR"sv); }

bool is_jpeg(std::string_view bytes) {
  constexpr unsigned char first_marker = 0xc0;
  return bytes.starts_with("\xff\xd8\xff"sv) && bytes.size() > 3 &&
         static_cast<unsigned char>(bytes[3]) >= first_marker;
}

bool is_gif(std::string_view bytes) {
  constexpr size_t header = 13;
  return (bytes.starts_with("GIF87a"sv) || bytes.starts_with("GIF89a"sv)) && bytes.size() > header;
}

bool is_webp(std::string_view bytes) {
  constexpr size_t kind = 8;  // behind RIFF and a size
  return bytes.starts_with("RIFF"sv) && bytes.size() > kind && bytes.substr(kind).starts_with("WEBPVP8"sv);
}

}  // namespace

std::string_view image_type(std::string_view bytes) {
  if (is_png(bytes)) return "image/png";
  if (is_jpeg(bytes)) return "image/jpeg";
  if (is_gif(bytes)) return "image/gif";
  return is_webp(bytes) ? "image/webp" : "";
}

}  // namespace cloche
