// Who runs and who waits among the calls of one gateway.
//
// Who waits for whom: a thread that enters has a place at once, or waits until one of those that run gives
// its place back. Meanwhile its call can be cancelled. A call that waits for a person steps aside, and its
// place is another's until the person has answered.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <variant>

#include "gateway/admission/fair_queue.hpp"
#include "policy/gates/approval.hpp"

namespace cloche {

class Admission {
 public:
  explicit Admission(QueueLimits limits) : queue_(limits) {}
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;
  ~Admission() = default;

  // Of a call that runs; given back with its end.
  class Place {
   public:
    Place(Admission& admission, std::string tenant) : admission_(&admission), tenant_(std::move(tenant)) {}
    Place(Place&& other) noexcept
        : admission_(std::exchange(other.admission_, nullptr)), tenant_(std::move(other.tenant_)) {}
    Place& operator=(Place&&) = delete;
    ~Place() {
      if (admission_ != nullptr) admission_->leave(tenant_);
    }
    void step_aside() { admission_->step_aside(tenant_); }
    void come_back() { admission_->come_back(tenant_); }

   private:
    Admission* admission_;
    std::string tenant_;
  };
  enum class NoPlace { busy, cancelled };
  using Entry = std::variant<Place, NoPlace>;

  // Returns when the call may run. `stop` is readable once it is cancelled; -1: it never is.
  Entry enter(const std::string& tenant, size_t bytes, int stop);

  size_t waiting() const;

 private:
  Entry wait_for_turn(std::unique_lock<std::mutex> held, FairQueue::Ticket ticket, const std::string& tenant,
                      int stop);
  void leave(const std::string& tenant);
  void step_aside(const std::string& tenant);
  void come_back(const std::string& tenant);
  void begin_next();

  mutable std::mutex lock_;
  FairQueue queue_;
  std::map<FairQueue::Ticket, int> waiters_;  // the eventfd of each that waits
  std::condition_variable place_;             // for those who come back
};

// Has no place in the gateway while a person is asked. What an approver of the embedding program throws
// passes through it (gateway/exception_barrier.cpp).
class PlaceFreeingApprover : public Approver {
 public:
  PlaceFreeingApprover(Admission::Place& place, Approver& inner) : place_(place), inner_(inner) {}
  Answer ask(const Question& question) override;
  std::optional<Answer> ask_afterwards(const Question& question) override;
  bool can_ask() const override { return inner_.can_ask(); }
  bool speaks_for_operator() const override { return inner_.speaks_for_operator(); }

 private:
  Admission::Place& place_;
  Approver& inner_;
};

// The processors that this process may use, and the memory of the host.
MachineSize size_of_machine();

}  // namespace cloche
