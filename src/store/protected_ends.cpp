// What lies elsewhere in the tree and is executed all the same, because a link in a member leads there or a
// configuration names it. A link that a command made goes itself; of one that was there before what the
// command changed goes: the end of the way, or a link on it. The first link stays then, as the user's own: it
// leads nowhere, and where there are no mounts it would be put back anyway.
//
// Nothing is followed while something else is being read, so however long a chain of directories and links
// is, it costs no stack.
#include <utility>

#include "base/path.hpp"
#include "store/protected_judge.hpp"

namespace cloche {
namespace {

// There is nothing at its end that anybody could execute.
bool leads_nowhere(int error) { return error == ENOENT || error == ENOTDIR || error == ELOOP; }

std::string reason_with_way(const Led& led) {
  return led.link.empty() ? led.reason : led.reason + " (by the link '" + led.link + "')";
}

}  // namespace

void MemberJudge::judge_end(const std::string& link, const struct stat& seen, const std::string& reason) {
  // What was followed before is known by its path as well.
  const ProtectedFact* before = known_.find(seen);
  led_.push_back({absolute(link), link, true, before != nullptr && !before->file.path.empty(), reason});
}

void MemberJudge::judge_places(const std::vector<NamedPlace>& places) {
  for (const auto& place : places)
    led_.push_back({place.path, "", place.kind == PlaceKind::hooks, false,
                    "a configuration of git has it execute what is here"});
  judge_all_led();
}

void MemberJudge::judge_all_led() {
  while (!led_.empty() && findings_.may_go_on()) {
    const Led next = std::move(led_.back());
    led_.pop_back();
    judge_led(next);
  }
}

bool MemberJudge::is_inside(const std::string& path) const {
  return path != root_ && is_beneath(root_, path);
}

// Through directories that the command closed as well: they are opened again wherever the look meets them.
LinkWay MemberJudge::follow(const std::string& path) const {
  constexpr int most_closed = 64;
  LinkWay way = follow_links(path);
  for (int i = 0; i < most_closed && way.error == EACCES && is_inside(way.path); ++i) {
    const std::string closed = relative(way.path);
    const OwnedFd around = open_beneath(root_fd_, directory_of(closed), O_PATH | O_DIRECTORY);
    const auto seen = around ? look_in(around.get(), last_of(closed)) : std::nullopt;
    if (seen && !is_touched(*seen)) {
      way.error = ENOENT;  // it was closed before the command came, and to it as well
    } else if (seen && open_to_owner(root_fd_, closed, *seen)) {
      way = follow_links(path);
    } else {
      break;
    }
  }
  return way;
}

void MemberJudge::judge_led(const Led& led) {
  const LinkWay way = follow(led.path);
  if (has_turned(led, way)) return;
  if (way.error == 0) return judge_place(led, way);
  if (leads_nowhere(way.error) || !is_inside(way.path)) return;
  if (led.link.empty()) return findings_.gap("'" + led.path + "' could not be opened");
  findings_.suspect(led.link, led.reason);
}

// A link further on that the command made. Where it leads does not matter: the user has not said so.
bool MemberJudge::has_turned(const Led& led, const LinkWay& way) {
  for (const auto& link : way.links) {
    if (!is_inside(link.path) || relative(link.path) == led.link) continue;
    if (!is_touched(link.seen) || known_.is_unchanged(link.seen)) continue;
    findings_.suspect(relative(link.path), reason_with_way(led));
    return true;
  }
  return false;
}

void MemberJudge::judge_place(const Led& led, const LinkWay& way) {
  const bool leads_back = !led.link.empty() && is_beneath(way.path, led.path);
  if (!is_inside(way.path) || leads_back) return;
  const bool is_directory = S_ISDIR(way.seen.st_mode);
  if (is_directory && !led.may_be_directory) return;
  const ProtectedFact* same = known_.find(way.seen);
  const bool has_other_names = S_ISREG(way.seen.st_mode) && way.seen.st_nlink > 1;
  const bool is_kept = same != nullptr && same->kept && !has_other_names;
  if (!is_kept) {
    // A directory that was moved there, or one above it, brings what is older.
    const bool was_another =
        same == nullptr && (led.is_known || known_.is_known(way.path) || known_.was_absent(led.path));
    const bool is_changed = is_directory ? is_new(way.seen, relative(way.path))
                                         : is_touched(way.seen) && !known_.is_unchanged(way.seen);
    // That something was put into a directory looks the same as long as nobody knows which it was: then the
    // link goes, and not all that is in there.
    const bool is_certain = !is_directory || led.link.empty() || led.is_known;
    if (is_changed || was_another)
      return findings_.suspect(is_certain ? relative(way.path) : led.link, reason_with_way(led));
  }
  if (!is_directory || !ends_.insert(way.path).second) return;
  look_inside(relative(way.path), reason_with_way(led), is_kept ? Inside::links : Inside::everything);
}

}  // namespace cloche
