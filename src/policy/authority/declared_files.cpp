#include "policy/authority/declared_files.hpp"

#include <map>
#include <string_view>

namespace cloche {

using Kind = FileFact::Kind;

Result<void> judge_declaration(const DeclarationFact& file, uint64_t most_bytes) {
  if (file.kind == Kind::link)
    return refusal(file.path + " is a symbolic link", "name the file that it leads to");
  if (file.kind != Kind::file) return refusal(file.path + " is not a regular file");
  if (file.bytes > most_bytes)
    return refusal(file.path + " is longer than " + std::to_string(most_bytes) + " bytes");
  if (file.resolved.empty()) return refusal(file.path + " has no place any more");
  return {};
}

Result<void> judge_executor_folder(const FileFact& folder) {
  if (folder.turns.empty()) return {};
  return refusal(folder.path + " is a link, and was none a moment ago");
}

Result<void> judge_executor_code(const Executor& executor, const FileFact& code) {
  const std::string what = executor.source + ": the code " + executor.code;
  if (!code.exists())
    return refusal(what + " cannot be opened", "code is a path beneath the manifest's folder");
  if (!code.turns.empty()) return refusal(what + " is reached through a link");
  if (code.kind != Kind::file) return refusal(what + " is not a regular file");
  return {};
}

Result<void> judge_unchanged(const Executor& executor, const FileFact& folder) {
  const bool same = folder.exists() && folder.turns.empty() && folder.device == executor.folder_fact.device &&
                    folder.inode == executor.folder_fact.inode;
  if (same) return {};
  return refusal("the folder " + executor.folder + " of the executor " + executor.name +
                     " has changed since it was loaded",
                 "look at what lies there now, and start again");
}

Result<void> judge_executors_directory(const FileFact& directory) {
  if (directory.kind == Kind::directory) return {};
  return refusal(directory.path + " is not a directory of executors");
}

Result<void> judge_executor_names(const std::vector<Executor>& executors) {
  std::map<std::string_view, const Executor*> known;
  for (const auto& executor : executors) {
    const auto [at, fresh] = known.emplace(executor.name, &executor);
    if (!fresh)
      return refusal(executor.source + ": the name " + executor.name + " is taken by " + at->second->source);
  }
  return {};
}

}  // namespace cloche
