// A function of the embedding program gets the arguments of a permitted call, and no others.
#include <string>

#include "gateway/exception_barrier.hpp"

namespace cloche {

Result<std::string> asked(const Function& function, const Permit& permit) {
  return guarded_run(function, permit);
}

#ifdef WITH_ARGUMENTS  // error: (invalid initialization|no matching function|no viable conversion)
Result<std::string> asked(const Function& function, const std::string& arguments) {
  return guarded_run(function, arguments);
}
#endif

#ifdef WITH_LAUNCH  // error: (invalid initialization|no matching function|no viable conversion)
Result<std::string> asked(const Function& function, const Launch& launch) {
  return guarded_run(function, launch);
}
#endif

}  // namespace cloche
