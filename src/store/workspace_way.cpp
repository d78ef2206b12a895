#include "store/workspace_way.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <deque>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "store/host/observe.hpp"
#include "store/second_name.hpp"

namespace cloche {

Result<Reach> reach_of(const std::string& path, const std::string& workspace) {
  constexpr int most_links = 40;
  const auto written_parts = components_of(path);
  std::deque<std::string> rest(written_parts.begin(), written_parts.end());
  std::string here = "/";
  bool absent = false;
  size_t written = rest.size();  // parts of the path itself that are still to come; others are a link's
  for (int links = 0; !rest.empty();) {
    const bool of_link = rest.size() > written;
    if (!of_link) --written;
    const std::string part = rest.front();
    rest.pop_front();
    const std::string next =
        part == ".." ? std::string(parent_of(here)) : (here == "/" ? "" : here) + "/" + part;
    struct stat seen {};
    if (!absent && ::lstat(next.c_str(), &seen) != 0) {
      if (errno != ENOENT) return system_error("look at " + next);
      // There should be a file behind the link: perhaps it is only not mounted yet.
      if (of_link) return system_error("follow a link of " + path, ENOENT);
      absent = true;
    }
    here = next;
    if (!workspace.empty() && is_beneath(workspace, here)) return Reach::through_workspace;
    if (!workspace.empty() && is_mounted_from(workspace, here)) return Reach::through_mount;
    if (absent || !S_ISLNK(seen.st_mode)) continue;
    if (++links > most_links) return system_error("follow " + path, ELOOP);
    const std::string target = TRY(sys::read_link(next));
    auto parts = components_of(target);
    rest.insert(rest.begin(), parts.begin(), parts.end());
    here = target.starts_with('/') ? "/" : std::string(parent_of(next));
  }
  return absent ? Reach::absent : Reach::there;
}

ReachFact look_at_reach(const std::string& path, const std::string& workspace) {
  const auto reach = workspace.empty() ? Result<Reach>(Reach::there) : reach_of(path, workspace);
  if (!reach.ok() || reach.value() == Reach::there || reach.value() == Reach::absent) return {};
  ReachFact fact{.reach = reach.value(), .workspace = workspace, .end = look_at_place(path).path};
  fact.ends_in = lies_in(workspace, fact.end);
  return fact;
}

}  // namespace cloche
