// From a judgement that asks to an answer: what is shown, what an answer covers, and who said what before.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "gateway/judge.hpp"
#include "gateway/launch/why_not_found.hpp"
#include "policy/gates/approval.hpp"
#include "policy/gates/decide.hpp"

namespace cloche {

// Why there is a question, one sentence for each gate that wants it.
std::vector<std::string> reasons_to_ask(const Judgement& judgement);

// Who may answer: the strictest of the gates that ask.
Approvers approvers_of(const Judgement& judgement);

// What words of a command name beneath these directories, the first of which relative ones are taken from, is
// part of what is approved: another content is another question. Also behind an = or glued to an option, and
// modules of python. What lies there and cannot be read, or is too much, has no hash, and then there is
// no question; what lies elsewhere is not opened. A link that leaves its directory is followed where the view
// has the same files as the host all the way; elsewhere there is no question.
struct FilesOfView {
  std::function<std::optional<ShownFile>(const std::string& path)> on_host;  // of a path of the view
  std::function<bool(const std::string& path)> is_same;                      // on the host and in the view
};
struct NamedFiles {
  std::vector<ExecutedFile> files = {};
  std::vector<ExecutedFile> absent = {};  // what words could name, and is not there; without hashes
};
NamedFiles files_named(const std::vector<std::string>& words, const std::vector<std::string>& directories,
                       const FilesOfView& view = {});

// Knows which question was answered with yes, and does not ask that one again: the plan may be void and the
// call judged once more before it starts.
class RememberingApprover : public Approver {
 public:
  RememberingApprover(Approver& inner, std::string& approved) : inner_(inner), approved_(approved) {}
  Answer ask(const Question& question) override;
  bool can_ask() const override { return inner_.can_ask(); }
  bool speaks_for_operator() const override { return inner_.speaks_for_operator(); }

 private:
  Approver& inner_;
  std::string& approved_;  // the digest of that question
};

// The answers of one session, for all of its threads.
class Questions {
 public:
  // Nothing: it may happen, once. A verdict: why not. `subject` is taken again after the answer, because
  // files may have changed while the question was open.
  std::optional<Verdict> ask(const std::function<ApprovalSubject()>& subject, Approver& approver);

 private:
  std::optional<Verdict> have_answer(const Question& question, Approver& approver);
  bool is_answered(const std::string& digest);
  bool spend(const std::string& digest);

  std::mutex lock_;
  ApprovalBook book_;
};

// What an approver would be asked: what an approval of a judged call covers, which is its plan, its input,
// the files that its words name, and the directory that it starts in.
ApprovalSubject subject_of(const Judged& judged);

}  // namespace cloche
