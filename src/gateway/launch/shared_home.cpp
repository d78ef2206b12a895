#include "gateway/launch/shared_home.hpp"

#include <algorithm>

namespace cloche {
namespace {

bool is_part_of(const Rights& less, const Rights& more) {
  return std::includes(more.begin(), more.end(), less.begin(), less.end());
}

}  // namespace

Rights rights_of(const Launch& launch, const RunRequest& operators) {
  Rights rights;
  for (const auto& name : launch.pass_env) rights.insert("variable " + name);
  for (const auto& passed : operators.environment) rights.insert("variable " + passed.name);
  if (launch.network) {
    for (const auto& host : operators.hosts) rights.insert("host " + host);
  }
  const auto add = [&](const std::vector<Grant>& grants) {
    for (const auto& grant : grants) {
      rights.insert("read " + grant.source);
      if (grant.writable) rights.insert("write " + grant.source);
    }
  };
  add(operators.grants);
  add(launch.grants);
  if (operators.debugging) rights.insert("debug");
  // One that is held by less is no heir of one that is held by more, and the other way round.
  rights.insert("isolation " + std::string(name_of(operators.level)));
  return rights;
}

bool HomeSharing::enter(const Rights& rights) {
  const bool had_by_all = !least_ || is_part_of(rights, *least_);
  const bool outdone = std::any_of(running_.begin(), running_.end(),
                                   [&](const Rights& other) { return !is_part_of(other, rights); });
  if (!had_by_all || outdone) return false;
  least_ = rights;
  running_.insert(rights);
  return true;
}

void HomeSharing::leave(const Rights& rights) {
  if (const auto found = running_.find(rights); found != running_.end()) running_.erase(found);
}

Result<std::unique_ptr<SharedHome>> SharedHome::make(const std::string& state) {
  return std::unique_ptr<SharedHome>(new SharedHome(TRY(SessionHome::make(state))));
}

Result<SharedHome::Offer> SharedHome::offer() {
  const std::lock_guard held(lock_);
  return Offer{task_grants(TRY(home_->now())), generation_};
}

SharedHome::Use SharedHome::enter(const Rights& rights, uint64_t generation) {
  const std::lock_guard held(lock_);
  if (generation != generation_ || !sharing_.enter(rights)) return {};
  return {*this, rights};
}

void SharedHome::start_over(uint64_t generation) {
  const std::lock_guard held(lock_);
  if (generation != generation_) return;  // another call was quicker
  ++generation_;
  home_->start_over();
  sharing_.start_over();
}

void SharedHome::leave(const Rights& rights) {
  const std::lock_guard held(lock_);
  sharing_.leave(rights);
  if (!sharing_.is_used()) home_->remove_earlier();
}

}  // namespace cloche
