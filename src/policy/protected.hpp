// The protected set: what something on the host executes later without being asked - hooks, start-up files,
// the settings of editors and agents. A sandboxed write there is an escape with a delay. Data with a reason
// each (share/protected.json); this is its reader and the one matcher.
// Names are compared as policy/folded_name.hpp says.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cloche {

struct ProtectedEntry {
  // Whom it stops: whatever writes, or the file tools alone, because programs have to write there (git in
  // .git).
  enum class Scope { every_write, file_tools };

  std::string path;    // as in the file: components, with * and ? in a name and ** for any number of them
  std::string reason;  // who executes it, and when
  Scope scope = Scope::every_write;
  std::string source = {};  // "share/protected.json"
  int line = 0;
  std::vector<std::string> pattern = {};  // `path` folded, for any depth and everything beneath
};

using ProtectedSet = std::vector<ProtectedEntry>;

// Every entry of one file. Refuses with file:line what is unknown or has an example that does not hold.
Result<ProtectedSet> read_protected(std::string_view text, const std::string& source);

// The first entry that this path is, or lies beneath, at any depth; nullptr: none. `path` is relative to the
// workspace. With Scope::every_write only entries of that scope count, with file_tools all of them do.
const ProtectedEntry* find_protected(const ProtectedSet& entries, std::string_view path,
                                     ProtectedEntry::Scope asked_by);

// Of a Cloche that lies in the workspace itself (its own checkout), or of what the configuration names: a
// directory, relative to that. A
// command's view has these read-only; this is for the file tools.
ProtectedEntry protected_part(const std::string& path, std::string reason);

// Whether the path is in what Cloche keeps in a workspace for itself: the record in tool_calls/ and the
// project's configuration in .cloche. No tool reads these either.
bool is_cloches_own(std::string_view path);

}  // namespace cloche
