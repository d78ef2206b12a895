#include "doors/mcp/elicitation.hpp"

#include <poll.h>

#include <algorithm>
#include <chrono>

#include "base/json/json_writer.hpp"
#include "base/sys/sys.hpp"
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

// A client without a user closes every form at once.
Answer said(const Question& question, Reply reply) {
  switch (reply) {
    case Reply::none: return answer_to(question, reply, "the client closed the question without an answer");
    case Reply::no:
      return answer_to(question, reply,
                       "the client's user said no to this very call; do not try to do it in another way: "
                       "go on without it, or ask the user what to do instead");
    case Reply::once:
    case Reply::session: break;
  }
  return answer_to(question, reply);
}

}  // namespace

Conversation::Heard Conversation::ask(std::string_view method, const std::string& params, int stop,
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
  Waiting waited = std::move(waiting_[id]);
  waiting_.erase(id);
  const bool given_up = ended_ || !wanted;
  held.unlock();
  if (waited.answered) return {Heard::How::answered, std::move(waited.result)};
  JsonWriter out;  // so that the client closes the form
  out.begin_object()
      .key("requestId")
      .raw(id)
      .member("reason", "the call no longer waits for an answer")
      .end_object();
  send_(write_notification("notifications/cancelled", out.text()));
  return {given_up ? Heard::How::given_up : Heard::How::too_late};
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
  const auto heard =
      conversation_.ask("elicitation/create", elicitation_params(question.text), stop_, within_ms_);
  switch (heard.how) {
    case Conversation::Heard::How::answered: return said(question, choice_of(heard.result));
    case Conversation::Heard::How::too_late:
      return answer_to(question, Reply::none, "the client's user did not answer in time");
    case Conversation::Heard::How::given_up: break;
  }
  return answer_to(question, Reply::no, "the call was cancelled while the client's user was asked");
}

Answer AsideApprover::ask(const Question& question) {
  const CallQueue::Aside aside(queue_);
  if (aside.granted()) return inner_.ask(question);
  return answer_to(question, Reply::no,
                   "too many questions wait for the client's user: call again when some are answered");
}

Answer ReturningApprover::ask(const Question& question) {
  // The answer to another question, because a file has changed meanwhile, is none: it is asked again.
  if (brought_ && brought_->digest == question.digest) return said(question, brought_->reply);
  if (!possible_) return answer_to(question, Reply::no, "this client cannot ask its user");
  open_ = question;
  return answer_to(question, Reply::no,
                   "the client's user is being asked; this call comes again with the answer");
}

}  // namespace cloche::mcp
