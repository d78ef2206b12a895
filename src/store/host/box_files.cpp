#include "store/host/box_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sys/private_file.hpp"
#include "base/sys/sys.hpp"
#include "base/text/sha256.hpp"

namespace cloche {
namespace {

Result<std::string> store_text(const std::string& content, const std::string& state) {
  const std::string path = state + "/texts/" + sha256(content);
  const auto stored = read_private_file(path, content.size());
  if (stored.ok() && stored.value() == content) return path;
  if (!write_private_file(path, content)) return system_error("write " + path);
  return path;
}

// The mode is set apart, because the umask is the caller's.
Result<void> make_entry(const std::string& root, const RootfsEntry& entry) {
  const std::string path = root + entry.path;
  switch (entry.kind) {
    case RootfsEntry::Kind::directory:
      if (::mkdir(path.c_str(), 0700) != 0 || ::chmod(path.c_str(), entry.mode) != 0)
        return system_error("make " + path);
      return {};
    case RootfsEntry::Kind::link:
      if (::symlink(entry.content.c_str(), path.c_str()) != 0) return system_error("make " + path);
      return {};
    case RootfsEntry::Kind::file: {
      const OwnedFd file = TRY(sys::open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
      TRY(sys::write_all(file.get(), entry.content));
      if (::fchmod(file.get(), entry.mode) != 0) return system_error("make " + path);
      return {};
    }
  }
  return {};
}

}  // namespace

Result<std::map<size_t, std::string>> store_texts(const ConfinementPlan& plan,
                                                  const std::vector<size_t>& places,
                                                  const std::string& state) {
  std::map<size_t, std::string> texts;
  if (!places.empty() && state.empty())
    return refusal("there is no directory of Cloche's own to store the files of the view in",
                   "set XDG_STATE_HOME to one that no other user can write to");
  for (size_t at : places) texts[at] = TRY(store_text(plan.view[at].content, state));
  return texts;
}

Result<void> make_bundle(const std::string& directory, const std::vector<RootfsEntry>& rootfs,
                         const std::string& config) {
  if (::mkdir(directory.c_str(), 0755) != 0) return system_error("make the bundle " + directory);
  TRY(make_entry(directory, {RootfsEntry::Kind::directory, "/rootfs"}));
  for (const auto& entry : rootfs) TRY(make_entry(directory + "/rootfs", entry));
  return make_entry(directory, {RootfsEntry::Kind::file, "/config.json", config, 0600});
}

}  // namespace cloche
