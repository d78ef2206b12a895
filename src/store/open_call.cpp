#include "store/open_call.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/directory.hpp"
#include "base/private_file.hpp"
#include "base/sys.hpp"

namespace cloche {
namespace {

constexpr std::string_view digests_ending = ".digests";

// DEVICE-INODE-SECONDS-NANOSECONDS-SALT
std::string name_of_root(const struct stat& root) {
  return std::to_string(root.st_dev) + "-" + std::to_string(root.st_ino) + "-";
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

OpenCall OpenCall::begin(const std::string& state, int root, const ChangeTime& now,
                         const std::vector<ProtectedFact>& known, const Save& save) {
  OpenCall call;
  call.began_ = call.since_ = now;
  struct stat seen {};
  const bool has_state = !state.empty() && ::fstat(root, &seen) == 0;
  call.directory_ = state + "/open";
  call.before_ = state + "/before";
  const auto marks = has_state ? lock_marks(call.directory_) : refusal("there is no state");
  const std::string of_root = name_of_root(seen);
  if (marks.ok()) call.look_at_others(marks.value().get(), of_root);
  if (save) save(call.saved_, call);
  if (marks.ok() && call.make_mark(marks.value().get(), of_root, known)) call.write_saved();
  return call;
}

void OpenCall::look_at_others(int directory, const std::string& of_root) {
  std::vector<std::pair<ChangeTime, std::string>> dead;
  for (const auto& name : names_in(directory_)) {
    if (!name.starts_with(of_root)) continue;
    const auto time = time_in(name, of_root);
    if (!time) continue;
    if (is_held(directory, name)) {
      since_ = std::min(since_, *time);
      saved_.take_over(saved_by(name));
      digests_.merge(digests_by(name));
    } else {
      dead.emplace_back(*time, name);
    }
  }
  std::sort(dead.begin(), dead.end());
  for (auto& [time, name] : dead) dead_.push_back(std::move(name));
  if (dead.empty()) return;
  abandoned_ = dead.front().first;
  take_over_abandoned(directory);
}

bool OpenCall::make_mark(int directory, const std::string& of_root, const std::vector<ProtectedFact>& known) {
  uint64_t salt = 0;
  (void)::getrandom(&salt, sizeof salt, 0);
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
  constexpr size_t most_bytes = size_t{16} << 20;
  const auto text = sys::read_file_at(directory, dead_.front(), most_bytes);
  known_to_abandoned_ = facts_in(text.ok() ? text.value() : "");
  for (const auto& name : dead_) {
    saved_by_abandoned_.take_over(saved_by(name));
    digests_of_abandoned_.merge(digests_by(name));
  }
}

SavedMembers OpenCall::saved_by(const std::string& name) const {
  constexpr size_t most_bytes = size_t{16} << 20;
  const auto text = read_private_file(before_ + "/" + name, most_bytes);
  return SavedMembers::from_text(text.ok() ? text.value() : "");
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
  if (lock_ && !saved_.is_empty()) write_private_file(before_ + "/" + name_, saved_.text());
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
  ::unlink((before_ + "/" + name + std::string(digests_ending)).c_str());
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
