// A call that the agent carries out itself: judged by the gates, asked about and written down as advisory,
// because nothing here confines it. What comes back is what the agent is to be told.
#pragma once

#include <string>

#include "gateway/gateway.hpp"
#include "policy/gates/approval.hpp"

namespace cloche {

struct Advice {
  Decision decision = Decision::deny;
  std::string reason = {};    // of a deny for the model, of an ask for the person
  std::string approved = {};  // digest of the question that was answered with yes, or is handed back
  bool answered_by_operator = false;
  Approvers approvers = Approvers::anyone;
  bool isolated = false;                              // of a command: it runs in a sandbox or not at all
  IsolationLevel level = IsolationLevel::namespaces;  // of a command that was admitted
  std::vector<std::string> box_notes = {};            // and what is less about its box than was asked for
};

// Where an ask stays an ask because the agent can put it to its user.
enum class OnAsk { file, hand_back };

// Asked for as `asked`, judged as `judged`, one of our tools.
Result<Advice> advise(Gateway& gateway, const ToolCall& asked, const ToolCall& judged,
                      const CallContext& context, Approver& approver, OnAsk on_ask);

// A tool that is not Cloche's: rules alone judge it. Without a rule that names it, `unsaid` decides, for the
// reason that `why` gives; empty: because the tool is not known.
Result<Advice> advise_by_rules(Gateway& gateway, const ToolCall& asked, Decision unsaid,
                               const std::string& why, const CallContext& context, Approver& approver,
                               OnAsk on_ask);

// A tool that acts on the agent alone, as `known` says for the record: rules may still refuse it or ask, by
// the agent's name for it and by that of `judged`, where that is another.
Result<Advice> advise_agent_only(Gateway& gateway, const ToolCall& asked, const ToolCall& judged,
                                 const std::string& known, const CallContext& context, Approver& approver,
                                 OnAsk on_ask);

// A command that will run in the sandbox later: judged and asked about; written down only when it is refused,
// because the run itself leaves its own record. An allow is said of what is isolated and of nothing else:
// where the operator has switched isolation off, it is an ask, or a deny where no person can be asked; and
// where the sandbox that it would get does not work here, it is a deny with the reason that the run would end
// with. An ask that is handed back carries the digest of the question: to start the command is the yes to
// that digest.
Result<Advice> admit(Gateway& gateway, const ToolCall& asked, const ToolCall& judged,
                     const CallContext& context, Approver& approver, OnAsk on_ask);

}  // namespace cloche
