#include "model/call.hpp"

#include "base/json/json_writer.hpp"
#include "base/text/sha256.hpp"
#include "model/names.hpp"

namespace cloche {
namespace {

constexpr std::string_view command_profiles[] = {"passive", "full", "any"};
constexpr std::string_view autonomies[] = {"readonly", "supervised", "full"};

}  // namespace

std::string_view name_of(CommandProfile profile) {
  return name_in<CommandProfile::any>(command_profiles, profile);
}

std::optional<CommandProfile> command_profile(std::string_view name) {
  return value_in<CommandProfile>(command_profiles, name);
}

std::string_view name_of(Autonomy level) { return name_in<Autonomy::full>(autonomies, level); }

std::optional<Autonomy> autonomy(std::string_view name) { return value_in<Autonomy>(autonomies, name); }

std::string_view name_of(FileAction::Kind kind) {
  static constexpr std::string_view names[] = {"write", "edit", "read", "list", "search"};
  return name_in<FileAction::Kind::search>(names, kind);
}

std::string to_json(const FileAction& action) {
  JsonWriter out;
  out.begin_object().member("file", name_of(action.kind)).member("path", action.path);
  if (changes_files(action.kind)) out.member("content", "sha256:" + sha256(action.content));
  if (action.kind == FileAction::Kind::edit) out.member("replaced", "sha256:" + sha256(action.replaced));
  if (!action.pattern.empty()) out.member("pattern", action.pattern);
  if (action.kind == FileAction::Kind::read)
    out.member("offset", action.offset).member("limit", action.limit);
  return out.end_object().text();
}

std::string to_json(const FunctionCall& call) {
  JsonWriter out;
  return out.begin_object()
      .member("function", call.name)
      .member("arguments", call.arguments)
      .end_object()
      .text();
}

std::string to_json(const Recall& recall) {
  JsonWriter out;
  out.begin_object().member("recall", recall.call_id).member("offset", recall.offset);
  return out.member("limit", recall.limit).end_object().text();
}

}  // namespace cloche
