#include "store/sealed/approvals.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/json/json_members.hpp"
#include "base/json/json_writer.hpp"
#include "base/text/random_word.hpp"
#include "base/text/sha256.hpp"

namespace cloche {
namespace {

constexpr const char* folder_name = "approvals";
constexpr const char* question_ending = ".question";
constexpr const char* answer_ending = ".answer";
constexpr const char* spent_ending = ".spent";
constexpr size_t id_letters = 8;
constexpr size_t most_bytes = 64 << 10;         // a question has 16 KiB of text, and escapes
constexpr uint64_t clock_slack_ms = 60 * 1000;  // a file from further in the future was made by another clock

struct StoredAnswer {
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

std::string text_of(const StoredAnswer& answer) {
  JsonWriter out;
  out.begin_object().member("digest", answer.digest).member("shown", answer.shown);
  out.member("decision", name_of(answer.decision));
  out.member("answered_ms", answer.answered_ms).member("expires_ms", answer.expires_ms);
  return out.end_object().take();
}

Result<FiledQuestion> read_question(const SealedFiles& files, const std::string& id) {
  const JsonValue value = TRY(files.read_json(id + question_ending, most_bytes));
  FiledQuestion filed{.id = id};
  filed.question.digest = text_of(value, "digest");
  filed.question.text = text_of(value, "text");
  // Where the file does not say that anyone may answer, only the operator may.
  filed.question.approvers = text_of(value, "approver") == name_of(Approvers::anyone)
                                 ? Approvers::anyone
                                 : Approvers::operator_alone;
  filed.workspace = text_of(value, "workspace");
  filed.asked_ms = number_of(value, "asked_ms");
  filed.expires_ms = number_of(value, "expires_ms");
  return filed;
}

Result<StoredAnswer> read_answer(const SealedFiles& files, const std::string& id) {
  const JsonValue value = TRY(files.read_json(id + answer_ending, most_bytes));
  StoredAnswer answer{.digest = text_of(value, "digest"), .shown = text_of(value, "shown")};
  if (text_of(value, "decision") == name_of(Decision::allow)) answer.decision = Decision::allow;
  answer.answered_ms = number_of(value, "answered_ms");
  answer.expires_ms = number_of(value, "expires_ms");
  return answer;
}

bool is_spent(const SealedFiles& files, const std::string& id) {
  const auto names = files.names();
  return std::find(names.begin(), names.end(), id + spent_ending) != names.end();
}

// The answer to a question of this id, while it counts.
std::optional<StoredAnswer> live_answer(const SealedFiles& files, const std::string& id, uint64_t now_ms) {
  auto answer = read_answer(files, id);
  if (!answer.ok() || !is_live(answer.value().answered_ms, answer.value().expires_ms, now_ms))
    return std::nullopt;
  return std::move(answer).value();
}

std::vector<std::string> ids_with(const SealedFiles& files, std::string_view ending) {
  std::vector<std::string> ids;
  for (const auto& name : files.names())
    if (name.ends_with(ending)) ids.push_back(name.substr(0, name.size() - ending.size()));
  return ids;
}

}  // namespace

uint64_t wall_clock_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1'000'000;
}

Result<Approvals> Approvals::open(const std::string& state, const ApprovalTerms& terms) {
  return Approvals(TRY(SealedFiles::open(state, folder_name)), terms);
}

bool Approvals::are_there(const std::string& state) {
  return ::access((state + "/" + folder_name).c_str(), F_OK) == 0 || errno != ENOENT;
}

// What cannot be read, or has expired, waits no longer.
void Approvals::prune(uint64_t now_ms) const {
  for (const auto& id : ids_with(files_, question_ending)) {
    const auto filed = read_question(files_, id);
    const bool waits = filed.ok() && is_live(filed.value().asked_ms, filed.value().expires_ms, now_ms);
    if (!waits && !live_answer(files_, id, now_ms)) (void)files_.remove(id + question_ending);
  }
  for (const auto& id : ids_with(files_, answer_ending))
    if (!live_answer(files_, id, now_ms)) (void)files_.remove(id + answer_ending);
  for (const auto& id : ids_with(files_, spent_ending)) {
    const auto mark = files_.read_json(id + spent_ending, most_bytes);
    if (!mark.ok() || number_of(mark.value(), "until_ms") <= now_ms) (void)files_.remove(id + spent_ending);
  }
}

Result<std::string> Approvals::file(const Question& question, const std::string& workspace,
                                    uint64_t now_ms) const {
  const auto held = TRY(files_.lock());
  prune(now_ms);
  WaitingQuestions waiting;
  for (const auto& id : ids_with(files_, question_ending)) {
    const auto waits = read_question(files_, id);
    if (!waits.ok() || live_answer(files_, id, now_ms)) continue;
    if (is_same_question(waits.value().question, question)) return id;
    ++waiting.all;
    if (waits.value().workspace == workspace) ++waiting.of_workspace;
  }
  waiting.files = files_.names().size();
  TRY(judge_room(waiting, terms_));
  FiledQuestion filed{.id = TRY(random_word(id_letters)), .question = question, .workspace = workspace};
  filed.asked_ms = now_ms;
  filed.expires_ms = now_ms + terms_.waits_ms;
  TRY(files_.put(filed.id + question_ending, text_of(filed)));
  return filed.id;
}

Result<std::optional<OperatorsAnswer>> Approvals::take(const Question& question, uint64_t now_ms) const {
  const auto held = TRY(files_.lock());
  const std::string shown = hash_of_shown(question);
  std::optional<OperatorsAnswer> taken;
  std::optional<StoredAnswer> yes;
  for (const auto& id : ids_with(files_, answer_ending)) {
    const auto answer = live_answer(files_, id, now_ms);
    if (!answer || answer->digest != question.digest || answer->shown != shown || is_spent(files_, id))
      continue;
    if (answer->decision != Decision::allow)  // before every yes
      return std::optional(OperatorsAnswer{id, Decision::deny});
    taken = OperatorsAnswer{id, Decision::allow};
    yes = answer;
  }
  if (!taken) return taken;
  // The mark comes first: if a later step fails, this yes is used all the same.
  JsonWriter mark;
  mark.begin_object().member("until_ms", yes->expires_ms).end_object();
  TRY(files_.put(taken->id + spent_ending, mark.text()));
  TRY(files_.remove(taken->id + answer_ending));
  (void)files_.remove(taken->id + question_ending);
  return taken;
}

std::vector<FiledQuestion> Approvals::list(uint64_t now_ms) const {
  std::vector<FiledQuestion> all;
  for (const auto& id : ids_with(files_, question_ending))
    if (auto filed = find(id, now_ms); filed.ok()) all.push_back(std::move(filed).value());
  std::stable_sort(all.begin(), all.end(),
                   [](const FiledQuestion& a, const FiledQuestion& b) { return a.asked_ms < b.asked_ms; });
  return all;
}

Result<FiledQuestion> Approvals::find(const std::string& id, uint64_t now_ms) const {
  QuestionFact fact{.id = id};
  FiledQuestion found;
  if (auto filed = is_plain_id(id) ? read_question(files_, id) : system_error("find a question", ENOENT);
      filed.ok() || filed.error().number != ENOENT) {
    found = TRY(std::move(filed));
    fact.exists = true;
    fact.used = is_spent(files_, id);
    if (const auto answer = live_answer(files_, id, now_ms)) found.answer = answer->decision;
    fact.expired = !found.answer && !is_live(found.asked_ms, found.expires_ms, now_ms);
  }
  TRY(judge_question(fact));
  return found;
}

Result<void> Approvals::answer(const FiledQuestion& shown, Decision decision, uint64_t now_ms) const {
  const auto held = TRY(files_.lock());
  const FiledQuestion now = TRY(find(shown.id, now_ms));
  TRY(judge_operators_answer(shown, now, decision));
  return files_.put(shown.id + answer_ending, text_of(StoredAnswer{.digest = now.question.digest,
                                                                   .shown = hash_of_shown(now.question),
                                                                   .decision = decision,
                                                                   .answered_ms = now_ms,
                                                                   .expires_ms = now_ms + terms_.holds_ms}));
}

}  // namespace cloche
