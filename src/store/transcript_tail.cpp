#include "store/transcript_tail.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/json/json_text.hpp"
#include "base/json/json_writer.hpp"

namespace cloche {
namespace {

Result<std::string> read_from(int fd, off_t begin, size_t most_bytes) {
  std::string text(most_bytes, '\0');
  size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t got =
        ::pread(fd, text.data() + filled, text.size() - filled, begin + static_cast<off_t>(filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read the transcript");
    if (got == 0) break;
    filled += static_cast<size_t>(got);
  }
  text.resize(filled);
  return text;
}

}  // namespace

Result<std::string> transcript_tail(const RunPlace& place, const std::string& task, size_t most_bytes) {
  TRY(check_task_id(task));
  const OwnedFd run = TRY(hold_run_directory(place, RecordUse::read));
  const OwnedFd transcripts = TRY(hold_transcripts(place, run.get(), RecordUse::read));
  const std::string name = task + std::string(transcript_ending);
  const auto file = read_record_file(transcripts.get(), name, place.transcripts() + "/" + name);
  if (!file.ok() && file.error().number == ENOENT) return std::string();
  if (!file.ok()) return file.error();
  struct stat seen {};
  if (::fstat(file.value().get(), &seen) != 0) return system_error("look at the transcript");
  const off_t begin = std::max<off_t>(0, seen.st_size - static_cast<off_t>(most_bytes));
  std::string text = TRY(read_from(file.value().get(), begin, most_bytes));
  if (begin > 0) text.erase(0, text.find('\n') == std::string::npos ? text.size() : text.find('\n') + 1);
  text.resize(text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1);  // one may be being written
  return text;
}

std::string transcript_for_model(std::string_view lines) {
  constexpr std::string_view seen[] = {"call_id",  "task_id", "role", "tool",   "args",
                                       "decision", "outcome", "exit", "result", "timestamp"};
  std::string text;
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    const auto line = read_json(lines.substr(0, end), "", {.bytes = lines.size()});
    lines.remove_prefix(std::min(end + 1, lines.size()));
    if (!line.ok()) continue;  // a line that cannot be read shows nothing
    JsonWriter out;
    out.begin_object();
    for (const auto name : seen) {
      const JsonValue* value = line.value().find(name);
      if (value != nullptr) out.key(name).raw(to_json(*value));
    }
    text += out.end_object().take() + "\n";
  }
  return text;
}

}  // namespace cloche
