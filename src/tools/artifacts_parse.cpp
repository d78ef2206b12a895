// What a call of a file tool means.
#include <algorithm>

#include "base/sys/path.hpp"
#include "base/text/command_words.hpp"
#include "policy/path_glob.hpp"
#include "policy/rules/pattern.hpp"
#include "tools/files/artifacts.hpp"

namespace cloche {
namespace {

using Kind = FileAction::Kind;

struct ToolArguments {
  std::string_view tool;
  Kind kind;
  std::vector<std::string_view> required;
  std::vector<std::string_view> optional;
};

const std::vector<ToolArguments>& known_tools() {
  static const std::vector<ToolArguments> tools = {
      {"write_artifact", Kind::write, {"path", "content"}, {}},
      {"edit_artifact", Kind::edit, {"path", "old", "new"}, {}},
      {"read_artifact", Kind::read, {"path"}, {"offset", "limit"}},
      {"list_artifacts", Kind::list, {}, {"path", "glob"}},
      {"search_artifacts", Kind::search, {"pattern"}, {"path"}},
  };
  return tools;
}

bool has(const std::vector<std::string_view>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

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

class Reading {
 public:
  Reading(FileCall& call, std::string_view workspace) : call_(call), workspace_(workspace) {}

  void run(const ToolArguments& tool, const JsonValue& arguments) {
    call_.action.kind = tool.kind;
    if (!arguments.is_object()) return wrong("the arguments are not an object");
    for (const auto& name : tool.required) {
      if (arguments.find(name) == nullptr) return wrong(std::string(name) + " is missing");
    }
    for (const auto& member : arguments.members) {
      if (!has(tool.required, member.name) && !has(tool.optional, member.name))
        return wrong("unknown argument " + shown(member.name, 60));
      take(member.name, member.value);
      if (!call_.problem.empty()) return;
    }
    if (call_.action.kind == Kind::edit) check_edit();
  }

 private:
  void wrong(std::string problem) { call_.problem = std::move(problem); }

  void take(std::string_view name, const JsonValue& value) {
    if (name == "offset" || name == "limit") return take_number(name, value);
    if (!value.is_string()) return wrong(std::string(name) + " is not a text");
    if (name == "path") return take_path(value.text);
    if (name == "pattern") return take_pattern(value.text);
    if (name == "glob") return take_glob(value.text);
    if (value.text.size() > most_artifact_bytes)
      return wrong(std::string(name) + " is longer than " + std::to_string(most_artifact_bytes) + " bytes");
    (name == "old" ? call_.action.replaced : call_.action.content) = value.text;
  }

  void take_number(std::string_view name, const JsonValue& value) {
    const bool limit = name == "limit";
    const int64_t least = limit ? 1 : 0;
    const int64_t most = limit ? static_cast<int64_t>(most_read_bytes) : INT64_MAX;
    if (!value.is_number() || !value.whole || value.integer < least || value.integer > most) {
      return wrong(std::string(name) + " is not a whole number from " + std::to_string(least) + " to " +
                   std::to_string(most));
    }
    (limit ? call_.action.limit : call_.action.offset) = static_cast<uint64_t>(value.integer);
  }

  void take_path(const std::string& written) {
    const bool reads = !changes_files(call_.action.kind);
    call_.action.path = reads ? tidy_for_reading(written, workspace_) : tidy(written);
  }

  void take_pattern(const std::string& text) {
    if (text.empty()) return wrong("pattern is empty");
    const auto pattern = compile_pattern(text, Dot::stops_at_newline);
    if (!pattern.ok())
      return wrong("pattern: " + pattern.error().what.text() +
                   "; the syntax is RE2's, which has no backreferences and no lookaround");
    if (pattern.value()->ProgramSize() > largest_program)
      return wrong("pattern: it is too large; use fewer or smaller repetitions");
    call_.action.pattern = text;
  }

  void take_glob(const std::string& text) {
    if (const auto glob = PathGlob::read(text); !glob.ok()) return wrong("glob: " + glob.error().what.text());
    call_.action.pattern = text;
  }

  void check_edit() {
    if (call_.action.replaced.empty()) return wrong("old is empty: give the text that is to be replaced");
    if (call_.action.replaced == call_.action.content) wrong("old and new are the same text");
  }

  FileCall& call_;
  std::string_view workspace_;
};

}  // namespace

FileCall parse_file_call(std::string_view tool, const JsonValue& arguments, std::string_view workspace) {
  FileCall call;
  const auto& tools = known_tools();
  const auto found = std::find_if(tools.begin(), tools.end(),
                                  [&](const ToolArguments& known) { return known.tool == tool; });
  if (found == tools.end()) {
    call.problem = shown(tool, 60) + " is not a file tool";
    return call;
  }
  Reading(call, workspace).run(*found, arguments);
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
