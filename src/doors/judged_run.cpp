#include "doors/judged_run.hpp"

#include "base/path.hpp"
#include "base/sha256.hpp"
#include "base/sys.hpp"
#include "doors/arguments.hpp"
#include "doors/explain_command.hpp"
#include "doors/print.hpp"
#include "gateway/explain.hpp"

namespace cloche {
namespace {

constexpr size_t most_hashed_bytes = size_t{64} << 20;

// What the words of the command name in the workspace is part of what is approved: another content is another
// question. What cannot be read has no hash, and then nobody is asked.
std::vector<ExecutedFile> files_of(const Explanation& explanation) {
  std::vector<ExecutedFile> files;
  const std::string& workspace = explanation.plan->directory;
  for (const auto& name : explanation.judgement.launch->named_files) {
    const std::string path = name.starts_with('/') ? name : workspace + "/" + name;
    const auto text = sys::read_file(path, most_hashed_bytes);
    const bool is_no_file = !text.ok() && (text.error().number == ENOENT || text.error().number == ENOTDIR ||
                                           text.error().number == EISDIR);
    if (!is_no_file) files.push_back({path, text.ok() ? sha256(text.value()) : ""});
  }
  return files;
}

ApprovalSubject subject_of(const Explanation& explanation) {
  ApprovalSubject subject{.tool = "run", .plan = *explanation.plan, .files = files_of(explanation)};
  for (const auto& verdict : explanation.judgement.gates) {
    if (verdict.decision == Decision::ask && verdict.gate != GateId::approval)
      subject.reasons.push_back(verdict.reason + (verdict.rule.empty() ? "" : " (" + verdict.rule + ")"));
  }
  return subject;
}

Outcome refused_by(const std::string& gate, const std::string& reason, const std::string& fix) {
  Outcome outcome;
  outcome.end = End::refused;
  outcome.exit_code = 126;
  outcome.reason = "refused by " + gate + ": " + reason + (fix.empty() ? "" : "; " + fix);
  outcome.denials.push_back({gate, outcome.reason});
  return outcome;
}

// Nothing to say: it may run.
std::optional<Outcome> ask(const Explanation& explanation, Approver& approver) {
  const ApprovalSubject subject = subject_of(explanation);
  const auto question = make_question(subject);
  if (!question.ok()) return refused_by("approval", question.error().what, question.error().fix);
  ApprovalBook book;
  book.add(approver.ask(question.value()));
  // The files may have changed while somebody was thinking.
  const std::string digest = approval_digest(subject_of(explanation));
  if (book.spend(digest, sys::monotonic_ms())) return std::nullopt;
  return refused_by("approval", "nobody said yes to this very command", "answer y at the terminal");
}

// A dry run answers as `explain` does, a run as a run.
int cannot_judge(const Error& error, const RunArguments& arguments) {
  const Outcome outcome = outcome_of(error);
  if (!arguments.dry_run || !arguments.json) return finish_run(outcome, "", arguments);
  print(explain_json(error));
  return outcome.exit_code;
}

}  // namespace

int judged_run_door(std::span<char* const> words, const Environment& environment,
                    const CallersDescriptors& callers, Approver& approver) {
  const auto parsed = parse_run(words);
  if (!parsed.ok() || parsed.value().help) return run_door(words, environment, callers);
  const RunArguments& arguments = parsed.value();
  const auto installation = find_installation(environment);
  if (!installation.ok()) return cannot_judge(installation.error(), arguments);
  const auto explained = explain_run(arguments.request, environment, installation.value());
  if (!explained.ok()) return cannot_judge(explained.error(), arguments);
  const Explanation& explanation = explained.value();
  if (arguments.dry_run && arguments.json) {
    print(explain_json(explanation));
    return explanation.judgement.decision == Decision::deny ? 126 : 0;
  }
  std::optional<Outcome> refusal;
  if (explanation.judgement.decision == Decision::deny) {
    const Verdict& verdict = decisive(explanation.judgement);
    refusal = refused_by(std::string(name_of(verdict.gate)), verdict.reason, verdict.fix);
  } else if (explanation.judgement.decision == Decision::ask && !arguments.dry_run) {
    refusal = ask(explanation, approver);
  }
  return refusal ? finish_run(*refusal, "", arguments) : run_door(words, environment, callers);
}

}  // namespace cloche
