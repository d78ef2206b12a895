#include "doors/mcp/elicitation.hpp"

#include <poll.h>

#include <algorithm>
#include <chrono>

#include "base/json.hpp"
#include "base/sys.hpp"
#include "doors/mcp/rpc.hpp"
#include "doors/mcp/shared_codec.hpp"

namespace cloche::mcp {
namespace {

constexpr uint64_t tick_ms = 50;  // how late a call that is called off may be seen

bool is_readable(int fd) {
  pollfd event{fd, POLLIN, 0};
  return fd >= 0 && ::poll(&event, 1, 0) > 0;
}

Answer answer_to(const Question& question, Reply reply, std::string reason = {}) {
  Answer answer = make_answer(question, reply, sys::monotonic_ms());
  answer.reason = std::move(reason);
  return answer;
}

}  // namespace

std::optional<JsonValue> Conversation::ask(std::string_view method, const std::string& params, int stop,
                                           uint64_t within_ms) {
  std::unique_lock held(lock_);
  const std::string id = json_quote("cloche-" + std::to_string(next_++));
  waiting_[id] = {};
  held.unlock();
  send_(write_request(id, method, params));
  held.lock();
  const uint64_t deadline = sys::monotonic_ms() + within_ms;
  bool wanted = true;
  while (!ended_ && !waiting_[id].answered && wanted && sys::monotonic_ms() < deadline) {
    changed_.wait_for(held, std::chrono::milliseconds(tick_ms));
    wanted = !is_readable(stop);
  }
  const Waiting waited = std::move(waiting_[id]);
  waiting_.erase(id);
  held.unlock();
  if (waited.answered) return waited.result;
  JsonWriter out;  // so that the form does not stand there for nobody
  out.begin_object()
      .key("requestId")
      .raw(id)
      .member("reason", "the answer is not waited for any more")
      .end_object();
  send_(write_notification("notifications/cancelled", out.text()));
  return std::nullopt;
}

bool Conversation::take_answer(const std::string& id, JsonValue result) {
  const std::lock_guard held(lock_);
  const auto found = waiting_.find(id);
  if (found == waiting_.end() || found->second.answered) return false;
  found->second = {true, std::move(result)};
  changed_.notify_all();
  return true;
}

void Conversation::end() {
  const std::lock_guard held(lock_);
  ended_ = true;
  changed_.notify_all();
}

Answer AskingApprover::ask(const Question& question) {
  if (!possible_) return answer_to(question, Reply::no, "this client cannot ask its user");
  const auto result =
      conversation_.ask("elicitation/create", elicitation_params(question.text), stop_, within_ms_);
  if (!result) return answer_to(question, Reply::no, "the client's user did not answer in time");
  const Reply reply = choice_of(*result);
  return answer_to(question, reply,
                   reply == Reply::no ? "the client's user did not say yes to this call" : "");
}

Answer AsideApprover::ask(const Question& question) {
  const CallQueue::Aside aside(queue_);
  if (aside.granted()) return inner_.ask(question);
  return answer_to(question, Reply::no,
                   "too many questions wait for the client's user: call again when some are answered");
}

Answer ReturningApprover::ask(const Question& question) {
  // The answer to another question, because a file has changed meanwhile, is none: it is asked again.
  if (brought_ && brought_->digest == question.digest) {
    const bool no = brought_->reply == Reply::no;
    return answer_to(question, brought_->reply, no ? "the client's user did not say yes to this call" : "");
  }
  if (!possible_) return answer_to(question, Reply::no, "this client cannot ask its user");
  open_ = question;
  return answer_to(question, Reply::no,
                   "the client's user is being asked; this call comes again with the answer");
}

}  // namespace cloche::mcp
