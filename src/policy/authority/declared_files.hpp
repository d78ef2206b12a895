// Files that declare skills and executors, and the programs behind executors: what they must be to be read at
// all. Pure: store/config/skill_files.hpp looks at them.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/facts.hpp"
#include "model/skill.hpp"

namespace cloche {

struct DeclarationFact {
  std::string path = {};  // as it was named
  FileFact::Kind kind = FileFact::Kind::absent;
  uint64_t bytes = 0;
  std::string resolved = {};  // where the opened file is now; empty: it has been deleted
};
Result<void> judge_declaration(const DeclarationFact& file, uint64_t most_bytes);

// The folder of a manifest, which was resolved a moment ago.
Result<void> judge_executor_folder(const FileFact& folder);
// The program beneath the folder, with no link on the way: what is there is what runs.
Result<void> judge_executor_code(const Executor& executor, const FileFact& code);
// What lies at the folder's path now, against what was loaded.
Result<void> judge_unchanged(const Executor& executor, const FileFact& folder);
Result<void> judge_executors_directory(const FileFact& directory);
// One name, one executor.
Result<void> judge_executor_names(const std::vector<Executor>& executors);

}  // namespace cloche
