#include "store/protected/member_contents.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <set>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "base/text/sha256.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

constexpr ChangeTime beginning{std::numeric_limits<int64_t>::min(), 0};
constexpr ChangeTime never{std::numeric_limits<int64_t>::min(), -1};

// Digests of what is in a tree, within bounds.
class Digester {
 public:
  Digester(const HeldRoot& root, const std::vector<std::string>& hidden, const ContentLimits& bounds)
      : root_(root), hidden_(hidden), bounds_(bounds) {}

  void add(const std::string& path) {
    const auto parent = open_parent(root_.fd.get(), path);
    if (parent.ok()) add_child({parent.value().get(), last_of(path), path, 0});
  }
  Digests take() { return std::move(digests_); }
  const std::string& gap() const { return gap_; }

 private:
  struct Step {
    int parent;
    std::string name;
    std::string path;
    size_t depth;
  };

  void add_child(const Step& step) {
    const auto seen = look_in(step.parent, step.name);
    if (!seen || digests_.contains(step.path) || !gap_.empty()) return;
    if (S_ISDIR(seen->st_mode)) return add_directory(step);
    if (++files_ > bounds_.files) return meet("files", bounds_.files);
    Sha256 digest;
    digest.add(std::to_string(seen->st_mode) + "\n");
    if (S_ISLNK(seen->st_mode)) digest.add(link_text(step.parent, step.name));
    if (S_ISREG(seen->st_mode)) add_bytes(open_child(step.parent, step.name.c_str(), O_RDONLY), digest);
    digests_.emplace(step.path, digest.finish());
  }

  void add_directory(const Step& step) {
    const std::string place = root_.path + "/" + step.path;
    if (std::find(hidden_.begin(), hidden_.end(), place) != hidden_.end()) return;
    if (step.depth > bounds_.depth) return meet("directories in another", bounds_.depth);
    const OpenedDirectory opened = open_directory(step.parent, step.name);
    if (opened.barrier == Barrier::unknown) gap_ = opened.describe(step.path);
    if (opened.barrier != Barrier::none) return;
    const int fd = opened.fd.get();
    const bool read = for_each_name(fd, [&](const dirent& entry) {
      add_child({fd, entry.d_name, joined(step.path, entry.d_name), step.depth + 1});
      return gap_.empty();
    });
    if (!read && gap_.empty()) gap_ = "'" + step.path + "' could not be read";
  }

  void add_bytes(const OwnedFd& fd, Sha256& digest) {
    std::string buffer(size_t{64} << 10, '\0');
    ssize_t got = fd ? ::read(fd.get(), buffer.data(), buffer.size()) : -1;
    for (; got > 0; got = ::read(fd.get(), buffer.data(), buffer.size())) {
      bytes_ += static_cast<uint64_t>(got);
      if (bytes_ > bounds_.bytes) return meet("bytes", bounds_.bytes);
      digest.add(std::string_view(buffer).substr(0, static_cast<size_t>(got)));
    }
    if (got < 0) digest.add("unreadable");
  }

  void meet(const char* what, uint64_t bound) {
    gap_ = "its protected files are more than can be compared (" + std::to_string(bound) + " " + what + ")";
  }

  const HeldRoot& root_;
  const std::vector<std::string>& hidden_;
  const ContentLimits& bounds_;
  Digests digests_;
  std::string gap_;
  size_t files_ = 0;
  uint64_t bytes_ = 0;
};

// The files of one member in the digests.
std::vector<Digests::const_iterator> files_of(const Digests& digests, const std::string& member) {
  std::vector<Digests::const_iterator> files;
  const std::string within = member + "/";
  if (const auto itself = digests.find(member); itself != digests.end()) files.push_back(itself);
  for (auto at = digests.lower_bound(within); at != digests.end() && at->first.starts_with(within); ++at)
    files.push_back(at);
  return files;
}

}  // namespace

Contents contents_of_members(const HeldRoot& root, TreeFacts known, const LookLimits& limits,
                             std::string_view remembered, const ContentLimits& bounds) {
  for (auto& fact : known.files) fact.changed = never;
  LookLimits all = limits;
  all.suspects = bounds.files;
  all.opens_closed = false;
  LookAfter found = look_after(root, known, beginning, all, remembered);
  Digester digester(root, limits.hidden, bounds);
  for (const auto& member : found.suspects) digester.add(member.path);
  if (found.gap.empty()) found.gap = digester.gap();
  return {std::move(found.suspects), digester.take(), std::move(found.gap), std::move(found.memory)};
}

std::vector<Suspect> changed_since(const Digests& before, const Contents& now) {
  std::vector<Suspect> changed;
  for (const auto& member : now.members) {
    const auto files = files_of(now.digests, member.path);
    std::vector<Suspect> differing;
    bool was_there = false;
    for (const auto& file : files) {
      const auto earlier = before.find(file->first);
      was_there = was_there || earlier != before.end();
      if (earlier == before.end() || earlier->second != file->second)
        differing.push_back({file->first, member.reason});
    }
    if (!differing.empty() && !was_there) differing = {member};
    if (!differing.empty()) add_suspects(changed, differing);
  }
  return changed;
}

void add_suspects(std::vector<Suspect>& found, const std::vector<Suspect>& more) {
  std::set<std::string> paths;
  for (const auto& suspect : found) paths.insert(suspect.path);
  const auto is_found = [&](std::string path) {
    while (!path.empty() && !paths.contains(path)) path = directory_of(path);
    return !path.empty();
  };
  for (const auto& suspect : more) {
    if (is_found(suspect.path)) continue;
    paths.insert(suspect.path);
    found.push_back(suspect);
  }
}

std::string text_of_digests(const Digests& digests) {
  std::string text;
  for (const auto& [path, digest] : digests) {
    text += digest + " " + path;
    text += '\0';
  }
  return text;
}

Digests digests_in(std::string_view text) {
  Digests digests;
  for (size_t end = text.find('\0'); end != std::string_view::npos; end = text.find('\0')) {
    const std::string_view line = text.substr(0, end);
    const size_t space = line.find(' ');
    if (space == std::string_view::npos) break;
    digests.emplace(line.substr(space + 1), line.substr(0, space));
    text.remove_prefix(end + 1);
  }
  return digests;
}

}  // namespace cloche
