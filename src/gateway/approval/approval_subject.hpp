// What an approval of a judged call covers: its plan, its input, the files that its words name, and the
// directory that it starts in.
#pragma once

#include "gateway/judge.hpp"
#include "policy/gates/approval.hpp"

namespace cloche {

// What an approver would be asked.
ApprovalSubject subject_of(const Judged& judged);

}  // namespace cloche
