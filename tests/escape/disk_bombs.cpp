// Attacks on the disk: in the workspace, where the bytes are the host's, and in the private folders, where
// they are memory.
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "escape/bombs.hpp"

namespace cloche::escape {
namespace {

constexpr uint64_t block_size = 256 * 1024;

// How long a full hoard is kept before it counts: time for a watcher to see it.
Report filled(const std::string& what) {
  sleep_ms(400);
  return escaped(what);
}

// "~" is the home we were given, wherever that is.
std::string name_of(const std::string& folder, uint64_t index) {
  std::string place = folder;
  const char* home = getenv("HOME");
  if (folder.starts_with("~") && home != nullptr) place = home + folder.substr(1);
  mkdir(place.c_str(), 0755);
  return place + "/hoard-" + std::to_string(index);
}

// Writes up to `size` bytes; false with errno when refused.
bool fill(int fd, uint64_t size, Progress& progress) {
  const std::string block(block_size, 'x');
  for (uint64_t written = 0; written < size;) {
    const ssize_t put =
        write(fd, block.data(), static_cast<size_t>(std::min<uint64_t>(block.size(), size - written)));
    if (put < 0) return false;
    written += static_cast<uint64_t>(put);
    progress.add(static_cast<uint64_t>(put));
  }
  return true;
}

Report fill_one_file(const Arguments& args) {
  const uint64_t limit = number(args.at(1));
  signal(SIGXFSZ, SIG_IGN);
  Progress progress;
  const int fd = open(name_of(args.at(0), 0).c_str(), O_CREAT | O_WRONLY, 0644);
  if (fd < 0) return unable_by_errno("make a file");
  if (!fill(fd, limit * enough, progress))
    return held_by_errno("write after " + std::to_string(progress.total()));
  return filled("one file of " + std::to_string(progress.total()) + " bytes");
}

// Says a size without writing it: the limit on file size counts here too.
Report stretch_one_file(const Arguments& args) {
  const uint64_t limit = number(args.at(1));
  signal(SIGXFSZ, SIG_IGN);
  const int fd = open(name_of(args.at(0), 0).c_str(), O_CREAT | O_WRONLY, 0644);
  if (fd < 0) return unable_by_errno("make a file");
  if (ftruncate(fd, static_cast<off_t>(limit * enough)) == 0) return escaped("stretched a file by ftruncate");
  const int error = errno;
  if (pwrite(fd, "x", 1, static_cast<off_t>(limit * enough)) == 1)
    return escaped("stretched a file by writing far");
  return held_by_errno("ftruncate", error);
}

// Reserves blocks beyond the end of the file: its size stays 0, and the kernel does not compare with the
// limit on file sizes.
Report reserve_blocks(const Arguments& args) {
  const uint64_t limit = number(args.at(1));
  signal(SIGXFSZ, SIG_IGN);
  const int fd = open(name_of(args.at(0), 0).c_str(), O_CREAT | O_WRONLY, 0644);
  if (fd < 0) return unable_by_errno("make a file");
  if (fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(limit * enough)) != 0) {
    return held_by_errno("fallocate");
  }
  return filled("reserved blocks for three times the limit");
}

Report fill_many_files(const Arguments& args) {
  const uint64_t limit = number(args.at(1));
  const uint64_t size = number(args.at(2));
  Progress progress;
  for (uint64_t i = 0; progress.total() < limit * enough; ++i) {
    const int fd = open(name_of(args.at(0), i).c_str(), O_CREAT | O_WRONLY, 0644);
    if (fd < 0) return held_by_errno("make a file");
    const bool done = fill(fd, size, progress);
    const int error = errno;
    close(fd);
    if (!done) return held_by_errno("write after " + std::to_string(progress.total()), error);
  }
  return filled(std::to_string(progress.total()) + " bytes in many files");
}

// Files without a name are in no listing, and fill the disk all the same.
Report fill_unlinked_files(const Arguments& args) {
  const uint64_t limit = number(args.at(1));
  const uint64_t size = number(args.at(2));
  Progress progress;
  for (uint64_t i = 0; progress.total() < limit * enough; ++i) {
    const std::string name = name_of(args.at(0), i);
    const int fd = open(name.c_str(), O_CREAT | O_WRONLY, 0644);
    if (fd < 0) return held_by_errno("make a file");
    unlink(name.c_str());
    if (!fill(fd, size, progress)) return held_by_errno("write after " + std::to_string(progress.total()));
  }
  return filled(std::to_string(progress.total()) + " bytes in files without a name");
}

// No write call is made: the bytes go through memory.
Report fill_by_mapping(const Arguments& args) {
  const uint64_t limit = number(args.at(1));
  const uint64_t size = number(args.at(2));
  Progress progress;
  for (uint64_t i = 0; progress.total() < limit * enough; ++i) {
    const int fd = open(name_of(args.at(0), i).c_str(), O_CREAT | O_RDWR, 0644);
    if (fd < 0) return held_by_errno("make a file");
    if (ftruncate(fd, static_cast<off_t>(size)) != 0) return held_by_errno("ftruncate");
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) return held_by_errno("mmap");
    memset(memory, 1, size);
    munmap(memory, size);
    close(fd);
    progress.add(size);
  }
  return filled(std::to_string(progress.total()) + " bytes by mapping");
}

// In no listing and in no table of descriptors: a mapping alone keeps them.
Report fill_mapped_unlinked_files(const Arguments& args) {
  const uint64_t limit = number(args.at(1));
  const uint64_t size = number(args.at(2));
  Progress progress;
  for (uint64_t i = 0; progress.total() < limit * enough; ++i) {
    const std::string name = name_of(args.at(0), i);
    const int fd = open(name.c_str(), O_CREAT | O_RDWR, 0644);
    if (fd < 0) return held_by_errno("make a file");
    unlink(name.c_str());
    if (!fill(fd, size, progress)) return held_by_errno("write after " + std::to_string(progress.total()));
    if (mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED) return held_by_errno("mmap");
    close(fd);
  }
  return filled(std::to_string(progress.total()) + " bytes in files that only mappings hold");
}

// One file with a long name, mapped again and again: the list of mappings is then longer than a watcher may
// care to read, and what comes after these is at its end.
Report fill_behind_many_mappings(const Arguments& args) {
  constexpr int mappings = 30'000;  // of about 1,000 bytes each in that list
  const std::string folder(240, 'l');
  for (int depth = 0; depth < 4; ++depth) {
    if (mkdir(folder.c_str(), 0755) != 0 || chdir(folder.c_str()) != 0)
      return unable_by_errno("make a folder");
  }
  const int fd = open("page", O_CREAT | O_RDWR, 0644);
  if (fd < 0 || ftruncate(fd, 4096) != 0) return unable_by_errno("make a file");
  for (int i = 0; i < mappings; ++i) {
    if (mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED) return held_by_errno("mmap");
  }
  close(fd);
  return fill_mapped_unlinked_files(args);
}

// A little of each is mapped before all of it is: who counts the first mapping alone counts next to nothing.
Report fill_behind_small_mappings(const Arguments& args) {
  const uint64_t limit = number(args.at(1));
  const uint64_t size = number(args.at(2));
  Progress progress;
  for (uint64_t i = 0; progress.total() < limit * enough; ++i) {
    const std::string name = name_of(args.at(0), i);
    const int fd = open(name.c_str(), O_CREAT | O_RDWR, 0644);
    if (fd < 0) return held_by_errno("make a file");
    unlink(name.c_str());
    if (!fill(fd, size, progress)) return held_by_errno("write after " + std::to_string(progress.total()));
    char* first =
        static_cast<char*>(mmap(nullptr, size + 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (first == MAP_FAILED) return unable_by_errno("reserve addresses");
    if (mmap(first, 4096, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED ||
        mmap(first + 4096, size, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
      return held_by_errno("mmap");
    close(fd);
  }
  return filled(std::to_string(progress.total()) + " bytes behind small mappings");
}

// A page of each is all that stays mapped, and keeps the whole of it.
Report fill_behind_a_page(const Arguments& args) {
  const uint64_t limit = number(args.at(1));
  const uint64_t size = number(args.at(2));
  Progress progress;
  for (uint64_t i = 0; progress.total() < limit * enough; ++i) {
    const std::string name = name_of(args.at(0), i);
    const int fd = open(name.c_str(), O_CREAT | O_RDWR, 0644);
    if (fd < 0) return held_by_errno("make a file");
    unlink(name.c_str());
    if (!fill(fd, size, progress)) return held_by_errno("write after " + std::to_string(progress.total()));
    if (mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED) return held_by_errno("mmap");
    close(fd);
  }
  return filled(std::to_string(progress.total()) + " bytes of which pages are mapped");
}

// The older door to the same reservation.
Report reserve_blocks_by_ioctl(const Arguments& args) {
  struct {
    int16_t type = 0, whence = 0;
    int64_t start = 0, length = 0;
    int32_t system = 0;
    uint32_t process = 0;
    int32_t reserved[4] = {};
  } space;
  space.length = static_cast<int64_t>(number(args.at(1)) * enough);
  const int fd = open(name_of(args.at(0), 0).c_str(), O_CREAT | O_WRONLY, 0644);
  if (fd < 0) return unable_by_errno("make a file");
  constexpr unsigned long reserve = 0x4030582a;  // FS_IOC_RESVSP64
  if (ioctl(fd, reserve, &space) != 0) return held_by_errno("ioctl");
  return filled("reserved blocks for three times the limit");
}

bool make_entry(const std::string& kind, const std::string& name) {
  if (kind == "folder") return mkdir(name.c_str(), 0755) == 0;
  if (kind == "link") return symlink("nowhere", name.c_str()) == 0;
  if (kind == "fifo") return mkfifo(name.c_str(), 0644) == 0;
  const int fd = open(name.c_str(), O_CREAT | O_WRONLY | O_EXCL, 0644);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

Report make_entries(const Arguments& args) {
  const std::string kind = args.at(1);
  const uint64_t bound = number(args.at(2));
  Progress progress;
  while (progress.total() < bound) {
    if (!make_entry(kind, name_of(args.at(0), progress.total()))) {
      return held_by_errno("make entry " + std::to_string(progress.total()));
    }
    progress.add(1);
  }
  return filled(std::to_string(bound) + " new entries of kind " + kind);
}

// A path longer than any buffer: whoever walks the tree to count it must not stumble.
Report nest_folders(const Arguments& args) {
  const uint64_t bound = number(args.at(0));
  const std::string name(100, 'd');
  Progress progress;
  while (progress.total() < bound) {
    if (mkdir(name.c_str(), 0755) != 0 || chdir(name.c_str()) != 0) {
      return held_by_errno("folder " + std::to_string(progress.total()));
    }
    progress.add(1);
  }
  return filled(std::to_string(bound) + " folders deep");
}

// Below more folders than a walker may care to go down.
Report fill_below_deep_folders(const Arguments& args) {
  for (int depth = 0; depth < 400; ++depth) {
    if (mkdir("d", 0755) != 0 || chdir("d") != 0) return held_by_errno("folder " + std::to_string(depth));
  }
  return fill_many_files({".", args.at(0), args.at(1)});
}

}  // namespace

Attacks disk_bomb_attacks() {
  return {
      {"fill-one-file", "the size of a file is limited", fill_one_file},
      {"stretch-one-file", "the size of a file is limited, written or not", stretch_one_file},
      {"reserve-blocks", "reserved blocks count as disk", reserve_blocks},
      {"fill-many-files", "the bytes of all files together are limited", fill_many_files},
      {"fill-mapped-unlinked-files", "files that only a mapping holds count as disk",
       fill_mapped_unlinked_files},
      {"fill-behind-many-mappings", "they do however many mappings come before theirs",
       fill_behind_many_mappings},
      {"fill-behind-small-mappings", "they do by the largest of their mappings", fill_behind_small_mappings},
      {"fill-behind-a-page", "they do however little of them is mapped", fill_behind_a_page},
      {"reserve-blocks-by-ioctl", "space is not taken by reservation", reserve_blocks_by_ioctl},
      {"fill-unlinked-files", "files without a name count as disk", fill_unlinked_files},
      {"fill-by-mapping", "bytes written through memory count as disk", fill_by_mapping},
      {"make-entries", "the number of new files is limited", make_entries},
      {"fill-below-deep-folders", "files below very deep folders count as disk", fill_below_deep_folders},
      {"nest-folders", "very deep folders count as new files", nest_folders},
  };
}

}  // namespace cloche::escape
