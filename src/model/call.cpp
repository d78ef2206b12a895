#include "model/call.hpp"

#include "base/json/json_writer.hpp"
#include "base/text/sha256.hpp"

namespace cloche {

std::string_view name_of(CommandProfile profile) {
  switch (profile) {
    case CommandProfile::passive: return "passive";
    case CommandProfile::full: return "full";
    case CommandProfile::any: return "any";
  }
  return "passive";
}

std::optional<CommandProfile> command_profile(std::string_view name) {
  for (auto profile : {CommandProfile::passive, CommandProfile::full, CommandProfile::any}) {
    if (name == name_of(profile)) return profile;
  }
  return {};
}

std::string_view name_of(Autonomy level) {
  switch (level) {
    case Autonomy::readonly: return "readonly";
    case Autonomy::supervised: return "supervised";
    case Autonomy::full: return "full";
  }
  return "readonly";
}

std::optional<Autonomy> autonomy(std::string_view name) {
  for (auto level : {Autonomy::readonly, Autonomy::supervised, Autonomy::full}) {
    if (name == name_of(level)) return level;
  }
  return {};
}

std::string_view name_of(FileAction::Kind kind) {
  switch (kind) {
    case FileAction::Kind::write: return "write";
    case FileAction::Kind::edit: return "edit";
    case FileAction::Kind::read: return "read";
    case FileAction::Kind::list: return "list";
    case FileAction::Kind::search: return "search";
  }
  return "read";
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
