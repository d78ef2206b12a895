#include "doors/changes/file_patch.hpp"

#include <algorithm>

#include "base/text/amounts.hpp"
#include "base/text/visible_text.hpp"
#include "doors/changes/visible_bytes.hpp"

namespace cloche {
namespace {

// With those of doors/cli/screen.hpp, git's own colours.
constexpr std::string_view cyan = "\x1b[36m";
constexpr std::string_view notice = "\x1b[1;33m";
constexpr std::string_view on_red = "\x1b[41m";
constexpr std::string_view reverse = "\x1b[7m";
constexpr std::string_view no_reverse = "\x1b[27m";

constexpr size_t most_reason = 400;
constexpr size_t binary_search = 8000;  // bytes in which git looks for a NUL

// A path on one side of the change. Without a state there is nothing on this side.
struct Side {
  const FileState* state = nullptr;
  std::optional<std::string_view> bytes = {};
};

Side side_of(const std::optional<FileState>& state, const std::optional<std::string>& bytes) {
  if (!state) return {};
  switch (state->kind) {
    case FileKind::link: return {&*state, state->link};
    case FileKind::file: return {&*state, bytes ? std::optional<std::string_view>(*bytes) : std::nullopt};
    default: return {&*state, std::string_view()};
  }
}

// What the kernel would start as a script is shown, whatever bytes follow: it runs up to them.
bool is_binary(std::string_view bytes) {
  return !bytes.starts_with("#!") && bytes.substr(0, binary_search).find('\0') != std::string_view::npos;
}

ContentsDiff diff_of(const Side& before, const Side& after, uint64_t& work) {
  const auto bytes_of = [](const Side& side) {
    return side.state == nullptr ? std::string_view() : side.bytes;
  };
  const auto old_bytes = bytes_of(before);
  const auto new_bytes = bytes_of(after);
  if (!old_bytes || !new_bytes) return {ContentsDiff::Kind::too_large};
  if (*old_bytes == *new_bytes) return {ContentsDiff::Kind::none};
  if (is_binary(*old_bytes) || is_binary(*new_bytes)) return {ContentsDiff::Kind::binary};
  DiffBounds bounds;
  bounds.work = std::min(bounds.work, work);
  ContentsDiff diff{ContentsDiff::Kind::lines, diff_lines(*old_bytes, *new_bytes, bounds)};
  work -= std::min(work, diff.lines.work);
  return diff;
}

bool has_other_contents(const Change& change) {
  return change.kind != ChangeKind::changed || change.differs.contents || change.differs.kind;
}

std::string mode_text(const FileState& state, bool exact) {
  constexpr std::string_view types[] = {"10", "04", "12", "01", "14", "02"};  // in the order of FileKind
  // Git knows two modes of files, and none of a link. What it would not say is said where it matters.
  unsigned mode = state.kind == FileKind::link ? 0 : state.mode & 07777;
  if (!exact && state.kind == FileKind::file && (mode & 07002) == 0) mode = (mode & 0100) != 0 ? 0755 : 0644;
  std::string text(types[static_cast<size_t>(state.kind)]);
  for (const unsigned shift : {9U, 6U, 3U, 0U}) text += static_cast<char>('0' + ((mode >> shift) & 7U));
  return text;
}

std::string_view kind_word(FileKind kind) { return kind == FileKind::link ? "file" : name_of(kind); }

std::string size_of(const std::optional<FileState>& state) {
  return state && state->kind == FileKind::file ? size_text(state->size) : "none";
}

class PatchWriter {
 public:
  PatchWriter(const ShownChange& file, PatchDepth depth, Colour colour, uint64_t& work)
      : file_(file), depth_(depth), colour_(colour), work_(work), path_(file.path) {}

  std::string run() {
    const Change& change = file_.change;
    const Side before = side_of(change.before, file_.before);
    const Side after = side_of(change.after, file_.after);
    if (change.differs.kind) {  // as git does: the one goes, the other comes
      write(before, {});
      write({}, after);
    } else {
      write(before, after);
    }
    return std::move(out_);
  }

 private:
  void line(std::string_view sequence, std::string_view text) {
    out_ += painted(colour_, sequence, text);
    out_ += '\n';
  }

  std::string name(std::string_view side) const {
    return quoted_name(std::string(side) + (path_.starts_with('/') ? "" : "/") + std::string(path_));
  }

  void write(const Side& before, const Side& after) {
    line(bold, "diff --git " + name("a") + " " + name("b"));
    const std::string verdict = verdict_line(file_);
    if (!verdict.empty()) line(notice, verdict);
    write_modes(before, after);
    if (!has_other_contents(file_.change)) return;
    const ContentsDiff diff = diff_of(before, after, work_);
    const std::string sizes = before.state == nullptr  ? "none -> " + size_of(file_.change.after)
                              : after.state == nullptr ? size_of(file_.change.before) + " -> none"
                                                       : sizes_text(file_.change);
    switch (diff.kind) {
      case ContentsDiff::Kind::none: break;
      case ContentsDiff::Kind::binary: line({}, "Binary files differ (" + sizes + ")"); break;
      case ContentsDiff::Kind::too_large:
        line({}, (file_.hidden ? "Contents hidden (" : "Contents not shown (") + sizes + ")");
        break;
      case ContentsDiff::Kind::lines:
        depth_ == PatchDepth::whole ? write_hunks(before, after, diff.lines)
                                    : line({}, "Contents not shown (" + sizes + ")");
        break;
    }
  }

  void write_modes(const Side& before, const Side& after) {
    const Difference& differs = file_.change.differs;
    const bool is_new = before.state == nullptr;
    const FileState* one = is_new ? after.state : before.state;
    if (one == nullptr) return;
    if (is_new || after.state == nullptr)
      return line(bold, (is_new ? "new " : "deleted ") + std::string(kind_word(one->kind)) + " mode " +
                            mode_text(*one, false));
    if (differs.mode) {
      line(bold, "old mode " + mode_text(*before.state, true));
      line(bold, "new mode " + mode_text(*after.state, true));
    }
    if (differs.owner) line(bold, "owner " + owner_text(*before.state) + " -> " + owner_text(*after.state));
    if (differs.attributes) line(bold, "extended attributes differ");
    if (differs.times && !differs.contents && !differs.mode) line(bold, "modification time differs");
  }

  static std::string owner_text(const FileState& state) {
    return std::to_string(state.uid) + ":" + std::to_string(state.gid);
  }

  void write_hunks(const Side& before, const Side& after, const LineDiff& diff) {
    // A tab ends a name with blanks in it, as git has it for patch(1).
    const std::string tab = path_.find(' ') == std::string_view::npos ? "" : "\t";
    line(bold, "--- " + (before.state == nullptr ? "/dev/null" : name("a") + tab));
    line(bold, "+++ " + (after.state == nullptr ? "/dev/null" : name("b") + tab));
    for (const Hunk& hunk : diff.hunks) {
      Hunk bare = hunk;
      bare.heading = {};
      bare.lines.clear();
      out_ += painted(colour_, cyan, hunk_header(bare));
      if (!hunk.heading.empty()) out_ += " " + visible_line(hunk.heading, mark());
      out_ += '\n';
      for (const DiffLine& text : hunk.lines) write_line(text);
    }
  }

  void write_line(const DiffLine& text) {
    const bool is_kept = text.fate == LineFate::kept;
    const std::string_view sequence = is_kept ? "" : text.fate == LineFate::removed ? red : green;
    const bool marks = !is_kept && colour_ == Colour::terminal;
    const size_t blanks = marks ? text.text.find_last_not_of(" \t") + 1 : text.text.size();  // npos + 1 is 0
    std::string shown(1, is_kept ? ' ' : text.fate == LineFate::removed ? '-' : '+');
    shown += visible_line(text.text.substr(0, blanks), mark());
    out_ += painted(colour_, sequence, shown);
    if (blanks < text.text.size()) out_ += painted(colour_, on_red, text.text.substr(blanks));
    out_ += '\n';
    if (!text.has_newline) line({}, no_newline_mark);
  }

  EscapeMark mark() const {
    return colour_ == Colour::terminal ? EscapeMark{reverse, no_reverse} : EscapeMark{};
  }

  const ShownChange& file_;
  PatchDepth depth_;
  Colour colour_;
  uint64_t& work_;
  std::string_view path_;
  std::string out_ = {};
};

}  // namespace

std::string verdict_line(const ShownChange& file) {
  if (file.verdict.fate == Fate::committed) return "";
  std::string line = file.verdict.fate == Fate::asked ? "waits for an answer" : "withheld";
  if (!file.verdict.reason.empty()) line += ": " + shown(file.verdict.reason, most_reason);
  if (!file.verdict.rule.empty()) line += " (" + shown(file.verdict.rule, most_reason) + ")";
  return line;
}

std::string sizes_text(const Change& change) {
  return size_of(change.before) + " -> " + size_of(change.after);
}

ContentsDiff contents_diff(const ShownChange& file, uint64_t& work) {
  if (!has_other_contents(file.change)) return {};
  return diff_of(side_of(file.change.before, file.before), side_of(file.change.after, file.after), work);
}

std::string file_patch(const ShownChange& file, PatchDepth depth, Colour colour, uint64_t& work) {
  return PatchWriter(file, depth, colour, work).run();
}

}  // namespace cloche
