// What a call of a file tool means.
#include <algorithm>

#include "base/lists.hpp"
#include "base/sys/path.hpp"
#include "base/text/command_words.hpp"
#include "policy/rules/globs.hpp"
#include "policy/rules/pattern.hpp"
#include "tools/argument_reader.hpp"
#include "tools/files/artifacts.hpp"

namespace cloche {
namespace {

using Kind = FileAction::Kind;

struct FileTool {
  std::string_view name;
  Kind kind;
};
constexpr FileTool file_tools[] = {{"write_artifact", Kind::write},
                                   {"edit_artifact", Kind::edit},
                                   {"read_artifact", Kind::read},
                                   {"list_artifacts", Kind::list},
                                   {"search_artifacts", Kind::search}};

// Without "." and doubled slashes. A slash at either end says something, so it stays.
std::string tidy(std::string_view written) {
  std::string path = written.starts_with('/') ? "/" : "";
  for (const auto& name : components_of(written)) {
    if (!path.empty() && path.back() != '/') path += '/';
    path += name;
  }
  if (written.ends_with('/') && !path.empty() && path.back() != '/') path += '/';
  return path;
}

// For those that only read: a directory may end in a slash, and an absolute path may lead back here.
std::string tidy_for_reading(std::string_view written, std::string_view workspace) {
  std::string path = tidy(written);
  if (path.size() > 1 && path.ends_with('/')) path.pop_back();
  if (!path.starts_with('/') || workspace.empty() || !is_beneath(workspace, path)) return path;
  path.erase(0, workspace == "/" ? 0 : workspace.size());
  return path.starts_with('/') ? path.substr(1) : path;
}

// RE2 is linear in the text and in the size of the program it makes of a pattern; {1000} makes big ones.
constexpr int largest_program = 5000;

// The first thing that is wrong becomes the call's problem.
class Reading {
 public:
  Reading(FileCall& call, const JsonValue& arguments, std::string_view workspace)
      : call_(call), reader_(arguments, call.problem), workspace_(workspace) {}

  void run() {
    FileAction& action = call_.action;
    switch (action.kind) {
      case Kind::write:
        action.path = tidy(reader_.text("path"));
        action.content = content("content");
        break;
      case Kind::edit:
        action.path = tidy(reader_.text("path"));
        action.replaced = content("old");
        action.content = content("new");
        break;
      case Kind::read:
        action.path = tidy_for_reading(reader_.text("path"), workspace_);
        action.offset = reader_.maybe_number("offset", 0, INT64_MAX).value_or(action.offset);
        action.limit = reader_.maybe_number("limit", 1, most_read_bytes).value_or(action.limit);
        break;
      case Kind::list:
        action.path = tidy_for_reading(reader_.maybe_text("path").value_or(""), workspace_);
        if (const auto glob = reader_.maybe_text("glob")) take_glob(*glob);
        break;
      case Kind::search:
        action.pattern = reader_.text("pattern");
        action.path = tidy_for_reading(reader_.maybe_text("path").value_or(""), workspace_);
        break;
    }
    if (!reader_.finish()) return;
    if (action.kind == Kind::edit) check_edit();
    if (action.kind == Kind::search) check_pattern();
  }

 private:
  void wrong(std::string problem) {
    if (call_.problem.empty()) call_.problem = std::move(problem);
  }

  std::string content(std::string_view name) {
    std::string text = reader_.text(name);
    if (text.size() > most_artifact_bytes)
      wrong(std::string(name) + " is longer than " + std::to_string(most_artifact_bytes) + " bytes");
    return text;
  }

  void take_glob(const std::string& text) {
    if (const auto glob = PathGlob::read(text); !glob.ok()) return wrong("glob: " + glob.error().what.text());
    call_.action.pattern = text;
  }

  void check_pattern() {
    if (call_.action.pattern.empty()) return wrong("pattern is empty");
    const auto pattern = compile_pattern(call_.action.pattern, Dot::stops_at_newline);
    if (!pattern.ok())
      return wrong("pattern: " + pattern.error().what.text() +
                   "; the syntax is RE2's, which has no backreferences and no lookaround");
    if (pattern.value()->ProgramSize() > largest_program)
      wrong("pattern: it is too large; use fewer or smaller repetitions");
  }

  void check_edit() {
    if (call_.action.replaced.empty()) return wrong("old is empty: give the text that is to be replaced");
    if (call_.action.replaced == call_.action.content) wrong("old and new are the same text");
  }

  FileCall& call_;
  ArgumentReader reader_;
  std::string_view workspace_;
};

}  // namespace

FileCall parse_file_call(std::string_view tool, const JsonValue& arguments, std::string_view workspace) {
  FileCall call;
  const FileTool* found = find_by(file_tools, &FileTool::name, tool);
  if (found == nullptr) {
    call.problem = shown(tool, 60) + " is not a file tool";
    return call;
  }
  call.action.kind = found->kind;
  Reading(call, arguments, workspace).run();
  return call;
}

RuleArguments normalised_arguments(const FileAction& action) {
  RuleArguments arguments;
  arguments["path"] = action.path;
  switch (action.kind) {
    case Kind::write: arguments["content"] = action.content; break;
    case Kind::edit:
      arguments["old"] = action.replaced;
      arguments["new"] = action.content;
      break;
    case Kind::read:
      arguments["offset"] = std::to_string(action.offset);
      arguments["limit"] = std::to_string(action.limit);
      break;
    case Kind::list: arguments["glob"] = action.pattern; break;
    case Kind::search: arguments["pattern"] = action.pattern; break;
  }
  return arguments;
}

}  // namespace cloche
