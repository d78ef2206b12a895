#include "doors/hook/hook_command.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "base/lists.hpp"
#include "base/sys/directory.hpp"
#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "base/text/command_words.hpp"
#include "base/text/pieces.hpp"
#include "base/text/random_word.hpp"
#include "doors/cli/print.hpp"
#include "doors/hook/agent_environment.hpp"
#include "doors/hook/hook_front.hpp"
#include "doors/hook/hook_place.hpp"
#include "doors/hook/hook_settings.hpp"
#include "gateway/configuration/installation.hpp"
#include "gateway/configuration/rule_gate.hpp"
#include "policy/plan/plan_run.hpp"
#include "store/host/callers_home.hpp"
#include "store/host/system_facts.hpp"
#include "store/sealed/installed_hooks.hpp"

namespace cloche {
namespace {

constexpr size_t most_settings_bytes = 1 << 20;

struct AgentFiles {
  std::string_view agent;
  std::string_view variable;  // that says where the agent keeps its settings
  std::string_view folder;    // in the home, otherwise
  std::string_view file;
};
constexpr AgentFiles agents[] = {{"claude", "CLAUDE_CONFIG_DIR", ".claude", "settings.json"},
                                 {"codex", "CODEX_HOME", ".codex", "hooks.json"}};

// Through links: people keep their settings elsewhere and link them.
Result<std::string> resolved(const std::string& file) {
  struct stat seen {};
  if (::lstat(file.c_str(), &seen) != 0 && errno == ENOENT) return file;
  const auto held = TRY(sys::hold(file));
  if (::stat(held.path.c_str(), &seen) != 0) return system_error("look at " + file);
  if (!S_ISREG(seen.st_mode)) return refusal(file + " is not a regular file");
  return held.path;
}

Result<std::string> read_settings(const std::string& file) {
  auto text = sys::read_file(file, most_settings_bytes);
  if (!text.ok() && text.error().number == ENOENT) return std::string();
  return text;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) lines.push_back(take_line(text));
  return lines;
}

// The lines between those that both have at their beginnings and at their ends.
std::string difference(const std::string& before, const std::string& after) {
  const auto old_lines = lines_of(before);
  const auto new_lines = lines_of(after);
  const size_t most = std::min(old_lines.size(), new_lines.size());
  size_t head = 0;
  while (head < most && old_lines[head] == new_lines[head]) ++head;
  size_t tail = 0;
  const auto from_end = [](const auto& lines, size_t at) { return lines[lines.size() - 1 - at]; };
  while (tail < most - head && from_end(old_lines, tail) == from_end(new_lines, tail)) ++tail;
  std::string text;
  const auto add = [&](const std::vector<std::string_view>& lines, const char* sign) {
    for (size_t i = head; i + tail < lines.size(); ++i) text += sign + visible(lines[i]) + "\n";
  };
  add(old_lines, "- ");
  add(new_lines, "+ ");
  return text;
}

// Asks at the terminal: piped input is not the operator's yes.
Result<bool> is_wanted(const HookArguments& arguments) {
  if (arguments.yes) return true;
  const auto terminal = sys::open("/dev/tty", O_RDWR | O_NOCTTY);
  if (!terminal.ok())
    return refusal("there is no terminal to ask at", "read the change above, then give --yes");
  ::tcflush(terminal.value().get(), TCIFLUSH);
  TRY(sys::write_all(terminal.value().get(), "Change it? y: yes, else: no > "));
  char line[16];
  const ssize_t got = ::read(terminal.value().get(), line, sizeof line);
  const std::string_view word(line, got > 0 ? static_cast<size_t>(got) : 0);
  return word == "y\n" || word == "yes\n";
}

// Whose file it is and who may read it.
struct Ownership {
  mode_t mode = 0600;
  uid_t user = ::geteuid();
  gid_t group = ::getegid();
};

// A new file would belong to the owner of the first directory above it that exists. Root makes no file in
// another user's home, because that user could not read it.
Result<Ownership> ownership_of(const std::string& file) {
  struct stat seen {};
  if (::stat(file.c_str(), &seen) == 0) return Ownership{seen.st_mode & 0777, seen.st_uid, seen.st_gid};
  std::string above(parent_of(file));
  while (::stat(above.c_str(), &seen) != 0 && above.size() > 1) above = std::string(parent_of(above));
  if (::geteuid() == 0 && seen.st_uid != 0)
    return refusal(file + " would be made in another user's directory", "let that user install the hook");
  return Ownership{};
}

Result<void> give(int file, const Ownership& to) {
  struct stat seen {};
  if (::fstat(file, &seen) != 0) return system_error("look at the new settings");
  const bool other = seen.st_uid != to.user || seen.st_gid != to.group;
  if (other && ::fchown(file, to.user, to.group) != 0)
    return system_error("leave the settings to their owner");
  if (::fchmod(file, to.mode) != 0) return system_error("leave the settings their mode");
  return {};
}

Result<void> write_whole(const std::string& path, const std::string& text, const Ownership& owner) {
  const auto out = TRY(sys::open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  TRY(sys::write_all(out.get(), text));
  TRY(give(out.get(), owner));
  if (::fsync(out.get()) != 0) return system_error("write " + path);
  return {};
}

Result<void> check_unchanged(const std::string& file, const std::string& before) {
  const auto now = read_settings(file);
  if (now.ok() && now.value() == before) return {};
  return refusal(file + " has changed meanwhile", "try again");
}

// Whole or not at all; its owner's as before, with the mode it had.
Result<void> replace(const std::string& file, const std::string& before, const std::string& text) {
  const Ownership owner = TRY(ownership_of(file));
  if (!make_private_directories(std::string(parent_of(file)))) return system_error("make " + file);
  const std::string word = TRY(random_word(8));
  const std::string fresh = file + "." + word;
  auto done = write_whole(fresh, text, owner);
  if (done.ok()) done = check_unchanged(file, before);
  if (done.ok() && ::rename(fresh.c_str(), file.c_str()) != 0) done = system_error("write " + file);
  if (!done.ok()) ::unlink(fresh.c_str());
  return done;
}

// One file of settings, found and read.
struct AgentSettings {
  std::string named;  // as the agent has it
  std::string file;   // with its links resolved
  std::string text;
  bool absent = false;
};

Result<AgentSettings> find_settings(const HookArguments& arguments, const Environment& environment) {
  AgentSettings found;
  found.named = tidied(TRY(sys::hold(".")).path, TRY(agent_settings_file(arguments, environment)));
  found.file = TRY(resolved(found.named));
  found.text = TRY(read_settings(found.file));
  found.absent = ::access(found.file.c_str(), F_OK) != 0;
  return found;
}

// Those on the way to a file that are not there, parents first.
std::vector<std::string> missing_directories(const std::string& file) {
  std::vector<std::string> missing;
  for (std::string at(parent_of(file)); at.size() > 1 && ::access(at.c_str(), F_OK) != 0;
       at = std::string(parent_of(at)))
    missing.insert(missing.begin(), at);
  return missing;
}

// First remembers what was there, so that it can be undone.
Result<void> put_in(const AgentSettings& settings, const std::string& with, const InstalledHooks& installed) {
  if (is_blank(settings.text)) {
    const SettingsBefore before{settings.absent, settings.text, missing_directories(settings.file)};
    TRY(installed.remember(settings.file, before));
  } else {
    installed.forget(settings.file);  // of another time
  }
  return replace(settings.file, settings.text, with);
}

// The settings as they were before the hook, where the hook was all that they held; none: there was no file.
std::optional<std::string> as_before(const std::string& without, const std::optional<SettingsBefore>& known) {
  if (!known || !is_empty_object(without)) return without;
  return known->absent ? std::nullopt : std::optional(known->blank);
}

// Directories that are not empty stay.
void remove_made(const std::vector<std::string>& made) {
  for (auto directory = made.rbegin(); directory != made.rend(); ++directory)
    (void)::rmdir(directory->c_str());
}

Result<void> take_out(const AgentSettings& settings, const std::optional<std::string>& after,
                      const std::optional<SettingsBefore>& known, const InstalledHooks& installed) {
  if (after) {
    TRY(replace(settings.file, settings.text, *after));
  } else {
    TRY(check_unchanged(settings.file, settings.text));
    if (::unlink(settings.file.c_str()) != 0) return system_error("remove " + settings.file);
    remove_made(known->made);
  }
  installed.forget(settings.file);
  return {};
}

// Where an agent looks for the settings of one project.
std::vector<std::string> settings_of_project(const std::string& agent, const std::string& project) {
  if (agent == "codex") return {project + "/.codex/hooks.json"};
  return {project + "/.claude/settings.json", project + "/.claude/settings.local.json"};
}

// A workspace in the user's own settings would be the workspace of every project: the agent's calls in
// another project would be judged as if they were made here, or refused.
Result<void> check_workspace(const HookArguments& arguments, const AgentSettings& settings,
                             const Environment& environment) {
  const sys::Held project = TRY(sys::hold(arguments.workspace));
  struct stat seen {};
  if (::fstat(project.fd.get(), &seen) != 0) return system_error("look at " + project.path);
  TRY(judge_workspace(fact_from(seen, project.path), environment.get("HOME")));
  HookArguments users = arguments;
  users.settings.clear();
  const auto of_user = agent_settings_file(users, environment);
  auto files = settings_of_project(arguments.agent, project.path);
  if (of_user.ok()) std::erase(files, TRY(resolved(of_user.value())));
  if (contains(files, settings.file)) return {};
  const std::string other =
      files.empty() ? "" : "; or name the project's own settings: " + words_to_copy({"--settings", files[0]});
  return refusal("--workspace would fix one project for every session that uses " + settings.file,
                 "leave --workspace out: each session works in its own project" + other);
}

// The flags of the installed line.
Result<std::vector<std::string>> flags_of(const HookArguments& arguments, const AgentSettings& settings,
                                          const Environment& environment) {
  std::vector<std::string> flags;
  if (!arguments.workspace.empty()) {
    TRY(check_workspace(arguments, settings, environment));
    const auto held = TRY(sys::hold(arguments.workspace));
    flags = {"--workspace", held.path};
  }
  if (!arguments.timeout.empty()) {
    TRY(judging_ms(arguments.timeout));
    flags.insert(flags.end(), {"--timeout", arguments.timeout});
  }
  // Also the operator's directories, where they are not the account's own: the hook does not take them from
  // the agent's environment.
  for (auto& flag : flags_of_places(environment.with_account_home(home_of_account())))
    flags.push_back(std::move(flag));
  return flags;
}

constexpr std::string_view better_for_codex =
    "For Codex the MCP server is the better way: it needs none of the steps below, and Codex's own sandbox "
    "stays on.\n"
    "In ~/.codex/config.toml:\n"
    "    sandbox_mode = \"read-only\"\n"
    "    web_search = \"disabled\"\n"
    "    [mcp_servers.cloche]\n"
    "    command = \"cloche\"\n"
    "    args = [\"mcp\", \"--workspace\", \"/path/of/the/project\"]\n"
    "    default_tools_approval_mode = \"approve\"\n"
    "    tool_timeout_sec = 600\n"
    "    [features]\n"
    "    shell_tool = false\n"
    "    view_image = false\n\n";

std::string next_for_codex(const HookArguments& arguments) {
  return "Codex silently ignores a hook that it does not trust. Do this, in this order:\n"
         "1. trust the hook: /hooks in Codex;\n"
         "2. let Codex run a command, and check that its call arrived: " +
         hook_words("--check", arguments) +
         "\n"
         "3. only then do what --check says about Codex's own sandbox.\n";
}

Result<int> install(const HookArguments& arguments, const AgentSettings& settings, const std::string& cloche,
                    const std::vector<std::string>& flags, const InstalledHooks& installed) {
  const std::string with = TRY(with_hook(settings.text, cloche, hook_command_line(cloche, flags)));
  const bool codex = arguments.agent == "codex";
  if (codex) print(std::string(better_for_codex));
  print(visible(settings.file) + ":\n" + difference(settings.text, with));
  if (!TRY(is_wanted(arguments))) return print_all("Nothing was changed.\n", 1);
  TRY(put_in(settings, with, installed));
  const std::string undo = hook_words("--uninstall", arguments);
  return print_all("The hook is installed. Sessions that begin now use it; undo it with `" + undo + "`.\n" +
                       (codex ? next_for_codex(arguments) : ""),
                   0);
}

Result<int> uninstall(const HookArguments& arguments, const AgentSettings& settings,
                      const std::string& cloche, const InstalledHooks& installed) {
  const std::string without = TRY(without_hook(settings.text, cloche));
  const auto known = installed.recall(settings.file);
  const auto after = as_before(without, known);
  print(visible(settings.file) + ":\n" + difference(settings.text, after.value_or("")));
  if (!after) print("The file was made for the hook, so it is removed.\n");
  if (!TRY(is_wanted(arguments))) return print_all("Nothing was changed.\n", 1);
  TRY(take_out(settings, after, known, installed));
  return print_all("The hook is removed.\n", 0);
}

// A hook that would refuse every call is not installed.
Result<void> check_configuration_for(const HookArguments& arguments, const Environment& environment) {
  const std::string workspace = arguments.workspace.empty() ? "" : TRY(sys::hold(arguments.workspace)).path;
  const ConfigFiles files = TRY(config_for(environment, workspace));
  return check_hook_writes(TRY(settings_of(files)));
}

Result<int> change(const HookArguments& arguments, const Environment& environment) {
  const AgentSettings settings = TRY(find_settings(arguments, environment));
  const std::string cloche = TRY(path_of_cloche());
  const Installation installation = TRY(find_installation(environment));
  if (installation.state.empty())
    return refusal("the hook needs a state directory: " + installation.no_state);
  const InstalledHooks installed = TRY(InstalledHooks::open(installation.state));
  if (arguments.action == HookArguments::Action::uninstall)
    return uninstall(arguments, settings, cloche, installed);
  const std::vector<std::string> flags = TRY(flags_of(arguments, settings, environment));
  TRY(check_configuration_for(arguments, environment));
  return install(arguments, settings, cloche, flags, installed);
}

}  // namespace

Result<std::string> agent_settings_file(const HookArguments& arguments, const Environment& environment) {
  const AgentFiles* row = find_by(agents, &AgentFiles::agent, arguments.agent);
  if (row == nullptr)
    return usage_error("'" + arguments.agent + "' is not an agent with a hook for Cloche",
                       "use claude or codex; other agents use the MCP server");
  if (!arguments.settings.empty()) return arguments.settings;
  std::string folder = environment.get(row->variable);
  if (folder.empty()) {
    const std::string home = environment.get("HOME");
    if (!is_plain_absolute(home))
      return refusal("the settings are not found: HOME is not an absolute path", "use --settings");
    folder = home + "/" + std::string(row->folder);
  }
  return folder + "/" + std::string(row->file);
}

std::string hook_words(const std::string& action, const HookArguments& arguments) {
  std::vector<std::string> words = {"cloche", "hook", action, arguments.agent};
  if (!arguments.settings.empty()) {
    const auto here = sys::hold(".");
    words.insert(words.end(), {"--settings", here.ok() ? tidied(here.value().path, arguments.settings)
                                                       : arguments.settings});
  }
  return visible(quote_words(words));
}

int install_hook(const HookArguments& arguments, const Environment& environment) {
  const auto code = change(arguments, environment);
  return code.ok() ? code.value() : report(code.error());
}

}  // namespace cloche
