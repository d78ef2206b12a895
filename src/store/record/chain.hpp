// Lines of JSON, each sealed to the one before, in a file that only grows.
//
//   {...,"line":7,"calls":3,"prev":"<64 hex>","hash":"<64 hex>"}
//
// `hash` is the SHA-256 of the line's own bytes before `,"hash":`, and `prev` the hash of the line before (64
// zeros for the first), so that no line can be changed, removed, inserted or moved without every later hash
// showing it. `line` is its number in the file; `calls` counts up to it.
//
// Writers: one write(2) a line in O_APPEND, under flock, which keeps processes apart, and a mutex, which
// keeps apart the threads that share the descriptor. While no other writer has appended, the size of the file
// is what we left and the last hash is remembered; otherwise the last line is read back.
//
// A crash may leave a line without its newline, and nothing else: that is what torn means. The next writer
// keeps those bytes, ends their line, and adds one of kind "recovered" that says how many there are and what
// they hash to. A line that has its newline and not its hash was changed later, and nothing answers for
// it: the chain goes on from the last line that is right, so that verify finds it for ever.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"
#include "base/sys/fd.hpp"

namespace cloche {

inline constexpr size_t max_line_bytes = 4 << 20;

// Where a chain stands after a line; as it is here, before the first.
struct ChainEnd {
  std::string hash = std::string(64, '0');
  uint64_t line = 0;
  uint64_t calls = 0;

  bool operator==(const ChainEnd&) const = default;
};

enum class Counts { line, call };  // whether a line begins or holds another call

struct SealedLine {
  std::string bytes;  // with its newline
  ChainEnd end;
};
// `open_object` is a JSON object with at least one member and without its closing brace.
SealedLine seal(std::string open_object, const ChainEnd& before, Counts counts);

// What a line says at its end, whether or not it is true.
struct Seal {
  ChainEnd end;
  std::string prev;
  size_t hashed_bytes = 0;  // what the hash is of
};
std::optional<Seal> find_seal(std::string_view line);
bool hash_is_right(std::string_view line, const Seal& seal);

// Where a file of a chain ends, seen from its last bytes.
struct FileEnd {
  ChainEnd good = {};         // after the last line that is right
  uint64_t bad_lines = 0;     // behind it, each with its newline
  std::string last_bad = {};  // of these
  std::optional<std::string> torn =
      {};  // behind them, without a newline; empty when a right line lacks only that
};
enum class Window { whole_file, last_part };
// Nothing when no line of the window is whole and there is more of the file before it.
std::optional<FileEnd> read_file_end(std::string_view window, Window window_is);

// The line that marks torn bytes behind the line where a chain stands.
SealedLine recovery_line(const ChainEnd& good, std::string_view torn);

// What a writer adds before its own first line, and where the chain stands then.
struct Continuation {
  std::string bytes = {};
  ChainEnd end = {};
};
Continuation continuation_of(const FileEnd& end);

enum class Durability { buffered, durable };

// One fdatasync for many writers: the first syncs all that has been written by then, and the others wait for
// that sync or the next.
class GroupCommit {
 public:
  // Returns when the first `size` bytes of the file, which have been written, are on the disk. After a
  // failure it fails for good: the kernel forgets what it could not write, and a later success would prove
  // nothing.
  Result<void> reach(int fd, uint64_t size);

  uint64_t syncs() const { return syncs_; }  // for tests: how many it took

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t wanted_ = 0;
  uint64_t reached_ = 0;
  bool syncing_ = false;
  int failed_ = 0;  // errno
  uint64_t syncs_ = 0;
};

class Chain {
 public:
  // `file` was opened to read and append.
  Chain(OwnedFd file, std::string shown) : file_(std::move(file)), shown_(std::move(shown)) {}
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;

  // The one writer, for as long as it lives.
  class Held {
   public:
    Held(Held&& other) noexcept
        : chain_(std::exchange(other.chain_, nullptr)),
          lock_(std::move(other.lock_)),
          before_(std::move(other.before_)),
          size_before_(other.size_before_) {}
    Held& operator=(Held&&) = delete;
    ~Held();

    const ChainEnd& end() const { return chain_->end_; }
    // Whole, or not at all: the file then is as it was before.
    Result<void> append(std::string open_object, Counts counts);
    // As if the last append had not been.
    void take_back();
    uint64_t size() const { return chain_->size_; }
    // Where the file's right lines ended when it had to be read back, until the holder has made sure that
    // this is where they should end.
    const std::optional<ChainEnd>& unsure_end() const { return chain_->unsure_end_; }
    void make_sure() { chain_->unsure_end_.reset(); }
    // Lines that are gone may have begun calls, and no call id is given twice.
    void count_lost_calls(uint64_t calls) { chain_->end_.calls += calls; }
    // What line `number` says that its hash is; empty when there is no such line.
    Result<std::string> hash_said_by(uint64_t number) const;

   private:
    friend class Chain;
    explicit Held(Chain& chain) : chain_(&chain), lock_(chain.mutex_) {}
    Chain* chain_;
    std::unique_lock<std::mutex> lock_;
    ChainEnd before_ = {};
    uint64_t size_before_ = 0;
  };
  // Waits for the other writers; marks what a crash has torn.
  Result<Held> hold();

  // Returns when the first `size` bytes are on the disk. Not while the caller holds it: other writers
  // append meanwhile and share the wait.
  Result<void> settle(uint64_t size) { return commit_.reach(file_.get(), size); }

 private:
  Result<void> read_back(uint64_t size);
  Result<void> put(std::string_view bytes);

  static constexpr uint64_t unknown_size = ~uint64_t{0};

  OwnedFd file_;
  std::string shown_;
  std::mutex mutex_;  // guards what follows, with the file's lock
  ChainEnd end_;
  uint64_t size_ = 0;
  std::optional<ChainEnd> unsure_end_;
  GroupCommit commit_;
};

}  // namespace cloche
