// Who answers where a rule or the autonomy wants a person's yes to one exact call.
#pragma once

#include <string>

#include <cloche/version.h>

namespace cloche {
namespace v1 {

struct Question {
  std::string digest = {};  // "sha256:...": of everything that decides what would happen
  std::string text = {};    // lines of printable ASCII for a person, everything else escaped
  // The call has ended, and the question is whether what it wrote goes into the project.
  bool afterwards = false;
};

enum class Answer {
  no,
  once,
  session,  // also to the very same question, for as long as the gateway is open
};

class Approver {
 public:
  virtual ~Approver() = default;
  // On the thread of the call, which waits; of several calls at once it is asked by several threads at once.
  // What it throws is a no. A rule that wants the operator's own yes does not take this one.
  virtual Answer ask(const Question& question) = 0;

 protected:
  Approver() = default;
  Approver(const Approver&) = default;
  Approver& operator=(const Approver&) = default;
};

}  // namespace v1
}  // namespace cloche
