// What an approval of a judged call covers: its plan, its input, the files that its words name, and the
// directory that it starts in.
#pragma once

#include "gateway/approval/approved_files_lock.hpp"
#include "gateway/judge.hpp"
#include "policy/gates/approval.hpp"

namespace cloche {

// Beneath which directories its words may name files that an approval covers.
NamedFiles named_files_of(const Judged& judged);

// What an approver would be asked.
ApprovalSubject subject_of(const Judged& judged);

}  // namespace cloche
