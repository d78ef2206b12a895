// The copies as one text: of each a line of numbers, its path, and what it holds, both by their length.
#include <array>
#include <charconv>

#include "store/protected/saved_members.hpp"

namespace cloche {
namespace {

constexpr size_t number_count = 10;
using Numbers = std::array<int64_t, number_count>;

Numbers numbers_of(const struct stat& seen, size_t path, size_t content) {
  return {static_cast<int64_t>(seen.st_mode),
          static_cast<int64_t>(seen.st_nlink),
          static_cast<int64_t>(seen.st_uid),
          static_cast<int64_t>(seen.st_gid),
          seen.st_atim.tv_sec,
          seen.st_atim.tv_nsec,
          seen.st_mtim.tv_sec,
          seen.st_mtim.tv_nsec,
          static_cast<int64_t>(path),
          static_cast<int64_t>(content)};
}

struct stat stat_of(const Numbers& numbers) {
  struct stat seen {};
  seen.st_mode = static_cast<mode_t>(numbers[0]);
  seen.st_nlink = static_cast<nlink_t>(numbers[1]);
  seen.st_uid = static_cast<uid_t>(numbers[2]);
  seen.st_gid = static_cast<gid_t>(numbers[3]);
  seen.st_atim = {numbers[4], numbers[5]};
  seen.st_mtim = {numbers[6], numbers[7]};
  return seen;
}

// Takes the line from the front of the text.
bool take_numbers(std::string_view& text, Numbers& numbers) {
  const char* end = text.data() + text.size();
  const char* at = text.data();
  for (auto& number : numbers) {
    const auto read = std::from_chars(at, end, number);
    if (read.ec != std::errc{} || read.ptr == end) return false;
    at = read.ptr + 1;  // a space, or the line's end
  }
  text.remove_prefix(static_cast<size_t>(at - text.data()));
  return true;
}

}  // namespace

std::string SavedMembers::text() const {
  std::string text;
  for (const auto& [path, saved] : saved_) {
    for (const int64_t number : numbers_of(saved.seen, path.size(), saved.content.size()))
      text += std::to_string(number) + " ";
    text.back() = '\n';
    text += path + saved.content;
  }
  return text;
}

SavedMembers SavedMembers::from_text(std::string_view text) {
  SavedMembers found;
  Numbers numbers{};
  while (take_numbers(text, numbers)) {
    const auto path = static_cast<size_t>(numbers[8]);
    const auto content = static_cast<size_t>(numbers[9]);
    if (path > text.size() || content > text.size() - path) break;
    const bool has_room = found.add(std::string(text.substr(0, path)),
                                    {stat_of(numbers), std::string(text.substr(path, content))});
    if (!has_room) break;
    text.remove_prefix(path + content);
  }
  return found;
}

}  // namespace cloche
