// The programs that run inside: a loop that only computes, and one that takes memory as fast as it can.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "base/sys/sys.hpp"
#include "sections.hpp"

namespace cloche::bench {
namespace {

// Enough to show a limit that does not hold, and not enough to hurt the machine.
constexpr size_t most_hogged_bytes = size_t{3} << 30;
constexpr size_t chunk_bytes = size_t{8} << 20;
constexpr size_t page_bytes = 4096;
constexpr size_t most_threads = page_bytes / sizeof(uint64_t);

// `held_bytes` is this thread's place in the tally, which is shared with the file and so survives us.
void hog(size_t bytes, volatile uint64_t* held_bytes) {
  for (size_t held = 0; held < bytes; held += chunk_bytes) {
    void* chunk = ::mmap(nullptr, chunk_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (chunk == MAP_FAILED) return;
    ::madvise(chunk, chunk_bytes, MADV_HUGEPAGE);  // one fault for two megabytes: nothing takes memory faster
    for (size_t at = 0; at < chunk_bytes; at += page_bytes) {
      static_cast<volatile char*>(chunk)[at] = 1;
      *held_bytes = held + at + page_bytes;
    }
  }
}

}  // namespace

// Each turn needs the one before it, so that neither the compiler nor the processor can skip ahead.
unsigned long long spin(unsigned long long turns) {
  unsigned long long state = turns | 1;
  for (unsigned long long i = 0; i < turns; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
  }
  return state;
}

unsigned long long turns_for(double seconds) {
  constexpr unsigned long long tried = 20'000'000;
  const auto begin = std::chrono::steady_clock::now();
  volatile unsigned long long kept = spin(tried);
  (void)kept;
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return static_cast<unsigned long long>(static_cast<double>(tried) * seconds / took);
}

void hog_memory(const char* tally) {
  const OwnedFd file(::open(tally, O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!file || ::ftruncate(file.get(), page_bytes) != 0) ::_exit(2);
  void* shared = ::mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (shared == MAP_FAILED) ::_exit(2);
  const size_t cores = std::min(static_cast<size_t>(::sysconf(_SC_NPROCESSORS_ONLN)), most_threads);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < cores; ++i) {
    threads.emplace_back(hog, most_hogged_bytes / cores, static_cast<volatile uint64_t*>(shared) + i);
  }
  for (auto& thread : threads) thread.join();
  ::pause();  // whatever should have ended us still can
  ::_exit(1);
}

Result<unsigned long long> hogged_bytes(const std::string& tally) {
  const std::string text = TRY(sys::read_file(tally, page_bytes));
  unsigned long long total = 0;
  for (size_t at = 0; at + sizeof(uint64_t) <= text.size(); at += sizeof(uint64_t)) {
    uint64_t held = 0;
    std::memcpy(&held, text.data() + at, sizeof held);
    total += held;
  }
  return total;
}

}  // namespace cloche::bench
