#include "gateway/approval/ask_approval.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "base/text/sha256.hpp"
#include "gateway/guarded_ask.hpp"
#include "store/workspace/open_beneath.hpp"
#include "tools/answer/model_text.hpp"

namespace cloche {
namespace {

constexpr size_t most_hashed_bytes = size_t{64} << 20;

Verdict refuse(std::string reason, std::string_view instead = {}, std::string fix = {}) {
  Verdict verdict{GateId::approval, Decision::deny, std::move(reason), {}, std::move(fix)};
  verdict.instead = instead;
  return verdict;
}

constexpr std::string_view call_again = "make the call again";

std::vector<std::string> files_of_module(std::string module) {
  std::replace(module.begin(), module.end(), '.', '/');
  return {module + ".py", module + "/__init__.py", module + "/__main__.py"};
}

// Opens each name beneath its directory and through no link that leaves it; takes each file once.
class FileHasher {
 public:
  explicit FileHasher(const std::vector<std::string>& directories) : directories_(directories) {}

  void add(const std::string& name) {
    if (name.empty() || directories_.empty()) return;
    const std::string path = tidied(directories_.front(), name);
    const auto directory = std::find_if(
        directories_.begin(), directories_.end(),
        [&](const std::string& one) { return !one.empty() && is_beneath(one, path) && one != path; });
    if (directory == directories_.end() || !seen_.insert(path).second) return;
    const auto root = sys::open(*directory, O_PATH | O_DIRECTORY);
    if (!root.ok()) return files_.push_back({path, ""});
    const auto file =
        open_beneath(root.value().get(), path.substr(directory->size() + 1), O_RDONLY, Links::followed, path);
    if (!file.ok()) {
      if (!is_no_file(file.error().number)) files_.push_back({path, ""});
      return;
    }
    struct stat seen {};
    if (::fstat(file.value().get(), &seen) != 0) return files_.push_back({path, ""});
    if (S_ISDIR(seen.st_mode)) return add(path + "/__main__.py");  // python runs a directory by it
    if (S_ISREG(seen.st_mode)) hash(file.value().get(), path);
  }

  std::vector<ExecutedFile> files() && { return std::move(files_); }
  const std::vector<ExecutedFile>& files() const& { return files_; }

 private:
  // Names that can be no file of the workspace's: a program that opens one finds what we find.
  static bool is_no_file(int number) {
    return number == ENOENT || number == ENOTDIR || number == EISDIR || number == ENAMETOOLONG ||
           number == ELOOP || number == EXDEV || number == EINVAL || number == ENXIO;
  }

  void hash(int fd, const std::string& path) {
    const auto text = sys::read_all(fd, left_bytes_);
    files_.push_back({path, text.ok() ? sha256(text.value()) : ""});
    if (text.ok()) left_bytes_ -= text.value().size();
  }

  const std::vector<std::string>& directories_;
  std::set<std::string> seen_;
  std::vector<ExecutedFile> files_;
  size_t left_bytes_ = most_hashed_bytes;  // of all of them together
};

}  // namespace

std::vector<std::string> reasons_to_ask(const Judgement& judgement) {
  std::vector<std::string> reasons;
  for (const auto& verdict : judgement.gates) {
    if (verdict.decision == Decision::ask && verdict.gate != GateId::approval)
      reasons.push_back(verdict.reason + (verdict.rule.empty() ? "" : " (" + verdict.rule + ")"));
  }
  return reasons;
}

Approvers approvers_of(const Judgement& judgement) {
  Approvers strictest = Approvers::anyone;
  for (const auto& verdict : judgement.gates)
    if (verdict.decision == Decision::ask) strictest = std::max(strictest, verdict.approvers);
  return strictest;
}

std::vector<ExecutedFile> files_named(const std::vector<std::string>& words,
                                      const std::vector<std::string>& directories) {
  FileHasher hasher(directories);
  for (size_t i = 0; i < words.size(); ++i) {
    for (const auto& spelling : spellings_of(words[i])) hasher.add(spelling);
    if (i > 0 && words[i - 1] == "-m") {
      for (const auto& file : files_of_module(words[i])) hasher.add(file);
    }
  }
  return hasher.files();
}

Answer RememberingApprover::ask(const Question& question) {
  if (!approved_.empty() && question.digest == approved_)
    return make_answer(question, Reply::once, sys::monotonic_ms());
  Answer answer = inner_.ask(question);
  if (answer.decision == Decision::allow) approved_ = question.digest;
  return answer;
}

bool Questions::spend(const std::string& digest) {
  const std::lock_guard held(lock_);
  return book_.spend(digest, sys::monotonic_ms());
}

bool Questions::is_answered(const std::string& digest) {
  const std::lock_guard held(lock_);
  return approval_gate(Decision::ask, digest, book_.answers(), sys::monotonic_ms()).decision ==
         Decision::allow;
}

// Nothing: there is a yes, if not to this question.
std::optional<Verdict> Questions::have_answer(const Question& question, Approver& approver) {
  if (is_answered(question.digest)) return std::nullopt;  // for the session
  auto answer = guarded_ask(approver, question);          // nobody else waits for it meanwhile
  if (!answer) return refuse("the approver failed instead of answering, which is no yes", needs_the_user);
  // A no is spent by this very call: the next one is a new question, with an answer of its own.
  if (answer->decision != Decision::allow && !answer->reason.empty())
    return refuse(answer->reason, {}, answer->fix);
  if (answer->decision != Decision::allow)
    return refuse("nobody said yes to this very call", needs_the_user, "answer y at the terminal");
  const std::lock_guard held(lock_);
  book_.add(*std::move(answer));
  return std::nullopt;
}

std::optional<Verdict> Questions::ask(const std::function<ApprovalSubject()>& subject, Approver& approver,
                                      FilesHeld& held) {
  const ApprovalSubject asked = subject();
  const auto question = make_question(asked);
  if (!question.ok())
    return refuse(question.error().what.text(), "name smaller files", question.error().fix.text());
  if (question.value().approvers == Approvers::operator_alone && !approver.speaks_for_operator())
    return refuse("only the operator may answer, and no approver here speaks for the operator",
                  needs_the_user, "ask with a FiledApprover, which `cloche approve` answers");
  if (!asked.files.empty()) held.found_some();
  if (const auto possible = held.check(); !possible.ok())
    return refuse(without_places(possible.error().what.text()), call_again, describe(possible.error()));
  if (auto no = have_answer(question.value(), approver)) return no;
  if (const auto still = held.hold(); !still.ok())
    return refuse(without_places(still.error().what.text()), call_again, describe(still.error()));
  const std::string digest = approval_digest(subject());
  if (spend(digest)) return std::nullopt;
  if (digest != question.value().digest)
    return refuse("the call or its files changed while the question was open", call_again);
  return refuse("the yes was to another question, or has expired", call_again);
}

std::optional<Verdict> Questions::ask(const std::function<ApprovalSubject()>& subject, Approver& approver) {
  FilesHeld nothing;
  return ask(subject, approver, nothing);
}

}  // namespace cloche
