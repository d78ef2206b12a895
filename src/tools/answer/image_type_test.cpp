#include "tools/answer/image_type.hpp"

#include <gtest/gtest.h>

#include <string>

namespace cloche {
namespace {

TEST(ImageType, IsReadFromTheFirstBytes) {
  const auto text = [](const char(&bytes)[17]) { return std::string(bytes, 16); };
  const std::pair<std::string, std::string_view> rows[] = {
      {text("\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), "image/png"},
      {"\xff\xd8\xff\xe0 and more", "image/jpeg"},
      {"GIF89a and some more", "image/gif"},
      {"GIF87a and some more", "image/gif"},
      {"RIFF....WEBPVP8 ", "image/webp"},
      {"", ""},
      {"\x89PNG", ""},
      {"\x89PNG\r\n\x1a\n and then a text", ""},
      {"\xff\xd8\xff", ""},
      {"\xff\xd8\xff and then a text", ""},
      {"GIF89a", ""},
      {"RIFF....WAVEfmt ", ""},
      {"x\x89PNG\r\n", ""},
      {"<svg xmlns='http://www.w3.org/2000/svg'/>", ""},
      {"%PDF-1.7", ""},
  };
  for (const auto& [bytes, type] : rows) EXPECT_EQ(image_type(bytes), type) << bytes;
}

}  // namespace
}  // namespace cloche
