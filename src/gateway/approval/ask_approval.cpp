#include "gateway/approval/ask_approval.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "base/text/sha256.hpp"
#include "gateway/exception_barrier.hpp"
#include "gateway/launch/why_not_found.hpp"
#include "policy/plan/system_view.hpp"
#include "store/trust/trusted_file.hpp"
#include "store/workspace/open_beneath.hpp"

namespace cloche {
namespace {

constexpr size_t most_hashed_bytes = size_t{64} << 20;

Verdict refuse(Message reason, std::string_view instead = {}, Message fix = {}) {
  return deny(GateId::approval, std::move(reason), instead, std::move(fix));
}

constexpr std::string_view call_again = "make the call again";

// A word may be a path as it is, behind an =, or behind the letter of an option.
std::vector<std::string> spellings_of(const std::string& word) {
  std::vector<std::string> spellings = {word};
  if (const size_t equals = word.find('='); equals != std::string::npos)
    spellings.push_back(word.substr(equals + 1));
  if (word.size() > 2 && word[0] == '-' && word[1] != '-') spellings.push_back(word.substr(2));
  return spellings;
}

std::vector<std::string> files_of_module(std::string module) {
  std::replace(module.begin(), module.end(), '.', '/');
  return {module + ".py", module + "/__init__.py", module + "/__main__.py"};
}

// Opens each name beneath its directory, and takes each file once.
class FileHasher {
 public:
  FileHasher(const std::vector<std::string>& directories, const FilesOfView& view)
      : directories_(directories), view_(view) {}

  void add(const std::string& name) {
    if (name.empty() || directories_.empty()) return;
    const std::string path = tidied(directories_.front(), name);
    const auto directory = std::find_if(
        directories_.begin(), directories_.end(),
        [&](const std::string& one) { return !one.empty() && is_beneath(one, path) && one != path; });
    if (directory == directories_.end() || !seen_.insert(path).second) return;
    ShownFile at{*directory, path};
    // A grant that is shown within the workspace: not what the host has there.
    if (view_.on_host)
      if (auto shown = view_.on_host(path); shown && shown->path != path) at = std::move(*shown);
    const auto root = sys::open(at.tree, O_PATH | O_DIRECTORY);
    const ExecutedFile unread{path, "", at.path};
    if (!root.ok() || !is_beneath(at.tree, at.path) || at.tree == at.path)
      return found_.files.push_back(unread);
    const std::string below = at.path.substr(at.tree == "/" ? 1 : at.tree.size() + 1);
    const auto file = open_beneath(root.value().get(), below, O_RDONLY, Links::followed, path);
    if (!file.ok() && file.error().number == EXDEV) return add_behind_link(path, at.path);
    if (!file.ok()) {
      const int number = file.error().number;
      if (!is_no_file(number)) found_.files.push_back(unread);
      if (number == ENOENT || number == ENOTDIR) found_.absent.push_back(unread);
      return;
    }
    struct stat seen {};
    if (::fstat(file.value().get(), &seen) != 0) return found_.files.push_back(unread);
    if (S_ISDIR(seen.st_mode)) return add(path + "/__main__.py");  // python runs a directory by it
    if (S_ISREG(seen.st_mode)) hash(file.value().get(), path, at.path);
  }

  NamedFiles found() && { return std::move(found_); }

 private:
  // Names that can be no file of the workspace's: a program that opens one finds what we find.
  static bool is_no_file(int number) {
    return number == ENOENT || number == ENOTDIR || number == EISDIR || number == ENAMETOOLONG ||
           number == ELOOP || number == EINVAL || number == ENXIO;
  }

  // A link led out of the directory, or a mount lies below it. What cannot be known to be the same file in
  // the view has no hash.
  void add_behind_link(const std::string& path, const std::string& on_host) {
    MountCache mounts;
    const PassedPaths passed = paths_passed(on_host, mounts);
    const bool is_known = view_.is_same && !passed.error && !passed.absent && !passed.paths.empty() &&
                          std::all_of(passed.paths.begin(), passed.paths.end(), view_.is_same);
    const ExecutedFile unread{path, "", on_host};
    if (!is_known) return found_.files.push_back(unread);
    const auto file = sys::open(passed.paths.back(), O_RDONLY | O_NONBLOCK | O_NOCTTY);
    struct stat seen {};
    if (!file.ok() || ::fstat(file.value().get(), &seen) != 0) return found_.files.push_back(unread);
    if (S_ISDIR(seen.st_mode)) return add(path + "/__main__.py");
    if (S_ISREG(seen.st_mode)) hash(file.value().get(), path + " -> " + passed.paths.back(), on_host);
  }

  void hash(int fd, const std::string& path, const std::string& on_host) {
    const auto text = sys::read_all(fd, left_bytes_);
    found_.files.push_back({path, text.ok() ? sha256(text.value()) : "", on_host});
    if (text.ok()) left_bytes_ -= text.value().size();
  }

  const std::vector<std::string>& directories_;
  const FilesOfView& view_;
  std::set<std::string> seen_;
  NamedFiles found_;
  size_t left_bytes_ = most_hashed_bytes;  // of all of them together
};

}  // namespace

std::vector<std::string> reasons_to_ask(const Judgement& judgement) {
  std::vector<std::string> reasons;
  for (const auto& verdict : judgement.gates) {
    if (verdict.decision == Decision::ask && verdict.gate != GateId::approval)
      reasons.push_back(verdict.reason.text() + (verdict.rule.empty() ? "" : " (" + verdict.rule + ")"));
  }
  return reasons;
}

Approvers approvers_of(const Judgement& judgement) {
  Approvers strictest = Approvers::anyone;
  for (const auto& verdict : judgement.gates)
    if (verdict.decision == Decision::ask) strictest = std::max(strictest, verdict.approvers);
  return strictest;
}

NamedFiles files_named(const std::vector<std::string>& words, const std::vector<std::string>& directories,
                       const FilesOfView& view) {
  FileHasher hasher(directories, view);
  for (size_t i = 0; i < words.size(); ++i) {
    for (const auto& spelling : spellings_of(words[i])) hasher.add(spelling);
    if (i > 0 && words[i - 1] == "-m") {
      for (const auto& file : files_of_module(words[i])) hasher.add(file);
    }
  }
  return std::move(hasher).found();
}

Answer RememberingApprover::ask(const Question& question) {
  if (!approved_.empty() && question.digest == approved_)
    return make_answer(question, Reply::once, sys::monotonic_ms());
  Answer answer = inner_.ask(question);
  if (answer.decision == Decision::allow) approved_ = question.digest;
  return answer;
}

bool Questions::spend(const std::string& digest) {
  const std::lock_guard held(lock_);
  return book_.spend(digest, sys::monotonic_ms());
}

bool Questions::is_answered(const std::string& digest) {
  const std::lock_guard held(lock_);
  return book_.approves(digest, sys::monotonic_ms());
}

// Nothing: there is a yes, if not to this question.
std::optional<Verdict> Questions::have_answer(const Question& question, Approver& approver) {
  if (is_answered(question.digest)) return std::nullopt;  // for the session
  auto answer = guarded_ask(approver, question);          // without the lock: other calls go on meanwhile
  if (!answer) return refuse("the approver failed instead of answering, which is no yes", needs_the_user);
  // A no is spent by this very call: the next one is a new question, with an answer of its own.
  if (answer->decision != Decision::allow && !answer->reason.empty())
    return refuse(answer->reason, {}, answer->fix);
  if (answer->decision != Decision::allow)
    return refuse("the approver did not say yes to this very call", needs_the_user,
                  "answer y at the terminal");
  const std::lock_guard held(lock_);
  book_.add(*std::move(answer));
  return std::nullopt;
}

std::optional<Verdict> Questions::ask(const std::function<ApprovalSubject()>& subject, Approver& approver) {
  const auto made = make_question(subject());
  if (const auto* no = std::get_if<Verdict>(&made)) return *no;
  const Question& question = std::get<Question>(made);
  if (question.approvers == Approvers::operator_alone && !approver.speaks_for_operator())
    return refuse("only the operator may answer, and no approver here speaks for the operator",
                  needs_the_user, "ask with a FiledApprover, which `cloche approve` answers");
  if (auto no = have_answer(question, approver)) return no;
  const std::string digest = approval_digest(subject());
  if (spend(digest)) return std::nullopt;
  if (digest != question.digest)
    return refuse("the call or its files changed while the question was open", call_again);
  return refuse("the yes was to another question, or has expired", call_again);
}

namespace {

FilesOfView same_in(const ConfinementPlan& plan) {
  return {.on_host = {}, .is_same = [&plan](const std::string& path) { return is_same_in_view(plan, path); }};
}

FilesOfView files_of(const ConfinementPlan& plan) {
  FilesOfView files = same_in(plan);
  files.on_host = [&plan](const std::string& path) { return file_on_host(plan, path); };
  return files;
}

// Of a program that lies outside the system's own trees what it is: an answer covers the one that was there.
void add_program(ApprovalSubject& subject, const std::string& name) {
  const auto program = program_on_host(subject.plan, name);
  const auto holds = [&](const ShownPath& row) { return is_beneath(row.path, program->path); };
  if (!program || std::any_of(std::begin(system_paths), std::end(system_paths), holds)) return;
  const auto is_it = [&](const ExecutedFile& file) { return file.path == program->path; };
  if (std::any_of(subject.files.begin(), subject.files.end(), is_it)) return;
  const auto found = files_named({program->path}, {program->tree}, same_in(subject.plan)).files;
  subject.files.insert(subject.files.end(), found.begin(), found.end());
}

// Beneath which its words may name files that an approval covers; relative ones are taken from the first.
std::vector<std::string> directories_of(const Judged& judged) {
  const Prepared& prepared = *judged.judgement.prepared();
  std::vector<std::string> directories = {prepared.seen.facts.workspace.path};
  if (judged.c.call.by == Asks::operators) directories.insert(directories.begin(), prepared.plan.directory);
  if (judged.c.intent.cwd) directories.insert(directories.begin(), judged.c.facts.directory());
  // Of an executor its own code as well.
  if (judged.request.code) directories.push_back(judged.request.code->source);
  return directories;
}

std::string identity_of(uint64_t device, uint64_t inode) {
  return std::to_string(device) + ":" + std::to_string(inode);
}

// Which directory it starts in, however that is called by now; and those that the plan's digest names by
// their paths alone.
std::string place_of_start(const ConfinementPlan& plan) {
  const auto directory = directory_on_host(plan);
  struct stat seen {};
  std::string place;
  if (directory && ::stat(directory->c_str(), &seen) == 0) place = identity_of(seen.st_dev, seen.st_ino);
  for (const auto& entry : plan.view) {
    if (entry.made_on_demand) place += " " + entry.target + "=" + identity_of(entry.device, entry.inode);
  }
  return place;
}

}  // namespace

ApprovalSubject subject_of(const Judged& judged) {
  const Prepared& prepared = *judged.judgement.prepared();
  const Launch& launch = prepared.launch;
  const bool by_operator = judged.c.call.by == Asks::operators;
  ApprovalSubject subject{.tool = by_operator ? judged.c.call.tool : judged.c.intent.tool,
                          .plan = prepared.plan};
  NamedFiles named = files_named(launch.named_files, directories_of(judged), files_of(subject.plan));
  subject.files = std::move(named.files);
  subject.absent = std::move(named.absent);
  subject.input = launch.input.value_or("");
  // What a shape shows beside a command is no text of the model's, and stands in the plan.
  if (judged.c.intent.launch && launch.script) {
    subject.script_input = std::move(subject.input);
    subject.input = launch.script->code;
  }
  if (const auto* action = launch.as<FileAction>()) subject.input = action->content;
  if (!prepared.plan.argv.empty()) {
    add_program(subject, prepared.plan.argv.front());
    for (const auto& word : launch.named_files)
      if (word.find('/') == std::string::npos) add_program(subject, word);
  }
  subject.place = place_of_start(prepared.plan);
  subject.reasons = reasons_to_ask(judged.judgement);
  subject.approvers = approvers_of(judged.judgement);
  return subject;
}

}  // namespace cloche
