#include "policy/gates/approval.hpp"

#include <algorithm>

#include "base/json/json_writer.hpp"
#include "base/text/pieces.hpp"
#include "base/text/sha256.hpp"
#include "base/text/utf8.hpp"
#include "base/text/visible_text.hpp"

namespace cloche {
namespace {

// What is longer cannot be judged by looking at it, so it is not asked about: a cut would hide the part that
// matters.
constexpr size_t longest_text = 16 << 10;
constexpr size_t longest_reason = 500;
constexpr size_t most_answers = 1000;

bool is_sha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string shown_word(const std::string& word) {
  const std::string escaped = escape_for_person(word);
  const bool plain =
      !word.empty() && escaped == word && word.find_first_of(" '\"$`&|;<>()*?[]{}~#!\\") == std::string::npos;
  if (plain) return word;
  // A quote within is escaped, or one word could pose as two.
  std::string quoted = "'";
  for (char c : escaped) quoted += c == '\'' ? "\\x27" : std::string(1, c);
  return quoted + "'";
}

std::string shown_list(const std::vector<std::string>& list) {
  return list.empty() ? "nothing" : comma_separated(list);
}

void add_line(std::string& out, std::string_view name, const std::string& text) {
  out += name;
  out.append(name.size() < 12 ? 12 - name.size() : 1, ' ');
  out += text + "\n";
}

std::vector<std::string> written_by(const ConfinementPlan& plan) {
  std::vector<std::string> places;
  for (const auto& entry : plan.view)
    if (entry.kind == EntryKind::tree && (entry.access == Access::write || entry.access == Access::write_run))
      places.push_back(shown_word(entry.target));
  return places;
}

std::vector<std::string> variables_of(const ConfinementPlan& plan) {
  std::vector<std::string> list;
  for (const auto& [name, value] : plan.environment)
    list.push_back(escape_for_person(name) + "=" + shown_word(value));
  for (const auto& secret : plan.secrets) list.push_back(escape_for_person(secret.name) + " (secret)");
  return list;
}

std::vector<std::string> hosts_of(const ConfinementPlan& plan) {
  std::vector<std::string> list;
  for (const auto& host : plan.hosts) list.push_back(escape_for_person(host));
  for (const auto& range : plan.ranges) list.push_back(escape_for_person(range));
  return list;
}

std::string network_of(const ConfinementPlan& plan) {
  if (plan.network == Network::of_host) return "all of the host's own";
  std::string text = plan.hosts.empty() ? "none" : shown_list(hosts_of(plan));
  for (const auto& port : plan.published)
    text += "; 127.0.0.1:" + std::to_string(port.host) + " of the host leads to its port " +
            std::to_string(port.inside);
  return text;
}

std::string shown_command(const ConfinementPlan& plan) {
  std::string text;
  for (const auto& word : plan.argv) text += (text.empty() ? "" : " ") + shown_word(word);
  return text;
}

std::string command_line(const ApprovalSubject& subject) {
  if (subject.by_agent) return "none: the agent does it itself, and nothing confines it";
  return subject.plan.argv.empty() ? "none: it acts within Cloche" : shown_command(subject.plan);
}

void add_confinement(std::string& text, const ConfinementPlan& plan) {
  add_line(text, "may write", shown_list(written_by(plan)));
  add_line(text, "network", network_of(plan));
  add_line(text, "variables", shown_list(variables_of(plan)));
  add_line(text, "isolation",
           std::string(name_of(plan.level)) + ", at most " + show_duration_ms(plan.limits.wall_ms) + " and " +
               show_size(plan.limits.memory_bytes));
}

bool is_live(const Answer& answer, const std::string& digest, uint64_t now_ms) {
  return answer.digest == digest && !digest.empty() && answer.uses > 0 && now_ms < answer.expires_ms;
}

}  // namespace

std::string escape_for_person(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto byte = static_cast<unsigned char>(text[0]);
    size_t length = 1;
    if (byte == '\\') {
      out += "\\\\";
    } else if (byte >= 0x20 && byte < 0x7f) {
      out += text[0];
    } else if (byte == '\n' || byte == '\t') {
      out += byte == '\n' ? "\\n" : "\\t";
    } else if (byte >= 0x80 && utf8::sequence_length(text) > 0) {
      const auto [code, bytes] = utf8::decode(text);
      length = bytes;
      out += written_out(code);
    } else {
      constexpr char digits[] = "0123456789abcdef";
      out += {'\\', 'x', digits[byte >> 4], digits[byte & 0xfU]};
    }
    text.remove_prefix(length);
  }
  return out;
}

std::string approval_digest(const ApprovalSubject& subject) {
  auto files = subject.files;
  std::ranges::sort(files, [](const ExecutedFile& a, const ExecutedFile& b) {
    return a.path != b.path ? a.path < b.path : a.sha256 < b.sha256;
  });
  // Lengths before texts: no two subjects run together into the same bytes.
  Sha256 sum;
  const auto add = [&](std::string_view text) { sum.add(std::to_string(text.size()) + ":").add(text); };
  add("cloche approval 3");
  add(subject.tool);
  add(digest_of(subject.plan));
  add(subject.input);
  add(subject.script_input);
  for (const auto& file : files) {
    add(file.path);
    add(file.sha256);
  }
  if (!subject.place.empty()) add("starts in " + subject.place);
  if (subject.by_agent) add("by the agent itself");
  if (!subject.session.empty()) add("in the session " + subject.session);
  return "sha256:" + sum.finish();
}

std::variant<Question, Verdict> make_question(const ApprovalSubject& subject) {
  const auto refuse = [](Message reason, Message fix) {
    return deny(GateId::approval, std::move(reason), "name the file itself, or a smaller one",
                std::move(fix));
  };
  for (const auto& file : subject.files) {
    if (!is_sha256(file.sha256))
      return refuse("it runs " + file.path +
                        ", which cannot be hashed: it cannot be read, is too large, or lies behind a link",
                    "name the file itself or a smaller one, or let a rule decide");
  }

  const ConfinementPlan& plan = subject.plan;
  Question question{approval_digest(subject), {}, subject.approvers};
  std::string& text = question.text;
  add_line(text, "tool", escape_for_person(subject.tool));
  add_line(text, "command", command_line(subject));
  if (!subject.input.empty()) add_line(text, "input", escape_for_person(subject.input));
  if (!subject.script_input.empty()) add_line(text, "stdin", escape_for_person(subject.script_input));
  add_line(text, "in", shown_word(plan.directory));
  if (!subject.by_agent) add_confinement(text, plan);
  for (const auto& file : subject.files)
    add_line(text, "runs", shown_word(file.path) + " (sha256 " + file.sha256.substr(0, 16) + ")");
  for (size_t i = 0; i < std::min<size_t>(subject.reasons.size(), 5); ++i)
    add_line(text, "asked since", escape_for_person(subject.reasons[i]).substr(0, longest_reason));
  if (!plan.argv.empty())
    text += subject.files.empty() ? "Files that it reads, imports or calls are not covered by your answer.\n"
                                  : "What these files import or call is not covered by your answer.\n";
  if (text.size() > longest_text)
    return refuse("this is more than a person can be shown and asked about",
                  "put it into a file and run that");
  return question;
}

Answer make_answer(const Question& question, Reply reply, uint64_t now_ms, const AnswerTerms& terms) {
  switch (reply) {
    case Reply::once: return {question.digest, Decision::allow, now_ms + terms.once_ms, 1};
    case Reply::session:
      return {question.digest, Decision::allow, now_ms + terms.session_ms, terms.session_uses};
    case Reply::none:
    case Reply::no: break;
  }
  Answer no{question.digest, Decision::deny, now_ms + terms.once_ms, 1};
  no.unanswered = reply == Reply::none;
  return no;
}

void ApprovalBook::add(Answer answer) {
  if (answers_.size() >= most_answers)
    answers_.erase(answers_.begin());  // asked again rather than remembered
  answers_.push_back(std::move(answer));
}

bool ApprovalBook::approves(const std::string& digest, uint64_t now_ms) const {
  bool approved = false;
  for (const auto& answer : answers_) {
    if (!is_live(answer, digest, now_ms)) continue;
    if (answer.decision != Decision::allow) return false;
    approved = true;
  }
  return approved;
}

bool ApprovalBook::spend(const std::string& digest, uint64_t now_ms) {
  if (!approves(digest, now_ms)) return false;
  const auto answer =
      std::ranges::find_if(answers_, [&](const Answer& one) { return is_live(one, digest, now_ms); });
  --answer->uses;
  std::erase_if(answers_, [&](const Answer& one) { return one.uses == 0 || now_ms >= one.expires_ms; });
  return true;
}

}  // namespace cloche
