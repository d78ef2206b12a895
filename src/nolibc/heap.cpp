// The heap: powers of two up to a page's worth from lists of freed blocks, everything larger straight from
// the kernel and straight back. For programs that live for one call and keep a few hundred strings.
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

struct Block {
  Block* next;
};

constexpr size_t smallest = 32;  // bytes; one class for each power of two from here
constexpr size_t largest = size_t{1} << 15;
constexpr size_t arena_bytes = size_t{1} << 18;
constexpr int classes = 11;
static_assert(smallest << (classes - 1) == largest);

Block* freed[classes];
alignas(64) char first_arena[size_t{1} << 16];  // enough for an ordinary call, without asking
char* arena_at = first_arena;
char* arena_end = first_arena + sizeof first_arena;

int class_of(size_t size) {
  int index = 0;
  while (smallest << index < size) ++index;
  return index;
}

void* from_kernel(size_t size) {
  void* block = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) std::abort();  // as the standard new would end: no code here catches
  return block;
}

// Before each block, which keeps it aligned to 16: the size that was asked for.
struct alignas(16) Header {
  size_t size;
};

void* take(size_t asked) {
  if (asked > SIZE_MAX / 2) std::abort();
  const size_t size = asked + sizeof(Header);
  void* block = nullptr;
  if (size > largest) {
    block = from_kernel(size);
  } else if (const int index = class_of(size); freed[index] != nullptr) {
    block = freed[index];
    freed[index] = freed[index]->next;
  } else {
    const size_t room = smallest << index;
    if (static_cast<size_t>(arena_end - arena_at) < room) {
      arena_at = static_cast<char*>(from_kernel(arena_bytes));
      arena_end = arena_at + arena_bytes;
    }
    block = arena_at;
    arena_at += room;
  }
  static_cast<Header*>(block)->size = size;
  return static_cast<char*>(block) + sizeof(Header);
}

void give_back(void* pointer) {
  if (pointer == nullptr) return;
  void* block = static_cast<char*>(pointer) - sizeof(Header);
  const size_t size = static_cast<Header*>(block)->size;
  if (size > largest) {
    ::munmap(block, size);
    return;
  }
  auto* link = static_cast<Block*>(block);
  const int index = class_of(size);
  link->next = freed[index];
  freed[index] = link;
}

}  // namespace

void* operator new(size_t size) { return take(size); }
void operator delete(void* pointer) noexcept { give_back(pointer); }
void operator delete(void* pointer, size_t) noexcept { give_back(pointer); }
