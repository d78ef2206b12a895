// From a judgement that asks to an answer: what is shown, what an answer covers, and who said what before.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "policy/approval.hpp"
#include "policy/decide.hpp"

namespace cloche {

// Why somebody has to be asked, one sentence for each gate that wants it.
std::vector<std::string> reasons_to_ask(const Judgement& judgement);

// What words of a command name in a directory is part of what is approved: another content is another
// question. What cannot be read has no hash, and then nobody is asked.
std::vector<ExecutedFile> files_named(const std::vector<std::string>& words, const std::string& directory);

// The answers of one session, for all of its threads.
class Questions {
 public:
  // Nothing: it may happen, once. Otherwise why not. `subject` is taken again after the answer, because files
  // may have changed while somebody was thinking.
  std::optional<Verdict> ask(const std::function<ApprovalSubject()>& subject, Approver& approver);

 private:
  bool spend(const std::string& digest);

  std::mutex lock_;
  ApprovalBook book_;
};

}  // namespace cloche
