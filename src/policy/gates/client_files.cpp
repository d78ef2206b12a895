#include "policy/gates/client_files.hpp"

#include <algorithm>

#include "base/text/ascii.hpp"

namespace cloche {
namespace {

using Kind = FileFact::Kind;

constexpr unsigned sticky = 01000;
constexpr unsigned group_writes = 020;
constexpr unsigned others_write = 002;

Error no_plan(const std::string& why) { return refusal("the agent's plan file is not known: " + why); }

bool is_in_closed_directory(const StoredFileFact& stored, const CallerIds& caller) {
  if (!are_closed_to_others(stored.directories, caller)) return false;
  const auto& first = stored.first_below_tmp;
  return !first || (first->kind == Kind::directory && first->uid == caller.user && first->mode == 0700);
}

}  // namespace

bool is_callers_file(const ClientFileFact& file, const CallerIds& caller) {
  return file.kind == Kind::file && file.uid == caller.user;
}

bool are_closed_to_others(const DirectoriesFact& directories, const CallerIds& caller) {
  if (directories.empty()) return false;
  return std::ranges::all_of(directories, [&](const ClientFileFact& directory) {
    const bool callers = directory.uid == caller.user;
    if (directory.kind != Kind::directory || (!callers && directory.uid != 0)) return false;
    const bool own_group = callers && directory.gid == caller.group && caller.group != 0;
    const bool open =
        (directory.mode & others_write) != 0 || ((directory.mode & group_writes) != 0 && !own_group);
    return !open || (directory.mode & sticky) != 0;
  });
}

bool is_output_of_session(const StoredOutputFact& fact, const CallerIds& caller) {
  const ClientFileFact& file = fact.named.file;
  if (!is_in_closed_directory(fact.named, caller) || !is_callers_file(file, caller)) return false;
  if (file.names == 1) return true;
  return file.names == 2 && fact.other && is_in_closed_directory(*fact.other, caller) &&
         fact.other->file.kind == Kind::file && fact.other->file.device == file.device &&
         fact.other->file.inode == file.inode;
}

bool is_plan_name(std::string_view name) {
  return !name.empty() && name.size() <= 120 && name.front() != '-' &&
         ascii::all(name, [](char c) { return ascii::is_digit(c) || (c >= 'a' && c <= 'z') || c == '-'; });
}

Result<std::string> judge_plan_file(const PlanFileFact& fact, const CallerIds& caller) {
  if (!are_closed_to_others(fact.directories, caller))
    return no_plan(fact.directory + " is not the caller's alone");
  if (!is_callers_file(fact.transcript, caller) || fact.transcript.names != 1)
    return no_plan("the transcript is not a file of the caller's");
  if (!fact.name) return no_plan("the transcript does not name it");
  if (!is_plan_name(*fact.name)) return no_plan("the transcript names it in an unknown way");
  std::string path = fact.directory + "/" + *fact.name + ".md";
  if (fact.exists && (!is_callers_file(fact.file, caller) || fact.file.names != 1))
    return no_plan(path + " is not a file of the caller's with one name");
  return path;
}

}  // namespace cloche
