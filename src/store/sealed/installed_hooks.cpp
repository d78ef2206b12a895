#include "store/sealed/installed_hooks.hpp"

#include "base/json/json_writer.hpp"
#include "base/text/sha256.hpp"

namespace cloche {
namespace {

constexpr size_t most_bytes = 64 << 10;

std::string name_for(const std::string& file) {
  constexpr size_t enough_letters = 32;
  return sha256(file).substr(0, enough_letters) + ".settings";
}

std::string text_of(const SettingsBefore& before) {
  JsonWriter out;
  out.begin_object().member("absent", before.absent).member("blank", before.blank);
  out.key("made").begin_array();
  for (const auto& directory : before.made) out.value(directory);
  return out.end_array().end_object().take();
}

}  // namespace

Result<InstalledHooks> InstalledHooks::open(const std::string& state) {
  return InstalledHooks(TRY(SealedFiles::open(state, "hooks")));
}

Result<void> InstalledHooks::remember(const std::string& file, const SettingsBefore& before) const {
  const auto held = TRY(files_.lock());
  return files_.put(name_for(file), text_of(before));
}

std::optional<SettingsBefore> InstalledHooks::recall(const std::string& file) const {
  const auto value = files_.read_json(name_for(file), most_bytes);
  if (!value.ok()) return std::nullopt;
  SettingsBefore before;
  if (const JsonValue* absent = value.value().find("absent")) before.absent = absent->truth;
  if (const JsonValue* blank = value.value().find("blank")) before.blank = blank->text;
  if (const JsonValue* made = value.value().find("made"))
    for (const auto& directory : made->items) before.made.push_back(directory.text);
  return before;
}

void InstalledHooks::forget(const std::string& file) const {
  const auto held = files_.lock();
  if (held.ok()) (void)files_.remove(name_for(file));
}

}  // namespace cloche
