#include "doors/library/library_folder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"

namespace cloche {

std::string file_mapped_at(std::string_view maps, uint64_t address) {
  // "7f12-7f34 r-xp 00000000 08:01 1234    /usr/lib/libcloche.so.1"
  while (!maps.empty()) {
    const std::string_view line = maps.substr(0, maps.find('\n'));
    maps.remove_prefix(std::min(maps.size(), line.size() + 1));
    uint64_t first = 0;
    uint64_t end = 0;
    const char* const last = line.data() + line.size();
    const auto low = std::from_chars(line.data(), last, first, 16);
    if (low.ec != std::errc{} || low.ptr == last || *low.ptr != '-') continue;
    const auto high = std::from_chars(low.ptr + 1, last, end, 16);
    if (high.ec != std::errc{} || address < first || address >= end) continue;
    const size_t name = line.find('/');
    return name == std::string_view::npos ? "" : std::string(line.substr(name));
  }
  return {};
}

#ifdef CLOCHE_PROGRAM_FOLDERS  // of the shared library: relative to it, with a colon between them

constexpr size_t most_maps_bytes = size_t{64} << 20;

Result<std::string> folder_of_programs() {
  const OwnedFd fd = TRY(sys::open("/proc/self/maps", O_RDONLY));
  const std::string maps = TRY(sys::read_all(fd.get(), most_maps_bytes));
  const std::string library = file_mapped_at(maps, reinterpret_cast<uint64_t>(&folder_of_programs));
  std::string_view folders = CLOCHE_PROGRAM_FOLDERS;
  while (!library.empty() && !folders.empty()) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    folders.remove_prefix(std::min(folders.size(), folder.size() + 1));
    const std::string place = std::string(parent_of(library)) + "/" + std::string(folder);
    if (::access((place + "/cloche-jail").c_str(), X_OK) != 0) continue;
    return TRY(sys::hold(place)).path;
  }
  return refusal("cloche-jail is not where the library was installed" +
                     (library.empty() ? std::string() : " (" + library + ")"),
                 "install both by one cmake --install, or say where it is in the option programs");
}

#else

Result<std::string> folder_of_programs() { return std::string(); }

#endif

}  // namespace cloche
