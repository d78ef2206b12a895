// What lies elsewhere in the tree and is executed all the same, because a link in a member leads there or a
// configuration names it. A link that a command made goes itself; of one that was there before what the
// command changed goes: the end of the way, or a link on it. The first link stays then, as the user's own: it
// leads nowhere, and where there are no mounts it would be put back anyway.
//
// Leads of before the command count as much as those of now: a command may have changed, closed or moved
// whatever said so. And what was at the end of each is compared with what is there, not only by its age: a
// directory with older things in it may have been moved there.
//
// Nothing is followed while something else is being read, so however long a chain of directories and links
// is, it costs no stack.
#include <algorithm>
#include <utility>

#include "base/sys/path.hpp"
#include "store/protected/protected_judge.hpp"

namespace cloche {
namespace {

// There is nothing at its end that anybody could execute.
bool leads_nowhere(int error) { return error == ENOENT || error == ENOTDIR || error == ELOOP; }

// The others lead to themselves, and the walk comes by them.
bool leads_elsewhere(LeadFact::Kind kind) {
  return LeadFact::is_executed(kind) || kind == LeadFact::Kind::repository;
}

constexpr const char* too_many = "more leads to what is executed than can be remembered";
constexpr const char* former_reason =
    "a link or a configuration of git led here, and what is here was executed";

}  // namespace

void MemberJudge::judge_end(const std::string& link, const std::string& reason) {
  add_led({{absolute(link), LeadFact::Kind::link}, reason + " (by the link '" + link + "')"});
}

void MemberJudge::add_led(Led led) {
  const bool is_first = !come_by_.contains(led.lead);
  if (!is_first && !led.is_link()) return;  // several configurations may say the same
  if (come_by_.size() < most_come_by) come_by_.emplace(led.lead, RememberedLead{led.lead});
  if (!has_come_by_all()) findings_.gap(too_many);
  led_.push_back(std::move(led));
}

void MemberJudge::judge_places(const std::vector<NamedPlace>& places, const char* reason) {
  for (const auto& place : places) add_led({{place.path, kind_of(place.kind)}, reason, place.pointer});
  judge_all_led();
}

std::vector<RememberedLead> MemberJudge::leads_to_remember() const {
  constexpr int64_t longest_lost = int64_t{30} * 24 * 3600;
  const int64_t now = change_time_now().seconds;
  std::vector<RememberedLead> leads;
  for (const auto& lead : leads_.all()) {
    if (!leads_elsewhere(lead.kind)) continue;
    LeadName name{lead.path, lead.kind};
    const int64_t lost = lead.lost != 0 ? lead.lost : now;
    const bool is_there = !lead.end.path.empty() && is_inside(lead.end.path);
    if (!is_there || now - lost >= longest_lost || come_by_.contains(name)) continue;
    leads.push_back({std::move(name), lead.end.path, lost});
    for (const auto& link : lead.links) leads.back().links.push_back(link.path);
  }
  for (const auto& [name, lead] : come_by_) leads.push_back(lead);
  return leads;
}

// By then every directory that the command closed is open again, and what stands in configurations was read.
void MemberJudge::judge_known_leads() {
  for (const auto& lead : leads_.all()) {
    if (!leads_elsewhere(lead.kind)) continue;
    LeadName name{lead.path, lead.kind};
    if (!come_by_.contains(name)) led_.push_back({std::move(name), former_reason});
    judge_all_led();
    judge_former_end(lead);
  }
}

// The way there may be gone, and come back with a later call.
void MemberJudge::judge_former_end(const LeadFact& lead) {
  if (lead.end.path.empty() || !LeadFact::is_executed(lead.kind)) return;
  const SymlinkTrace way = follow(lead.end.path);
  const Led led{{lead.path, lead.kind}, former_reason};
  if (way.error != 0 || way.path != lead.end.path || !may_be_executed(led, way)) return;
  if (is_other_end(lead, way)) return findings_.suspect(relative(way.path), led.reason);
  judge_content(led, way, way.path);
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
SymlinkTrace MemberJudge::follow(const std::string& path) const {
  constexpr int most_closed = 64;
  SymlinkTrace way = trace_symlinks(path);
  for (int i = 0; i < most_closed && way.error == EACCES && is_inside(way.path); ++i) {
    const std::string closed = relative(way.path);
    const OwnedFd around = open_descendant(root_fd_, directory_of(closed), O_PATH | O_DIRECTORY);
    const auto seen = around ? look_in(around.get(), last_of(closed)) : std::nullopt;
    if (seen && !is_touched(*seen)) {
      way.error = ENOENT;  // it was closed before the command came, and to it as well
    } else if (seen && open_to_owner(root_fd_, closed, *seen)) {
      way = trace_symlinks(path);
    } else {
      break;
    }
  }
  return way;
}

void MemberJudge::remember(const LeadName& name, const SymlinkTrace& way) {
  const auto place = come_by_.find(name);
  if (place == come_by_.end()) return;
  const LeadFact* before = leads_.find(name);
  const LeadFact now = way.error != 0 && before != nullptr ? *before : lead_fact(name, way);
  if (is_inside(now.end.path)) place->second.end = now.end.path;
  place->second.links.clear();
  for (const auto& link : now.links) place->second.links.push_back(link.path);
}

void MemberJudge::judge_led(const Led& led) {
  const SymlinkTrace way = follow(led.lead.path);
  remember(led.lead, way);
  if (has_turned(led, way)) return;
  if (led.lead.kind == LeadFact::Kind::repository) return judge_repository(led, way);
  if (way.error == 0) return judge_shown_path(led, way);
  if (leads_nowhere(way.error) || !is_inside(way.path)) return;
  if (!led.is_link()) return findings_.gap("'" + led.lead.path + "' could not be opened");
  findings_.suspect(relative(led.lead.path), led.reason);
}

// In the tree the walk comes by it; elsewhere nobody does. What says so may be as it was, and moved to where
// it means another place.
void MemberJudge::judge_repository(const Led& led, const SymlinkTrace& way) {
  const std::string& end = way.error == 0 ? way.path : way.missing;
  // Or another pointer led there: the user's own, wherever it is kept now.
  const bool is_known = !knows_all_ || leads_.find(led.lead) != nullptr ||
                        (way.error == 0 && leads_.was_end(led.lead.kind, way.seen));
  if (!is_known && !is_beneath(root_, end) && is_inside(led.pointer))
    findings_.suspect(relative(led.pointer), "leads git to a place outside the directory");
}

bool MemberJudge::has_become(LeadFact::Kind kind, const struct stat& seen, const std::string& path) {
  const LeadName name{absolute(path), kind};
  const bool fits = come_by_.contains(name) || come_by_.size() < most_come_by;
  if (fits) come_by_.emplace(name, RememberedLead{name, name.path});
  if (!has_come_by_all()) findings_.gap(too_many);
  return knows_all_ && !leads_.was_end(kind, seen);
}

// On a way that nobody knew of before, or that led nowhere, no link is taken for the user's word that no
// other lead went by.
bool MemberJudge::was_on_way(const Led& led, const SymlinkTrace::Link& link) const {
  const LeadFact* before = leads_.find(led.lead);
  if (before == nullptr && !knows_all_) return !is_touched(link.seen) || known_.is_unchanged(link.seen);
  if (before == nullptr) return leads_.was_link(link.seen);
  if (before->end.inode == 0 && leads_.was_link(link.seen)) return true;
  return std::any_of(before->links.begin(), before->links.end(), [&](const LeadFact::Step& step) {
    return is_step(step, link.path, link.seen) && step.changed == change_of(link.seen);
  });
}

// A link further on that was not on this way before. Where it leads does not matter: the user has not said
// so. But repositories may be linked within the tree, where they are looked at; of one that leads out what
// says so goes.
bool MemberJudge::has_turned(const Led& led, const SymlinkTrace& way) {
  const bool is_repository = !LeadFact::is_executed(led.lead.kind);
  if (is_repository && (way.path.empty() || is_beneath(root_, way.path))) return false;
  for (const auto& link : way.links) {
    if (!is_inside(link.path) || (led.is_link() && link.path == led.lead.path)) continue;
    if (was_on_way(led, link)) continue;
    const bool has_pointer = is_inside(led.pointer) && leads_.find(led.lead) == nullptr;
    findings_.suspect(relative(has_pointer ? led.pointer : link.path), led.reason);
    return true;
  }
  return false;
}

// A directory that was moved there, or one above it, brings what is older; so age says nothing.
bool MemberJudge::is_another(const Led& led, const SymlinkTrace& way) const {
  if (const LeadFact* before = leads_.find(led.lead)) return is_other_end(*before, way);
  return !leads_.was_end(led.lead.kind, way.seen) && (knows_all_ || has_new_way(way.path));
}

// What comes to where nothing was may be there by another lead already: a directory may be renamed with all
// that leads from somewhere to somewhere in it, and back.
bool MemberJudge::is_other_end(const LeadFact& before, const SymlinkTrace& way) const {
  if (before.end.inode != 0) return !is_step(before.end, way.path, way.seen);
  return !leads_.was_end(before.kind, way.seen);
}

// Whether a directory on the way came to its name since then. That something was made in it looks the same.
bool MemberJudge::has_new_way(const std::string& path) const {
  for (std::string at = directory_of(relative(path)); !at.empty(); at = directory_of(at)) {
    const OwnedFd around = open_descendant(root_fd_, directory_of(at), O_PATH | O_DIRECTORY);
    const auto seen = around ? look_in(around.get(), last_of(at)) : std::nullopt;
    if (!seen || is_new(*seen, at)) return true;
  }
  return false;
}

bool MemberJudge::may_be_executed(const Led& led, const SymlinkTrace& way) const {
  const bool leads_back = led.is_link() && is_beneath(way.path, led.lead.path);
  const bool may_be_directory = led.is_link() || led.lead.kind == LeadFact::Kind::hooks;
  return is_inside(way.path) && !leads_back && (may_be_directory || !S_ISDIR(way.seen.st_mode));
}

void MemberJudge::judge_shown_path(const Led& led, const SymlinkTrace& way) {
  if (!may_be_executed(led, way)) return;
  // That something was put into a directory looks the same as long as nobody knows which it was: then the
  // link goes, and not all that is in there.
  const bool is_certain = !S_ISDIR(way.seen.st_mode) || !led.is_link() || leads_.find(led.lead) != nullptr;
  const std::string& goes = is_certain ? way.path : led.lead.path;
  if (is_another(led, way)) return findings_.suspect(relative(goes), led.reason);
  judge_content(led, way, goes);
}

// By the times of what is there.
void MemberJudge::judge_content(const Led& led, const SymlinkTrace& way, const std::string& goes) {
  const bool is_directory = S_ISDIR(way.seen.st_mode);
  const ProtectedFact* same = known_.find(way.seen);
  const bool has_other_names = S_ISREG(way.seen.st_mode) && way.seen.st_nlink > 1;
  const bool is_kept = same != nullptr && same->kept && !has_other_names;
  // It may be known by a lead alone, one that comes from another tree.
  const bool is_new_directory =
      is_new(way.seen, relative(way.path)) && !leads_.was_end(led.lead.kind, way.seen);
  const bool is_changed =
      is_directory ? is_new_directory : is_touched(way.seen) && !known_.is_unchanged(way.seen);
  if (is_changed && !is_kept) return findings_.suspect(relative(goes), led.reason);
  if (!is_directory || !ends_.insert(way.path).second) return;
  look_inside(relative(way.path), led.reason, is_kept ? Inside::links : Inside::everything);
}

}  // namespace cloche
