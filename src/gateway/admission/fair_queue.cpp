#include "gateway/admission/fair_queue.hpp"

#include <algorithm>
#include <cassert>
#include <tuple>

namespace cloche {

// One that comes anew is last in turn: else a tenant with one call at a time would come before all others.
FairQueue::Tenant& FairQueue::know(const std::string& name) {
  const auto [place, is_new] = tenants_.try_emplace(name);
  if (is_new) place->second.last_turn = ++turn_;
  return place->second;
}

void FairQueue::forget_idle(Tenants::iterator tenant) {
  if (tenant->second.waiting.empty() && tenant->second.running == 0) tenants_.erase(tenant);
}

std::optional<FairQueue::Ticket> FairQueue::add(const std::string& tenant, size_t bytes) {
  Tenant& whose = know(tenant);
  const bool has_place = running_ + returning_ + waiting_ < limits_.running;
  const bool has_room = whose.waiting.size() < limits_.waiting && bytes <= limits_.waiting_bytes &&
                        whose.waiting_bytes + bytes <= limits_.waiting_bytes;
  if (!has_place && !has_room) {
    forget_idle(tenants_.find(tenant));
    return std::nullopt;
  }
  whose.waiting.push_back({next_ticket_, bytes});
  whose.waiting_bytes += bytes;
  ++waiting_;
  return next_ticket_++;
}

bool FairQueue::drop(Ticket ticket) {
  for (auto tenant = tenants_.begin(); tenant != tenants_.end(); ++tenant) {
    auto& waiting = tenant->second.waiting;
    const auto found =
        std::ranges::lower_bound(waiting, ticket, {}, [](const Waiting& one) { return one.ticket; });
    if (found == waiting.end() || found->ticket != ticket) continue;
    tenant->second.waiting_bytes -= found->bytes;
    waiting.erase(found);
    --waiting_;
    forget_idle(tenant);
    return true;
  }
  return false;
}

void FairQueue::drop_all() {
  for (auto& [name, tenant] : tenants_) {
    tenant.waiting.clear();
    tenant.waiting_bytes = 0;
  }
  waiting_ = 0;
  std::erase_if(tenants_, [](const auto& entry) { return entry.second.running == 0; });
}

std::optional<FairQueue::Begun> FairQueue::begin() {
  if (!may_begin()) return std::nullopt;
  const auto rank = [](const Tenant& tenant) {
    return std::tuple(tenant.waiting.empty(), tenant.running, tenant.last_turn);
  };
  const auto next = std::ranges::min_element(
      tenants_, [&](const auto& a, const auto& b) { return rank(a.second) < rank(b.second); });
  Tenant& tenant = next->second;
  const Waiting first = tenant.waiting.front();
  tenant.waiting.pop_front();
  tenant.waiting_bytes -= first.bytes;
  --waiting_;
  ++tenant.running;
  ++running_;
  tenant.last_turn = ++turn_;
  return Begun{first.ticket, next->first};
}

void FairQueue::end(const std::string& tenant) {
  const auto whose = tenants_.find(tenant);
  assert(whose != tenants_.end() && whose->second.running > 0);
  --whose->second.running;
  --running_;
  forget_idle(whose);
}

void FairQueue::step_aside(const std::string& tenant) { end(tenant); }

void FairQueue::come_back(const std::string& tenant) {
  --returning_;
  ++know(tenant).running;
  ++running_;
}

}  // namespace cloche
