#include "store/protected/open_call.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/sys/directory.hpp"
#include "base/sys/private_file.hpp"
#include "base/sys/sys.hpp"
#include "store/protected/tree_name.hpp"

namespace cloche {
namespace {

constexpr std::string_view digests_ending = ".digests";
constexpr std::string_view leads_ending = ".leads";
// The first line, with a number that is counted up when leads are written in another way.
constexpr const char* all_leads = "all 2\n";
constexpr const char* some_leads = "some 2\n";

// A mark is TREE-SECONDS-NANOSECONDS-SALT; this is how all of a tree begin.
std::string marks_of(int root) {
  const std::string tree = tree_name(root);
  return tree.empty() ? "" : tree + "-";
}

std::optional<ChangeTime> time_in(const std::string& name, const std::string& of_root) {
  ChangeTime time;
  const char* at = name.data() + of_root.size();
  const char* end = name.data() + name.size();
  const auto seconds = std::from_chars(at, end, time.seconds);
  if (seconds.ec != std::errc{} || seconds.ptr == end || *seconds.ptr != '-') return std::nullopt;
  const auto rest = std::from_chars(seconds.ptr + 1, end, time.nanoseconds);
  if (rest.ec != std::errc{} || rest.ptr == end || *rest.ptr != '-') return std::nullopt;
  return time;
}

bool is_held(int directory, const std::string& name) {
  const auto fd = sys::open_at(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  return fd.ok() && ::flock(fd.value().get(), LOCK_EX | LOCK_NB) != 0;
}

// A line of numbers, the path, and a NUL for each: a path may hold a newline.
std::string text_of(const std::vector<ProtectedFact>& facts) {
  std::string text;
  for (const auto& fact : facts) {
    for (const auto number :
         {fact.file.device, fact.file.inode, static_cast<uint64_t>(fact.changed.seconds),
          static_cast<uint64_t>(fact.changed.nanoseconds), static_cast<uint64_t>(fact.kept)})
      text += std::to_string(number) + " ";
    text += fact.file.path;
    text += '\0';
  }
  return text;
}

// What is cut off or unreadable is left out: then more is taken for the command's.
std::vector<ProtectedFact> facts_in(std::string_view text) {
  std::vector<ProtectedFact> facts;
  for (size_t end = text.find('\0'); end != std::string_view::npos; end = text.find('\0')) {
    const char* at = text.data();
    uint64_t numbers[5] = {};
    for (auto& number : numbers) {
      at = std::from_chars(at, text.data() + end, number).ptr;
      if (at < text.data() + end && *at == ' ') ++at;
    }
    ProtectedFact fact{{.path = std::string(at, text.data() + end)}, {}, numbers[4] != 0};
    fact.file.device = numbers[0];
    fact.file.inode = numbers[1];
    fact.changed = {static_cast<int64_t>(numbers[2]), static_cast<int64_t>(numbers[3])};
    facts.push_back(std::move(fact));
    text.remove_prefix(end + 1);
  }
  return facts;
}

// What was known when a call began that left the mark `name`.
std::vector<ProtectedFact> known_by(int directory, const std::string& name) {
  constexpr size_t most_bytes = size_t{16} << 20;
  const auto text = sys::read_file_at(directory, name, most_bytes);
  return facts_in(text.ok() ? text.value() : "");
}

// The paths that were read-only to a call, and to those before it; nothing: there are none.
std::set<std::string> kept_by_all(const std::vector<ProtectedFact>& known,
                                  const std::optional<std::set<std::string>>& others) {
  std::set<std::string> kept;
  for (const auto& fact : known) {
    if (fact.kept && (!others || others->contains(fact.file.path))) kept.insert(fact.file.path);
  }
  return kept;
}

Result<OwnedFd> open_marks(const std::string& directory) {
  auto opened = sys::open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (opened.ok() || !make_private_directories(directory)) return opened;
  return sys::open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

// Or somebody could take a mark for abandoned that is not locked yet. Unlocked when it is closed.
Result<OwnedFd> lock_marks(const std::string& directory) {
  auto marks = open_marks(directory);
  if (marks.ok()) ::flock(marks.value().get(), LOCK_EX);
  return marks;
}

}  // namespace

std::optional<UnlookedCall> find_unlooked(const std::string& state, int root) {
  const std::string marks = state + "/open";
  const std::string of_root = marks_of(root);
  const auto directory = sys::open(marks, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (state.empty() || of_root.empty() || !directory.ok()) return std::nullopt;
  ::flock(directory.value().get(), LOCK_SH);  // a mark is locked by whoever makes it before this is free
  std::optional<std::pair<ChangeTime, std::string>> first;
  for (const auto& name : names_in(marks)) {
    const auto time = name.starts_with(of_root) ? time_in(name, of_root) : std::nullopt;
    if (!time || is_held(directory.value().get(), name)) continue;
    if (!first || *time < first->first) first.emplace(*time, name);
  }
  if (!first) return std::nullopt;
  return UnlookedCall{first->first, known_by(directory.value().get(), first->second)};
}

OpenCall OpenCall::begin(const std::string& state, int root, const ChangeTime& now, const TreeFacts& known,
                         const Save& save) {
  OpenCall call;
  call.since_ = now;
  const std::string of_root = marks_of(root);
  const bool has_state = !state.empty() && !of_root.empty();
  call.directory_ = state + "/open";
  call.before_ = state + "/before";
  const auto marks = has_state ? lock_marks(call.directory_) : refusal("there is no state");
  if (marks.ok()) call.look_at_others(marks.value().get(), of_root);
  call.add_own_leads({known.leads, known.is_complete});
  if (save) save(call.saved_, call);
  if (marks.ok() && call.make_mark(marks.value().get(), of_root, known.files)) call.write_saved();
  return call;
}

void OpenCall::look_at_others(int directory, const std::string& of_root) {
  using Mark = std::pair<ChangeTime, std::string>;
  std::vector<Mark> open;
  std::vector<Mark> dead;
  for (const auto& name : names_in(directory_)) {
    const auto time = name.starts_with(of_root) ? time_in(name, of_root) : std::nullopt;
    if (time) (is_held(directory, name) ? open : dead).emplace_back(*time, name);
  }
  std::sort(open.begin(), open.end());
  for (const auto& [time, name] : open) {  // what the first of them says holds
    since_ = std::min(since_, time);
    saved_.take_over(saved_by(name));
    digests_.merge(digests_by(name));
    add_own_leads(leads_by(name));
    kept_by_others_ = kept_by_all(known_by(directory, name), kept_by_others_);
  }
  std::sort(dead.begin(), dead.end());
  for (auto& [time, name] : dead) dead_.push_back(std::move(name));
  if (dead.empty()) return;
  abandoned_ = dead.front().first;
  take_over_abandoned(directory);
}

void Leads::take_over(const Leads& later) {
  cloche::add_leads(facts, later.facts);
  are_all = are_all && later.are_all;
}

bool OpenCall::make_mark(int directory, const std::string& of_root, const std::vector<ProtectedFact>& known) {
  uint64_t salt = 0;
  (void)!::getrandom(&salt, sizeof salt, 0);
  name_ = of_root + std::to_string(since_.seconds) + "-" + std::to_string(since_.nanoseconds) + "-" +
          std::to_string(salt);
  auto mark = sys::open_at(directory, name_, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (!mark.ok()) return false;
  ::flock(mark.value().get(), LOCK_EX);
  (void)sys::write_all(mark.value().get(), text_of(certain_of(known)));
  lock_ = std::move(mark).value();
  return true;
}

std::vector<ProtectedFact> OpenCall::certain_of(std::vector<ProtectedFact> known) const {
  std::erase_if(known, [this](const ProtectedFact& fact) { return is_doubtful(fact.changed); });
  return known;
}

void OpenCall::take_over_abandoned(int directory) {
  known_to_abandoned_ = known_by(directory, dead_.front());
  // What was read-only to one of them another may have changed.
  std::optional<std::set<std::string>> kept;
  for (const auto& name : dead_) kept = kept_by_all(known_by(directory, name), kept);
  for (auto& fact : known_to_abandoned_) fact.kept = kept->contains(fact.file.path);
  for (const auto& name : dead_) {
    saved_by_abandoned_.take_over(saved_by(name));
    digests_of_abandoned_.merge(digests_by(name));
    const bool is_first = name == dead_.front();
    if (is_first || !leads_of_abandoned_.are_all) leads_of_abandoned_.take_over(leads_by(name));
  }
}

SavedMembers OpenCall::saved_by(const std::string& name) const {
  constexpr size_t most_bytes = size_t{16} << 20;
  const auto text = read_private_file(before_ + "/" + name, most_bytes);
  return SavedMembers::from_text(text.ok() ? text.value() : "");
}

Leads OpenCall::leads_by(const std::string& name) const {
  constexpr size_t most_bytes = size_t{64} << 20;
  const auto text = read_private_file(before_ + "/" + name + std::string(leads_ending), most_bytes);
  const bool are_all = text.ok() && text.value().starts_with(all_leads);
  if (!are_all && !(text.ok() && text.value().starts_with(some_leads))) return {};
  const size_t first_line = text.value().find('\n') + 1;
  return {leads_in(std::string_view(text.value()).substr(first_line)), are_all};
}

Digests OpenCall::digests_by(const std::string& name) const {
  constexpr size_t most_bytes = size_t{64} << 20;
  const auto text = read_private_file(before_ + "/" + name + std::string(digests_ending), most_bytes);
  return digests_in(text.ok() ? text.value() : "");
}

void OpenCall::add_digests(const Digests& found) {
  digests_.insert(found.begin(), found.end());
  if (lock_)
    write_private_file(before_ + "/" + name_ + std::string(digests_ending), text_of_digests(digests_));
}

void OpenCall::write_saved() const {
  if (!lock_) return;
  if (!saved_.is_empty()) write_private_file(before_ + "/" + name_, saved_.text());
  write_private_file(before_ + "/" + name_ + std::string(leads_ending),
                     (leads_.are_all ? all_leads : some_leads) + text_of_leads(leads_.facts));
}

// Whoever was here first knew all there were: what this one found besides is the work of another call.
void OpenCall::add_own_leads(const Leads& own) {
  if (!overlaps() || !leads_.are_all) leads_.take_over(own);
}

void OpenCall::add_leads(const Leads& more) {
  add_own_leads(more);
  write_saved();
}

void OpenCall::add_saved(const SavedMembers& more) {
  if (more.is_empty()) return;
  saved_.take_over(more);
  write_saved();
}

// Whoever begins sees all of a call or nothing of it.
void OpenCall::remove(const std::string& name) const {
  const auto lock = lock_marks(directory_);
  ::unlink((before_ + "/" + name).c_str());
  for (const auto& ending : {digests_ending, leads_ending})
    ::unlink((before_ + "/" + name + std::string(ending)).c_str());
  ::unlink((directory_ + "/" + name).c_str());
}

void OpenCall::forget_abandoned() {
  for (const auto& name : dead_) remove(name);
  dead_.clear();
}

void OpenCall::leave() {
  if (!dead_.empty()) return close();  // an older mark says it already
  lock_ = OwnedFd();
}

void OpenCall::close() {
  if (lock_) remove(name_);
  lock_ = OwnedFd();
}

}  // namespace cloche
