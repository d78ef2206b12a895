// From outside the gateway a call is the only way to an effect: what takes its Permit is its own.
#include <optional>
#include <utility>

#include "gateway/gateway.hpp"

namespace cloche {

struct Caller {
  const CallContext& context;
  Approver& approver;
};

CallResult called(Gateway& gateway, const ToolCall& asked, const Caller& caller) {
  return gateway.call(asked, caller.context, caller.approver);
}

#ifdef EXECUTED  // error: private
void executed(Gateway& gateway, Permit permit, Judged& judged, const Caller& caller, CallRecord& record) {
  gateway.execute(std::move(permit), judged, {caller.context, caller.approver, {}}, record, std::nullopt);
}
#endif

#ifdef LAUNCHED  // error: private
void launched(Gateway& gateway, const Permit& permit, Judged& judged, const Caller& caller) {
  (void)gateway.launch(permit, judged, caller.context, "id");
}
#endif

}  // namespace cloche
