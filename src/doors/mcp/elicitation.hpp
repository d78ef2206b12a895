// Questions to the client's user, in both eras. A front end asks and passes the answer on; what is asked, and
// what an answer is good for, is said by policy/gates/approval.hpp.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/json/json_text.hpp"
#include "doors/mcp/call_queue.hpp"
#include "policy/gates/approval.hpp"

namespace cloche::mcp {

inline constexpr uint64_t answer_within_ms = 120'000;

// Requests of ours that the client has not answered yet.
//
// Who waits for whom: ask() runs on the thread of a call and returns when the reader's thread has brought the
// answer, when the call is called off, when time is up, or when everything ends.
class Conversation {
 public:
  using Send = std::function<void(std::string message)>;
  explicit Conversation(Send send) : send_(std::move(send)) {}

  struct Heard {
    enum class How { answered, too_late, given_up };  // given up: the call was called off, or everything ends
    How how = How::given_up;
    JsonValue result = {};  // of an answer
  };
  // `stop` is readable once the call is called off.
  Heard ask(std::string_view method, const std::string& params, int stop, uint64_t within_ms);
  // By the reader. False: no call waits for this answer, or it was answered before: the first answer counts.
  bool take_answer(const std::string& id, JsonValue result);
  void end();

 private:
  struct Waiting {
    bool answered = false;
    JsonValue result = {};
  };

  Send send_;
  std::mutex lock_;
  std::condition_variable changed_;
  uint64_t next_ = 1;
  bool ended_ = false;
  std::map<std::string, Waiting> waiting_;  // by id
};

// By a request of ours, while the call waits. A form that is put away, or not answered in time, is
// Reply::none.
class AskingApprover : public Approver {
 public:
  AskingApprover(Conversation& conversation, int stop, bool possible, uint64_t within_ms = answer_within_ms)
      : conversation_(conversation), stop_(stop), possible_(possible), within_ms_(within_ms) {}
  Answer ask(const Question& question) override;
  std::optional<Answer> ask_afterwards(const Question& question) override {
    return possible_ ? std::optional(ask(question)) : std::nullopt;
  }
  bool can_ask() const override { return possible_; }

 private:
  Conversation& conversation_;
  int stop_;
  bool possible_;  // the client can ask its user
  uint64_t within_ms_;
};

// Frees the call's place in the queue while a person is asked.
class AsideApprover : public Approver {
 public:
  AsideApprover(CallQueue& queue, Approver& inner) : queue_(queue), inner_(inner) {}
  Answer ask(const Question& question) override;
  std::optional<Answer> ask_afterwards(const Question& question) override {
    return inner_.can_ask() ? std::optional(ask(question)) : std::nullopt;
  }
  bool can_ask() const override { return inner_.can_ask(); }
  bool speaks_for_operator() const override { return inner_.speaks_for_operator(); }

 private:
  CallQueue& queue_;
  Approver& inner_;
};

// By the result of the call: the client asks its user and calls again. With an answer that it brought along
// this approver has it already, and it counts for that one question.
class ReturningApprover : public Approver {
 public:
  struct Brought {
    std::string digest;  // of the question that was answered
    Reply reply = Reply::no;
  };
  ReturningApprover(std::optional<Brought> brought, bool possible)
      : brought_(std::move(brought)), possible_(possible) {}
  Answer ask(const Question& question) override;
  bool can_ask() const override { return possible_; }

  // What has to be asked; nothing: nothing has to be.
  const std::optional<Question>& open_question() const { return open_; }

 private:
  std::optional<Brought> brought_;
  bool possible_;
  std::optional<Question> open_;
};

}  // namespace cloche::mcp
