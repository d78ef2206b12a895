#include "store/record/chain.hpp"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/json/json_writer.hpp"
#include "base/sys/read_at.hpp"
#include "base/text/sha256.hpp"

namespace cloche {
namespace {

constexpr std::string_view line_key = ",\"line\":";
constexpr std::string_view calls_key = ",\"calls\":";
constexpr std::string_view prev_key = ",\"prev\":\"";
constexpr std::string_view hash_key = ",\"hash\":\"";
constexpr std::string_view line_end = "\"}";
constexpr size_t hash_length = 64;

bool is_hash(std::string_view text) {
  return text.size() == hash_length && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

// Takes pieces off the end of a line, the last one first.
class Peeler {
 public:
  explicit Peeler(std::string_view text) : text_(text) {}

  void text(std::string_view expected) {
    good_ = good_ && text_.ends_with(expected);
    if (good_) text_.remove_suffix(expected.size());
  }

  std::string hash() {
    good_ = good_ && text_.size() >= hash_length && is_hash(text_.substr(text_.size() - hash_length));
    if (!good_) return {};
    const std::string found(text_.substr(text_.size() - hash_length));
    text_.remove_suffix(hash_length);
    return found;
  }

  uint64_t number() {
    size_t begin = text_.size();
    while (begin > 0 && text_[begin - 1] >= '0' && text_[begin - 1] <= '9') --begin;
    const std::string_view digits = text_.substr(begin);
    uint64_t value = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    good_ = good_ && read.ec == std::errc{} && (digits.size() == 1 || digits[0] != '0');
    if (good_) text_.remove_suffix(digits.size());
    return value;
  }

  bool good() const { return good_; }
  size_t left() const { return text_.size(); }

 private:
  std::string_view text_;
  bool good_ = true;
};

Result<std::string> read_window(int fd, uint64_t begin, uint64_t end, const std::string& shown) {
  std::string bytes = TRY(sys::read_at(fd, begin, end - begin, "read the end of " + shown));
  if (bytes.size() < end - begin) return system_error("read the end of " + shown, EIO);
  return bytes;
}

}  // namespace

SealedLine seal(std::string open_object, const ChainEnd& before, Counts counts) {
  ChainEnd end;
  end.line = before.line + 1;
  end.calls = before.calls + (counts == Counts::call ? 1 : 0);
  std::string bytes = std::move(open_object);
  bytes.append(line_key).append(std::to_string(end.line));
  bytes.append(calls_key).append(std::to_string(end.calls));
  bytes.append(prev_key).append(before.hash).append("\"");
  end.hash = sha256(bytes);
  bytes.append(hash_key).append(end.hash).append(line_end).append("\n");
  return {std::move(bytes), std::move(end)};
}

std::optional<Seal> find_seal(std::string_view line) {
  Seal seal;
  Peeler peeler(line);
  peeler.text(line_end);
  seal.end.hash = peeler.hash();
  peeler.text(hash_key);
  seal.hashed_bytes = peeler.left();
  peeler.text("\"");
  seal.prev = peeler.hash();
  peeler.text(prev_key);
  seal.end.calls = peeler.number();
  peeler.text(calls_key);
  seal.end.line = peeler.number();
  peeler.text(line_key);
  if (!peeler.good() || line[0] != '{') return std::nullopt;
  return seal;
}

bool hash_is_right(std::string_view line, const Seal& seal) {
  return sha256(line.substr(0, seal.hashed_bytes)) == seal.end.hash;
}

std::optional<FileEnd> read_file_end(std::string_view window, Window window_is) {
  FileEnd found;
  if (window.empty()) return found;
  const bool ended = window.ends_with('\n');
  const std::string_view text = ended ? window.substr(0, window.size() - 1) : window;
  for (size_t end = text.size();;) {
    const size_t newline = end == 0 ? std::string_view::npos : text.rfind('\n', end - 1);
    const bool first = newline == std::string_view::npos;
    if (first && window_is == Window::last_part) return std::nullopt;
    const size_t begin = first ? 0 : newline + 1;
    const std::string_view line = text.substr(begin, end - begin);
    const bool unfinished = !ended && end == text.size();
    const auto seal = find_seal(line);
    const bool right = seal && hash_is_right(line, *seal);
    if (right) found.good = seal->end;
    if (unfinished) found.torn = right ? std::string() : std::string(line);
    if (!right && !unfinished && found.bad_lines++ == 0) found.last_bad = line;
    if (right || first) return found;
    end = newline;
  }
}

SealedLine recovery_line(const ChainEnd& good, std::string_view torn) {
  JsonWriter object;
  object.begin_object().member("kind", "recovered").member("torn_bytes", torn.size());
  object.member("torn_sha256", sha256(torn));
  // A torn line may have begun a call, and no call id is given twice.
  const uint64_t torn_lines = torn.empty() ? 0 : 1;
  const ChainEnd before{good.hash, good.line + torn_lines, good.calls + torn_lines};
  return seal(object.text(), before, Counts::line);
}

Continuation continuation_of(const FileEnd& end) {
  if (end.torn && end.bad_lines == 0) {
    SealedLine mark = recovery_line(end.good, *end.torn);
    return {"\n" + mark.bytes, std::move(mark.end)};
  }
  if (end.torn && !end.torn->empty() && end.bad_lines == 1) {
    // A crash may have torn the mark too. It says nothing but what is known, so it is finished as it was
    // begun.
    SealedLine mark = recovery_line(end.good, end.last_bad);
    if (mark.bytes.starts_with(*end.torn)) return {mark.bytes.substr(end.torn->size()), std::move(mark.end)};
  }
  const uint64_t wrong = end.bad_lines + (end.torn ? 1 : 0);
  return {end.torn ? "\n" : "", {end.good.hash, end.good.line + wrong, end.good.calls + wrong}};
}

Result<void> GroupCommit::reach(int fd, uint64_t size) {
  std::unique_lock lock(mutex_);
  wanted_ = std::max(wanted_, size);
  while (reached_ < size && failed_ == 0) {
    if (syncing_) {
      changed_.wait(lock);
      continue;
    }
    syncing_ = true;
    const uint64_t covered = wanted_;  // all of it was written before it was wanted
    lock.unlock();
    const int failure = ::fdatasync(fd) == 0 ? 0 : errno;
    lock.lock();
    syncing_ = false;
    ++syncs_;
    failure == 0 ? reached_ = covered : failed_ = failure;
    changed_.notify_all();
  }
  if (failed_ != 0) return system_error("bring the record to the disk", failed_);
  return {};
}

Result<Chain::Held> Chain::hold() {
  Held held(*this);
  while (::flock(file_.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return system_error("lock " + shown_);
  }
  struct stat seen {};
  if (::fstat(file_.get(), &seen) != 0) return system_error("look at " + shown_);
  const auto size = static_cast<uint64_t>(seen.st_size);
  if (size != size_) TRY(read_back(size));
  return held;
}

Chain::Held::~Held() {
  if (chain_ != nullptr) ::flock(chain_->file_.get(), LOCK_UN);
}

Result<void> Chain::read_back(uint64_t size) {
  for (const uint64_t reach :
       {uint64_t{8} << 10, uint64_t{64} << 10, uint64_t{1} << 20, uint64_t{4} * max_line_bytes}) {
    const uint64_t begin = size > reach ? size - reach : 0;
    const std::string window = TRY(read_window(file_.get(), begin, size, shown_));
    const auto end = read_file_end(window, begin == 0 ? Window::whole_file : Window::last_part);
    if (!end) continue;
    Continuation next = continuation_of(*end);
    size_ = size;
    if (auto done = next.bytes.empty() ? Result<void>() : put(next.bytes); !done.ok()) {
      size_ = unknown_size;  // or the next writer would go on behind torn bytes
      return done;
    }
    unsure_end_ = end->good;
    end_ = std::move(next.end);
    return {};
  }
  return refusal(shown_ + " does not end in a line of its chain", "see cloche log verify; use a new run");
}

// A line that does not fit on the disk leaves nothing behind, so that the caller can refuse and go on.
Result<void> Chain::put(std::string_view bytes) {
  ssize_t written = 0;
  do {
    written = ::write(file_.get(), bytes.data(), bytes.size());
  } while (written < 0 && errno == EINTR);
  if (written == static_cast<ssize_t>(bytes.size())) {
    size_ += bytes.size();
    return {};
  }
  const int failure = written < 0 ? errno : ENOSPC;
  if (written > 0)
    (void)!::ftruncate(file_.get(), static_cast<off_t>(size_));  // else the next writer marks it
  return system_error("write to " + shown_, failure);
}

Result<void> Chain::Held::append(std::string open_object, Counts counts) {
  SealedLine line = seal(std::move(open_object), chain_->end_, counts);
  if (line.bytes.size() > max_line_bytes)
    return refusal("a line of " + std::to_string(line.bytes.size()) + " bytes is too long for " +
                   chain_->shown_);
  before_ = chain_->end_;
  size_before_ = chain_->size_;
  TRY(chain_->put(line.bytes));
  chain_->end_ = std::move(line.end);
  return {};
}

Result<std::string> Chain::Held::hash_said_by(uint64_t number) const {
  constexpr uint64_t step = 1 << 20;
  std::string line;
  uint64_t at_line = 1;
  for (uint64_t begin = 0; begin < chain_->size_; begin += step) {
    const uint64_t end = std::min(begin + step, chain_->size_);
    const std::string part = TRY(read_window(chain_->file_.get(), begin, end, chain_->shown_));
    for (const char c : part) {
      if (c != '\n') {
        if (at_line == number) line += c;
      } else if (at_line++ == number) {
        const auto seal = find_seal(line);
        return seal ? seal->end.hash : std::string();
      }
    }
  }
  return std::string();
}

void Chain::Held::take_back() {
  if (::ftruncate(chain_->file_.get(), static_cast<off_t>(size_before_)) != 0) return;
  chain_->size_ = size_before_;
  chain_->end_ = before_;
}

}  // namespace cloche
