// What is kept for the undo of change sets: how much it is, its bounds, and what goes where they are met.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/sys/directory.hpp"
#include "base/sys/path.hpp"
#include "base/sys/private_file.hpp"
#include "base/sys/sys.hpp"
#include "policy/changes/ignored_paths.hpp"
#include "store/commit/change_sets.hpp"

namespace cloche {
namespace {

constexpr size_t most_tally_bytes = size_t{1} << 30;

bool fits(const KeptTotal& total, const UndoBounds& bounds) {
  return total.sets <= bounds.count && total.bytes.plain <= bounds.bytes &&
         total.bytes.ignored <= bounds.ignored_bytes;
}

std::string tally_line(const KeptBytes& kept) {
  return std::to_string(kept.plain) + " " + std::to_string(kept.ignored) + "\n";
}

KeptTotal sum(KeptTotal total, const KeptBytes& more) {
  return {total.sets + 1, {total.bytes.plain + more.plain, total.bytes.ignored + more.ignored}};
}

constexpr uint64_t worth_a_look = 1 << 20;
constexpr size_t most_directories = 20'000;  // in which a .gitignore is looked for
constexpr size_t most_text = 256 << 10;

IgnoredPaths ignored_in(int project, const std::vector<const Change*>& files) {
  std::set<std::string> directories = {""};
  for (const Change* file : files) {
    for (std::string_view path = directory_in(file->path);
         directories.size() < most_directories && directories.emplace(path).second;)
      path = directory_in(path);
  }
  std::vector<IgnoreText> texts;
  for (const std::string& directory : directories) {
    const OwnedFd file = open_descendant(project, joined(directory, ".gitignore"), O_RDONLY);
    struct stat seen {};
    if (!file || ::fstat(file.get(), &seen) != 0 || !S_ISREG(seen.st_mode)) continue;
    auto text = sys::read_all(file.get(), most_text);
    if (text.ok()) texts.push_back({directory, std::move(text).value()});
  }
  return IgnoredPaths(texts);
}

}  // namespace

KeptBytes ChangeSets::count_kept_bytes(const ChangeSet& set, const std::vector<ChangeVerdict>& verdicts,
                                       std::span<const CommitTree> trees) {
  KeptBytes kept;
  std::vector<std::vector<const Change*>> files(trees.size());
  for (size_t i = 0; i < set.changes.size() && i < verdicts.size(); ++i) {
    const Change& change = set.changes[i];
    if (!change.before || change.tree >= trees.size() || verdicts[i].fate != Fate::committed) continue;
    kept.plain += change.before->size;
    if (change.before->size != 0) files[change.tree].push_back(&change);
  }
  if (kept.plain < worth_a_look) return kept;
  for (size_t tree = 0; tree < trees.size(); ++tree) {
    IgnoredPaths ignored = ignored_in(trees[tree].project, files[tree]);
    for (const Change* file : files[tree]) {
      if (!ignored.ignores(file->path, PathIs::other)) continue;
      kept.plain -= file->before->size;
      kept.ignored += file->before->size;
    }
  }
  return kept;
}

// A line that is missing is found at the next pruning.
void ChangeSets::note_kept(const KeptBytes& kept) const {
  const auto tally = sys::open(tally_, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);
  if (tally.ok()) (void)sys::write_all(tally.value().get(), tally_line(kept));
}

KeptTotal ChangeSets::read_tally() const {
  KeptTotal total;
  const auto text = read_private_file(tally_, most_tally_bytes);
  const std::string lines = text.ok() ? text.value() : "";
  const char* at = lines.data();
  const char* const end = at + lines.size();
  while (at < end) {
    KeptBytes kept;
    const auto plain = std::from_chars(at, end, kept.plain);
    const auto ignored = std::from_chars(std::min(plain.ptr + 1, end), end, kept.ignored);
    total = sum(total, kept);
    at = std::find(ignored.ptr, end, '\n') + 1;
  }
  return total;
}

std::optional<std::string> ChangeSets::make_room(const UndoBounds& bounds, const KeptBytes& fresh,
                                                 int64_t now_ms) const {
  if (fits(sum(read_tally(), fresh), bounds)) return std::nullopt;
  // Some more than is needed, so that not every call has to.
  const auto less = [](auto bound, auto room) { return bound - std::min(bound, std::max(room, bound / 8)); };
  const UndoBounds lower{less(bounds.count, size_t{1}), less(bounds.bytes, fresh.plain),
                         less(bounds.ignored_bytes, fresh.ignored)};
  const KeptTotal wanted = sum(prune(lower, now_ms).kept, fresh);
  if (fits(wanted, bounds)) return std::nullopt;
  const char* const what = wanted.sets > bounds.count          ? "calls"
                           : wanted.bytes.plain > bounds.bytes ? "bytes"
                                                               : "bytes of ignored paths";
  return std::string("the bound of what is kept for undo, ") + what +
         ", is met by what is younger than a day (see the key undo)";
}

PrunedSets ChangeSets::prune(const UndoBounds& bounds, int64_t now_ms) const {
  constexpr int64_t day_ms = 24LL * 60 * 60 * 1000;
  PrunedSets answer;
  std::string tally;
  for (const SetHeader& header : list()) {
    if (header.status != SetStatus::committed && header.status != SetStatus::undone) continue;
    const KeptTotal more = sum(answer.kept, header.kept);
    if (!fits(more, bounds) && now_ms - header.created_ms >= day_ms && drop(header.id).ok()) {
      ++answer.dropped;
      continue;
    }
    answer.kept = more;
    tally += tally_line(header.kept);
  }
  if (answer.kept.sets + answer.dropped != 0) (void)write_private_file(tally_, tally);
  return answer;
}

void ChangeSets::empty_trash() const {
  const auto trash = sys::open(trash_, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!trash.ok()) return;
  for (const auto& name : names_in(trash_)) {
    const auto header = read_header(trash_ + "/" + name);
    if (header.ok()) {
      for (const KnownDirectory& place : header.value().places) remove_known(place);
    }
    (void)remove_entry(trash.value().get(), name);
  }
}

}  // namespace cloche
