#include "confine/boxes/seatbelt.hpp"

#include <string_view>

#include "confine/boxes/box_parts.hpp"

namespace cloche {
namespace {

struct SystemPlace {
  std::string_view path;
  bool runs;
  std::string_view why;
};
// What every program of macOS needs before its first line.
constexpr SystemPlace system_places[] = {
    {"/System", false, "frameworks and the shared cache of libraries"},
    {"/Library/Apple", false, "libraries of the system"},
    {"/private/var/db/dyld", false, "the dynamic loader's index"},
    {"/private/var/db/timezone", false, "time zones"},
    {"/bin", true, "a directory there, and no link into /usr"},
    {"/sbin", true, "likewise"},
};
constexpr std::string_view devices[] = {"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/tty"};

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string place(std::string_view path, bool file) {
  return (file ? "(literal " : "(subpath ") + quoted(path) + ")";
}

std::string rule(std::string_view action, std::string_view what, const std::string& where) {
  return "(" + std::string(action) + " " + std::string(what) + " " + where + ")\n";
}

// All three for each, because the last rule that fits decides: so a narrower tree inside a wider one takes
// away as well as it gives.
std::string rules_of_tree(const ViewEntry& entry) {
  const std::string where = place(entry.target, entry.file);
  const bool reads = entry.access != Access::none;
  return rule(reads ? "allow" : "deny", "file-read*", where) +
         rule(may_write(entry.access) ? "allow" : "deny", "file-write*", where) +
         rule(may_run(entry.access) ? "allow" : "deny", "process-exec* file-map-executable", where);
}

std::string rules_of_system() {
  std::string text;
  for (const auto& [path, runs, why] : system_places) {
    text += "; " + std::string(why) + "\n";
    text += rule("allow",
                 runs ? "file-read* file-map-executable process-exec*" : "file-read* file-map-executable",
                 place(path, false));
  }
  for (std::string_view path : devices)
    text += rule("allow", "file-read* file-write-data", place(path, true));
  return text;
}

}  // namespace

std::string seatbelt_profile(const ConfinementPlan& plan) {
  std::string text =
      "(version 1)\n"
      "(deny default)\n"
      "(allow process-fork)\n"
      "(allow signal (target same-sandbox))\n"
      "(allow process-info* (target same-sandbox))\n"
      "(allow sysctl-read)\n"
      "; names of directories on the way, not what is in them\n"
      "(allow file-read-metadata)\n";
  text += rules_of_system();
  for (const auto& entry : plan.view) {
    const bool masks = entry.access == Access::none;
    // A device is among those above; links and texts of the view cannot be made here.
    if (entry.access == Access::device || (entry.kind != EntryKind::tree && !masks)) continue;
    text += rules_of_tree(entry);
  }
  // The whole network or none of it: hosts cannot be named.
  text += plan.network == Network::own ? "(deny network*)\n"
                                       : "(allow network-outbound)\n(allow system-socket)\n";
  return text;
}

std::vector<std::string> seatbelt_arguments(const ConfinementPlan& plan) {
  std::vector<std::string> words = {"sandbox-exec", "-p", seatbelt_profile(plan), "--", "/usr/bin/env", "-i"};
  for (const auto& [name, value] : plan.environment) words.push_back(name + "=" + value);
  words.insert(words.end(), plan.argv.begin(), plan.argv.end());
  return words;
}

std::vector<MissingLayer> seatbelt_missing(const ConfinementPlan& plan) {
  std::vector<MissingLayer> missing;
  for (LayerId layer : plan.required) {
    if (layer == LayerId::net_namespace && plan.network == Network::own) continue;  // denied, loopback too
    missing.push_back({layer,
                       layer == LayerId::mount_view ? "Seatbelt denies, but hides nothing and makes nothing"
                                                    : "Seatbelt has no such thing",
                       "use the sandbox on Linux"});
  }
  return missing;
}

}  // namespace cloche
