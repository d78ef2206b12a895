#include "store/record/chain_reading.hpp"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace cloche {
namespace {

constexpr size_t chunk_bytes = 256 << 10;
constexpr size_t max_rest_bytes = 64 << 20;  // no writer leaves so much without a newline
constexpr JsonLimits line_limits{
    .bytes = max_line_bytes, .values = 1'000'000, .depth = 80, .comments = JsonComments::refused};

}  // namespace

std::string ChainVerifier::problem_of(std::string_view line, const std::optional<Seal>& seal) const {
  if (!seal) return "it does not end as a line of the chain does";
  if (!hash_is_right(line, *seal)) return "its bytes do not have the hash that it says: it was changed";
  if (seal->prev != end_.hash)
    return "it does not follow the line before it: a line was removed, inserted or moved here";
  if (seal->end.line != lines_ + 1)
    return "it says that it is line " + std::to_string(seal->end.line) +
           ": a line was removed, inserted or moved here";
  if (line.starts_with("{\"kind\":\"recovered\"")) return "it answers for torn bytes that are not there";
  return {};
}

// Writers know no other mark than this one, byte for byte.
bool ChainVerifier::is_mark(std::string_view line) const {
  if (!line.starts_with("{\"kind\":\"recovered\"")) return false;
  const std::string expected = mark();
  return line == std::string_view(expected).substr(0, expected.size() - 1);
}

ChainVerifier::Took ChainVerifier::take(std::string_view line) {
  const bool marked = (!bad_ || torn_) && is_mark(line);
  if (bad_ && !marked) {
    ++lines_;
    torn_.reset();  // nothing answers for it later
    return Took::bad;
  }
  const auto seal = find_seal(line);
  const std::string why = marked ? "" : problem_of(line, seal);
  ++lines_;
  if (!why.empty()) {
    bad_ = BadLine{"", lines_, why};
    // What is whole in itself and stands in the wrong place is nothing that a crash leaves.
    if (!seal || !hash_is_right(line, *seal)) torn_ = line;
    return Took::bad;
  }
  end_ = seal->end;
  if (!marked) return Took::sealed;
  bad_.reset();
  torn_.reset();
  ++recoveries_;
  return Took::recovered;
}

void ChainVerifier::finish(std::string_view torn) {
  if (torn.empty() || bad_) return;
  bad_ =
      BadLine{"", lines_ + 1, "it has no newline: it was torn or cut off, and nothing has marked it since"};
}

Result<ReadLock> ReadLock::take(int fd) {
  while (::flock(fd, LOCK_SH) != 0) {
    if (errno != EINTR) return system_error("lock the record");
  }
  return ReadLock(fd);
}

ReadLock::~ReadLock() {
  if (fd_ >= 0) ::flock(fd_, LOCK_UN);
}

Result<void> LineReader::read_to(int fd, uint64_t size, const Visit& visit) {
  std::string chunk(chunk_bytes, '\0');
  while (at_ < size) {
    const ssize_t got =
        ::pread(fd, chunk.data(), std::min<uint64_t>(chunk.size(), size - at_), static_cast<off_t>(at_));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return system_error("read the record", got < 0 ? errno : EIO);
    at_ += static_cast<uint64_t>(got);
    std::string_view fresh(chunk.data(), static_cast<size_t>(got));
    for (size_t newline = fresh.find('\n'); newline != std::string_view::npos; newline = fresh.find('\n')) {
      if (rest_.empty()) {
        visit(fresh.substr(0, newline));
      } else {
        rest_ += fresh.substr(0, newline);
        visit(rest_);
        rest_.clear();
      }
      fresh.remove_prefix(newline + 1);
    }
    rest_ += fresh;
    if (rest_.size() > max_rest_bytes) return system_error("read a line of the record", EFBIG);
  }
  return {};
}

Result<void> LineReader::read_on(int fd, const Visit& visit) {
  struct stat seen {};
  {
    const ReadLock quiet = TRY(ReadLock::take(fd));
    if (::fstat(fd, &seen) != 0) return system_error("look at the record");
  }
  return read_to(fd, static_cast<uint64_t>(seen.st_size), visit);
}

Result<JsonValue> read_line(std::string_view line) { return read_json(line, "", line_limits); }

Result<void> ChainReading::read_on(const Visit& visit) {
  return reader_.read_on(file_.get(), [&](std::string_view line) { take(line, visit); });
}

void ChainReading::take(std::string_view line, const Visit& visit) {
  const auto took = chain_.take(line);
  hashes_.push_back(took == ChainVerifier::Took::bad ? std::string() : chain_.end().hash);
  if (took != ChainVerifier::Took::sealed) return;
  const auto read = read_line(line);
  if (read.ok()) return visit(read.value());
  if (!unreadable_) unreadable_ = BadLine{"", chain_.lines(), "it is not JSON"};
}

std::optional<BadLine> ChainReading::bad() const {
  std::optional<BadLine> found = chain_.bad() ? chain_.bad() : unreadable_;
  if (found) found->file = name_;
  return found;
}

std::string ChainReading::hash_at(uint64_t line) const {
  return line == 0 || line > hashes_.size() ? "" : hashes_[line - 1];
}

uint64_t ChainReading::find_hash(const std::string& hash) const {
  const auto found = std::find(hashes_.begin(), hashes_.end(), hash);
  return found == hashes_.end() ? 0 : static_cast<uint64_t>(found - hashes_.begin()) + 1;
}

}  // namespace cloche
