#include "doors/hook_install.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>

#include "base/directory.hpp"
#include "base/path.hpp"
#include "base/random_word.hpp"
#include "base/sys.hpp"
#include "doors/hook_settings.hpp"
#include "doors/print.hpp"

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

Result<std::string> settings_file(const HookArguments& arguments, const Environment& environment) {
  const auto* row = std::find_if(std::begin(agents), std::end(agents),
                                 [&](const AgentFiles& one) { return one.agent == arguments.agent; });
  if (row == std::end(agents))
    return usage_error("'" + arguments.agent + "' is no agent that it can be set up for",
                       "use claude or codex; others take the MCP door");
  if (!arguments.settings.empty()) return arguments.settings;
  std::string folder = environment.get(row->variable);
  if (folder.empty()) {
    const std::string home = environment.get("HOME");
    if (!is_plain_absolute(home))
      return refusal("HOME does not say where the settings are", "use --settings");
    folder = home + "/" + std::string(row->folder);
  }
  return folder + "/" + std::string(row->file);
}

// Through links: people keep their settings elsewhere and link them.
Result<std::string> resolved(const std::string& file) {
  struct stat seen {};
  if (::lstat(file.c_str(), &seen) != 0 && errno == ENOENT) return file;
  const auto held = TRY(sys::hold(file));
  return held.path;
}

Result<std::string> read_settings(const std::string& file) {
  auto text = sys::read_file(file, most_settings_bytes);
  if (!text.ok() && text.error().number == ENOENT) return std::string();
  return text;
}

Result<std::string> own_command() {
  const std::string own = TRY(sys::read_link("/proc/self/exe"));
  return hook_command_line(std::string(parent_of(own)) + "/cloche");
}

// The lines that only one of them has, between those that both have.
std::string difference(const std::string& before, const std::string& after) {
  const bool grows = after.size() >= before.size();
  const std::string& longer = grows ? after : before;
  const std::string& shorter = grows ? before : after;
  size_t same = 0;
  while (same < shorter.size() && longer[same] == shorter[same]) ++same;
  const size_t start = same == 0 ? 0 : longer.rfind('\n', same - 1) + 1;
  const size_t tail = shorter.size() - same;
  const size_t end = std::min(longer.find('\n', longer.size() - tail), longer.size());
  std::string text;
  for (size_t at = start; at < end;) {
    const size_t next = std::min(longer.find('\n', at), longer.size());
    text += (grows ? "+ " : "- ") + visible(longer.substr(at, next - at)) + "\n";
    at = next + 1;
  }
  return text;
}

// At the terminal itself: what is piped into us is nobody's yes.
Result<bool> is_wanted(const HookArguments& arguments) {
  if (arguments.yes) return true;
  const auto terminal = sys::open("/dev/tty", O_RDWR | O_NOCTTY);
  if (!terminal.ok()) return refusal("there is no terminal to ask at", "look at the change, then say --yes");
  ::tcflush(terminal.value().get(), TCIFLUSH);
  TRY(sys::write_all(terminal.value().get(), "Change it? y: yes, else: no > "));
  char line[16];
  const ssize_t got = ::read(terminal.value().get(), line, sizeof line);
  const std::string_view word(line, got > 0 ? static_cast<size_t>(got) : 0);
  return word == "y\n" || word == "yes\n";
}

// Whole or not at all; with the mode it had.
Result<void> replace(const std::string& file, const std::string& before, const std::string& text) {
  if (!make_private_directories(std::string(parent_of(file)))) return system_error("make " + file);
  struct stat seen {};
  const mode_t mode = ::stat(file.c_str(), &seen) == 0 ? seen.st_mode & 0777 : 0600;
  const std::string fresh = file + "." + TRY(random_word(8));
  const auto out = TRY(sys::open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  const auto written = sys::write_all(out.get(), text);
  const bool kept = written.ok() && ::fchmod(out.get(), mode) == 0 && ::fsync(out.get()) == 0;
  const auto now = read_settings(file);
  const bool same = now.ok() && now.value() == before;
  if (kept && same && ::rename(fresh.c_str(), file.c_str()) == 0) return {};
  const Error error =
      same ? system_error("write " + file) : refusal(file + " has changed meanwhile", "try again");
  ::unlink(fresh.c_str());
  return error;
}

Result<int> change(const HookArguments& arguments, const Environment& environment) {
  const bool installs = arguments.action == HookArguments::Action::install;
  const std::string named = TRY(settings_file(arguments, environment));
  const std::string file = TRY(resolved(named));
  const std::string before = TRY(read_settings(file));
  const std::string command = TRY(own_command());
  const std::string after = TRY(installs ? with_hook(before, command) : without_hook(before, command));
  print(visible(file) + ":\n" + difference(before, after));
  if (!TRY(is_wanted(arguments))) return print_all("Nothing was changed.\n", 1);
  TRY(replace(file, before, after));
  const std::string undo = "cloche hook --uninstall " + arguments.agent;
  if (!installs) return print_all("The hook is out again.\n", 0);
  const std::string trust =
      arguments.agent == "codex" ? "Codex runs it once you have trusted it: /hooks in Codex.\n" : "";
  return print_all(
      "The hook is set up. Sessions that begin now use it; undo it with `" + undo + "`.\n" + trust, 0);
}

}  // namespace

int install_hook(const HookArguments& arguments, const Environment& environment) {
  const auto code = change(arguments, environment);
  if (code.ok()) return code.value();
  complain(describe(code.error()));
  return code.error().fault == Fault::usage ? 2 : 125;
}

}  // namespace cloche
