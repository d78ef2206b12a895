// Which box a command gets: the one that was asked for or, only where the operator has said so, the next one
// down. Pure: what this host offers is asked of the caller, one backend at a time and only as far as needed.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/backend.hpp"

namespace cloche {

// Where a call comes in. Agents stand behind the last: there an environment variable is not the operator's
// word.
enum class FrontEnd { command_line, agent };

struct Wish {
  IsolationLevel level = IsolationLevel::namespaces;
  std::optional<Backend> backend = {};  // of that level; none: whichever works
  Missing missing = Missing::refuse;
  IsolationLevel lowest =
      IsolationLevel::subprocess;  // to which `degrade` may step down: a managed file can name a higher one
  Landlock landlock = Landlock::required;  // optional: the backend native goes on without it
  bool required = false;                   // CLOCHE_REQUIRE_SANDBOX=1: refuse, whatever else is set
  bool off = false;                        // CLOCHE_SANDBOX=off, or `enabled: false`
  bool overruled = false;                  // CLOCHE_SANDBOX=off, and the managed file says `enabled: true`
  bool off_allowed = false;                // a managed or user file lets front ends of agents honour that
  FrontEnd front_end = FrontEnd::command_line;
  bool untried = false;  // take the best of the level without trying it: the call itself does, and comes back
};

struct Offer {
  bool works = false;
  bool tried = true;       // no: it could not be found out, and the call itself will
  bool cut_short = false;  // not tried, because the trial was ended from outside
  std::string why = {};    // it does not; one sentence
  std::string fix = {};
  bool installed = true;              // no: the sentence begins with the backend's name
  std::optional<LayerId> layer = {};  // the promise that is not kept
};
// Why it does not work, with its name.
std::string named_reason(Backend backend, const Offer& offer);
using Offers = std::function<Offer(Backend)>;

struct Choice {
  Backend backend = Backend::native;
  bool untried = false;                 // another one of its level was not looked at
  std::vector<std::string> notes = {};  // for stderr, doctor and the record: less than was asked for, and why
};

// Whether the operator's switch counts here: then nothing holds the command.
bool may_be_off(const Wish& wish);

// What became of the operator's switch, for readers who could believe otherwise: that nothing holds, or
// that it does not count here.
std::vector<std::string> switch_notes(const Wish& wish);

Result<Choice> choose(const Wish& wish, const Offers& offers);

}  // namespace cloche
