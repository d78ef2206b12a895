// http_get from its first address to its last.
//
// Each redirect is a call of its own: every gate judges it, an approver is asked again, it has its own
// two lines in the record, and it is fetched by a new process in a new sandbox that reaches that one host.
// The call that began it all has the answer, and the sum of what its redirects cost and were refused.
#include <algorithm>

#include "gateway/gateway.hpp"
#include "tools/answer/model_text.hpp"
#include "tools/answer/process_output.hpp"
#include "tools/web/http_get.hpp"

namespace cloche {
namespace {

void add_use(std::vector<HostUse>& all, const HostUse& more) {
  const auto same = std::find_if(all.begin(), all.end(), [&](const HostUse& use) {
    return use.name == more.name && use.port == more.port;
  });
  if (same == all.end()) return all.push_back(more);
  same->connections += more.connections;
  same->bytes_out += more.bytes_out;
  same->bytes_in += more.bytes_in;
  same->more_hosts += more.more_hosts;
}

// The last one's end, with what all of them used and were refused.
Outcome together(Outcome before, Outcome last) {
  if (last.layers.empty()) {  // nothing was started any more
    last.layers = std::move(before.layers);
    last.proof = std::move(before.proof);
    last.backend = before.backend;
  }
  last.usage.wall_ms += before.usage.wall_ms;
  last.usage.cpu_ms += before.usage.cpu_ms;
  last.usage.max_rss_bytes = std::max(last.usage.max_rss_bytes, before.usage.max_rss_bytes);
  for (const auto& use : last.network) add_use(before.network, use);
  last.network = std::move(before.network);
  before.denials.insert(before.denials.end(), last.denials.begin(), last.denials.end());
  last.denials = std::move(before.denials);
  before.network_failures.insert(before.network_failures.end(), last.network_failures.begin(),
                                 last.network_failures.end());
  last.network_failures = std::move(before.network_failures);
  return last;
}

// Whole seconds, so that the same way has the same plans.
uint64_t time_left(const Outcome& so_far) {
  const uint64_t left = most_fetch_ms - std::min(most_fetch_ms, so_far.usage.wall_ms);
  return (left + 999) / 1000 * 1000;
}

// A fetch that ended well and has no answer: a refusal of the egress is one, the rest is a failure.
void settle_end(Outcome& outcome, const std::string& why) {
  const bool refused = std::any_of(outcome.denials.begin(), outcome.denials.end(), is_by_egress);
  if (outcome.end != End::exited) return;
  outcome.end = refused ? End::refused : End::exited;
  outcome.exit_code = refused ? 126 : 1;
  outcome.reason = why;
}

// The redirect that is not taken, and why.
Outcome refuse_redirect(std::string why) {
  Outcome outcome{.end = End::refused, .exit_code = 126, .reason = std::move(why)};
  outcome.denials.push_back({GateId::network, outcome.reason});
  return outcome;
}

}  // namespace

// The answer, unless there is none: then the outcome says why.
Gateway::Hop Gateway::fetch_once(const Permit& permit, Judged& judged, Journey& journey, CallRecord record) {
  Hop hop{.record = std::move(record)};
  journey.url = permit.launch().as<Fetch>()->url;
  auto ended = launch(permit, judged, journey.context, hop.record.call_id);
  Outcome& outcome = hop.record.outcome;
  if (!ended.ok()) {
    outcome = failed(ended.error());
  } else if (auto* voided = std::get_if<Voided>(&ended.value())) {
    outcome =
        failed(voided->why);  // it shows nothing of the workspace, so that there is nothing to look at again
  } else {
    outcome = std::move(std::get<Ran>(ended.value()).outcome);
    const ConfinementPlan& plan = permit.plan();
    if (journey.redirects == 0) journey.hop_ms = plan.limits.wall_ms;
    if (outcome.end == End::timeout && plan.limits.wall_ms < journey.hop_ms)
      outcome.reason = redirects_were_late();
  }
  auto answer =
      outcome.end == End::exited && outcome.exit_code == 0 ? read_frame(outcome.output) : std::nullopt;
  const bool answered = answer && answer->problem.empty();
  if (answered) {
    hop.record.result = "status: " + std::to_string(answer->status);
  } else {
    hop.record.result = why_not_fetched(outcome, answer);
    settle_end(outcome, hop.record.result);
  }
  // The frame is between the two programs; what a reader wants is the body.
  outcome.output = answered ? answer->body : "";
  outcome.output_bytes = outcome.output.size();
  if (answered) hop.answer = std::move(answer);
  journey.so_far = together(std::move(journey.so_far), outcome);
  journey.said = hop.record.result;
  return hop;
}

// With one more end to it, which is then the last word.
Gateway::Effect Gateway::journey_ended(Journey& journey, std::optional<Outcome> last) {
  if (last) {
    journey.said =
        last->end == End::failed ? shown_text(*last, std::string(http_get_name), {}) : last->reason.text();
    journey.so_far = together(std::move(journey.so_far), std::move(*last));
  }
  return {.outcome = std::move(journey.so_far), .shown = neutralised(journey.said), .raw = journey.said};
}

Result<Judged> Gateway::judge_redirect(const ToolCall& asked, const Requester& requester, uint64_t most_ms) {
  Judged judged = TRY(
      judge(session_, asked,
            {requester.context.skill, requester.home, runtime_settings(), requester.context.named, most_ms}));
  if (judged.judgement.decision == Decision::ask) {
    answer(judged, session_, ask_about(judged, questions_, requester.approver));
  }
  return judged;
}

// Of a redirect that is taken: the judged call behind it and its first line in the record.
Result<Gateway::Redirect> Gateway::redirect(const std::string& url, const Requester& requester,
                                            const Journey& journey) {
  const ToolCall asked{std::string(http_get_name), http_get_arguments(url)};
  Redirect next{.judged = TRY(judge_redirect(asked, requester, time_left(journey.so_far)))};
  next.record.decided = decision_of(next.judged, asked, requester.context);
  next.record.decided.notes.push_back("redirect " + std::to_string(journey.redirects + 1) +
                                      (journey.call_id.empty() ? "" : " of call " + journey.call_id));
  TRY(begin(next.record));
  return next;
}

// Why the way ends here although the answer is a redirect; nothing: it goes on.
std::optional<Outcome> Gateway::stop_before(const std::string& next, const Journey& journey) {
  if (const auto problem = problem_of_redirect(journey.url, next, journey.redirects))
    return refuse_redirect(*problem);
  if (time_left(journey.so_far) > 0) return std::nullopt;
  return Outcome{
      .end = End::timeout, .exit_code = 124, .reason = "http_get failed: " + redirects_were_late()};
}

Gateway::Effect Gateway::fetch(const Permit& permit, Judged& judged, const Requester& requester,
                               CallRecord& record) {
  Journey journey{.context = requester.context, .call_id = record.call_id};
  Hop hop = fetch_once(permit, judged, journey, record);
  while (hop.answer && is_redirect(*hop.answer)) {
    const std::string next = hop.answer->location;
    if (auto stopped = stop_before(next, journey)) return journey_ended(journey, std::move(*stopped));
    auto taken = redirect(next, requester, journey);
    if (!taken.ok()) return journey_ended(journey, failed(taken.error()));
    Redirect& there = taken.value();
    ++journey.redirects;
    if (!there.judged.judgement.permit) {
      there.record.outcome = refuse_redirect("redirected to " + shown(next) + ", " +
                                             refusal_text(decisive(there.judged.judgement)));
      there.record.result = there.record.outcome.reason.text();
      (void)finish(there.record, chunks_of(there.record.result), judged.notes);
      return journey_ended(journey, std::move(there.record.outcome));
    }
    hop = fetch_once(*there.judged.judgement.permit, there.judged, journey, std::move(there.record));
    (void)finish(hop.record, chunks_of(hop.record.result), judged.notes);
  }
  Effect effect = journey_ended(journey, std::nullopt);
  if (!hop.answer) return effect;
  const OutputBudget budget{.bytes = session_.options.shown_bytes, .call_id = record.call_id};
  const Fetched fetched{journey.url, journey.redirects, std::move(*hop.answer)};
  effect.raw = show_fetched(fetched).text;
  effect.shown = shown_within(neutralised(effect.raw), budget);
  effect.structured = fetched_json(fetched, budget);
  return effect;
}

}  // namespace cloche
