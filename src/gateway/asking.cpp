#include "gateway/asking.hpp"

#include "base/sha256.hpp"
#include "base/sys.hpp"

namespace cloche {
namespace {

constexpr size_t most_hashed_bytes = size_t{64} << 20;

Verdict refuse(std::string reason, std::string fix) {
  return {GateId::approval, Decision::deny, std::move(reason), {}, std::move(fix)};
}

}  // namespace

std::vector<std::string> reasons_to_ask(const Judgement& judgement) {
  std::vector<std::string> reasons;
  for (const auto& verdict : judgement.gates) {
    if (verdict.decision == Decision::ask && verdict.gate != GateId::approval)
      reasons.push_back(verdict.reason + (verdict.rule.empty() ? "" : " (" + verdict.rule + ")"));
  }
  return reasons;
}

std::vector<ExecutedFile> files_named(const std::vector<std::string>& words, const std::string& directory) {
  std::vector<ExecutedFile> files;
  for (const auto& word : words) {
    const std::string path = word.starts_with('/') ? word : directory + "/" + word;
    const auto text = sys::read_file(path, most_hashed_bytes);
    const bool is_no_file = !text.ok() && (text.error().number == ENOENT || text.error().number == ENOTDIR ||
                                           text.error().number == EISDIR);
    if (!is_no_file) files.push_back({path, text.ok() ? sha256(text.value()) : ""});
  }
  return files;
}

bool Questions::spend(const std::string& digest) {
  const std::lock_guard held(lock_);
  return book_.spend(digest, sys::monotonic_ms());
}

std::optional<Verdict> Questions::ask(const std::function<ApprovalSubject()>& subject, Approver& approver) {
  const auto question = make_question(subject());
  if (!question.ok()) return refuse(question.error().what, question.error().fix);
  if (spend(question.value().digest)) return std::nullopt;  // answered for the session
  Answer answer = approver.ask(question.value());           // nobody else waits for it meanwhile
  {
    const std::lock_guard held(lock_);
    book_.add(std::move(answer));
  }
  if (spend(approval_digest(subject()))) return std::nullopt;
  return refuse("nobody said yes to this very call", "answer y at the terminal, or do something else");
}

}  // namespace cloche
