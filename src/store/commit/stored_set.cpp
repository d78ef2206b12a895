#include "store/commit/stored_set.hpp"

#include <algorithm>
#include <charconv>
#include <concepts>
#include <optional>

#include "base/sys/path.hpp"
#include "policy/protected/protected.hpp"

namespace cloche {
namespace {

// The first field of every text: another format is refused and not guessed at.
constexpr std::string_view format = "cloche-changes-3";
constexpr std::string_view without_steps = "cloche-changes-2";  // in the header; else the same

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
  void choice(T value, T) {
    number(static_cast<int>(value));
  }
  void truth(bool value) { text(value ? "1" : "0"); }
  void bits(std::initializer_list<const bool*> all) {
    unsigned value = 0;
    for (const bool* bit : all) value = value << 1 | (*bit ? 1U : 0U);
    number(value);
  }
  template <typename T>
  void maybe(const std::optional<T>& value) {
    truth(value.has_value());
    if (value) fields(*this, *value);
  }
  template <typename T>
  void list(const std::vector<T>& items) {
    number(items.size());
    for (const T& item : items) fields(*this, item);
  }
  template <typename T>
  void list_of_steps(const std::vector<T>& items) {
    list(items);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

// Remembers the first problem: fields after it are empty, and the caller asks once, at the end.
class FieldReader {
 public:
  explicit FieldReader(std::string_view text) : rest_(text) {
    const std::string_view named = field();
    has_steps_ = named == format;
    is_good_ = has_steps_ || named == without_steps;
  }

  void text(std::string& value) { value = field(); }
  template <std::integral T>
  void number(T& value) {
    const std::string_view digits = field();
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (problem != std::errc{} || end != digits.data() + digits.size()) is_good_ = false;
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
    const std::string_view text = field();
    if (text != "0" && text != "1") is_good_ = false;
    value = text == "1";
  }
  void bits(std::initializer_list<bool*> all) {
    unsigned value = 0;
    number(value);
    size_t place = all.size();
    for (bool* bit : all) *bit = (value >> --place & 1U) != 0;
  }
  template <typename T>
  void maybe(std::optional<T>& value) {
    bool is_there = false;
    truth(is_there);
    if (is_there) fields(*this, value.emplace());
  }
  template <typename T>
  void list(std::vector<T>& items) {
    size_t count = 0;
    number(count);
    if (count > rest_.size()) is_good_ = false;  // each is of at least one byte
    if (is_good_) items.reserve(count);
    for (size_t i = 0; i < count && is_good_; ++i) fields(*this, items.emplace_back());
  }
  template <typename T>
  void list_of_steps(std::vector<T>& items) {
    if (has_steps_) list(items);
  }
  Result<void> finish(const char* what) const {
    if (is_good_ && rest_.empty()) return {};
    return Error{.cause = Cause::internal, .what = std::string("the stored ") + what + " cannot be read"};
  }

 private:
  std::string_view field() {
    const size_t end = rest_.find('\0');
    if (end == std::string_view::npos) {
      is_good_ = false;
      return {};
    }
    const std::string_view field = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return field;
  }

  std::string_view rest_;
  bool is_good_ = true;
  bool has_steps_ = false;
};

// Of each struct what is stored, in its order. One list serves both ways: what is written is const.
template <typename T, typename Struct>
concept A = std::same_as<std::remove_const_t<T>, Struct>;

void fields(auto& io, A<size_t> auto& number) { io.number(number); }
void fields(auto& io, A<std::string> auto& text) { io.text(text); }

void fields(auto& io, A<FileState> auto& state) {
  io.choice(state.kind, FileKind::device);
  io.number(state.mode);
  io.number(state.uid);
  io.number(state.gid);
  io.number(state.size);
  io.number(state.modified_ns);
  io.number(state.names);
  io.text(state.link);
}

void fields(auto& io, A<Difference> auto& differs) {
  io.bits(
      {&differs.kind, &differs.contents, &differs.mode, &differs.owner, &differs.times, &differs.attributes});
}

void fields(auto& io, A<Change> auto& change) {
  io.number(change.tree);
  io.text(change.path);
  io.choice(change.kind, ChangeKind::deleted);
  io.maybe(change.before);
  io.maybe(change.after);
  fields(io, change.differs);
}

void fields(auto& io, A<ChangeVerdict> auto& verdict) {
  io.choice(verdict.fate, Fate::committed);
  io.text(verdict.reason);
  io.text(verdict.rule);
}

void fields(auto& io, A<KnownDirectory> auto& directory) {
  io.text(directory.path);
  io.number(directory.device);
  io.number(directory.inode);
  io.number(directory.born_ns);
}

void fields(auto& io, A<ChangedTree> auto& tree) {
  int64_t no_birth = 0;
  io.text(tree.path);
  io.number(tree.device);
  io.number(tree.inode);
  io.number(no_birth);
}

void fields(auto& io, A<StoredTree> auto& tree) {
  fields(io, tree.project);
  fields(io, tree.source);
  fields(io, tree.undo);
  io.choice(tree.transfer, Transfer::copy);
}

void fields(auto& io, A<Step> auto& step) {
  io.choice(step.kind, StepKind::settle_directory);
  io.number(step.tree);
  io.text(step.path);
  io.choice(step.side, StepSide::source);
  io.text(step.from);
  io.truth(step.is_copied);
  io.maybe(step.before);
  io.maybe(step.after);
  io.number(step.entries);
  io.truth(step.sets_times);
  io.truth(step.has_attributes);
  io.truth(step.was_opened);
  io.number(step.parent);
  io.number(step.old);
  io.number(step.fresh);
  io.number(step.placed.device);
  io.number(step.placed.inode);
  io.number(step.placed.changed_ns);
}

void fields(auto& io, A<SetHeader> auto& header) {
  io.text(header.id);
  io.choice(header.status, SetStatus::undone);
  io.number(header.created_ms);
  io.number(header.uid);
  io.text(header.boot);
  io.choice(header.sync, FileSync::at_once);
  fields(io, header.workspace);
  io.text(header.label);
  io.text(header.undoes);
  io.text(header.why);
  io.text(header.task);
  io.list(header.later);
  io.number(header.start.change_ns);
  io.choice(header.start.grain, ClockGrain::coarse);
  io.number(header.start.clock_offset_ns);
  io.choice(header.attributes, OverlayAttributes::privileged);
  io.number(header.ended_ns);
  io.number(header.kept.plain);
  io.number(header.kept.ignored);
  io.list(header.trees);
  io.list(header.places);
  io.list_of_steps(header.steps);
}

void list_changes(auto& io, auto& changes, auto& verdicts, auto& left) {
  io.list(changes.trees);
  io.list(changes.changes);
  io.list(verdicts);
  io.list(left);
}

}  // namespace

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

bool is_in_work(SetStatus status) {
  return status == SetStatus::open || status == SetStatus::committing || status == SetStatus::continued;
}

bool keeps_in_project(const StoredTree& tree) {
  return tree.undo.path.starts_with(tree.project.path + "/" + std::string(commit_directory));
}

bool has_commit_directory(const SetHeader& header) {
  return std::ranges::any_of(header.trees, keeps_in_project) ||
         std::ranges::any_of(header.places, [](const KnownDirectory& place) {
           return std::string_view(place.path)
               .substr(place.path.rfind('/') + 1)
               .starts_with(commit_directory);
         });
}

Result<HeldTrees> hold_trees(const std::vector<StoredTree>& trees) {
  HeldTrees held;
  for (const StoredTree& tree : trees) {
    for (const auto* directory : {&tree.project, &tree.source, &tree.undo})
      held.fds.push_back(directory->path.empty() ? OwnedFd() : TRY(open_known(*directory)));
    const auto* last = &held.fds.back();
    held.trees.push_back({(last - 2)->get(), (last - 1)->get(), last->get(), tree.transfer,
                          keeps_in_project(tree) ? Transfer::copy : Transfer::rename});
  }
  return held;
}

void HeldTrees::hold_undo(size_t number, const StoredTree& tree, OwnedFd undo) {
  CommitTree& held = trees[number];
  held.undo = undo.get();
  held.transfer = tree.transfer;
  held.keeping = keeps_in_project(tree) ? Transfer::copy : Transfer::rename;
  fds.push_back(std::move(undo));
}

std::vector<TreeLayers> HeldTrees::layers(const std::vector<StoredTree>& stored,
                                          OverlayAttributes attributes) const {
  std::vector<TreeLayers> layers;
  for (size_t i = 0; i < trees.size(); ++i) {
    const KnownDirectory& project = stored[i].project;
    layers.push_back(
        {{project.path, project.device, project.inode}, trees[i].project, trees[i].source, attributes});
  }
  return layers;
}

bool is_in_project(const StoredSet& set, size_t change) {
  return set.header.status == SetStatus::committed && change < set.verdicts.size() &&
         set.verdicts[change].fate == Fate::committed &&
         !std::binary_search(set.left.begin(), set.left.end(), change);
}

StepsOfPaths::StepsOfPaths(const StoredSet& set) : set_(set) {
  for (size_t i = 0; i < set.steps.size(); ++i) {
    const Step& step = set.steps[i];
    if (step.side != StepSide::project) continue;
    const bool keeps = step.kind == StepKind::remove || step.kind == StepKind::replace ||
                       (step.kind == StepKind::settle_directory && step.has_attributes && !step.sets_times);
    if (keeps) kept_[{step.tree, step.path}] = i;
    if (moves_source(step)) placed_[{step.tree, step.path}] = i;
  }
}

std::optional<std::string> StepsOfPaths::kept(size_t tree, std::string_view path) const {
  for (std::string_view top = path;; top = directory_in(top)) {
    const auto found = kept_.find({tree, top});
    if (found != kept_.end()) return undo_name(found->second).append(path.substr(top.size()));
    if (top.empty()) return std::nullopt;
  }
}

const Placed* StepsOfPaths::placed(size_t tree, std::string_view path) const {
  const auto found = placed_.find({tree, path});
  return found == placed_.end() ? nullptr : &set_.steps[found->second].placed;
}

std::string header_text(const SetHeader& header) {
  FieldWriter out;
  fields(out, header);
  return out.take();
}

Result<SetHeader> parse_header(std::string_view text) {
  FieldReader in(text);
  SetHeader header;
  fields(in, header);
  TRY(in.finish("change set"));
  return header;
}

std::string changes_text(const ChangeSet& changes, const std::vector<ChangeVerdict>& verdicts,
                         const std::vector<size_t>& left) {
  constexpr size_t usual_bytes = 120;
  FieldWriter out(changes.changes.size() * usual_bytes);
  list_changes(out, changes, verdicts, left);
  return out.take();
}

Result<void> parse_changes(std::string_view text, StoredSet& set) {
  FieldReader in(text);
  list_changes(in, set.changes, set.verdicts, set.left);
  return in.finish("list of changes");
}

std::string steps_text(const std::vector<Step>& steps) {
  constexpr size_t usual_bytes = 200;
  FieldWriter out(steps.size() * usual_bytes);
  out.list(steps);
  return out.take();
}

Result<std::vector<Step>> parse_steps(std::string_view text) {
  FieldReader in(text);
  std::vector<Step> steps;
  in.list(steps);
  TRY(in.finish("steps"));
  return steps;
}

}  // namespace cloche
