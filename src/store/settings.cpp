#include "store/settings.hpp"

#include <array>

namespace cloche {
namespace {

enum class Whose { operators, projects };

Error wrong(const ConfigFile& file, const JsonMember& member, const std::string& what) {
  return json_error(file.path, member.line, member.name + " " + what);
}

Result<bool> read_boolean(const ConfigFile& file, const JsonMember& member) {
  if (!member.value.is_boolean()) return wrong(file, member, "is not true or false");
  return member.value.truth;
}

Result<void> add_texts(std::vector<std::string>& list, const ConfigFile& file, const JsonMember& member) {
  if (!member.value.is_array()) return wrong(file, member, "is not a list");
  for (const auto& item : member.value.items) {
    if (!item.is_string() || item.text.empty()) return wrong(file, member, "is not a list of texts");
    list.push_back(item.text);
  }
  return {};
}

Result<void> read_dotfiles(Settings& settings, const ConfigFile& file, const JsonMember& member,
                           Whose whose) {
  const std::string& said = member.value.text;
  if (said != "allow" && said != "refuse") return wrong(file, member, "is not \"allow\" or \"refuse\"");
  if (said == "allow" && whose == Whose::projects)
    return wrong(file, member, "can only be refused by a project");
  settings.dotfiles = said == "allow" && whose == Whose::operators;
  return {};
}

// What only the operator can say.
Result<void> read_operators(Settings& settings, const ConfigFile& file, const JsonMember& member) {
  if (member.name == "executors_dir") {
    const bool good = member.value.is_string() && member.value.text.starts_with('/');
    if (!good) return wrong(file, member, "is not an absolute path");
    settings.executors_dir = member.value.text;
    return {};
  }
  if (member.name == "secret_grants") return add_texts(settings.secret_grants, file, member);
  return add_texts(settings.approved_executors, file, member);
}

Result<void> read_file(Settings& settings, const std::optional<ConfigFile>& file, Whose whose) {
  if (!file) return {};
  for (const auto& member : file->root.members) {
    if (member.name == "permissions") continue;  // read by policy/rules
    if (member.name == "dotfiles") {
      TRY(read_dotfiles(settings, *file, member, whose));
    } else if (member.name == "durable") {
      settings.durable = TRY(read_boolean(*file, member)) || settings.durable;
    } else if (whose == Whose::projects) {
      return wrong(*file, member, "is not a project's to say");
    } else {
      TRY(read_operators(settings, *file, member));
    }
  }
  return {};
}

}  // namespace

std::span<const std::string_view> settings_keys() {
  static constexpr std::array<std::string_view, 6> keys = {
      "permissions", "dotfiles", "durable", "executors_dir", "secret_grants", "approved_executors"};
  return keys;
}

Result<Settings> settings_of(const ConfigFiles& files) {
  Settings settings;
  TRY(read_file(settings, files.user, Whose::operators));
  TRY(read_file(settings, files.managed, Whose::operators));  // its word stands over the user's
  TRY(read_file(settings, files.project, Whose::projects));
  return settings;
}

}  // namespace cloche
