// Only decide() makes a Permit, and a Permit is moved, never copied.
#include <optional>
#include <utility>

#include "policy/decide.hpp"

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
Permit make(Launch launch) { return Permit(std::move(launch)); }
#endif

#ifdef MADE_FROM_NOTHING  // error: no matching (function|constructor)
Permit make() { return Permit(); }
#endif

#ifdef MADE_IN_PLACE  // error: no matching (function|member function)
void make(Judgement& judgement, Launch launch) { judgement.permit.emplace(std::move(launch)); }
#endif

#ifdef LAUNCH_CHANGED  // error: const
void change(Permit& permit) { permit.launch().argv.clear(); }
#endif

#ifdef DERIVED  // error: (private|deleted)
struct Mine : Permit {
  explicit Mine(Launch launch) : Permit(std::move(launch)) {}
};
#endif

}  // namespace cloche
