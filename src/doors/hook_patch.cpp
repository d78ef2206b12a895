#include "doors/hook_patch.hpp"

#include <algorithm>

#include "base/text/visible_text.hpp"
#include "doors/hook/written_path.hpp"

namespace cloche {
namespace {

constexpr std::string_view header_mark = "***";
constexpr std::string_view naming_headers[] = {
    "*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "};
constexpr std::string_view bare_headers[] = {"*** Begin Patch", "*** End Patch", "*** End of File"};

bool is_bare_header(std::string_view line) {
  return std::find(std::begin(bare_headers), std::end(bare_headers), line) != std::end(bare_headers);
}

// The file that the line names; empty: it names none.
Result<std::string> file_in(std::string_view line) {
  if (!without_space_around(line).starts_with(header_mark) || is_bare_header(line)) return std::string();
  for (const auto header : naming_headers) {
    if (!line.starts_with(header) || line.size() == header.size()) continue;
    const std::string path(line.substr(header.size()));
    TRY(check_written_path(path));
    return path;
  }
  return refusal(
      "the patch has a line that could be taken for a header and is none: '" + shown(line, 120) + "'",
      "write headers exactly, and lines with *** in them by another tool");
}

}  // namespace

Result<std::vector<std::string>> files_of_patch(std::string_view patch) {
  std::vector<std::string> files;
  for (size_t at = 0; at < patch.size();) {
    const size_t end = std::min(patch.find('\n', at), patch.size());
    std::string_view line = patch.substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    std::string file = TRY(file_in(line));
    if (!file.empty()) files.push_back(std::move(file));
    at = end + 1;
  }
  return files;
}

}  // namespace cloche
