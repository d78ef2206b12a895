// Which files of an agent's client belong to one session of it: stored output, and the plan of plan mode. A
// file counts only where no other user can have put it there, and where it has no name that the client did
// not give it. Pure: store/sealed/client_files.hpp looks at the files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/facts.hpp"

namespace cloche {

struct CallerIds {
  unsigned user = 0;
  unsigned group = 0;
};

// A file or a directory as it was opened, without following a link. Absent: there is none, or it is a link.
struct ClientFileFact {
  FileFact::Kind kind = FileFact::Kind::absent;
  unsigned uid = 0;
  unsigned gid = 0;
  unsigned mode = 0;  // permissions, with the sticky bit
  uint64_t names = 0;
  uint64_t device = 0;
  uint64_t inode = 0;
};

// The directories below / to one of the client's, each as it was found.
using DirectoriesFact = std::vector<ClientFileFact>;

// A regular file of the caller's.
bool is_callers_file(const ClientFileFact& file, const CallerIds& caller);

// Each is the caller's or root's, and no other user can put or replace something there, except in a sticky
// one as /tmp. A group that is the caller's own counts as the caller, because that is the umask of
// many systems.
bool are_closed_to_others(const DirectoriesFact& directories, const CallerIds& caller);

struct StoredFileFact {
  DirectoriesFact directories = {};
  // Below /tmp every user can make directories: the first one there must be the caller's, with 0700. Nothing:
  // the file lies elsewhere.
  std::optional<ClientFileFact> first_below_tmp = {};
  ClientFileFact file = {};
};

// The client writes long output to one directory and links it into another, so one file has two names where
// both are on one file system. `other` is the second of them, where its name has one.
struct StoredOutputFact {
  StoredFileFact named = {};
  std::optional<StoredFileFact> other = {};
};
bool is_output_of_session(const StoredOutputFact& fact, const CallerIds& caller);

// The client's letters for the name of a plan: words with dashes between them.
bool is_plan_name(std::string_view name);

struct PlanFileFact {
  std::string directory = {};
  DirectoriesFact directories = {};
  ClientFileFact transcript = {};
  std::optional<std::string> name = {};  // that the transcript gives
  bool exists = false;                   // also where it is a link
  ClientFileFact file = {};
};
// The path of the plan; the file need not be there.
Result<std::string> judge_plan_file(const PlanFileFact& fact, const CallerIds& caller);

}  // namespace cloche
