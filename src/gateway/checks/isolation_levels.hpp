// Which isolation levels this host really has, found out by running something on them, and the box that a
// request gets (confine/boxes/choose.hpp).
//
// What works is remembered for this boot, these programs and this user, 0600, so that a call need not try it
// out; what does not work is remembered for seconds, because the operator may just be mending it.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "base/result.hpp"
#include "base/sys/environment.hpp"
#include "confine/boxes/choose.hpp"
#include "gateway/configuration/installation.hpp"
#include "model/run_request.hpp"
#include "store/config/settings.hpp"

namespace cloche {

// CLOCHE_SANDBOX and CLOCHE_REQUIRE_SANDBOX.
struct Switches {
  bool off = false;
  bool required = false;
};
// An error for a value that means nothing: guessing could switch the wrong way.
Result<Switches> switches_of(const Environment& environment);

class IsolationLevels {
 public:
  IsolationLevels(Environment environment, Installation installation);

  // Thread-safe. `fresh`: whatever is remembered.
  enum class Looking { remembered, fresh };
  Offer offer(Backend backend, Landlock landlock, Looking looking = Looking::remembered);

 private:
  using Asked = std::pair<Backend, Landlock>;
  Offer try_out(const Asked& asked) const;
  std::string file_for(const Asked& asked) const;

  Environment environment_;
  Installation installation_;
  std::mutex lock_;
  std::map<Asked, Offer> known_;
};

// Whether the level namespace goes on without Landlock. `missing: degrade` says so too, but not against a
// word of the operator's on Landlock itself, and like it not below a level that the managed file names.
Landlock landlock_wanted(const Settings& settings, const Switches& switches);

// How an operator wants it, from the configuration and the environment.
Result<Wish> wish_for(const Settings& settings, const Environment& environment, FrontEnd front_end);

// Settles the request's level and backend. What was chosen below what was asked for is in the notes.
Result<Choice> choose_backend(RunRequest& request, Wish wish, IsolationLevels& levels);

}  // namespace cloche
