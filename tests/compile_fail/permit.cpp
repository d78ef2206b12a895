// Only decide() makes a Permit, and a Permit is moved, never copied.
#include <optional>
#include <utility>

#include "policy/gates/decide.hpp"

namespace cloche {

Permit passed_on(Permit permit) { return permit; }

std::optional<Permit> take(Judgement judgement) { return std::move(judgement.permit); }

#ifdef COPIED  // error: deleted (function|constructor)
Permit copy(const Permit& permit) { return permit; }
#endif

#ifdef ASSIGNED  // error: deleted
void assign(Permit& to, const Permit& permit) { to = permit; }
#endif

#ifdef MADE  // error: private
Permit make(Prepared prepared) { return Permit(std::move(prepared)); }
#endif

#ifdef MADE_FROM_NOTHING  // error: no matching (function|constructor)
Permit make() { return Permit(); }
#endif

#ifdef MADE_IN_PLACE  // error: no matching (function|member function)
void make(Judgement& judgement, Prepared prepared) { judgement.permit.emplace(std::move(prepared)); }
#endif

#ifdef LAUNCH_CHANGED  // error: const
void change_launch(Permit& permit) { permit.launch().argv.clear(); }
#endif

#ifdef PLAN_CHANGED  // error: const
void change_plan(Permit& permit) { permit.plan().view.clear(); }
#endif

#ifdef DIGEST_CHANGED  // error: (const|discards qualifiers|no viable overloaded)
void change_digest(Permit& permit) { permit.digest() += "0"; }
#endif

#ifdef DERIVED  // error: (private|deleted)
struct Mine : Permit {
  explicit Mine(Prepared prepared) : Permit(std::move(prepared)) {}
};
#endif

}  // namespace cloche
