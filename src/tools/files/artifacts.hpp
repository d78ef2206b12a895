// The file tools: write_artifact, edit_artifact, read_artifact, list_artifacts and search_artifacts. Three
// independent steps: what a call means, whether its path is allowed, and doing it through WorkspaceFiles.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json/json_text.hpp"
#include "model/call.hpp"
#include "model/tool.hpp"
#include "model/verdict.hpp"
#include "policy/protected/protected.hpp"
#include "policy/rules/rules.hpp"
#include "tools/answer/reply.hpp"
#include "tools/files/workspace_access.hpp"

namespace cloche {

inline constexpr uint64_t most_read_bytes = 1 << 20;      // of one read_artifact
inline constexpr uint64_t most_artifact_bytes = 8 << 20;  // of a file that is written or edited
inline constexpr uint64_t most_searched_bytes = 4 << 20;  // of a file that is searched
inline constexpr size_t most_listed = 1000;
inline constexpr size_t most_matches = 200;
inline constexpr size_t most_searched_line = 16 << 10;  // of a longer line only the beginning is searched
inline constexpr size_t most_shown_line = 300;
inline constexpr size_t most_shown_text = 64 << 10;  // of a list or a search

// The five tools as models see them.
const std::vector<ToolSpec>& artifact_tools();

// What a call means.
struct FileCall {
  FileAction action = {};
  std::string problem = {};  // why the arguments make no sense; then the action means nothing
};

// `tool` is one of artifact_tools() by name. An absolute path beneath `workspace` (resolved) becomes the
// relative one for tools that only read; everything else keeps what was written, without "." and doubled
// slashes.
FileCall parse_file_call(std::string_view tool, const JsonValue& arguments, std::string_view workspace);

// For rules: the arguments as text in their one spelling.
RuleArguments normalised_arguments(const FileAction& action);

enum class Dotfiles { refuse, allow };

// The path gate's answer. Pure: WorkspaceFiles handles links, and follows none when it writes and stays
// beneath the workspace when it reads. The workspace's own path counts: `fish` in a workspace named .config
// is protected.
Verdict judge_file(const FileAction& action, Dotfiles dotfiles, const std::vector<ProtectedPart>& parts,
                   std::string_view workspace);

// What the model gets.
ToolReply perform(const FileAction& action, WorkspaceFiles& files);

}  // namespace cloche
