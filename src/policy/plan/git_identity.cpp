#include "policy/plan/git_identity.hpp"

#include <utility>

#include "base/text/utf8.hpp"
#include "base/text/visible_text.hpp"
#include "policy/protected/git_config_reader.hpp"

namespace cloche {
namespace {

// What may be said to every command: one line that reads as what it is.
bool is_fit(std::string_view text) {
  if (text.size() > max_identity_bytes) return false;
  while (!text.empty()) {
    if (utf8::sequence_length(text) == 0) return false;
    const auto [code, length] = utf8::decode(text);
    if (is_control(code) || turns_text_around(code) || is_invisible(code)) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string quoted(std::string_view value) {
  std::string out = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

}  // namespace

GitIdentity identity_in(std::string_view git_config) {
  GitIdentity found;
  GitConfigReader reader(git_config);
  while (auto entry = reader.next()) {
    if (entry->section != "user" || entry->has_name) continue;
    if (entry->key == "name") found.name = std::move(entry->value);
    if (entry->key == "email") found.email = std::move(entry->value);
  }
  if (!is_fit(found.name)) found.name.clear();
  if (!is_fit(found.email)) found.email.clear();
  return found;
}

GitIdentity completed(GitIdentity first, const GitIdentity& second) {
  if (first.name.empty()) first.name = second.name;
  if (first.email.empty()) first.email = second.email;
  return first;
}

std::string identity_config(const GitIdentity& identity, Owners owners) {
  std::string text = "[include]\n\tpath = /etc/gitconfig\n";
  if (is_known(identity)) text += "[user]\n";
  if (!identity.name.empty()) text += "\tname = " + quoted(identity.name) + "\n";
  if (!identity.email.empty()) text += "\temail = " + quoted(identity.email) + "\n";
  if (owners == Owners::others) text += "[core]\n\tcheckStat = minimal\n";
  return text;
}

}  // namespace cloche
