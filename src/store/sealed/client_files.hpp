// The files that Claude Code keeps for one session of its own: output that was too long for an answer, the
// output of background tasks, and the one plan of plan mode. Everything here comes from the client's own
// fields of the hook's input (session_id and transcript_path), never from HOME or CLAUDE_CONFIG_DIR, which
// the settings of a project can set.
//
// A file is opened here without following a link and looked at through the descriptor; the agent opens it by
// its name afterwards. Between the two only a process of the caller's own could put something else there:
// each directory above it belongs to the caller or to root and is writable for no other user, and the one
// below /tmp is 0700 (policy/gates/client_files.hpp). A sandboxed command sees none of these directories.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cloche {

struct ClientFiles {
  std::string config = {};         // the client's configuration directory
  std::string project = {};        // the client's name for the project: one component
  std::string id = {};             // a UUID
  std::string temporary = "/tmp";  // where the client has the output of tasks, unless the operator moves it

  bool operator==(const ClientFiles&) const = default;
};

// By the spelling alone: CONFIG/projects/PROJECT/ID.jsonl. None: the client keeps its files in another way.
std::optional<ClientFiles> client_files(std::string_view transcript, std::string_view id);

// Whether `path` (as the model wrote it) is output that this session stored: a regular file of the caller's
// directly in CONFIG/projects/PROJECT/ID/tool-results or in /tmp/claude-UID/PROJECT/ID/tasks, that has no
// other name but the one that the client gives it in the other of the two. Transcripts, memory, other
// sessions and links are none.
bool is_stored_output(const ClientFiles& session, const std::string& path);

// The plan file of this session, as the client has written its name into the transcript; an Error where it
// has not within `patience_ms`, or where the file is a link, has a second name or is another user's. It need
// not be there.
Result<std::string> plan_file(const ClientFiles& session, uint64_t patience_ms);

}  // namespace cloche
