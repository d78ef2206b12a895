#include "gateway/approval/approved_files_lock.hpp"

#include <algorithm>

#include "base/sys/path.hpp"

namespace cloche {
namespace {

constexpr uint64_t check_within_ms = 3'000;  // short calls have ended by then

bool is_a_sentence(const std::string& word) { return word.find_first_of(" \t\n") != std::string::npos; }

bool is_beneath_one(const std::vector<std::string>& directories, const std::string& name) {
  if (directories.empty()) return false;
  const std::string path = tidied(directories.front(), name);
  return std::any_of(directories.begin(), directories.end(), [&](const std::string& directory) {
    return !directory.empty() && path != directory && is_beneath(directory, path);
  });
}

bool looks_like_a_file(const std::string& spelling) {
  return spelling.find_first_of("/.") != std::string::npos && !is_a_sentence(spelling);
}

bool runs_module(const std::vector<std::string>& words) {
  const auto is_python = [](std::string_view program) {
    return program.substr(program.rfind('/') + 1).starts_with("python");
  };
  return !words.empty() && is_python(words.front()) &&
         std::find(words.begin(), words.end(), "-m") != words.end();
}

}  // namespace

std::vector<std::string> spellings_of(const std::string& word) {
  std::vector<std::string> spellings = {word};
  if (const size_t equals = word.find('='); equals != std::string::npos)
    spellings.push_back(word.substr(equals + 1));
  if (word.size() > 2 && word[0] == '-' && word[1] != '-') spellings.push_back(word.substr(2));
  return spellings;
}

bool looks_for_files(const NamedFiles& named) {
  if (runs_module(named.words)) return true;
  for (const auto& word : named.words) {
    for (const auto& spelling : spellings_of(word)) {
      if (looks_like_a_file(spelling) && is_beneath_one(named.directories, spelling)) return true;
    }
  }
  return false;
}

ApprovedFilesLock::ApprovedFilesLock(std::string state, const ConfinementPlan& plan, const NamedFiles& named,
                                     Patience patience)
    : state_(std::move(state)),
      wanted_{.changes = trees_changed_by(plan), .alone = named.directories},
      patience_(std::move(patience)),
      needed_(looks_for_files(named)) {
  std::erase(wanted_.alone, "");
}

Result<void> ApprovedFilesLock::check() const {
  if (!needed_) return {};
  Patience shorter = patience_;
  shorter.most_ms = std::min(patience_.most_ms, check_within_ms);
  TRY(lock_workspaces(state_, wanted_, shorter));
  return {};
}

Result<void> ApprovedFilesLock::hold() {
  if (needed_) turn_ = TRY(lock_workspaces(state_, wanted_, patience_));
  return {};
}

}  // namespace cloche
