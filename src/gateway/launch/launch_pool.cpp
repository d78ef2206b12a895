#include "gateway/launch/launch_pool.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "base/text/sha256.hpp"
#include "confine/native/probe.hpp"
#include "store/layers/layer_place.hpp"

namespace cloche {
namespace {

constexpr size_t most_kinds = 2;
constexpr uint64_t few_after_ms = uint64_t{60} * 1000;
constexpr uint64_t none_after_ms = uint64_t{10} * 60 * 1000;
constexpr uint64_t enough_memory_bytes = uint64_t{128} << 20;
constexpr uint64_t budget_bytes = uint64_t{48} << 20;  // of all that wait
constexpr uint64_t kernels_bytes = uint64_t{1} << 20;  // of one, about: its network above all
constexpr int until_ready_ms = 10;                     // about
constexpr uint64_t longest_to_ready_ms = 5000;         // one that was stopped while it is built never is
constexpr int answer_first_ms = 2;                     // before sandboxes are prepared behind a call

// "MemAvailable:  123 kB"; all there could be, where the kernel does not say.
uint64_t available_bytes() {
  const auto text = sys::read_small_file("/proc/meminfo");
  constexpr std::string_view key = "MemAvailable:";
  const size_t at = text.ok() ? text.value().find(key) : std::string::npos;
  if (at == std::string::npos) return ~0ULL;
  const size_t digits = text.value().find_first_not_of(' ', at + key.size());
  uint64_t kib = 0;
  const char* end = text.value().data() + text.value().size();
  if (digits != std::string::npos) std::from_chars(text.value().data() + digits, end, kib);
  return kib * 1024;
}

// Each open file of the table says once that it has changed.
bool have_changed(const OwnedFd& mounts) {
  pollfd event{mounts.get(), POLLPRI, 0};
  return !mounts || ::poll(&event, 1, 0) != 0;
}

OwnedFd watch_mounts() { return OwnedFd(::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)); }

// What processes of a sandbox that waits have of memory, without what the kernel has for it.
uint64_t resident_bytes(pid_t keeper) {
  const std::string table = "/proc/" + std::to_string(keeper);
  const auto first = sys::read_small_file(table + "/task/" + std::to_string(keeper) + "/children");
  uint64_t pages = 0;
  for (const std::string& process :
       {table, "/proc/" + (first.ok() ? first.value().substr(0, first.value().find(' ')) : "")}) {
    const auto numbers = sys::read_small_file(process + "/statm");
    const size_t at = numbers.ok() ? numbers.value().find(' ') : std::string::npos;
    uint64_t resident = 0;
    const char* end = at == std::string::npos ? nullptr : numbers.value().data() + numbers.value().size();
    if (end != nullptr) std::from_chars(numbers.value().data() + at + 1, end, resident);
    pages += resident;
  }
  return pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

bool can_serve(const ConfinementPlan& plan) {
  return plan.backend == Backend::native && plan.level == IsolationLevel::namespaces && !plan.terminal;
}

void add(Sha256& digest, std::string_view text) { digest.add(std::to_string(text.size()) + ":").add(text); }
void add(Sha256& digest, uint64_t number) { add(digest, std::string_view(std::to_string(number))); }

}  // namespace

size_t count_wanted(const PoolFacts& facts) {
  if (facts.idle_ms >= none_after_ms || facts.available_bytes < enough_memory_bytes) return 0;
  const uint64_t within_budget = budget_bytes / (facts.each_bytes + kernels_bytes);
  const size_t most = std::min(facts.bound, static_cast<size_t>(within_budget));
  return facts.idle_ms >= few_after_ms ? std::min<size_t>(most, 1) : most;
}

// Of the view what comes before the first tree of the operator's or file of a call's, which is all that can
// be prepared (count_still_mounts).
std::string shape_of(const ConfinementPlan& plan, const CallerFact& caller, const std::string& state) {
  Sha256 digest;
  for (const uint64_t number : {static_cast<uint64_t>(plan.backend), static_cast<uint64_t>(plan.network),
                                static_cast<uint64_t>(plan.level), uint64_t{plan.inside_uid},
                                uint64_t{plan.inside_gid}, plan.limits.memory_bytes, plan.limits.processes,
                                uint64_t{caller.uid}, uint64_t{caller.gid}, uint64_t{caller.privileged}})
    add(digest, number);
  for (const ViewEntry& entry : plan.view) {
    if (entry.owned || is_beneath(calls_own_files, entry.target)) break;
    for (const uint64_t number :
         {static_cast<uint64_t>(entry.kind), static_cast<uint64_t>(entry.access), uint64_t{entry.mode},
          entry.size_bytes, entry.device, entry.inode, uint64_t{entry.recursive}, uint64_t{entry.file}})
      add(digest, number);
    for (const std::string* text : {&entry.target, &entry.source, &entry.content}) add(digest, *text);
  }
  for (const SkeletonPart part : {SkeletonPart::root, SkeletonPart::etc})
    add(digest, skeleton_home(plan, part, state));
  return digest.finish();
}

LaunchPool::LaunchPool(Installation installation, size_t bound)
    : installation_(std::move(installation)),
      bound_(bound),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      mounts_of_thread_(watch_mounts()),
      mounts_of_calls_(watch_mounts()) {}

LaunchPool::~LaunchPool() {
  {
    const std::lock_guard held(lock_);
    closing_ = true;
  }
  wake();
  if (thread_) ::pthread_join(*thread_, nullptr);
}

void LaunchPool::wake() const {
  const uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
}

std::optional<LaunchResources> LaunchPool::take(const ConfinementPlan& plan, const CallerFact& caller) {
  if (!can_serve(plan)) return std::nullopt;
  const std::string shape = shape_of(plan, caller, installation_.state);
  const uint64_t now_ms = sys::monotonic_ms();
  const std::lock_guard held(lock_);
  if (have_changed(mounts_of_calls_)) drop_after_mounts();
  for (auto box = boxes_.begin(); box != boxes_.end(); ++box) {
    if (box->kind->shape != shape || now_ms >= box->made_ms + none_after_ms) continue;
    const auto readiness = box->resources.jail().readiness();
    if (readiness == JailProcess::Readiness::not_yet) continue;
    std::list<Box> taken;
    taken.splice(taken.begin(), boxes_, box);
    if (readiness == JailProcess::Readiness::ready) {
      ++hits_;
      return std::optional<LaunchResources>(std::move(taken.front().resources));
    }
    given_back_.splice(given_back_.begin(), taken);
    break;
  }
  ++misses_;
  return std::nullopt;
}

void LaunchPool::give_back(LaunchResources resources) {
  note_failed();
  const std::lock_guard held(lock_);
  given_back_.push_back({nullptr, std::move(resources)});
}

void LaunchPool::note_failed() {
  const std::lock_guard held(lock_);
  --hits_;
  ++misses_;
}

void LaunchPool::retire(std::unique_ptr<LaunchResources> used) {
  if (!used || !used->is_prepared()) return;
  const std::lock_guard held(lock_);
  if (!thread_) return;
  given_back_.push_back({nullptr, std::move(*used)});
  wake();
}

bool LaunchPool::tidy_later(const std::string& layers) {
  const std::lock_guard held(lock_);
  if (thread_) untidy_ = layers;
  return thread_.has_value();
}

// With the lock held.
void LaunchPool::drop_after_mounts() {
  (void)have_changed(mounts_of_calls_);  // what is prepared from here on has the new ones
  given_back_.splice(given_back_.begin(), boxes_);
  wake();
}

void LaunchPool::expect(const ConfinementPlan& plan, const CallerFact& caller, std::string shape) {
  if (!can_serve(plan) || !wake_ || !mounts_of_thread_ || !mounts_of_calls_) return;
  if (shape.empty()) shape = shape_of(plan, caller, installation_.state);
  const std::lock_guard held(lock_);
  last_call_ms_ = sys::monotonic_ms();
  failed_ = false;
  auto known = std::ranges::find_if(kinds_, [&](const auto& kind) { return kind->shape == shape; });
  // What is ready-made was compared with the host when it was prepared, and something there has changed.
  if (known != kinds_.end() && (*known)->watch->has_seen_one()) {
    kinds_.erase(known);
    known = kinds_.end();
  }
  if (known != kinds_.end()) {
    std::rotate(kinds_.begin(), known, known + 1);
  } else {
    Kind kind{std::move(shape), plan, caller, std::make_shared<SkeletonWatch>()};
    kind.plan.secrets.clear();
    kind.plan.argv = {"/"};  // no plan is without
    kinds_.insert(kinds_.begin(), std::make_shared<const Kind>(std::move(kind)));
    if (kinds_.size() > most_kinds) kinds_.pop_back();
  }
  wake();
  if (!thread_) start_thread();
}

// Where the host gives us none, every call starts without a pool.
void LaunchPool::start_thread() {
  const auto begin = [](void* pool) -> void* {
    static_cast<LaunchPool*>(pool)->run();
    return nullptr;
  };
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the threads of the program
  pthread_t thread{};
  if (::pthread_create(&thread, nullptr, begin, this) == 0) thread_ = thread;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// Of two kinds each has its part, the newer one the larger. With the lock held, as what follows.
size_t LaunchPool::share_of(const Kind* kind, size_t wanted) const {
  const size_t of_older = kinds_.size() > 1 ? wanted / 2 : 0;
  if (kind == kinds_.front().get()) return wanted - of_older;
  return kind == kinds_.back().get() ? of_older : 0;
}

size_t LaunchPool::count_of(const Kind* kind) const {
  return static_cast<size_t>(
      std::ranges::count_if(boxes_, [&](const Box& box) { return box.kind.get() == kind; }));
}

// What is to be destroyed: that takes a moment, and is done without the lock.
std::list<LaunchPool::Box> LaunchPool::sort_out(size_t wanted) {
  std::list<Box> out;
  const uint64_t now_ms = sys::monotonic_ms();
  out.splice(out.begin(), given_back_);
  for (auto box = boxes_.begin(); box != boxes_.end();) {
    const auto next = std::next(box);
    const bool too_many = count_of(box->kind.get()) > share_of(box->kind.get(), wanted);
    const bool broken = box->resources.jail().readiness() == JailProcess::Readiness::broken;
    const bool too_old = now_ms >= box->made_ms + none_after_ms;
    const bool too_slow = box->bytes == 0 && now_ms >= box->made_ms + longest_to_ready_ms;
    failed_ = failed_ || too_slow;
    if (too_many || broken || too_old || too_slow) out.splice(out.begin(), boxes_, box);
    box = next;
  }
  return out;
}

// With the lock held. False: some are not ready yet.
bool LaunchPool::measure_boxes() {
  bool all = true;
  for (Box& box : boxes_) {
    if (box.bytes != 0) continue;
    const bool ready = box.resources.jail().readiness() == JailProcess::Readiness::ready;
    if (ready) box.bytes = std::max(resident_bytes(box.resources.jail().keeper.pid), uint64_t{1});
    all = all && ready;
  }
  return all;
}

PoolCounts LaunchPool::counts() const {
  const std::lock_guard held(lock_);
  return counts_now();
}

PoolCounts LaunchPool::counts_now() const {
  PoolCounts counts{.bound = bound_, .hits = hits_, .misses = misses_};
  for (const Box& box : boxes_) {
    counts.memory_bytes += box.bytes;
    if (box.bytes != 0) ++counts.waiting;  // else it is still being built
  }
  return counts;
}

std::shared_ptr<const LaunchPool::Kind> LaunchPool::next_kind(size_t wanted) const {
  if (failed_) return nullptr;
  for (const auto& kind : kinds_)
    if (count_of(kind.get()) < share_of(kind.get(), wanted)) return kind;
  return nullptr;
}

void LaunchPool::run() {
  const PoolNotice notice(installation_.state);
  while (true) {
    std::list<Box> out;
    std::shared_ptr<const Kind> next;
    std::string untidy;
    PoolCounts said;
    bool all_ready = true;
    uint64_t idle_ms = 0;
    {
      const std::lock_guard held(lock_);
      if (have_changed(mounts_of_thread_)) drop_after_mounts();
      idle_ms = sys::monotonic_ms() - last_call_ms_;
      const uint64_t each_bytes = boxes_.empty() ? 0 : boxes_.front().bytes;
      const size_t wanted = closing_ ? 0 : count_wanted({bound_, idle_ms, available_bytes(), each_bytes});
      out = sort_out(wanted);
      if (closing_) return;
      next = next_kind(wanted);
      if (!next) untidy = std::exchange(untidy_, {});
      if (!next) all_ready = measure_boxes();
      if (!next) said = counts_now();
    }
    out.clear();
    if (!next) notice.write(said);
    if (!untidy.empty()) clear_ended_layers(untidy);
    if (next) {
      auto made =
          LaunchResources::prepare(next->plan, next->caller, probe_host(), installation_, next->watch);
      const std::lock_guard held(lock_);
      if (made.ok()) {
        made.value().set_shape(next->shape);
        boxes_.push_back({next, std::move(made).value(), sys::monotonic_ms()});
      }
      if (have_changed(mounts_of_thread_)) drop_after_mounts();  // before a call can take it
      failed_ = failed_ || !made.ok();
      continue;
    }
    // Also to look at how old each is.
    const uint64_t until_ms = idle_ms < few_after_ms ? few_after_ms : none_after_ms;
    int wait_ms = idle_ms < none_after_ms ? static_cast<int>(until_ms - idle_ms) + 1 : -1;
    if (!all_ready) wait_ms = until_ready_ms;
    pollfd events[2] = {{wake_.get(), POLLIN, 0}, {mounts_of_thread_.get(), POLLPRI, 0}};
    if (::poll(events, 2, wait_ms) < 0) continue;
    uint64_t count = 0;
    (void)!::read(wake_.get(), &count, sizeof count);
    if (events[1].revents != 0) {
      const std::lock_guard held(lock_);
      drop_after_mounts();
    } else if (events[0].revents != 0) {
      ::poll(nullptr, 0, answer_first_ms);
    }
  }
}

}  // namespace cloche
