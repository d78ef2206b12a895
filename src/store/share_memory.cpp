#include "store/share_memory.hpp"

#include <sys/stat.h>

#include <string_view>

#include "base/path.hpp"
#include "base/private_file.hpp"
#include "base/sha256.hpp"
#include "store/share_place.hpp"

namespace cloche {
namespace {

constexpr std::string_view shared_files[] = {"/protected.json",
                                             "/profiles/readonly.json",
                                             "/profiles/workspace-write-no-network.json",
                                             "/profiles/workspace-write.json",
                                             "/commands/passive.json",
                                             "/commands/full.json"};

// Any change of a file's content, and another file in its place, changes one of these.
void add_identity(std::string& text, const std::string& path) {
  struct stat seen {};
  if (::stat(path.c_str(), &seen) != 0) seen = {};
  for (const auto number :
       {static_cast<uint64_t>(seen.st_dev), static_cast<uint64_t>(seen.st_ino),
        static_cast<uint64_t>(seen.st_size), static_cast<uint64_t>(seen.st_mtim.tv_sec),
        static_cast<uint64_t>(seen.st_mtim.tv_nsec), static_cast<uint64_t>(seen.st_ctim.tv_sec),
        static_cast<uint64_t>(seen.st_ctim.tv_nsec), static_cast<uint64_t>(seen.st_mode)})
    text += std::to_string(number) + " ";
  text += "\n";
}

// Each installation has its own.
std::string file_for(const std::string& program, const std::string& state) {
  return state + "/share/" + sha256(share_beside(program)).substr(0, 16);
}

}  // namespace

// With who judges: another version may want something else.
std::string share_identity(const std::string& program) {
  std::string text;
  const std::string share = share_beside(program);
  for (const auto file : shared_files) add_identity(text, share + std::string(file));
  add_identity(text, std::string(parent_of(program)) + "/cloche-full");
  return text;
}

bool is_share_judged(const std::string& program, const std::string& state) {
  if (state.empty()) return false;
  const auto kept = read_private_file(file_for(program, state), 4096);
  return kept.ok() && kept.value() == share_identity(program);
}

void remember_judged_share(const std::string& program, const std::string& state,
                           const std::string& identity) {
  if (!state.empty()) (void)write_private_file(file_for(program, state), identity);
}

}  // namespace cloche
