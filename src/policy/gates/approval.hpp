// Approval: a question about one exact plan, and answers that count for that plan only. What a person says
// yes to is the digest of everything that decides what would happen: the plan, the tool, what the plan is
// fed, and the contents of every workspace file that it executes or interprets by name. Change one byte and
// it is another question. Pure: the clock and the hashes come as values, and asking is a listener's business.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "model/plan.hpp"
#include "model/verdict.hpp"

namespace cloche {

// A workspace file that the plan executes or interprets by name, as it was when the plan was made.
struct ExecutedFile {
  std::string path;
  std::string sha256;  // 64 hexadecimal digits; anything else: it could not be read, and nothing is asked
  std::string on_host = {};  // the name by which it was opened: `path` is of the view, and for a person
};

struct ApprovalSubject {
  std::string tool;                       // "run_shell", or "run" for an operator's command
  ConfinementPlan plan = {};              // the normalised one: what would really run
  std::string input = {};                 // what it is fed: stdin, code, a file's new content
  std::string script_input = {};          // what code reads from its stdin: `input` is the code then
  std::vector<ExecutedFile> files = {};   // in any order
  std::vector<ExecutedFile> absent = {};  // names that are no files yet: none may come before the call ends
  std::vector<std::string> reasons = {};  // why there is a question
  Approvers approvers = Approvers::anyone;
  std::string session = {};  // of an agent, where no plan says it: another session's call is another question
  std::string place = {};    // device and inode of the directory that it starts in; empty: none of the host's
  bool by_agent = false;     // the agent does it itself: `input` is all that is known, and no plan holds
};

struct Question {
  std::string digest;  // "sha256:...": what an answer is bound to
  std::string text;    // lines of printable ASCII, everything else escaped; bounded
  Approvers approvers = Approvers::anyone;
};

// A refusal where it cannot be asked: a file without a hash, or more than a person can be shown.
std::variant<Question, Verdict> make_question(const ApprovalSubject& subject);
std::string approval_digest(const ApprovalSubject& subject);

// Printable ASCII as it is, a backslash twice, all else as \n, \t, \u{202e} or, where it is no UTF-8, \xff:
// no sequence of a terminal, no right-to-left override and no look-alike letter comes through.
std::string escape_for_person(std::string_view text);

enum class Reply {
  none,  // the question was put away unanswered: no yes, and no word of a person's either
  no,
  once,
  session
};

struct Answer {
  std::string digest = {};
  Decision decision = Decision::deny;  // allow or deny
  uint64_t expires_ms = 0;             // on the clock of the asking process; no longer good then
  uint64_t uses = 0;                   // how often it may still be spent
  std::string reason = {};             // of a no: why, and what the model can do; empty: a person said it
  std::string fix = {};                // of a no: what the operator can do
  bool unanswered = false;             // of a no: no person said it, so the operator may still be asked
};

struct AnswerTerms {
  uint64_t once_ms = 60ULL * 1000;
  uint64_t session_ms = 8ULL * 60 * 60 * 1000;
  uint64_t session_uses = 1000;
};

Answer make_answer(const Question& question, Reply reply, uint64_t now_ms, const AnswerTerms& terms = {});

// The answers of a session. A caller with several threads holds a lock around spend() and the start of
// what it permits.
class ApprovalBook {
 public:
  void add(Answer answer);
  // An answer to another digest, spent or expired does not count, and a no counts before every yes.
  bool approves(const std::string& digest, uint64_t now_ms) const;
  // Takes one use of a live yes. False: there is none, and nothing may start.
  bool spend(const std::string& digest, uint64_t now_ms);

 private:
  std::vector<Answer> answers_;
};

class Approver {
 public:
  Approver() = default;
  Approver(const Approver&) = delete;
  Approver& operator=(const Approver&) = delete;
  virtual ~Approver() = default;
  // Whatever goes wrong is a no.
  virtual Answer ask(const Question& question) = 0;
  // About what a call has done already, and what becomes of it. Nothing: there is no person here who could
  // say it now, and the question is not put aside for later.
  virtual std::optional<Answer> ask_afterwards(const Question&) { return std::nullopt; }
  // Whether a person can be asked here at all: a client that can be asked, a terminal.
  virtual bool can_ask() const { return true; }
  // Whether its yes is the operator's own: where a rule wants that, no other is asked.
  virtual bool speaks_for_operator() const { return false; }
};

}  // namespace cloche
