#include "store/record/stored_head.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>

#include "base/sys/directory.hpp"
#include "base/sys/path.hpp"
#include "base/sys/private_file.hpp"
#include "base/sys/sys.hpp"
#include "base/text/sha256.hpp"

namespace cloche {
namespace {

constexpr size_t line_digits = 20;  // of any number of 64 bits
constexpr size_t stored_bytes =
    64 + 1 + line_digits + 1;  // "<hash> <line>\n", always as long: one write replaces it

}  // namespace

std::string stored_head_path(const RunPlace& place) {
  return place.state + "/heads/" + sha256(place.directory);
}

StoredHead StoredHead::open(const RunPlace& place) {
  StoredHead stored;
  if (place.state.empty()) return stored;
  const std::string directory = place.state + "/heads";
  auto heads = sys::open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!heads.ok() && heads.error().number == ENOENT && make_private_directories(directory))
    heads = sys::open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!heads.ok()) return stored;
  OwnedFd file(::openat(heads.value().get(), sha256(place.directory).c_str(),
                        O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  stored.file_ = std::move(file);
  return stored;
}

void StoredHead::store(const ChainEnd& audit) const {
  if (!file_) return;
  const std::string line = std::to_string(audit.line);
  const std::string text = audit.hash + " " + std::string(line_digits - line.size(), '0') + line + "\n";
  (void)!::pwrite(file_.get(), text.data(), text.size(), 0);
}

std::optional<ChainEnd> read_stored_head(const RunPlace& place) {
  if (place.state.empty()) return std::nullopt;
  const auto text = read_private_file(stored_head_path(place), stored_bytes);
  if (!text.ok() || text.value().size() != stored_bytes) return std::nullopt;
  ChainEnd stored;
  stored.hash = text.value().substr(0, 64);
  const char* const digits = text.value().data() + 65;
  if (std::from_chars(digits, digits + line_digits, stored.line).ec != std::errc{}) return std::nullopt;
  if (stored.line == 0) return std::nullopt;
  return stored;
}

std::optional<RunPlace> find_lost_run(const std::string& word, const std::string& state) {
  if (state.empty()) return std::nullopt;
  std::vector<RunPlace> places;
  if (word == "last") {
    const auto last = read_private_file(state + "/last", 4096);
    const std::string path = last.ok() ? last.value().substr(0, last.value().find('\n')) : std::string();
    places.push_back({path, parent_of(path) == state + "/runs" ? RunLayout::state : RunLayout::given, state});
  }
  if (is_bare_word(word)) places.push_back({state + "/runs/" + word, RunLayout::state, state});
  // Where it would be, as the path of a run is stored: without links.
  const std::string path = word.starts_with('/') ? word : "./" + word;
  const size_t name =
      path.find_last_not_of('/') == std::string::npos ? 0 : path.rfind('/', path.find_last_not_of('/'));
  if (const auto parent = sys::hold(path.substr(0, name + 1)); parent.ok())
    places.push_back({tidied(parent.value().path, path.substr(name + 1)), RunLayout::given, state});
  for (const auto& place : places) {
    if (!place.directory.empty() && read_stored_head(place)) return place;
  }
  return std::nullopt;
}

}  // namespace cloche
