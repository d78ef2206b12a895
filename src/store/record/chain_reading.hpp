// Reads the file of a chain while writers append to it: whether it is the chain that was written, line after
// line, and what its lines say.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json_members.hpp"
#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "store/record/chain.hpp"

namespace cloche {

struct BadLine {
  std::string file = {};
  uint64_t line = 0;  // the first is 1; 0: the file as a whole
  std::string why = {};

  bool operator==(const BadLine&) const = default;
};

// Pure: takes the lines one by one. A line that is no line of the chain may be what a crash has torn, if the
// very next one is of kind "recovered" and answers for exactly its bytes; otherwise it is bad for ever.
class ChainVerifier {
 public:
  enum class Took { sealed, recovered, bad };
  Took take(std::string_view line);  // without its newline
  // The end of the file; `torn` is what stands behind the last newline.
  void finish(std::string_view torn);

  const ChainEnd& end() const { return end_; }
  uint64_t lines() const { return lines_; }
  uint64_t recoveries() const { return recoveries_; }
  const std::optional<BadLine>& bad() const { return bad_; }

 private:
  std::string problem_of(std::string_view line, const std::optional<Seal>& seal) const;
  bool is_mark(std::string_view line) const;
  std::string mark() const { return recovery_line(end_, torn_.value_or("")).bytes; }

  ChainEnd end_;
  uint64_t lines_ = 0;
  uint64_t recoveries_ = 0;
  std::optional<BadLine> bad_;       // also while the next line may answer for it
  std::optional<std::string> torn_;  // that line
};

// While it lives no writer is in the middle of a line.
class ReadLock {
 public:
  static Result<ReadLock> take(int fd);
  ReadLock(ReadLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ReadLock& operator=(ReadLock&&) = delete;
  ~ReadLock();

 private:
  explicit ReadLock(int fd) : fd_(fd) {}
  int fd_;
};

// From where it was left up to a size, line by line; keeps what has no newline yet. The file may be opened
// anew each time: there are more transcripts than descriptors.
class LineReader {
 public:
  using Visit = std::function<void(std::string_view line)>;
  Result<void> read_to(int fd, uint64_t size, const Visit& visit);
  // All that whole lines have been written of.
  Result<void> read_on(int fd, const Visit& visit);
  std::string_view rest() const { return rest_; }

 private:
  uint64_t at_ = 0;
  std::string rest_;
};

// The value of a line that its chain vouches for, or of one that is only shown.
Result<JsonValue> read_line(std::string_view line);

class ChainReading {
 public:
  ChainReading(OwnedFd file, std::string name) : file_(std::move(file)), name_(std::move(name)) {}
  ChainReading(const ChainReading&) = delete;
  ChainReading& operator=(const ChainReading&) = delete;

  // Visits each line that is whole and no mark of a recovery.
  using Visit = std::function<void(const JsonValue& line)>;
  Result<void> read_on(const Visit& visit);
  void finish() { chain_.finish(reader_.rest()); }

  std::optional<BadLine> bad() const;
  const ChainVerifier& chain() const { return chain_; }
  const std::string& name() const { return name_; }
  std::string hash_at(uint64_t line) const;           // empty when there is no such line
  uint64_t find_hash(const std::string& hash) const;  // its line, or 0

 private:
  void take(std::string_view line, const Visit& visit);

  OwnedFd file_;
  std::string name_;
  LineReader reader_;
  ChainVerifier chain_;
  std::vector<std::string> hashes_;  // of torn lines: empty
  std::optional<BadLine> unreadable_;
};

}  // namespace cloche
