#include "store/commit/stored_set.hpp"

#include <charconv>
#include <concepts>
#include <optional>

namespace cloche {
namespace {

// The first field of every text: another format is refused and not guessed at.
constexpr std::string_view format = "cloche-changes-2";

class FieldWriter {
 public:
  explicit FieldWriter(size_t bytes = 0) {
    text_.reserve(bytes);
    text(format);
  }

  void text(std::string_view value) { text_.append(value).push_back('\0'); }
  template <std::integral T>
  void number(T value) {
    char digits[24];
    const auto [end, problem] = std::to_chars(digits, digits + sizeof digits, value);
    text({digits, end});
  }
  template <typename T>
  requires std::is_enum_v<T>
  void number(T value) { number(static_cast<int>(value)); }
  void truth(bool value) { text(value ? "1" : "0"); }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

// Remembers the first problem: fields after it are empty, and the caller asks once, at the end.
class FieldReader {
 public:
  explicit FieldReader(std::string_view text) : rest_(text) { is_good_ = this->text() == format; }

  std::string_view text() {
    const size_t end = rest_.find('\0');
    if (end == std::string_view::npos) {
      is_good_ = false;
      return {};
    }
    const std::string_view field = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return field;
  }
  template <std::integral T>
  void number(T& value) {
    const std::string_view field = text();
    const auto [end, problem] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (problem != std::errc{} || end != field.data() + field.size()) is_good_ = false;
  }
  // `last` is the last enumerator.
  template <typename T>
  void choice(T& value, T last) {
    int number_of = 0;
    number(number_of);
    if (number_of < 0 || number_of > static_cast<int>(last)) is_good_ = false;
    if (is_good_) value = static_cast<T>(number_of);
  }
  void truth(bool& value) {
    const std::string_view field = text();
    if (field != "0" && field != "1") is_good_ = false;
    value = field == "1";
  }
  void string(std::string& value) { value = text(); }
  // A count of things that follow, each of at least one byte.
  size_t count() {
    size_t value = 0;
    number(value);
    if (value > rest_.size()) is_good_ = false;
    return is_good_ ? value : 0;
  }
  bool is_good() const { return is_good_; }
  Result<void> finish(const char* what) const {
    if (is_good_ && rest_.empty()) return {};
    return Error{.cause = Cause::internal, .what = std::string("the stored ") + what + " cannot be read"};
  }

 private:
  std::string_view rest_;
  bool is_good_ = true;
};

void write(FieldWriter& out, const std::optional<FileState>& state) {
  out.truth(state.has_value());
  if (!state) return;
  out.number(state->kind);
  out.number(state->mode);
  out.number(state->uid);
  out.number(state->gid);
  out.number(state->size);
  out.number(state->modified_ns);
  out.number(state->names);
  out.text(state->link);
}

void read(FieldReader& in, std::optional<FileState>& value) {
  bool is_there = false;
  in.truth(is_there);
  if (!is_there) return;
  FileState state;
  in.choice(state.kind, FileKind::device);
  in.number(state.mode);
  in.number(state.uid);
  in.number(state.gid);
  in.number(state.size);
  in.number(state.modified_ns);
  in.number(state.names);
  in.string(state.link);
  value = std::move(state);
}

void write(FieldWriter& out, const Difference& differs) {
  unsigned bits = 0;
  for (const bool bit :
       {differs.kind, differs.contents, differs.mode, differs.owner, differs.times, differs.attributes})
    bits = bits << 1 | (bit ? 1U : 0U);
  out.number(bits);
}

void read(FieldReader& in, Difference& differs) {
  unsigned bits = 0;
  in.number(bits);
  for (bool* bit : {&differs.attributes, &differs.times, &differs.owner, &differs.mode, &differs.contents,
                    &differs.kind}) {
    *bit = (bits & 1U) != 0;
    bits >>= 1;
  }
}

void write(FieldWriter& out, const KnownDirectory& directory) {
  out.text(directory.path);
  out.number(directory.device);
  out.number(directory.inode);
  out.number(directory.born_ns);
}

void read(FieldReader& in, KnownDirectory& directory) {
  in.string(directory.path);
  in.number(directory.device);
  in.number(directory.inode);
  in.number(directory.born_ns);
}

void write(FieldWriter& out, const std::string& text) { out.text(text); }
void read(FieldReader& in, std::string& text) { in.string(text); }

void write(FieldWriter& out, const Change& change) {
  out.number(change.tree);
  out.text(change.path);
  out.number(change.kind);
  write(out, change.before);
  write(out, change.after);
  write(out, change.differs);
}

void read(FieldReader& in, Change& change) {
  in.number(change.tree);
  in.string(change.path);
  in.choice(change.kind, ChangeKind::deleted);
  read(in, change.before);
  read(in, change.after);
  read(in, change.differs);
}

void write(FieldWriter& out, const Step& step) {
  out.number(step.kind);
  out.number(step.tree);
  out.text(step.path);
  out.number(step.side);
  out.text(step.from);
  out.truth(step.is_copied);
  write(out, step.before);
  write(out, step.after);
  out.number(step.entries);
  out.truth(step.sets_times);
  out.truth(step.has_attributes);
  out.truth(step.was_opened);
  for (const uint64_t number : {step.parent, step.old, step.fresh, step.placed.device, step.placed.inode})
    out.number(number);
  out.number(step.placed.changed_ns);
}

void read(FieldReader& in, Step& step) {
  in.choice(step.kind, StepKind::settle_directory);
  in.number(step.tree);
  in.string(step.path);
  in.choice(step.side, StepSide::source);
  in.string(step.from);
  in.truth(step.is_copied);
  read(in, step.before);
  read(in, step.after);
  in.number(step.entries);
  in.truth(step.sets_times);
  in.truth(step.has_attributes);
  in.truth(step.was_opened);
  for (uint64_t* number : {&step.parent, &step.old, &step.fresh, &step.placed.device, &step.placed.inode})
    in.number(*number);
  in.number(step.placed.changed_ns);
}

template <typename List>
void write_all(FieldWriter& out, const List& list) {
  out.number(list.size());
  for (const auto& item : list) write(out, item);
}

template <typename T>
void read_all(FieldReader& in, std::vector<T>& list) {
  const size_t count = in.count();
  list.reserve(count);
  for (size_t i = 0; i < count && in.is_good(); ++i) read(in, list.emplace_back());
}

void write(FieldWriter& out, const StoredTree& tree) {
  write(out, tree.project);
  write(out, tree.source);
  write(out, tree.undo);
  out.number(tree.transfer);
}

void read(FieldReader& in, StoredTree& tree) {
  read(in, tree.project);
  read(in, tree.source);
  read(in, tree.undo);
  in.choice(tree.transfer, Transfer::copy);
}

void write(FieldWriter& out, const ChangedTree& tree) {
  write(out, KnownDirectory{tree.path, tree.device, tree.inode});
}

void read(FieldReader& in, ChangedTree& tree) {
  KnownDirectory directory;
  read(in, directory);
  tree = {directory.path, directory.device, directory.inode};
}

void write(FieldWriter& out, const ChangeVerdict& verdict) {
  out.number(verdict.fate);
  out.text(verdict.reason);
  out.text(verdict.rule);
}

void read(FieldReader& in, ChangeVerdict& verdict) {
  in.choice(verdict.fate, Fate::committed);
  in.string(verdict.reason);
  in.string(verdict.rule);
}

void write(FieldWriter& out, size_t number) { out.number(number); }
void read(FieldReader& in, size_t& number) { in.number(number); }

}  // namespace

bool is_same_directory(const KnownDirectory& one, const KnownDirectory& other) {
  const bool is_birth_known = one.born_ns != 0 && other.born_ns != 0;
  return one.device == other.device && one.inode == other.inode &&
         (!is_birth_known || one.born_ns == other.born_ns);
}

std::string_view name_of(SetStatus status) {
  switch (status) {
    case SetStatus::open: return "open";
    case SetStatus::committing: return "committing";
    case SetStatus::committed: return "committed";
    case SetStatus::staged: return "staged";
    case SetStatus::continued: return "in use";
    case SetStatus::dropped: return "dropped";
    case SetStatus::undone: return "undone";
  }
  return "";
}

std::string header_text(const SetHeader& header) {
  FieldWriter out;
  out.text(header.id);
  out.number(header.status);
  out.number(header.created_ms);
  out.number(header.uid);
  out.text(header.boot);
  out.number(header.sync);
  write(out, header.workspace);
  out.text(header.label);
  out.text(header.undoes);
  out.text(header.why);
  out.text(header.task);
  write_all(out, header.later);
  out.number(header.start.change_ns);
  out.number(header.start.grain);
  out.number(header.start.clock_offset_ns);
  out.number(header.attributes);
  out.number(header.ended_ns);
  out.number(header.kept.plain);
  out.number(header.kept.ignored);
  write_all(out, header.trees);
  write_all(out, header.places);
  return out.take();
}

Result<SetHeader> parse_header(std::string_view text) {
  FieldReader in(text);
  SetHeader header;
  in.string(header.id);
  in.choice(header.status, SetStatus::undone);
  in.number(header.created_ms);
  in.number(header.uid);
  in.string(header.boot);
  in.choice(header.sync, FileSync::at_once);
  read(in, header.workspace);
  in.string(header.label);
  in.string(header.undoes);
  in.string(header.why);
  in.string(header.task);
  read_all(in, header.later);
  in.number(header.start.change_ns);
  in.choice(header.start.grain, ClockGrain::coarse);
  in.number(header.start.clock_offset_ns);
  in.choice(header.attributes, OverlayAttributes::privileged);
  in.number(header.ended_ns);
  in.number(header.kept.plain);
  in.number(header.kept.ignored);
  read_all(in, header.trees);
  read_all(in, header.places);
  TRY(in.finish("change set"));
  return header;
}

std::string changes_text(const ChangeSet& changes, const std::vector<ChangeVerdict>& verdicts,
                         const std::vector<size_t>& left) {
  constexpr size_t usual_bytes = 120;
  FieldWriter out(changes.changes.size() * usual_bytes);
  write_all(out, changes.trees);
  write_all(out, changes.changes);
  write_all(out, verdicts);
  write_all(out, left);
  return out.take();
}

Result<void> parse_changes(std::string_view text, StoredSet& set) {
  FieldReader in(text);
  read_all(in, set.changes.trees);
  read_all(in, set.changes.changes);
  read_all(in, set.verdicts);
  read_all(in, set.left);
  return in.finish("list of changes");
}

std::string steps_text(const std::vector<Step>& steps) {
  constexpr size_t usual_bytes = 200;
  FieldWriter out(steps.size() * usual_bytes);
  write_all(out, steps);
  return out.take();
}

Result<std::vector<Step>> parse_steps(std::string_view text) {
  FieldReader in(text);
  std::vector<Step> steps;
  read_all(in, steps);
  TRY(in.finish("steps"));
  return steps;
}

}  // namespace cloche
