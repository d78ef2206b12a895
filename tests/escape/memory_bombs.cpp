// Attacks on the memory limit, by every kind of memory that somebody forgot to count.
#include <fcntl.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "escape/bombs.hpp"

namespace cloche::escape {
namespace {

constexpr uint64_t mebibyte = 1 << 20;
constexpr int hold_ms = 400;  // how long a full hoard is kept before it counts: time for a watcher to see it

Report hoarded(const Progress& progress, uint64_t limit) {
  sleep_ms(hold_ms);
  return escaped("held " + std::to_string(progress.total() / mebibyte) + " MiB, the limit is " +
                 std::to_string(limit / mebibyte));
}

bool touch(char* memory, uint64_t size, Progress& progress) {
  for (uint64_t at = 0; at < size; at += mebibyte) {
    memset(memory + at, 1, std::min(mebibyte, size - at));
    progress.add(std::min(mebibyte, size - at));
  }
  return true;
}

char* map_memory(uint64_t size, int sharing) {
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<char*>(memory);
}

Report hoard_in_heap(const Arguments& args) {
  const uint64_t limit = number(args.at(0));
  Progress progress;
  char* memory = map_memory(limit * enough, MAP_PRIVATE);
  if (memory == nullptr) return held_by_errno("mmap");
  touch(memory, limit * enough, progress);
  return hoarded(progress, limit);
}

// No single process is large.
Report hoard_in_forks(const Arguments& args) {
  const uint64_t limit = number(args.at(0));
  constexpr uint64_t children = 6;
  const uint64_t share = limit * enough / children;
  Progress progress;
  pid_t started[children] = {};
  for (pid_t& child : started) {
    child = fork();
    if (child < 0) return unable_by_errno("fork");
    if (child == 0) {
      char* memory = map_memory(share, MAP_PRIVATE);
      if (memory == nullptr) _exit(1);
      touch(memory, share, progress);
      while (progress.total() < limit * enough) sleep_ms(10);
      sleep_ms(hold_ms);
      _exit(0);
    }
  }
  bool refused = false;
  for (uint64_t i = 0; i < children; ++i) {
    int status = 0;
    const pid_t ended = wait(&status);
    if (ended < 0) break;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    refused = true;  // the others would wait for it for ever
    for (const pid_t child : started) {
      if (child != ended) kill(child, SIGKILL);
    }
  }
  if (refused) return held("a child was killed or refused");
  return escaped("six children held it together");
}

// Memory files are in nobody's address space.
Report hoard_in_memory_files(const Arguments& args) {
  const uint64_t limit = number(args.at(0));
  constexpr unsigned no_exec_seal = 0x0008;
  const std::string block(mebibyte, 'x');
  Progress progress;
  while (progress.total() < limit * enough) {
    int fd = static_cast<int>(syscall(SYS_memfd_create, "hoard", no_exec_seal));
    if (fd < 0) fd = static_cast<int>(syscall(SYS_memfd_create, "hoard", 0));
    if (fd < 0) return held_by_errno("memfd_create");
    for (int i = 0; i < 4; ++i) {
      if (write(fd, block.data(), block.size()) < 0) return held_by_errno("write to a memory file");
      progress.add(mebibyte);
    }
  }
  return hoarded(progress, limit);
}

// A segment nobody is attached to stays, and is in no process at all.
Report hoard_in_detached_segments(const Arguments& args) {
  const uint64_t limit = number(args.at(0));
  constexpr uint64_t size = 4 * mebibyte;
  std::vector<int> segments;
  Progress progress;
  Report result = held("");
  while (result.ending == Ending::held && progress.total() < limit * enough) {
    const int id = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);
    if (id < 0) {
      result = held_by_errno("shmget");
      break;
    }
    segments.push_back(id);
    void* memory = shmat(id, nullptr, 0);
    if (memory == reinterpret_cast<void*>(-1)) {
      result = held_by_errno("shmat");
      break;
    }
    touch(static_cast<char*>(memory), size, progress);
    shmdt(memory);
  }
  if (progress.total() >= limit * enough) result = hoarded(progress, limit);
  for (const int id : segments) shmctl(id, IPC_RMID, nullptr);
  return result;
}

// Touched by children that are gone, held by a parent that never touched it: resident in nobody's count.
Report hoard_in_shared_map(const Arguments& args) {
  const uint64_t limit = number(args.at(0));
  constexpr uint64_t slices = 12;
  const uint64_t slice = limit * enough / slices;
  Progress progress;
  char* memory = map_memory(limit * enough, MAP_SHARED);
  if (memory == nullptr) return held_by_errno("mmap");
  for (uint64_t i = 0; i < slices; ++i) {
    const pid_t child = fork();
    if (child < 0) return unable_by_errno("fork");
    if (child == 0) {
      touch(memory + i * slice, slice, progress);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) return held("a child was killed");
  }
  return hoarded(progress, limit);
}

// Reading one byte in each two megabytes maps the shared page of zeroes: no memory of ours, but a page table.
Report hoard_in_page_tables(const Arguments& args) {
  const uint64_t limit = number(args.at(0));
  constexpr uint64_t span = 2 * mebibyte;
  constexpr uint64_t page = 4096;
  const uint64_t tables = limit * enough / page;
  Progress progress;
  char* memory = map_memory(tables * span, MAP_PRIVATE);
  if (memory == nullptr) return held_by_errno("mmap");
  madvise(memory, tables * span, MADV_NOHUGEPAGE);
  for (uint64_t i = 0; i < tables; ++i) {
    const volatile char* byte = memory + i * span;
    (void)*byte;
    progress.add(page);
  }
  return hoarded(progress, limit);
}

// Bytes that are sent and never received lie in the kernel, which takes them at the speed of memory: where
// they are estimated, the estimate comes a few milliseconds late. So more of them than of the others.
Report hoard_in_socket_buffers(const Arguments& args) {
  const uint64_t limit = number(args.at(0));
  const std::string block(64 * 1024, 'x');
  Progress progress;
  while (progress.total() < 2 * limit * enough) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return held_by_errno("socketpair");
    for (int end : ends) {
      const int size = 4 << 20;
      setsockopt(end, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
      ssize_t put = 0;
      while ((put = send(end, block.data(), block.size(), MSG_DONTWAIT | MSG_NOSIGNAL)) > 0) {
        progress.add(static_cast<uint64_t>(put));
      }
      if (errno != EAGAIN) return held_by_errno("send");
    }
  }
  return hoarded(progress, limit);
}

// Pipes hold up to a megabyte each, and an ordinary user's share of them is limited only by the kernel.
Report hoard_in_pipes(const Arguments& args) {
  const uint64_t limit = number(args.at(0));
  const std::string block(mebibyte, 'x');
  Progress progress;
  while (progress.total() < limit * enough) {
    int ends[2];
    if (pipe2(ends, O_NONBLOCK) != 0) return held_by_errno("pipe");
    fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
    const ssize_t put = write(ends[1], block.data(), block.size());
    if (put <= 0) return held_by_errno("write to a pipe");
    progress.add(static_cast<uint64_t>(put));
  }
  return hoarded(progress, limit);
}

}  // namespace

Attacks memory_bomb_attacks() {
  return {
      {"hoard-in-heap", "memory is limited", hoard_in_heap},
      {"hoard-in-forks", "memory is limited for all processes together", hoard_in_forks},
      {"hoard-in-memory-files", "memory files count as memory", hoard_in_memory_files},
      {"hoard-in-detached-segments", "System V segments count as memory", hoard_in_detached_segments},
      {"hoard-in-shared-map", "shared memory counts, whoever touched it", hoard_in_shared_map},
      {"hoard-in-page-tables", "page tables count as memory", hoard_in_page_tables},
      {"hoard-in-socket-buffers", "socket buffers count as memory", hoard_in_socket_buffers},
      {"hoard-in-pipes", "pipe buffers count as memory", hoard_in_pipes},
  };
}

}  // namespace cloche::escape
