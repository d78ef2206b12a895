#include "doors/mcp/server.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>

#include "base/json/json_writer.hpp"
#include "base/lists.hpp"
#include "base/sys/sys.hpp"
#include "base/text/sha256.hpp"
#include "doors/cli/print.hpp"
#include "doors/mcp/shared_codec.hpp"
#include "doors/mcp/stateless_codec.hpp"
#include "gateway/approval/filed_approver.hpp"
#include "policy/gates/gates.hpp"
#include "store/record/run_log.hpp"
#include "tools/answer/model_text.hpp"

namespace cloche::mcp {
namespace {

constexpr size_t most_listening = 64;
constexpr size_t output_in_memory = size_t{256} << 10;  // of each stream of each call
constexpr unsigned end_within_ms = 300;                 // for calls that were told to

std::string call_digest(const CallTool& call) { return sha256(call.name + "\n" + call.arguments); }

std::string meta_of(const CallResult& result) {
  JsonWriter out;
  out.begin_object().member("cloche/call_id", result.call_id).member("cloche/run_id", result.run_id);
  out.member("cloche/decision", name_of(result.judgement.decision)).end_object();
  return out.take();
}

std::string log_message(LogLevel level, std::string_view text) {
  JsonWriter out;
  out.begin_object()
      .member("level", name_of(level))
      .member("logger", "cloche")
      .member("data", text)
      .end_object();
  return write_notification("notifications/message", out.text());
}

RpcError ending() {
  return {RpcError::internal_error, "the call was not begun: the input was closed, and the server ends"};
}

}  // namespace

// Who is asked what. Nothing: it is answered later.
struct Server::Desk {
  using AtOnce = std::optional<Response>;
  Server& server;
  const SharedFlight& flight;

  AtOnce operator()(const Initialize& wanted) const { return server.welcome(wanted); }
  AtOnce operator()(const Discover&) const { return Welcome{"", server.options_.instructions}; }
  AtOnce operator()(const Ping&) const { return Empty{}; }
  AtOnce operator()(const SetLevel& wanted) const {
    server.agreed_.log = wanted.level;
    return Empty{};
  }
  AtOnce operator()(const List& list) const {
    return page_of(list.name, items_of(server.catalog_, list.name), list.cursor);
  }
  AtOnce operator()(const GetPrompt& wanted) const { return get_prompt(server.catalog_, wanted.name); }
  AtOnce operator()(const Listen&) const { return server.listen(flight); }
  AtOnce operator()(ReadResource& wanted) const {
    flight->uri = std::move(wanted.uri);
    return server.line_up(flight, &Server::fetch);
  }
  AtOnce operator()(CallTool& call) const {
    flight->call = std::move(call);
    return server.call(flight);
  }
};

Server::Server(Gateway& gateway, Catalog catalog, ServerOptions options, Outbox& outbox)
    : gateway_(gateway),
      catalog_(std::move(catalog)),
      options_(std::move(options)),
      outbox_(outbox),
      conversation_([&outbox](std::string message) { outbox.send(std::move(message)); }),
      states_(options_.state_key),
      queue_([&outbox] { outbox.wait_for_room(); }, gateway.limits()) {}

std::string Server::write(Era era, const std::string& id, const Response& response) {
  return era == Era::handshake ? handshake::write_response(id, response)
                               : stateless::write_response(id, response);
}

std::vector<Incoming> Server::read(const LineSplitter::Taken& taken) const {
  if (taken.too_long) return {too_long()};
  Line line = read_line(taken.text);
  if (line.batch && agreed_.version != handshake::batch_version) return {no_batches()};
  return std::move(line.messages);
}

void Server::take(const Incoming& incoming) {
  switch (incoming.kind) {
    case Incoming::Kind::bad: return take_bad(incoming);
    case Incoming::Kind::request: return take_request(incoming);
    case Incoming::Kind::notification: return take_notification(incoming);
    case Incoming::Kind::response: (void)conversation_.take_answer(incoming.id, incoming.result); return;
  }
}

// What comes under the id of a question of ours and asks for nothing is an answer, and no yes.
void Server::take_bad(const Incoming& incoming) {
  if (!incoming.asks && conversation_.take_answer(incoming.id, {})) return;
  outbox_.send(write_error(incoming.id, incoming.problem));
}

void Server::take_request(const Incoming& incoming) {
  const Era era = stateless::speaks(incoming) ? Era::stateless : Era::handshake;
  Reading read =
      era == Era::stateless ? stateless::read_request(incoming) : handshake::read_request(incoming, agreed_);
  if (const auto* error = std::get_if<RpcError>(&read)) return outbox_.send(write(era, incoming.id, *error));
  auto& understood = std::get<Understood>(read);
  const auto flight = std::make_shared<Flight>();
  flight->id = incoming.id;
  flight->era = era;
  flight->terms = std::move(understood.terms);
  const auto response = std::visit(Desk{*this, flight}, understood.request);
  if (response) outbox_.send(write(era, incoming.id, *response));
}

void Server::take_notification(const Incoming& incoming) {
  if (incoming.method != "notifications/cancelled") return;  // the others tell us nothing that we need
  const JsonValue* id = incoming.params.find("requestId");
  if (id == nullptr) return;
  call_off(id->is_number() && id->whole ? std::to_string(id->integer) : to_json(*id));
}

Response Server::welcome(const Initialize& wanted) {
  agreed_.version = handshake::agreed_version(wanted.version);
  agreed_.elicits = wanted.elicits && agreed_.version >= handshake::first_to_elicit;
  return Welcome{agreed_.version, options_.instructions};
}

Response Server::read_resource(const std::string& uri) const {
  if (uri != catalog_.transcript_uri || catalog_.transcript_uri.empty())
    return RpcError{RpcError::resource_not_found, "there is no resource " + on_one_line(uri.substr(0, 200))};
  const std::string task = options_.task.value_or(std::string(task_without_name));
  auto text = transcript_tail(gateway_.record()->place(), task, most_transcript_bytes);
  if (!text.ok()) return RpcError{RpcError::internal_error, failure_text(text.error())};
  return ResourceText{uri, "application/jsonl", transcript_for_model(text.value())};
}

// Known by its id from now on.
std::optional<RpcError> Server::take_off(const SharedFlight& flight) {
  const std::lock_guard held(flights_lock_);
  const auto [place, is_new] = flights_.emplace(flight->id, flight);
  if (!is_new)
    return RpcError{RpcError::invalid_request,
                    "the id " + flight->id + " belongs to a request that is not answered yet"};
  return std::nullopt;
}

std::optional<RpcError> Server::listen(const SharedFlight& flight) {
  if (listening_ >= most_listening)
    return RpcError{RpcError::internal_error, "too many subscriptions are open: cancel one of them"};
  if (auto error = take_off(flight)) return error;
  ++listening_;
  outbox_.send(stateless::write_acknowledgement(flight->id));
  return std::nullopt;
}

std::optional<Response> Server::call(const SharedFlight& flight) {
  if (gateway_.session().registry.find(flight->call.name) == nullptr)
    return bad_params("unknown tool: " + on_one_line(flight->call.name.substr(0, 100)));
  if (auto error = check_state(*flight)) return error;
  if (!flight->terms.progress_token.empty())
    flight->progress = std::make_shared<Progress>(Progress{.token = flight->terms.progress_token});
  // Before it can end: what is finished is watched no more.
  if (flight->progress) outbox_.watch(flight->progress);
  return line_up(flight, &Server::fly);
}

// To be answered by a thread of the queue.
std::optional<Response> Server::line_up(const SharedFlight& flight,
                                        void (Server::*work)(const SharedFlight&)) {
  if (auto error = take_off(flight)) return error;
  const size_t bytes = flight->call.arguments.size() + flight->uri.size();
  flight->ticket = queue_.add([this, flight, work] { (this->*work)(flight); }, bytes);
  if (flight->ticket) return std::nullopt;
  {
    const std::lock_guard held(flights_lock_);
    flights_.erase(flight->id);
  }
  return refuse_busy(*flight);
}

// Of a call a result, which every client shows its model.
Response Server::refuse_busy(const Flight& flight) {
  if (flight.call.name.empty()) return RpcError{RpcError::internal_error, busy_outcome().reason.text()};
  CallResult result = gateway_.refuse_busy({flight.call.name, flight.call.arguments}, context_of(flight));
  log(flight, result);
  return response_to(std::move(result));
}

std::optional<RpcError> Server::check_state(Flight& flight) {
  if (!flight.call.state) return std::nullopt;
  const std::lock_guard held(states_lock_);
  auto digest = states_.take(*flight.call.state, call_digest(flight.call), sys::monotonic_ms());
  if (!digest.ok()) return bad_params(describe(digest.error()));
  const JsonValue* answer =
      flight.call.responses ? flight.call.responses->find(stateless::approval_key) : nullptr;
  if (answer == nullptr) return std::nullopt;  // it is asked again
  flight.brought = {std::move(digest).value(), choice_of(*answer)};
  return std::nullopt;
}

void Server::call_off(const std::string& id) {
  const std::lock_guard held(flights_lock_);
  const auto found = flights_.find(id);
  if (found == flights_.end()) return;  // answered already, or never asked
  Flight& flight = *found->second;
  flight.called_off = true;
  const uint64_t one = 1;
  if (flight.stop) (void)!::write(flight.stop.get(), &one, sizeof one);
  if (flight.ticket && !queue_.drop(*flight.ticket)) return;  // it lands when it has ended
  if (!flight.ticket) --listening_;
  flights_.erase(found);
}

bool Server::begin(Flight& flight) {
  const std::lock_guard held(flights_lock_);
  if (flight.called_off) return false;
  flight.stop = OwnedFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  return true;
}

void Server::fly(const SharedFlight& flight) {
  options_.before_call();
  if (!begin(*flight)) return land(flight, ending());  // called off, so it is not sent
  if (!flight->stop)
    return land(flight, RpcError{RpcError::internal_error, describe(system_error("make an event"))});
  const Response response = carry_out(*flight);
  const auto* result = std::get_if<ToolResult>(&response);
  result != nullptr && result->image.is_there() ? land_alone(flight, response) : land(flight, response);
}

// One at a time, and each when there is room: one such answer is a good part of what may be queued for a
// client that does not read.
void Server::fetch(const SharedFlight& flight) {
  const std::lock_guard held(fetching_);
  outbox_.wait_for_room();
  land(flight, read_resource(flight->uri));
}

// The same of an image.
void Server::land_alone(const SharedFlight& flight, const Response& response) {
  const std::lock_guard held(fetching_);
  outbox_.wait_for_room();
  land(flight, response);
}

Response Server::carry_out(Flight& flight) {
  if (flight.era == Era::handshake) {
    AskingApprover asking(conversation_, flight.stop.get(), flight.terms.elicits);
    AsideApprover aside(queue_, asking);
    return carry_out(flight, aside, nullptr);
  }
  ReturningApprover returning(flight.brought, flight.terms.elicits);
  return carry_out(flight, returning, &returning);
}

CallContext Server::context_of(const Flight& flight) const {
  CallContext context{.task = options_.task, .role = options_.role, .skill = options_.skill};
  context.of_session = flight.era == Era::handshake;  // a stateless message belongs to no session
  context.has_place = true;                           // of the server's own queue
  return context;
}

Response Server::carry_out(Flight& flight, Approver& approver, const ReturningApprover* returning) {
  FiledApprover filing({.state = gateway_.session().installation.state,
                        .workspace = gateway_.session().workspace,
                        .inner = &approver});
  CallContext context = context_of(flight);
  context.stop = flight.stop.get();
  context.output_in_memory = output_in_memory;
  if (flight.progress)
    context.heard = [&](std::string_view bytes) { outbox_.add_output(flight.progress, bytes); };
  CallResult result = gateway_.call({flight.call.name, flight.call.arguments}, context, filing);
  log(flight, result);
  if (returning == nullptr || !returning->open_question()) return response_to(std::move(result));
  const Question& question = *returning->open_question();
  const std::lock_guard held(states_lock_);
  return InputRequired{question.text,
                       states_.make({question.digest, call_digest(flight.call)}, sys::monotonic_ms())};
}

Response Server::response_to(CallResult result) const {
  ToolResult response{
      .text = std::move(result.result), .is_error = result.is_error(), .meta = meta_of(result)};
  response.image = std::move(result.image);
  const RegisteredTool* tool = gateway_.session().registry.find(result.tool);
  const auto& structured = catalog_.structured_tools;
  if (tool != nullptr && contains(structured, tool->spec.name)) response.structured = result.structured;
  return response;
}

// An agent's client reads it: it says no more than the result does. The operator's text is in the record.
void Server::log(const Flight& flight, const CallResult& result) {
  const auto say = [&](LogLevel level, std::string_view text) {
    if (flight.terms.log && level >= *flight.terms.log) outbox_.send(log_message(level, text));
  };
  for (const auto& note : result.notes) say(LogLevel::notice, without_places(note));
  if (result.outcome.end == End::refused)
    say(LogLevel::info, result.tool + ": " + reason_for_model(result.outcome));
  if (result.outcome.end == End::failed)
    say(LogLevel::error, result.tool + ": " + reason_for_model(result.outcome));
}

void Server::land(const SharedFlight& flight, const Response& response) {
  bool wanted = true;
  {
    const std::lock_guard held(flights_lock_);
    // Before the answer: with it the client may use the id again.
    wanted = flights_.erase(flight->id) > 0 && (!flight->called_off || flight->cut_off);
    flight->stop.reset();
  }
  outbox_.finish(flight->progress, wanted ? write(flight->era, flight->id, response) : "");
}

// What waits is told so, what runs is ended and then answered.
void Server::cut_off() {
  std::vector<SharedFlight> waiting;
  std::vector<std::string> running;
  {
    const std::lock_guard held(flights_lock_);
    for (const auto& [id, flight] : flights_) {
      flight->cut_off = !flight->called_off;
      if (flight->stop) {
        running.push_back(id);
      } else {
        flight->called_off = true;
        waiting.push_back(flight);
      }
    }
  }
  for (const auto& id : running) call_off(id);
  for (const auto& flight : waiting) {
    if (flight->ticket) land(flight, ending());
  }
}

bool Server::end(unsigned grace_ms) {
  conversation_.end();  // no answer can come any more
  if (queue_.wait_until_idle(grace_ms)) return true;
  queue_.stop_beginning();
  cut_off();
  return queue_.wait_until_idle(end_within_ms);
}

}  // namespace cloche::mcp
