#include "gateway/approval/approval_subject.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "base/sys/path.hpp"
#include "gateway/approval/ask_approval.hpp"
#include "gateway/launch/why_not_found.hpp"
#include "policy/plan/system_view.hpp"

namespace cloche {
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
