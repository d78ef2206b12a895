// A file tool's effect, and what the model gets of it.
#include <string.h>

#include <algorithm>
#include <memory>

#include "base/json/json_writer.hpp"
#include "base/text/command_words.hpp"
#include "base/text/pieces.hpp"
#include "base/text/utf8.hpp"
#include "policy/protected/folded_name.hpp"
#include "policy/rules/globs.hpp"
#include "policy/rules/pattern.hpp"
#include "tools/answer/image_type.hpp"
#include "tools/files/artifacts.hpp"

namespace cloche {
namespace {

using Kind = FileAction::Kind;

std::string bytes_text(uint64_t bytes) { return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes"); }

ToolReply write(const FileAction& action, WorkspaceFiles& files) {
  const auto done = files.replace(action.path, action.content);
  if (!done.ok()) return failed_reply(describe(done.error()));
  JsonWriter json;
  json.begin_object().member("path", action.path).member("bytes", action.content.size());
  json.member("created", done.value() == WorkspaceFiles::Replaced::made).end_object();
  return {"wrote " + action.path + " (" + bytes_text(action.content.size()) + ")", false, json.text()};
}

struct Occurrences {
  size_t count = 0;  // overlapping ones too, and no further than `enough`
  size_t first = 0;
};
constexpr size_t enough = 10;

// memmem, because it is linear in both: std::string::find is not, and both texts come from outside.
Occurrences occurrences_of(std::string_view part, std::string_view text) {
  Occurrences found;
  for (size_t at = 0; at < text.size() && found.count < enough; ++at) {
    const void* hit = ::memmem(text.data() + at, text.size() - at, part.data(), part.size());
    if (hit == nullptr) break;
    at = static_cast<size_t>(static_cast<const char*>(hit) - text.data());
    if (found.count++ == 0) found.first = at;
  }
  return found;
}

std::string why_not_once(const FileAction& action, const std::string& text, size_t count) {
  if (count > 0) {
    return "old is in " + action.path + " " + (count == enough ? "at least " : "") + std::to_string(count) +
           " times and must be there once: give more of the text around it; nothing was changed";
  }
  const bool other_line_ends = action.replaced.find('\n') != std::string::npos &&
                               action.replaced.find('\r') == std::string::npos &&
                               text.find("\r\n") != std::string::npos;
  return "old is not in " + action.path + ": " +
         (other_line_ends ? "the lines of this file end in \\r\\n"
                          : "read it and copy the text exactly, with its blanks") +
         "; nothing was changed";
}

ToolReply edit(const FileAction& action, WorkspaceFiles& files) {
  const auto old = files.read(action.path, 0, most_artifact_bytes);
  if (!old.ok()) return failed_reply(describe(old.error()));
  std::string text = old.value().bytes;
  if (old.value().size != text.size())
    return failed_reply(action.path + " is longer than " + bytes_text(most_artifact_bytes) +
                        ", or was changed while it was read");
  const auto [count, first] = occurrences_of(action.replaced, text);
  if (count != 1) return failed_reply(why_not_once(action, text, count));
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(first), '\n');
  text.replace(first, action.replaced.size(), action.content);
  if (text.size() > most_artifact_bytes)
    return failed_reply(action.path + " would be longer than " + bytes_text(most_artifact_bytes));
  const auto done = files.replace(action.path, text, old.value().stamp);
  if (!done.ok()) return failed_reply(describe(done.error()));
  JsonWriter json;
  json.begin_object()
      .member("path", action.path)
      .member("bytes", text.size())
      .member("line", line)
      .end_object();
  return {"edited " + action.path + " at line " + std::to_string(line) + " (" + bytes_text(text.size()) + ")",
          false, json.text()};
}

// The file may have changed since its first bytes were read: what is shown is judged by itself.
ToolReply show_image(const FileAction& action, WorkspaceFiles& files) {
  auto whole = files.read(action.path, 0, most_image_bytes);
  if (!whole.ok()) return failed_reply(describe(whole.error()));
  FilePart& part = whole.value();
  const std::string type(image_type(part.bytes));
  if (type.empty()) return failed_reply(action.path + " was changed while it was read");
  const std::string what = action.path + " is an image (" + type + ", " + bytes_text(part.size) + ")";
  if (part.size != part.bytes.size())
    return failed_reply(what + ", and only images of at most " + bytes_text(most_image_bytes) + " are shown");
  return {.text = "[" + what + "]", .image = {type, std::move(part.bytes)}};
}

ToolReply read(const FileAction& action, WorkspaceFiles& files) {
  const auto part = files.read(action.path, action.offset, std::min(action.limit, most_read_bytes));
  if (!part.ok()) return failed_reply(describe(part.error()));
  if (action.offset == 0 && !image_type(part.value().bytes).empty()) return show_image(action, files);
  return show_excerpt("path", action.path, part.value(), action.offset);
}

// What lists and searches do not look into unless it was asked for by name: git's store.
bool is_passed_over(const FileEntry& entry, const std::string& start) {
  const std::string_view name = std::string_view(entry.path).substr(entry.path.rfind('/') + 1);
  return entry.path != start && folded_name(name) == ".git";
}

std::string_view name_of(FileEntry::Kind kind) {
  switch (kind) {
    case FileEntry::Kind::file: return "file";
    case FileEntry::Kind::directory: return "directory";
    case FileEntry::Kind::link: return "link";
    case FileEntry::Kind::other: return "other";
    case FileEntry::Kind::hidden: return "hidden";
  }
  return "other";
}

std::string line_of(const FileEntry& entry, uint64_t size) {
  const std::string path = shown(entry.path, 4096);
  switch (entry.kind) {
    case FileEntry::Kind::file: return path + " (" + bytes_text(size) + ")";
    case FileEntry::Kind::directory: return path + "/";
    case FileEntry::Kind::link: return path + " (a link)";
    case FileEntry::Kind::other: return path + " (neither a file nor a directory)";
    case FileEntry::Kind::hidden: return path + " (hidden)";
  }
  return path;
}

bool is_complete(const Walked& walked) { return walked.end == WalkEnd::complete && walked.unreadable == 0; }

std::string why_incomplete(const Walked& walked) {
  std::string why;
  if (walked.unreadable > 0)
    why = "[" + std::to_string(walked.unreadable) + " directories could not be read]\n";
  if (walked.end == WalkEnd::out_of_entries)
    why += "[stopped: there are too many files; name a path further down]\n";
  if (walked.end == WalkEnd::out_of_time) why += "[stopped: this took too long; name a path further down]\n";
  return why;
}

// A glob is about the path below where the list begins.
std::string_view below(const std::string& start, std::string_view path) {
  if (!start.empty() && path.size() > start.size()) path.remove_prefix(start.size() + 1);
  return path;
}

ToolReply list(const FileAction& action, WorkspaceFiles& files) {
  const auto glob = PathGlob::read(action.pattern.empty() ? "**" : action.pattern);
  if (!glob.ok()) return failed_reply(describe(glob.error()));
  std::string text;
  JsonWriter json;
  json.begin_object().key("entries").begin_array();
  size_t count = 0;
  size_t more = 0;
  const auto walked = files.walk(action.path, {}, [&](const FileEntry& entry, const WalkView& view) {
    if (is_passed_over(entry, action.path)) return WalkStep::over;
    if (!glob.value().matches(below(action.path, entry.path))) return WalkStep::into;
    if (count == most_listed || text.size() > most_shown_text) {
      ++more;
      return WalkStep::into;
    }
    ++count;
    const uint64_t size = entry.kind == FileEntry::Kind::file ? view.size_of(entry) : 0;
    text += line_of(entry, size) + "\n";
    json.begin_object().member("path", entry.path).member("kind", name_of(entry.kind));
    json.member("size", size).end_object();
    return WalkStep::into;
  });
  if (!walked.ok()) return failed_reply(describe(walked.error()));
  if (count == 0) text += "[nothing there]\n";
  if (more > 0) text += "[and " + std::to_string(more) + " more; use a glob or a path further down]\n";
  text += why_incomplete(walked.value());
  if (text.ends_with('\n')) text.pop_back();
  json.end_array().member("more", more).member("complete", is_complete(walked.value())).end_object();
  return {text, false, json.text()};
}

// One search: takes files one by one, and keeps what it found.
class Search {
 public:
  Search(const RE2& pattern, WorkspaceFiles& files) : pattern_(pattern), files_(files) {
    json_.begin_object().key("matches").begin_array();
  }

  WalkStep look_into(const FileEntry& entry, const WalkView& view) {
    if (view.size_of(entry) > most_searched_bytes) {
      ++large_;
      return WalkStep::over;
    }
    const auto part = files_.read(entry.path, 0, most_searched_bytes);
    if (!part.ok()) {
      ++unreadable_;
      return WalkStep::over;
    }
    if (is_binary(part.value().bytes)) return WalkStep::over;
    return look_at_lines(entry.path, part.value().bytes, view);
  }

  ToolReply reply(const Walked& walked) {
    const bool complete = is_complete(walked) && !full_ && large_ + unreadable_ + cut_ == 0;
    json_.end_array().member("complete", complete).end_object();
    if (matches_ == 0) text_ += "[no match]\n";
    if (full_) note("stopped after " + std::to_string(matches_) + " matches; use a narrower pattern or path");
    if (large_ > 0)
      note(std::to_string(large_) + " files longer than " + bytes_text(most_searched_bytes) +
           " not searched");
    if (unreadable_ > 0) note(std::to_string(unreadable_) + " files could not be read");
    if (cut_ > 0)
      note("of " + std::to_string(cut_) + " long lines only the first " + bytes_text(most_searched_line) +
           " were searched");
    text_ += why_incomplete(walked);
    if (text_.ends_with('\n')) text_.pop_back();
    return {text_, false, json_.text()};
  }

 private:
  static bool is_binary(std::string_view bytes) {
    constexpr size_t looked_at = 8000;  // as git has it
    return bytes.substr(0, looked_at).find('\0') != std::string_view::npos;
  }

  void note(const std::string& what) { text_ += "[" + what + "]\n"; }

  WalkStep look_at_lines(const std::string& path, std::string_view rest, const WalkView& view) {
    constexpr size_t bytes_between_looks_at_the_clock = 4096;
    size_t unwatched = 0;
    for (size_t number = 1; !rest.empty(); ++number) {
      std::string_view line = take_line(rest);
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.size() > most_searched_line) ++cut_;
      line = line.substr(0, most_searched_line);
      if (found_in(pattern_, line)) add(path, number, line);
      if (full_) return WalkStep::stop;
      unwatched += line.size() + 1;
      if (unwatched < bytes_between_looks_at_the_clock) continue;
      if (view.out_of_time()) return WalkStep::stop;
      unwatched = 0;
    }
    return WalkStep::over;
  }

  void add(const std::string& path, size_t number, std::string_view line) {
    const bool long_line = line.size() > most_shown_line;
    line = line.substr(0, most_shown_line);
    if (long_line) line.remove_suffix(utf8::unfinished_tail(line));
    const std::string seen = utf8::with_replacements(line) + (long_line ? "..." : "");
    text_ += shown(path, 4096) + ":" + std::to_string(number) + ": " + seen + "\n";
    json_.begin_object().member("path", path).member("line", number).member("text", seen).end_object();
    full_ = ++matches_ >= most_matches || text_.size() >= most_shown_text;
  }

  const RE2& pattern_;
  WorkspaceFiles& files_;
  std::string text_;
  JsonWriter json_;
  size_t matches_ = 0;
  size_t large_ = 0;
  size_t unreadable_ = 0;
  size_t cut_ = 0;
  bool full_ = false;
};

ToolReply search(const FileAction& action, WorkspaceFiles& files) {
  const auto pattern = compile_pattern(action.pattern, Dot::stops_at_newline);
  if (!pattern.ok()) return failed_reply(describe(pattern.error()));
  Search search(*pattern.value(), files);
  const auto walked = files.walk(action.path, {}, [&](const FileEntry& entry, const WalkView& view) {
    if (is_passed_over(entry, action.path)) return WalkStep::over;
    return entry.kind == FileEntry::Kind::file ? search.look_into(entry, view) : WalkStep::into;
  });
  if (!walked.ok()) return failed_reply(describe(walked.error()));
  return search.reply(walked.value());
}

}  // namespace

ToolReply perform(const FileAction& action, WorkspaceFiles& files) {
  switch (action.kind) {
    case Kind::write: return write(action, files);
    case Kind::edit: return edit(action, files);
    case Kind::read: return read(action, files);
    case Kind::list: return list(action, files);
    case Kind::search: return search(action, files);
  }
  return failed_reply("this is not a file tool");
}

}  // namespace cloche
