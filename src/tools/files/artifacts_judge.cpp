// Whether a file tool may use a path: the path gate's answer, by the text of the path alone.
#include <algorithm>

#include "base/json/json_writer.hpp"
#include "base/lists.hpp"
#include "base/sys/path.hpp"
#include "base/text/command_words.hpp"
#include "base/text/utf8.hpp"
#include "policy/protected/folded_name.hpp"
#include "policy/protected/protected_directory.hpp"
#include "policy/rules/globs.hpp"
#include "tools/files/artifacts.hpp"

namespace cloche {
namespace {

constexpr size_t longest_path = 4095;  // the kernel's, less the NUL
constexpr size_t longest_name = 255;

std::string quoted(std::string_view path) { return "'" + shown(path) + "'"; }

// Why a reader could mistake this name for another; empty: it is plain text.
std::string unreadable(std::string_view path) {
  if (path.find('\0') != std::string_view::npos) return "has a NUL byte";
  if (!is_utf8(path)) return "is not valid UTF-8";
  while (!path.empty()) {
    const auto [code, length] = utf8::decode(path);
    if (is_control(code)) return "has a control character";
    if (turns_text_around(code)) return "has a bidirectional control character";
    if (is_invisible(code)) return "has an invisible character";
    path.remove_prefix(length);
  }
  return {};
}

std::optional<Verdict> refuse_letters(const std::string& path) {
  const std::string plainer = "use a plain name";
  if (path.size() > longest_path)
    return deny(GateId::path, "the path is longer than " + std::to_string(longest_path) + " bytes",
                "use a shorter one");
  if (const std::string why = unreadable(path); !why.empty())
    return deny(GateId::path, "the path " + quoted(path) + " " + why, plainer);
  for (const auto& name : components_of(path)) {
    if (name.size() > longest_name)
      return deny(GateId::path,
                  "a name in the path is longer than " + std::to_string(longest_name) +
                      " bytes: " + quoted(name.substr(0, 60)),
                  plainer);
  }
  return {};
}

std::optional<Verdict> refuse_place(const FileAction& action) {
  const std::string& path = action.path;
  if (path.starts_with('/')) {
    return changes_files(action.kind) ? deny(GateId::path, quoted(path) + " is an absolute path",
                                             "use one that is relative to the workspace, as out/report.md")
                                      : deny(GateId::path, quoted(path) + " is not in the workspace",
                                             "use a path that is relative to the workspace");
  }
  if (has_dots(path))
    return deny(GateId::path, quoted(path) + " goes up with ..",
                "write the path from the workspace down, without ..");
  if (is_cloches_own(path)) {
    return deny(GateId::path, quoted(path) + " is Cloche's own",
                folded_name(components_of(path).front()) == "tool_calls"
                    ? "results of earlier calls come from read_tool_result"
                    : "use another path");
  }
  return {};
}

std::optional<Verdict> refuse_write(const std::string& path, Dotfiles dotfiles,
                                    const std::vector<ProtectedPart>& parts, std::string_view workspace) {
  const auto refuse = [&](std::string_view reason, std::string rule) {
    Verdict verdict = deny(GateId::path, quoted(path) + " is protected: " + std::string(reason),
                           "ask the user to change it, or put the text under another name");
    verdict.rule = std::move(rule);
    return verdict;
  };
  const std::string counted = std::string(meaning_of_root(workspace).counts_from) + "/" + path;
  if (const ProtectedName* row = find_protected(counted))
    return refuse(row->reason, std::string(row->path) + " " + file_line("share/protected.json", row->line));
  if (const ProtectedPart* part = find_part(parts, path))
    return refuse(part->reason, part->path + " the installation");
  const auto names = components_of(path);
  const auto dotted = std::ranges::find_if(names, [](std::string_view name) { return name[0] == '.'; });
  if (dotfiles == Dotfiles::refuse && dotted != names.end()) {
    return deny(GateId::path, quoted(path) + " has the dot-file " + quoted(*dotted) + " in it",
                "use a name without the dot", "set dotfiles to allow");
  }
  return {};
}

}  // namespace

Verdict judge_file(const FileAction& action, Dotfiles dotfiles, const std::vector<ProtectedPart>& parts,
                   std::string_view workspace) {
  const std::string& path = action.path;
  const bool needs_a_file = changes_files(action.kind) || action.kind == FileAction::Kind::read;
  if (auto refused = refuse_letters(path)) return *refused;
  if (needs_a_file && path.empty())
    return deny(GateId::path, "the path names no file", "give the path of a file, relative to the workspace");
  if (auto refused = refuse_place(action)) return *refused;
  if (changes_files(action.kind)) {
    if (path.ends_with('/'))
      return deny(GateId::path, quoted(path) + " names a directory",
                  "give the path of a file; its directories are made");
    if (auto refused = refuse_write(path, dotfiles, parts, workspace)) return *refused;
  }
  return {GateId::path, Decision::allow,
          path.empty() ? "the whole workspace" : quoted(path) + " is in the workspace"};
}

}  // namespace cloche
