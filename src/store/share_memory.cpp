#include "store/share_memory.hpp"

#include <sys/stat.h>

#include <string_view>

#include "base/path.hpp"
#include "base/private_file.hpp"
#include "base/sha256.hpp"
#include "base/sys.hpp"
#include "store/share_place.hpp"

namespace cloche {
namespace {

// In the order that CMakeLists.txt has them.
constexpr std::string_view shared_files[] = {"/protected.json",
                                             "/profiles/readonly.json",
                                             "/profiles/workspace-write-no-network.json",
                                             "/profiles/workspace-write.json",
                                             "/commands/passive.json",
                                             "/commands/full.json",
                                             "/agent_tools.json"};

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

bool is_as_built(const std::string& share) {
  constexpr size_t most_bytes = size_t{1} << 20;
  std::string digests;
  for (const auto file : shared_files) {
    const auto text = sys::read_file(share + std::string(file), most_bytes);
    if (!text.ok()) return false;
    digests += sha256(text.value());
  }
  return sha256(digests) == CLOCHE_SHIPPED_DIGEST;
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
  add_identity(text, std::string(parent_of(program)) + "/cloche");
  return text;
}

ShareJudged share_judged(const std::string& program, const std::string& state) {
  if (!state.empty()) {
    const auto kept = read_private_file(file_for(program, state), 4096);
    if (kept.ok() && kept.value() == share_identity(program)) return ShareJudged::remembered;
  }
  return is_as_built(share_beside(program)) ? ShareJudged::as_built : ShareJudged::no;
}

void remember_judged_share(const std::string& program, const std::string& state,
                           const std::string& identity) {
  if (!state.empty()) (void)write_private_file(file_for(program, state), identity);
}

void note_share_as_built(const std::string& program, const std::string& state) {
  const std::string identity = share_identity(program);
  if (is_as_built(share_beside(program))) remember_judged_share(program, state, identity);
}

}  // namespace cloche
