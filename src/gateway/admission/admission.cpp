#include "gateway/admission/admission.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/sys/fd.hpp"

namespace cloche {
namespace {

enum class Woken { turn, stopped };

Woken wait_for(int turn, int stop) {
  std::array<pollfd, 2> events = {{{turn, POLLIN, 0}, {stop, POLLIN, 0}}};
  while (::poll(events.data(), events.size(), -1) < 0 && errno == EINTR) {
  }
  return events[0].revents != 0 ? Woken::turn : Woken::stopped;
}

bool is_stopped(int stop) {
  pollfd event{stop, POLLIN, 0};
  return stop >= 0 && ::poll(&event, 1, 0) > 0;
}

}  // namespace

Admission::Entry Admission::enter(const std::string& tenant, size_t bytes, int stop) {
  std::unique_lock held(lock_);
  const auto ticket = queue_.add(tenant, bytes);
  if (!ticket) return NoPlace::busy;
  // Nobody waits while a place is free, so what begins now is this call.
  if (queue_.begin()) return Entry(std::in_place_type<Place>, *this, tenant);
  return wait_for_turn(std::move(held), *ticket, tenant, stop);
}

Admission::Entry Admission::wait_for_turn(std::unique_lock<std::mutex> held, FairQueue::Ticket ticket,
                                          const std::string& tenant, int stop) {
  const OwnedFd turn(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!turn) {  // what lacks descriptors is busy too
    queue_.drop(ticket);
    return NoPlace::busy;
  }
  waiters_.emplace(ticket, turn.get());
  held.unlock();
  const Woken woken = wait_for(turn.get(), stop);
  held.lock();
  waiters_.erase(ticket);
  const bool has_begun = !queue_.drop(ticket);
  held.unlock();
  if (!has_begun) return NoPlace::cancelled;
  Entry entry(std::in_place_type<Place>, *this, tenant);
  if (woken == Woken::turn && !is_stopped(stop)) return entry;
  return NoPlace::cancelled;  // and the next one has its place
}

// Under the lock, whenever a place may be free.
void Admission::begin_next() {
  while (const auto begun = queue_.begin()) {
    const uint64_t one = 1;
    const auto waiter = waiters_.find(begun->ticket);
    if (waiter != waiters_.end()) (void)!::write(waiter->second, &one, sizeof one);
  }
}

void Admission::leave(const std::string& tenant) {
  const std::lock_guard held(lock_);
  queue_.end(tenant);
  place_.notify_one();
  begin_next();
}

void Admission::step_aside(const std::string& tenant) {
  const std::lock_guard held(lock_);
  queue_.step_aside(tenant);
  place_.notify_one();
  begin_next();
}

void Admission::come_back(const std::string& tenant) {
  std::unique_lock held(lock_);
  queue_.want_back();
  place_.wait(held, [&] { return queue_.may_come_back(); });
  queue_.come_back(tenant);
}

size_t Admission::waiting() const {
  const std::lock_guard held(lock_);
  return queue_.waiting();
}

MachineSize size_of_machine() {
  cpu_set_t usable;
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  MachineSize machine;
  if (::sched_getaffinity(0, sizeof usable, &usable) == 0) {
    machine.cores = static_cast<size_t>(CPU_COUNT(&usable));
  } else if (const long online = ::sysconf(_SC_NPROCESSORS_ONLN); online > 0) {
    machine.cores = static_cast<size_t>(online);
  }
  if (pages > 0 && page_bytes > 0)
    machine.memory_bytes = static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_bytes);
  return machine;
}

}  // namespace cloche
