#include "store/approvals.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/json/json_text.hpp"
#include "base/json/json_writer.hpp"
#include "base/text/random_word.hpp"
#include "base/text/sha256.hpp"
#include "base/text/visible_text.hpp"

namespace cloche {
namespace {

constexpr const char* shelf_name = "approvals";
constexpr const char* question_ending = ".question";
constexpr const char* answer_ending = ".answer";
constexpr const char* spent_ending = ".spent";
constexpr size_t id_letters = 8;
constexpr size_t most_bytes = 64 << 10;         // a question has 16 KiB of text, and escapes
constexpr size_t most_files = 2000;             // spent ones included
constexpr uint64_t clock_slack_ms = 60 * 1000;  // what is younger than now was made by another clock

constexpr JsonLimits file_limits{.bytes = most_bytes, .comments = JsonComments::refused};

struct KeptAnswer {
  std::string digest = {};
  std::string shown = {};  // hash of what the operator saw
  Decision decision = Decision::deny;
  uint64_t answered_ms = 0;
  uint64_t expires_ms = 0;
};

bool is_live(uint64_t made_ms, uint64_t expires_ms, uint64_t now_ms) {
  return now_ms < expires_ms && made_ms <= now_ms + clock_slack_ms;
}

std::string hash_of_shown(const Question& question) {
  return sha256(std::string(name_of(question.approvers)) + "\n" + question.text);
}

std::string text_of(const FiledQuestion& filed) {
  JsonWriter out;
  out.begin_object().member("digest", filed.question.digest).member("text", filed.question.text);
  out.member("approver", name_of(filed.question.approvers)).member("workspace", filed.workspace);
  out.member("asked_ms", filed.asked_ms).member("expires_ms", filed.expires_ms);
  return out.end_object().take();
}

std::string text_of(const KeptAnswer& answer) {
  JsonWriter out;
  out.begin_object().member("digest", answer.digest).member("shown", answer.shown);
  out.member("decision", name_of(answer.decision));
  out.member("answered_ms", answer.answered_ms).member("expires_ms", answer.expires_ms);
  return out.end_object().take();
}

std::string text_in(const JsonValue& value, std::string_view name) {
  const JsonValue* member = value.find(name);
  return member != nullptr && member->is_string() ? member->text : std::string();
}

// 0, and so expired, where there is none.
uint64_t time_in(const JsonValue& value, std::string_view name) {
  const JsonValue* member = value.find(name);
  return member != nullptr && member->whole && member->integer > 0 ? static_cast<uint64_t>(member->integer)
                                                                   : 0;
}

Result<JsonValue> read_sealed(const Shelf& shelf, const std::string& name) {
  return read_json(TRY(shelf.read(name, most_bytes)), name, file_limits);
}

Result<FiledQuestion> read_question(const Shelf& shelf, const std::string& id) {
  const JsonValue value = TRY(read_sealed(shelf, id + question_ending));
  FiledQuestion filed{.id = id};
  filed.question.digest = text_in(value, "digest");
  filed.question.text = text_in(value, "text");
  // What is not known to be for everybody is for the operator.
  filed.question.approvers = text_in(value, "approver") == name_of(Approvers::anyone)
                                 ? Approvers::anyone
                                 : Approvers::operator_alone;
  filed.workspace = text_in(value, "workspace");
  filed.asked_ms = time_in(value, "asked_ms");
  filed.expires_ms = time_in(value, "expires_ms");
  return filed;
}

Result<KeptAnswer> read_answer(const Shelf& shelf, const std::string& id) {
  const JsonValue value = TRY(read_sealed(shelf, id + answer_ending));
  KeptAnswer answer{.digest = text_in(value, "digest"), .shown = text_in(value, "shown")};
  if (text_in(value, "decision") == name_of(Decision::allow)) answer.decision = Decision::allow;
  answer.answered_ms = time_in(value, "answered_ms");
  answer.expires_ms = time_in(value, "expires_ms");
  return answer;
}

bool is_spent(const Shelf& shelf, const std::string& id) {
  const auto names = shelf.names();
  return std::find(names.begin(), names.end(), id + spent_ending) != names.end();
}

// The answer to a question of this id, while it counts.
std::optional<KeptAnswer> live_answer(const Shelf& shelf, const std::string& id, uint64_t now_ms) {
  auto answer = read_answer(shelf, id);
  if (!answer.ok() || !is_live(answer.value().answered_ms, answer.value().expires_ms, now_ms))
    return std::nullopt;
  return std::move(answer).value();
}

std::vector<std::string> ids_with(const Shelf& shelf, std::string_view ending) {
  std::vector<std::string> ids;
  for (const auto& name : shelf.names())
    if (name.ends_with(ending)) ids.push_back(name.substr(0, name.size() - ending.size()));
  return ids;
}

bool is_same(const Question& a, const Question& b) {
  return a.digest == b.digest && a.text == b.text && a.approvers == b.approvers;
}

Error too_many(size_t waiting, std::string_view whose) {
  return refusal(
      std::to_string(waiting) + " questions" + std::string(whose) + " wait for the operator already",
      "let him answer some by `cloche approve`");
}

Error no_such_question(const std::string& id) {
  return refusal("no question '" + shown(id, 80) + "' waits", "see `cloche approve list`");
}

}  // namespace

uint64_t wall_clock_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1'000'000;
}

Result<Approvals> Approvals::open(const std::string& state, const ApprovalTerms& terms) {
  return Approvals(TRY(Shelf::open(state, shelf_name)), terms);
}

bool Approvals::are_there(const std::string& state) {
  return ::access((state + "/" + shelf_name).c_str(), F_OK) == 0 || errno != ENOENT;
}

// Under the lock. What cannot be read, or has expired, is nobody's question any more.
void Approvals::prune(uint64_t now_ms) const {
  for (const auto& id : ids_with(shelf_, question_ending)) {
    const auto filed = read_question(shelf_, id);
    const bool waits = filed.ok() && is_live(filed.value().asked_ms, filed.value().expires_ms, now_ms);
    if (!waits && !live_answer(shelf_, id, now_ms)) (void)shelf_.remove(id + question_ending);
  }
  for (const auto& id : ids_with(shelf_, answer_ending))
    if (!live_answer(shelf_, id, now_ms)) (void)shelf_.remove(id + answer_ending);
  for (const auto& id : ids_with(shelf_, spent_ending)) {
    const auto mark = read_sealed(shelf_, id + spent_ending);
    if (!mark.ok() || time_in(mark.value(), "until_ms") <= now_ms) (void)shelf_.remove(id + spent_ending);
  }
}

Result<std::string> Approvals::file(const Question& question, const std::string& workspace,
                                    uint64_t now_ms) const {
  const auto held = TRY(shelf_.lock());
  prune(now_ms);
  size_t waiting = 0;
  size_t of_this_workspace = 0;
  for (const auto& id : ids_with(shelf_, question_ending)) {
    const auto waits = read_question(shelf_, id);
    if (!waits.ok() || live_answer(shelf_, id, now_ms)) continue;
    if (is_same(waits.value().question, question)) return id;
    ++waiting;
    if (waits.value().workspace == workspace) ++of_this_workspace;
  }
  if (of_this_workspace >= terms_.most_of_one) return too_many(of_this_workspace, " of this workspace");
  if (waiting >= terms_.most_waiting || shelf_.names().size() >= most_files) return too_many(waiting, "");
  FiledQuestion filed{.id = TRY(random_word(id_letters)), .question = question, .workspace = workspace};
  filed.asked_ms = now_ms;
  filed.expires_ms = now_ms + terms_.waits_ms;
  TRY(shelf_.put(filed.id + question_ending, text_of(filed)));
  return filed.id;
}

Result<std::optional<OperatorsAnswer>> Approvals::take(const Question& question, uint64_t now_ms) const {
  const auto held = TRY(shelf_.lock());
  const std::string shown = hash_of_shown(question);
  std::optional<OperatorsAnswer> taken;
  std::optional<KeptAnswer> yes;
  for (const auto& id : ids_with(shelf_, answer_ending)) {
    const auto answer = live_answer(shelf_, id, now_ms);
    if (!answer || answer->digest != question.digest || answer->shown != shown || is_spent(shelf_, id))
      continue;
    if (answer->decision != Decision::allow)  // before every yes
      return std::optional(OperatorsAnswer{id, Decision::deny});
    taken = OperatorsAnswer{id, Decision::allow};
    yes = answer;
  }
  if (!taken) return taken;
  // The mark first: whatever happens after it, this yes is used.
  JsonWriter mark;
  mark.begin_object().member("until_ms", yes->expires_ms).end_object();
  TRY(shelf_.put(taken->id + spent_ending, mark.text()));
  TRY(shelf_.remove(taken->id + answer_ending));
  (void)shelf_.remove(taken->id + question_ending);
  return taken;
}

std::vector<FiledQuestion> Approvals::list(uint64_t now_ms) const {
  std::vector<FiledQuestion> all;
  for (const auto& id : ids_with(shelf_, question_ending))
    if (auto filed = find(id, now_ms); filed.ok()) all.push_back(std::move(filed).value());
  std::stable_sort(all.begin(), all.end(),
                   [](const FiledQuestion& a, const FiledQuestion& b) { return a.asked_ms < b.asked_ms; });
  return all;
}

Result<FiledQuestion> Approvals::find(const std::string& id, uint64_t now_ms) const {
  if (!is_plain_id(id)) return no_such_question(id);
  auto filed = read_question(shelf_, id);
  if (!filed.ok() && filed.error().number == ENOENT) return no_such_question(id);
  FiledQuestion found = TRY(std::move(filed));
  if (is_spent(shelf_, id)) return refusal("the answer to " + id + " has been used already");
  if (const auto answer = live_answer(shelf_, id, now_ms)) {
    found.answer = answer->decision;
  } else if (!is_live(found.asked_ms, found.expires_ms, now_ms)) {
    return refusal("the question " + id + " has expired", "let the call be made again");
  }
  return found;
}

Result<void> Approvals::answer(const FiledQuestion& shown, Decision decision, uint64_t now_ms) const {
  const auto held = TRY(shelf_.lock());
  const FiledQuestion now = TRY(find(shown.id, now_ms));
  if (!is_same(now.question, shown.question))
    return refusal("the question " + shown.id + " is not the one that was shown", "look at it again");
  // He may still take a yes back; a no is said.
  if (now.answer && (*now.answer == decision || *now.answer != Decision::allow))
    return refusal(shown.id + " has been answered already: " + std::string(name_of(*now.answer)));
  KeptAnswer kept{.digest = now.question.digest, .shown = hash_of_shown(now.question), .decision = decision};
  kept.answered_ms = now_ms;
  kept.expires_ms = now_ms + terms_.holds_ms;
  return shelf_.put(shown.id + answer_ending, text_of(kept));
}

}  // namespace cloche
