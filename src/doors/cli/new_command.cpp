// `cloche new skill|executor|rule NAME [--dir DIR]`: writes a working one with its test, and overwrites
// nothing.
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "base/text/command_words.hpp"
#include "doors/cli/help_pages.hpp"
#include "doors/cli/new_templates.hpp"
#include "doors/cli/options.hpp"
#include "doors/cli/print.hpp"
#include "doors/commands.hpp"
#include "tools/commands/run_shell.hpp"

namespace cloche {
namespace {

struct NewArguments {
  bool help = false;
  std::string kind = {};
  std::string name = {};
  std::string directory = ".";
};

constexpr Option<NewArguments> options[] = {
    {"--dir", "DIR", "Write into DIR (default: the working directory).", keep<&NewArguments::directory>},
    help_option<NewArguments>};

}  // namespace

HelpPage new_help() {
  std::vector<HelpRow> rows = {
      {"skill", "NAME/SKILL.md: what a task may use, and how to go about it; and NAME/test.sh."},
      {"executor",
       "NAME/manifest.json and NAME/tool.py: a tool of your own; and NAME/test.sh, which calls it."},
      {"rule", "NAME.json: permission rules with their examples, for .cloche/config.json."}};

  return {.usage = "cloche new skill|executor|rule NAME [--dir DIR]",
          .about =
              "Writes a working one, with its own test. Nothing is overwritten: when a file "
              "of that name exists, the exit code is 125.",
          .rows = std::move(rows) + rows_of<NewArguments>(options),
          .examples = {"cloche new skill code-review --dir skills",
                       "cloche new executor word-count && sh word-count/test.sh",
                       "cloche new rule ask-before-install && cloche test ask-before-install.json"}};
}

namespace {

Result<NewArguments> parse_new(std::span<char* const> words) {
  NewArguments arguments;
  const auto plain =
      TRY(read_options(arguments, words, options, OptionsEnd::dashes, "see cloche new --help"));
  if (arguments.help) return arguments;
  if (plain.size() != 2)
    return usage_error("a kind and a name are needed, as in: cloche new skill NAME", "see cloche new --help");
  arguments.kind = plain[0];
  arguments.name = plain[1];
  return arguments;
}

// A name that the readers of all three kinds accept.
Result<void> judge_name(const NewArguments& arguments) {
  const std::string& name = arguments.name;
  const bool underscores = arguments.kind != "skill";
  const auto lower = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto good = [&](char c) {
    return lower(c) || (c >= '0' && c <= '9') || c == '-' || (c == '_' && underscores);
  };
  if (name.empty() || name.size() > 64 || !lower(name[0]) || !std::ranges::all_of(name, good))
    return usage_error("the name " + shown(name, 80) + " is not 1 to 64 of a-z, 0-9" +
                       (underscores ? ", _ and -" : " and -") + ", beginning with a letter");
  if (arguments.kind == "executor" && !tool_name(name).empty())
    return usage_error("the name " + name + " is that of a tool which comes with Cloche");
  return {};
}

Result<NewThing> thing_for(const NewArguments& arguments) {
  TRY(judge_name(arguments));
  if (arguments.kind == "skill") return new_skill(arguments.name);
  if (arguments.kind == "executor") return new_executor(arguments.name);
  if (arguments.kind == "rule") return new_rule(arguments.name);
  return usage_error("unknown kind " + shown(arguments.kind, 80), "known are skill, executor and rule");
}

Error exists_already(const std::string& path) {
  return refusal(path + " exists already, and nothing is overwritten", "choose another name");
}

// A new folder: one that exists holds files that are not ours.
Result<void> make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) == 0) return {};
  return errno == EEXIST ? exists_already(path) : system_error("make " + path);
}

Result<void> write_new(const std::string& path, const NewFile& file) {
  const mode_t mode = file.executable ? 0777 : 0666;  // less the umask
  auto fd = sys::open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  if (!fd.ok() && fd.error().number == EEXIST) return exists_already(path);
  if (!fd.ok()) return fd.error();
  return sys::write_all(fd.value().get(), file.text);
}

Result<void> write_thing(const NewThing& thing, const std::string& directory) {
  const std::string& first = thing.files.front().path;
  if (const size_t slash = first.find('/'); slash != std::string::npos)
    TRY(make_folder(directory + "/" + first.substr(0, slash)));
  for (const auto& file : thing.files) {
    const std::string path = directory + "/" + file.path;
    TRY(write_new(path, file));
    print("wrote " + visible(path) + "\n");
  }
  return {};
}

}  // namespace

int new_command(std::span<char* const> words, const Environment&) {
  const auto arguments = parse_new(words);
  if (!arguments.ok()) return report(arguments.error());
  if (arguments.value().help) return print_all(text_of(new_help()), 0);
  const auto thing = thing_for(arguments.value());
  if (!thing.ok()) return report(thing.error());
  const std::string& directory = arguments.value().directory;
  std::error_code ignored;  // writing into it reports the error
  std::filesystem::create_directories(directory, ignored);
  if (const auto written = write_thing(thing.value(), directory); !written.ok())
    return report(written.error());
  const std::string in = directory == "." ? "" : "cd " + quote_words({directory}) + " && ";
  print("try it: " + visible(in + thing.value().next) + "\n");
  return 0;
}

}  // namespace cloche
