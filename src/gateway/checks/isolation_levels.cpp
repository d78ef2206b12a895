#include "gateway/checks/isolation_levels.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <ctime>

#include "base/sys/private_file.hpp"
#include "base/sys/sys.hpp"
#include "base/text/sha256.hpp"
#include "confine/landlock_support.hpp"
#include "confine/native/probe.hpp"
#include "confine/supervise/outcome_of_call.hpp"
#include "gateway/checks/own_run.hpp"
#include "gateway/checks/scratch_workspace.hpp"
#include "gateway/launch/launch_resources.hpp"

namespace cloche {
namespace {

constexpr int64_t trust_in_failure_s = 5;
constexpr size_t most_bytes = 4096;
constexpr int most_again = 2;  // of a trial that a signal ended

int64_t now_s() { return static_cast<int64_t>(::time(nullptr)); }

// WORKS or the time of the failure, then why, fix, layer and whether it is installed, a line each.
std::string text_of(const Offer& offer) {
  if (offer.works) return "works\n";
  return std::to_string(now_s()) + "\n" + offer.why + "\n" + offer.fix + "\n" +
         std::string(offer.layer ? name_of(*offer.layer) : "") + "\n" +
         (offer.installed ? "installed\n" : "absent\n");
}

std::string next_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  std::string line(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::optional<Offer> offer_in(std::string_view text) {
  const std::string head = next_line(text);
  if (head == "works") return Offer{.works = true};
  int64_t when = 0;
  const auto [at, problem] = std::from_chars(head.data(), head.data() + head.size(), when);
  const int64_t age = now_s() - when;
  if (problem != std::errc{} || at != head.data() + head.size() || age < 0 || age > trust_in_failure_s)
    return std::nullopt;
  Offer offer{.why = next_line(text)};
  offer.fix = next_line(text);
  offer.layer = layer_named(next_line(text));
  offer.installed = next_line(text) != "absent";
  return offer;
}

// A signal that kills a trial must not choose the box of the calls that follow: nothing is missing, and the
// call itself, at the isolation level that was asked for, runs or refuses.
Offer cut_short(const Message& why) {
  return {.tried = false, .cut_short = true, .why = why.text(), .fix = "run it again"};
}

// By the change time, which its owner cannot set.
void add_identity(Sha256& hash, const std::string& path) {
  struct stat seen {};
  if (::stat(path.c_str(), &seen) != 0) seen = {};
  hash.add(path).add(":").add(std::to_string(seen.st_ino)).add(":").add(std::to_string(seen.st_size));
  hash.add(":").add(std::to_string(seen.st_ctim.tv_sec)).add(":").add(std::to_string(seen.st_ctim.tv_nsec));
}

// Nothing else would say so: everything that is required holds.
void note_landlock(Choice& choice) {
  const int offered = offered_landlock_abi();
  if (landlock_support(IsolationLevel::namespaces, offered).abi != 0) return;
  choice.notes.push_back("the layer landlock is missing here: the kernel offers Landlock ABI " +
                         std::to_string(std::max(offered, 0)) +
                         "; the isolation level namespace goes on without it");
}

}  // namespace

Result<Switches> switches_of(const Environment& environment) {
  Switches switches;
  const std::string off = environment.get("CLOCHE_SANDBOX");
  if (off == "off" || off == "0" || off == "no" || off == "false") {
    switches.off = true;
  } else if (!off.empty() && off != "on" && off != "1" && off != "yes" && off != "true") {
    return refusal("CLOCHE_SANDBOX=" + off + " means nothing", "it is off (0, no, false) or on");
  }
  const std::string required = environment.get("CLOCHE_REQUIRE_SANDBOX");
  // Whatever it says but a plain no is taken for the stricter meaning.
  switches.required = !required.empty() && required != "0" && required != "no" && required != "false";
  return switches;
}

IsolationLevels::IsolationLevels(Environment environment, Installation installation)
    : environment_(std::move(environment)), installation_(std::move(installation)) {}

Offer IsolationLevels::offer(Backend backend, Landlock landlock, Looking looking) {
  const std::lock_guard held(lock_);
  // The others do not do without it.
  const Asked asked{backend, backend == Backend::native ? landlock : Landlock::required};
  const auto known = known_.find(asked);
  if (looking == Looking::remembered && known != known_.end()) return known->second;
  const std::string file = file_for(asked);
  if (looking == Looking::remembered) {
    if (const auto kept = file.empty() ? Result<std::string>(Error{}) : read_private_file(file, most_bytes);
        kept.ok()) {
      if (const auto offer = offer_in(kept.value())) return known_[asked] = *offer;
    }
  }
  Offer offer = try_out(asked);
  for (int again = 0; again < most_again && offer.cut_short; ++again) offer = try_out(asked);
  if (!offer.tried) return offer;  // nothing is known, so there is nothing to remember
  if (!file.empty()) write_private_file(file, text_of(offer));
  return known_[asked] = std::move(offer);
}

// Nothing tells but running it: what is configured, installed or of the right version may fail all the same.
Offer IsolationLevels::try_out(const Asked& asked) const {
  const ScratchWorkspace place("ladder", environment_, installation_.state);
  if (place.path().empty())
    return {.tried = false, .why = place.why_not().what.text(), .fix = place.why_not().fix.text()};
  RunRequest request = in_scratch(place, {"/bin/true"});
  request.level = level_of(asked.first);
  request.backend = asked.first;
  request.landlock = asked.second;
  const auto ran = run_own(request, environment_, installation_);
  if (!ran.ok() && ran.error().cause == Cause::interrupted) return cut_short(ran.error().what);
  if (!ran.ok()) {
    return {.why = ran.error().what.text(),
            .fix = ran.error().fix.text(),
            .installed = ran.error().step != FailedStep::find_backend,
            .layer = ran.error().layer};
  }
  const Outcome& outcome = ran.value().outcome;
  if (was_interrupted(outcome)) return cut_short(outcome.reason);
  if (outcome.exit_code != 0) return {.why = "/bin/true did not run there: " + outcome.reason.text()};
  return {.works = true};
}

std::string IsolationLevels::file_for(const Asked& asked) const {
  const auto [backend, landlock] = asked;
  const auto boot = sys::read_small_file("/proc/sys/kernel/random/boot_id");
  if (installation_.state.empty() || !boot.ok()) return {};
  Sha256 hash;
  hash.add(boot.value()).add(name_of(backend)).add(std::to_string(::geteuid()));
  if (landlock == Landlock::optional) hash.add("landlock optional");
  // What works out here may not in a container that has this directory too, and the other way round.
  for (const char* path : {"/proc/self/ns/user", "/proc/self/ns/mnt"}) {
    const auto name = sys::read_link(path);
    hash.add(name.ok() ? name.value() : "");
  }
  add_identity(hash, installation_.jail);
  add_identity(hash, program_of(backend));
  return installation_.state + "/backends/" + hash.finish();
}

Landlock landlock_wanted(const Settings& settings, const Switches& switches) {
  if (switches.required) return Landlock::required;
  const auto& missing = settings.missing;
  const auto& landlock = settings.landlock;
  const bool managed_may =
      (landlock.managed && landlock.managed->value == Landlock::optional) ||
      (!landlock.managed && missing.managed && missing.managed->value == Missing::degrade);
  const bool managed_refuses =
      settings.isolation.managed || (missing.managed && missing.managed->value == Missing::refuse);
  if (managed_refuses && !managed_may) return Landlock::required;
  if (landlock.is_set()) return landlock.value;
  return missing.value == Missing::degrade ? Landlock::optional : Landlock::required;
}

Result<Wish> wish_for(const Settings& settings, const Environment& environment, FrontEnd front_end) {
  const Switches switches = TRY(switches_of(environment));
  Wish wish;
  wish.missing = settings.missing.value;
  // A configuration that names a level for all calls says itself whether there may be less.
  const auto& missing = settings.missing.managed;
  if (settings.isolation.managed && !(missing && missing->value == Missing::degrade))
    wish.lowest = settings.isolation.managed->value;
  wish.landlock = landlock_wanted(settings, switches);
  wish.required = switches.required;
  // A managed file that says `enabled` is above every variable.
  const bool always_on = settings.enabled.managed && settings.enabled.managed->value;
  wish.overruled = always_on && switches.off && !switches.required;
  wish.off = !always_on && (switches.off || !settings.enabled.value);
  // `enabled: false` stands in a managed or user file itself; only a variable needs one that lets it count.
  wish.off_allowed = settings.allow_sandbox_off.value || !settings.enabled.value;
  wish.front_end = front_end;
  return wish;
}

Result<Choice> choose_backend(RunRequest& request, Wish wish, IsolationLevels& levels) {
  wish.level = request.level;
  wish.backend = request.backend;
  Choice choice = TRY(choose(wish, [&](Backend backend) { return levels.offer(backend, wish.landlock); }));
  request.backend = choice.backend;
  request.level = level_of(choice.backend);
  request.landlock = wish.landlock;
  if (choice.backend == Backend::native && wish.landlock == Landlock::optional) note_landlock(choice);
  return choice;
}

}  // namespace cloche
