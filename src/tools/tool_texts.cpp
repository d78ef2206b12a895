// The descriptions of the tools that come with Cloche, for the conditions of a session: a model that reads of
// a limit which does not hold avoids what would work, and one that misses a limit makes calls in vain.
#include <algorithm>
#include <iterator>

#include "base/lists.hpp"
#include "base/text/command_words.hpp"
#include "tools/session_conditions.hpp"

namespace cloche {
namespace {

constexpr size_t most_hosts_named = 2;
constexpr size_t most_host_bytes = 24;

constexpr std::string_view how_to_give = "`cmd` is one line, `argv` a list of words. ";
constexpr std::string_view no_shell =
    "pipes, redirections, &&, ;, $, backticks, globs, ~ and NAME=value unless in single quotes";
constexpr std::string_view full_programs =
    "python3, pytest, node, npm, npx, ruby, bundle, rspec, rake, go and bash on files of the workspace";
constexpr std::string_view passive_forms =
    "python3 --version, python3 -m py_compile FILE.py, ruff check, mypy FILE.py, pyflakes FILE.py, "
    "node --version, npm --version, ruby -c FILE.rb, bundle --version, rubocop FILE.rb, go version, go vet, "
    "gofmt -l FILE.go, ls, cat FILE, head -n N FILE, echo, date";
constexpr std::string_view passive_refuses =
    "python3 -c, FILE.py, FILE --help, -m MODULE, -m MODULE --help, pytest, pip, node -e, npm and npx "
    "commands, bash, git, make, curl, all other programs and options; ";

class Texts {
 public:
  explicit Texts(const SessionConditions& around) : around_(around) {}

  std::string run_shell() const {
    switch (around_.unasked) {
      case CommandProfile::passive: return shell_under_passive();
      case CommandProfile::full: return shell_under_full();
      case CommandProfile::any: return shell_under_any();
    }
    return shell_under_passive();
  }

  std::string run_script() const {
    const std::string first = "Runs a bash, python3 or node script in the workspace. ";
    if (!around_.scripts) return first + "Scripts are refused in this session: use the other tools.";
    const bool beside = around_.unasked == CommandProfile::any && offers("run_shell");
    return first +
           (beside
                ? "For several lines, python3 or node; a command, or one line of shell, can go to run_shell. "
                : "For pipes, loops, globs and what else run_shell refuses. ") +
           "It cannot be judged beforehand, so it is recorded as opaque and confined by the sandbox alone. " +
           writing() + network();
  }

  std::string run_python() const {
    return "Runs Python code with `python3 -I` in an empty directory. For computing, parsing and checking: "
           "it sees no file of the workspace, has no network, may start no other process, and has 2 s of "
           "processor time, 256 MiB of memory and files of at most 1 MiB; what it writes is deleted "
           "afterwards. Print what you want to know. To work on the workspace use the other tools.";
  }

  std::string write_artifact() const {
    const std::string first = "Writes a whole file in the workspace. ";
    if (!around_.writes) return first + "Refused in this session: no file can be changed.";
    return first +
           "It makes missing directories; an existing file is replaced at once, or not at all. `path` is "
           "relative to the workspace. Refused: absolute paths, `..`, tool_calls/, " +
           (around_.dotfiles ? "" : "names that begin with a dot, ") +
           "and what the host would execute later (.git, hooks, shell start-up files, editor and agent "
           "settings): ask the user for those. " +
           (around_.dotfiles ? "Other names with a dot, as .gitignore, are fine. " : "") +
           "Paths that go through a link are not written: use the path the link leads to." +
           if_offered("edit_artifact", " To change a part of a file use edit_artifact.");
  }

  std::string edit_artifact() const {
    const std::string first = "Replaces one piece of text in a file of the workspace. ";
    if (!around_.writes) return first + "Refused in this session: no file can be changed.";
    return first +
           "`old` must be in the file exactly once, byte for byte with its blanks and line ends. Otherwise "
           "nothing changes and the answer says how often it was found: give more of the text around it. "
           "What the host would execute later is refused" +
           (around_.dotfiles ? "" : ", and so are names that begin with a dot") + ". Files up to 8 MiB.";
  }

  std::string read_artifact() const {
    return "Reads a file of the workspace. `limit` bytes of it from `offset`; when there is more, the answer "
           "ends with the offset to go on from. Bytes that are not UTF-8 show as U+FFFD. A PNG, JPEG, GIF or "
           "WebP file of at most 5 MiB is shown as an image, where the client can. An absolute path is fine "
           "when it is in the workspace. Refused: paths outside of it, links that lead out, tool_calls/ and "
           ".cloche." +
           if_offered("list_artifacts", " For the names of files use list_artifacts.") +
           if_offered("search_artifacts", " To find text use search_artifacts.");
  }

  std::string list_artifacts() const {
    return "Lists what is in the workspace. Beneath `path`, with sizes, sorted, at most 1000 entries; the "
           "answer says how many more there are. `glob` is matched below `path`: * within a name, ** over "
           "directories, {a,b} for either; one without a slash, as *.py, matches the name at any depth. "
           "Links are listed and not followed. .git is left out unless `path` names it; tool_calls/ and "
           ".cloche are never shown.";
  }

  std::string search_artifacts() const {
    return "Finds lines that match a regular expression in text files of the workspace. Beneath `path`, as "
           "`path:line: text`; at most 200. The syntax is RE2's: no backreferences, no lookaround; (?i) "
           "ignores case. Not searched: binary files, files longer than 4 MiB (the answer counts them), "
           "links, .git unless `path` names it, tool_calls/ and .cloche. A search that takes too long stops "
           "and says so: name a path further down.";
  }

  std::string http_get() const {
    const std::string first = "Fetches one http or https address with GET. ";
    if (!around_.network) return first + "No host is declared in this session: every address is refused.";
    return first + network() +
           "At most five redirects, each judged like a call of its own; 1 MiB of the body and 10 seconds are "
           "the most. A host that is not declared is refused every time: then do without, and do not try "
           "again with other addresses.";
  }

  std::string read_tool_result() const {
    return "Reads the whole result of an earlier call of this task. Of a long one only the beginning and the "
           "end were shown. `call_id` is the id that the shortened result names, as c-0007; it is not a "
           "path, and not of another task. When there is more, the answer ends with the offset to go on "
           "from.";
  }

 private:
  bool offers(std::string_view tool) const { return contains(around_.tools, tool); }
  std::string if_offered(std::string_view tool, std::string_view text) const {
    return offers(tool) ? std::string(text) : "";
  }

  std::string hosts() const {
    std::string text;
    const size_t named = std::min(around_.hosts.size(), most_hosts_named);
    for (size_t i = 0; i < named; ++i)
      text += (i == 0 ? "" : ", ") + shown(around_.hosts[i], most_host_bytes);
    const size_t more = around_.hosts.size() - named;
    return text + (more > 0 ? " and " + std::to_string(more) + " more" : "");
  }

  std::string network() const {
    if (!around_.network) return "There is no network. ";
    const bool any = contains(around_.hosts, "*");
    return any ? "Every public host can be reached. "
               : "Network only to hosts that the skill or the operator declares: " + hosts() + ". ";
  }

  std::string writing() const {
    if (!around_.writes) return "No file can be changed. ";
    return "It writes in the workspace, $HOME and /tmp alone; what the host would execute later (git hooks, "
           "shell, editor and agent settings) stays as it is. ";
  }

  std::string instead_of_a_shell() const {
    return "Make one call for each command" +
           if_offered("write_artifact", ", write files with write_artifact") +
           (around_.scripts ? if_offered("run_script", ", use run_script where a shell is needed") : "") +
           ". ";
  }

  std::string shell_under_any() const {
    const bool lines = around_.scripts && offers("run_script");
    return std::string("Runs a command in the workspace. ") + std::string(how_to_give) +
           (lines ? "A line with shell syntax (pipes, redirections, &&, ;, $, globs) runs as a bash script. "
                  : "Without a shell, refused are " + std::string(no_shell) + ". ") +
           "Each call begins in the workspace, or in `cwd` beneath it; a cd, an export or a process in the "
           "background ends with its call. " +
           writing() + network() +
           "A refusal says why and what else is possible: do not repeat the call, or look for a way around "
           "it.";
  }

  std::string shell_under_full() const {
    return "Runs one command in the workspace, without a shell. " + std::string(how_to_give) +
           "Accepted are " + std::string(full_programs) +
           ", python3 -c and -m, ruff check, mypy, pyflakes, rubocop, gofmt, ls, cat, head, echo and date. "
           "Refused are other programs; " +
           std::string(no_shell) + ". " + instead_of_a_shell() + "`cwd` is a directory of the workspace. " +
           writing() + network() + "After two refusals of a kind do something else.";
  }

  std::string shell_under_passive() const {
    std::string more;
    if (around_.commands == CommandProfile::full)
      more = "`profile` full also runs " + std::string(full_programs) + ". ";
    if (around_.commands == CommandProfile::any) more = "`profile` any runs every command. ";
    return "Runs one command that runs nothing of the workspace, without a shell. " +
           std::string(how_to_give) + "Accepted are " + std::string(passive_forms) + ". Refused are " +
           std::string(passive_refuses) + std::string(no_shell) + ". " + more +
           "It changes no file and has no network. " +
           "After two refusals of a kind stop, and say what you need.";
  }

  const SessionConditions& around_;
};

struct Row {
  std::string_view tool;
  std::string (*text)(const Texts& texts);
};
constexpr Row rows[] = {
    {"run_shell", [](const Texts& texts) { return texts.run_shell(); }},
    {"run_python", [](const Texts& texts) { return texts.run_python(); }},
    {"run_script", [](const Texts& texts) { return texts.run_script(); }},
    {"write_artifact", [](const Texts& texts) { return texts.write_artifact(); }},
    {"edit_artifact", [](const Texts& texts) { return texts.edit_artifact(); }},
    {"read_artifact", [](const Texts& texts) { return texts.read_artifact(); }},
    {"list_artifacts", [](const Texts& texts) { return texts.list_artifacts(); }},
    {"search_artifacts", [](const Texts& texts) { return texts.search_artifacts(); }},
    {"http_get", [](const Texts& texts) { return texts.http_get(); }},
    {"read_tool_result", [](const Texts& texts) { return texts.read_tool_result(); }},
};

}  // namespace

std::string text_of_tool(std::string_view tool, const SessionConditions& conditions) {
  const Texts texts(conditions);
  const Row* row = find_by(rows, &Row::tool, tool);
  std::string text = row != nullptr ? row->text(texts) : "";
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

}  // namespace cloche
