#include "store/record/record.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/sys/directory.hpp"
#include "base/sys/sys.hpp"
#include "base/text/sha256.hpp"

namespace cloche {
namespace {

constexpr size_t max_open_tasks = 16;

std::string now() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return show_time(static_cast<uint64_t>(time.tv_sec) * 1000 + static_cast<uint64_t>(time.tv_nsec) / 1000000);
}

// A new name in a directory is on the disk when the directory is.
Result<void> settle_directory(int directory, Durability durability) {
  if (durability == Durability::durable && ::fsync(directory) != 0)
    return system_error("bring a directory of the record to the disk");
  return {};
}

Result<OwnedFd> lock_in_use(const RunPlace& place, int run_directory) {
  const std::string shown = place.directory + "/" + lock_name;
  OwnedFd lock = TRY(append_record_file(run_directory, lock_name, shown));
  while (::flock(lock.get(), LOCK_SH) != 0) {
    if (errno != EINTR) return system_error("lock " + shown);
  }
  struct stat seen {};
  if (::fstat(lock.get(), &seen) != 0 || seen.st_nlink == 0)
    return refusal("the run " + place.directory + " was removed just now");
  return lock;
}

// Below the transcripts, through no link, and without waiting for anything.
OwnedFd open_result(int transcripts, const std::string& path) {
  open_how how{};
  how.flags = O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return OwnedFd(static_cast<int>(::syscall(SYS_openat2, transcripts, path.c_str(), &how, sizeof how)));
}

Result<FilePart> read_part(int fd, uint64_t offset, uint64_t limit, const std::string& shown) {
  struct stat seen {};
  if (::fstat(fd, &seen) != 0) return system_error("look at " + shown);
  if (!S_ISREG(seen.st_mode) || seen.st_uid != ::geteuid())
    return refusal(shown + " is not a result that was stored here");
  const auto size = static_cast<uint64_t>(seen.st_size);
  if (offset >= size) return FilePart{{}, size};
  std::string part(std::min({limit, max_recall_bytes, size - offset}), '\0');
  const ssize_t got = ::pread(fd, part.data(), part.size(), static_cast<off_t>(offset));
  if (got < 0) return system_error("read " + shown);
  part.resize(static_cast<size_t>(got));
  return FilePart{std::move(part), size};
}

}  // namespace

Result<OwnedFd> lock_finished_run(const RunPlace& place, int run_directory) {
  const std::string shown = place.directory + "/" + lock_name;
  OwnedFd lock = TRY(append_record_file(run_directory, lock_name, shown));
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno != EWOULDBLOCK) return system_error("lock " + shown);
  return refusal("the run " + place.run_id() + " is in use");
}

Result<std::unique_ptr<Run>> Run::open(const RunPlace& place, Durability durability, Results results) {
  std::unique_ptr<Run> run(new Run(place));
  run->durability_ = durability;
  run->results_ = results;
  const OwnedFd directory = TRY(hold_run_directory(place, RecordUse::write));
  run->in_use_ = TRY(lock_in_use(place, directory.get()));
  run->transcripts_ = TRY(hold_transcripts(place, directory.get(), RecordUse::write));
  OwnedFd audit = TRY(append_record_file(directory.get(), audit_name, place.audit()));
  run->audit_ = std::make_unique<Chain>(std::move(audit), place.audit());
  run->stored_head_ = StoredHead::open(place);
  TRY(run->begin_or_go_on());
  TRY(settle_directory(directory.get(), durability));
  return run;
}

// A directory without a line and without a transcript is where a run begins, whatever was in it once. With a
// transcript, the audit was emptied or removed.
Result<void> Run::begin_or_go_on() {
  Chain::Held audit = TRY(hold_audit());
  if (audit.end().line > 0) return {};
  if (!names_in(place_.transcripts()).empty()) return note_cut_back(audit, audit.end());
  if (read_stored_head(place_)) stored_head_.store(audit.end());
  return {};
}

Result<Chain::Held> Run::hold_audit() {
  Chain::Held audit = TRY(audit_->hold());
  if (const auto found = audit.unsure_end()) {
    TRY(note_cut_back(audit, *found));
    audit.make_sure();
  }
  return audit;
}

// From the next line on the state directory would agree with whatever stands in the audit, so when that is
// not what it remembers, this is written down first. An audit that has more is that of a writer which ended
// before it could say so here.
Result<void> Run::note_cut_back(Chain::Held& audit, const ChainEnd& found) {
  const auto stored = read_stored_head(place_);
  if (!stored || stored->line == 0 || (stored->line == found.line && stored->hash == found.hash)) return {};
  if (stored->line <= found.line && TRY(audit.hash_said_by(stored->line)) == stored->hash) return {};
  if (stored->line > found.line) audit.count_lost_calls(stored->line - found.line);
  TRY(audit.append(cut_back_object(*stored, now()), Counts::line));
  stored_head_.store(audit.end());
  return {};
}

Result<std::string> Run::begin(const DecisionRecord& decided) {
  TRY(check_task_id(decided.task_id));
  (void)TRY(task(decided.task_id));  // where its end will be written must be there before it begins
  std::string object = decision_object(decided, now());
  std::string call_id;
  uint64_t size = 0;
  {
    Chain::Held audit = TRY(hold_audit());
    call_id = call_id_of(audit.end().calls + 1);
    add_call_id(object, call_id);
    TRY(audit.append(std::move(object), Counts::call));
    stored_head_.store(audit.end());
    size = audit.size();
  }
  if (durability_ == Durability::durable) TRY(audit_->settle(size));
  return call_id;
}

Result<void> Run::finish(const CallRecord& call, const Chunks& raw) {
  TRY(check_task_id(call.decided.task_id));
  TRY(check_call_id(call.call_id));
  const std::shared_ptr<Task> its_task = TRY(task(call.decided.task_id));
  std::optional<RawResult> stored;
  if (results_ == Results::stored) stored = TRY(store_raw(*its_task, call.call_id, raw));
  auto ends = append_call(*its_task, call, stored);
  if (!ends.ok() && !stored) return ends.take_error();
  if (!ends.ok()) {
    // A result without its line would read as one whose line was taken away.
    ::unlinkat(its_task->results.get(), (call.call_id + std::string(result_ending)).c_str(), 0);
    return ends.take_error();
  }
  if (durability_ == Durability::buffered) return {};
  TRY(its_task->transcript->settle(ends.value().transcript));
  return audit_->settle(ends.value().audit);
}

Result<Run::Ends> Run::append_call(Task& task, const CallRecord& call, const std::optional<RawResult>& raw) {
  const std::string time = now();
  std::string object = call_object(call, raw, time);
  Chain::Held transcript = TRY(task.transcript->hold());
  TRY(transcript.append(std::move(object), Counts::call));
  auto audit_size = append_audit(head_object(call, transcript.end(), time), Counts::line);
  if (!audit_size.ok()) {
    transcript.take_back();
    return audit_size.take_error();
  }
  return Ends{transcript.size(), audit_size.value()};
}

Result<uint64_t> Run::append_audit(std::string open_object, Counts counts) {
  Chain::Held audit = TRY(hold_audit());
  TRY(audit.append(std::move(open_object), counts));
  stored_head_.store(audit.end());
  return audit.size();
}

Result<RawResult> Run::store_raw(const Task& task, const std::string& call_id, const Chunks& raw) const {
  const std::string name = call_id + std::string(result_ending);
  OwnedFd file(
      ::openat(task.results.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file && errno == EEXIST)
    return refusal("there is a result of " + call_id + " in task " + task.id + " already");
  if (!file) return system_error("make the result of " + call_id);
  Result<void> written = {};
  Sha256 hash;
  uint64_t bytes = 0;
  auto given = raw([&](std::string_view piece) {
    if (written.ok()) written = sys::write_all(file.get(), piece);
    hash.add(piece);
    bytes += piece.size();
  });
  if (written.ok()) written = std::move(given);
  if (written.ok() && durability_ == Durability::durable && ::fdatasync(file.get()) != 0)
    written = system_error("bring the result of " + call_id + " to the disk");
  if (written.ok() && durability_ == Durability::durable)
    written = settle_directory(task.results.get(), durability_);
  if (!written.ok()) {
    ::unlinkat(task.results.get(), name.c_str(), 0);
    return system_error("store the result of " + call_id, written.error().number);
  }
  return RawResult{bytes, hash.finish()};
}

Result<FilePart> Run::recall(std::string_view task_id, std::string_view call_id, uint64_t offset,
                             uint64_t limit) const {
  TRY(check_task_id(task_id));
  TRY(check_call_id(call_id));
  const std::string path = std::string(task_id) + "/" + std::string(call_id) + std::string(result_ending);
  const OwnedFd file = open_result(transcripts_.get(), path);
  const std::string shown = "the result of " + std::string(call_id) + " in task " + std::string(task_id);
  if (!file && errno == ENOENT) return refusal("there is no such thing as " + shown);
  if (!file && errno == ELOOP) return refusal(shown + " is a link");
  if (!file) return system_error("open " + shown);
  return read_part(file.get(), offset, limit, shown);
}

// A few stay open, because a call has no time to open them again; not all, because descriptors are few.
Result<std::shared_ptr<Run::Task>> Run::task(const std::string& id) {
  const std::lock_guard lock(tasks_mutex_);
  const auto found =
      std::find_if(tasks_.begin(), tasks_.end(), [&](const auto& task) { return task->id == id; });
  if (found != tasks_.end()) {
    tasks_.splice(tasks_.begin(), tasks_, found);
    return tasks_.front();
  }
  std::shared_ptr<Task> opened = TRY(open_task(id));
  tasks_.push_front(opened);
  if (tasks_.size() > max_open_tasks) tasks_.pop_back();
  return opened;
}

Result<std::shared_ptr<Run::Task>> Run::open_task(const std::string& id) const {
  const std::string shown = place_.transcripts() + "/" + id;
  const std::string transcript = std::string(transcript_ending);
  auto opened = std::make_shared<Task>();
  opened->id = id;
  if (results_ == Results::stored)
    opened->results = TRY(make_record_directory(transcripts_.get(), id, shown));
  OwnedFd file = TRY(append_record_file(transcripts_.get(), id + transcript, shown + transcript));
  opened->transcript = std::make_unique<Chain>(std::move(file), shown + transcript);
  TRY(settle_directory(transcripts_.get(), durability_));
  return opened;
}

OwnedFd open_spill(const std::string& directory) {
  if (directory.empty()) return {};
  return OwnedFd(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
}

Chunks chunks_of(std::string_view first, int spill) {
  return [first, spill](const Sink& sink) -> Result<void> {
    TRY(chunks_of(first)(sink));
    std::array<char, size_t{32} << 10> room;
    for (off_t at = 0; spill >= 0;) {
      const ssize_t got = ::pread(spill, room.data(), room.size(), at);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return system_error("read what the command has printed");
      if (got == 0) break;
      sink({room.data(), static_cast<size_t>(got)});
      at += got;
    }
    return {};
  };
}

}  // namespace cloche
