#include "base/text/random_word.hpp"

#include <sys/random.h>

namespace cloche {

Result<std::string> random_word(size_t letters) {
  constexpr char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";
  std::string word(letters, '\0');
  // The kernel gives up to 256 bytes at once, whole, and no name of ours is longer.
  if (::getrandom(word.data(), word.size(), 0) != static_cast<ssize_t>(word.size()))
    return system_error("get random numbers");
  for (char& c : word) c = alphabet[static_cast<unsigned char>(c) % 32];
  return word;
}

bool is_plain_id(std::string_view word) {
  return !word.empty() && word.size() <= 64 && word[0] != '-' &&
         word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
}

}  // namespace cloche
