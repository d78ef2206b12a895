#include "doors/library/library_folder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <vector>

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

#ifdef CLOCHE_PROGRAMS_FROM_LIBRARY  // of the shared library: relative to its directory

constexpr size_t most_maps_bytes = size_t{64} << 20;

// As they are built, beside the library, or as they are installed. In one of the two alone: a call that works
// in the directory of an installation, or of a build, could make the other.
Result<ProgramPlace> place_of_programs(const std::optional<std::string>& named) {
  const OwnedFd fd = TRY(sys::open("/proc/self/maps", O_RDONLY));
  const std::string maps = TRY(sys::read_all(fd.get(), most_maps_bytes));
  ProgramPlace place{.library = file_mapped_at(maps, reinterpret_cast<uint64_t>(&place_of_programs))};
  const std::string beside(parent_of(place.library));
  // Also where the program names another directory: the next one that loads this library may not.
  if (const auto command = sys::hold(beside + "/" CLOCHE_COMMAND_FROM_LIBRARY);
      !beside.empty() && command.ok())
    place.others.push_back(command.value().path);
  if (named) {
    place.folder = *named;
    return place;
  }
  std::vector<std::string> found;
  for (const std::string& folder : {beside, beside + "/" CLOCHE_PROGRAMS_FROM_LIBRARY}) {
    if (!place.library.empty() && ::access((folder + "/cloche-jail").c_str(), F_OK) == 0)
      found.push_back(TRY(sys::hold(folder)).path);
  }
  if (found.empty())
    return refusal("cloche-jail is not where the library was installed" +
                       (place.library.empty() ? std::string() : " (" + place.library + ")"),
                   "install both by one cmake --install, or say where it is in the option programs");
  if (found.size() > 1 && found[0] != found[1])
    return refusal(
        "there are two cloche-jail for " + place.library + ", in " + found[0] + " and in " + found[1],
        "remove the one that was not installed with it");
  place.folder = found.front();
  TRY(check_parts(place.folder, beside));
  return place;
}

#else

Result<ProgramPlace> place_of_programs(const std::optional<std::string>& named) {
  return ProgramPlace{.folder = named.value_or("")};
}

#endif

}  // namespace cloche
