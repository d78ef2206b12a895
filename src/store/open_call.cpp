#include "store/open_call.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/directory.hpp"
#include "base/sys.hpp"

namespace cloche {
namespace {

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

}  // namespace

OpenCall OpenCall::begin(const std::string& state, int root, const ChangeTime& now,
                         const std::vector<ProtectedFact>& known) {
  OpenCall call;
  call.began_ = call.since_ = now;
  struct stat seen {};
  if (state.empty() || ::fstat(root, &seen) != 0) return call;
  call.directory_ = state + "/open";
  const auto marks = open_marks(call.directory_);
  if (!marks.ok()) return call;
  const int directory = marks.value().get();
  ::flock(directory, LOCK_EX);  // or somebody could take a mark for abandoned that is not locked yet
  const std::string of_root = name_of_root(seen);
  for (const auto& name : names_in(call.directory_)) {
    if (!name.starts_with(of_root)) continue;
    const auto time = time_in(name, of_root);
    if (!time) continue;
    if (is_held(directory, name)) {
      call.since_ = std::min(call.since_, *time);
    } else {
      call.dead_.push_back(name);
      if (!call.abandoned_ || *time < *call.abandoned_) call.take_over(directory, name, *time);
    }
  }
  uint64_t salt = 0;
  (void)::getrandom(&salt, sizeof salt, 0);
  call.name_ = of_root + std::to_string(call.since_.seconds) + "-" + std::to_string(call.since_.nanoseconds) +
               "-" + std::to_string(salt);
  auto mark = sys::open_at(directory, call.name_, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (mark.ok()) {
    ::flock(mark.value().get(), LOCK_EX);
    (void)sys::write_all(mark.value().get(), text_of(call.certain_of(known)));
    call.lock_ = std::move(mark).value();
  }
  return call;
}

std::vector<ProtectedFact> OpenCall::certain_of(std::vector<ProtectedFact> known) const {
  std::erase_if(known, [this](const ProtectedFact& fact) { return is_doubtful(fact.changed); });
  return known;
}

void OpenCall::take_over(int directory, const std::string& name, const ChangeTime& time) {
  constexpr size_t most_bytes = size_t{16} << 20;
  abandoned_ = time;
  const auto text = sys::read_file_at(directory, name, most_bytes);
  known_to_abandoned_ = facts_in(text.ok() ? text.value() : "");
}

void OpenCall::forget_abandoned() {
  for (const auto& name : dead_) ::unlink((directory_ + "/" + name).c_str());
  dead_.clear();
}

void OpenCall::leave() {
  if (!dead_.empty()) return close();  // an older mark says it already
  lock_ = OwnedFd();
}

void OpenCall::close() {
  if (lock_) ::unlink((directory_ + "/" + name_).c_str());
  lock_ = OwnedFd();
}

}  // namespace cloche
