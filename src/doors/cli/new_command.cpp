#include "doors/new_command.hpp"

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
#include "doors/cli/new_templates.hpp"
#include "doors/cli/options.hpp"
#include "doors/print.hpp"
#include "tools/commands/run_shell.hpp"

namespace cloche {
namespace {

struct NewArguments {
  bool help = false;
  std::string kind = {};
  std::string name = {};
  std::string directory = ".";
};

const OptionTables<NewArguments>& tables() {
  static constexpr Option<NewArguments> options[] = {
      {"--dir", "DIR", "Write into DIR (default: the working directory).", keep<&NewArguments::directory>},
      help_option<NewArguments>};
  static const OptionTables<NewArguments> all{{options}};
  return all;
}

std::string new_help() {
  std::vector<HelpRow> rows = {
      {"skill", "NAME/SKILL.md: what a task may use, and how to go about it; and NAME/test.sh."},
      {"executor",
       "NAME/manifest.json and NAME/tool.py: a tool of your own; and NAME/test.sh, which calls it."},
      {"rule", "NAME.json: permission rules with their examples, for .cloche/config.json."}};
  for (auto& row : rows_of(tables())) rows.push_back(std::move(row));
  return text_of(
      HelpPage{.usage = "cloche new skill|executor|rule NAME [--dir DIR]",
               .about = "Writes one that works, with its own test. Nothing is ever overwritten: when "
                        "something of that name is there, the exit code is 125.",
               .rows = std::move(rows),
               .examples = {"cloche new skill code-review --dir skills",
                            "cloche new executor word-count && sh word-count/test.sh",
                            "cloche new rule ask-before-install && cloche test ask-before-install.json"}});
}

Result<NewArguments> parse_new(std::span<char* const> words) {
  NewArguments arguments;
  const auto plain =
      TRY(read_options(arguments, words, tables(), OptionsEnd::dashes, "see cloche new --help"));
  if (arguments.help) return arguments;
  if (plain.size() != 2)
    return usage_error("say what and its name: cloche new skill NAME", "see cloche new --help");
  arguments.kind = plain[0];
  arguments.name = plain[1];
  return arguments;
}

// The strictest of what the readers take: a name that is good everywhere.
Result<void> judge_name(const NewArguments& arguments) {
  const std::string& name = arguments.name;
  const bool underscores = arguments.kind != "skill";
  const auto lower = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto good = [&](char c) {
    return lower(c) || (c >= '0' && c <= '9') || c == '-' || (c == '_' && underscores);
  };
  if (name.empty() || name.size() > 64 || !lower(name[0]) || !std::all_of(name.begin(), name.end(), good))
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
  return usage_error("there is no new " + shown(arguments.kind, 80), "known are skill, executor and rule");
}

// Made for the thing alone: a folder that is there already has something in it that is not ours.
Result<void> make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) == 0) return {};
  if (errno == EEXIST)
    return refusal(path + " is there already, and nothing is overwritten", "take another name");
  return system_error("make " + path);
}

Result<void> write_new(const std::string& path, const NewFile& file) {
  const mode_t mode = file.executable ? 0777 : 0666;  // less the umask
  auto fd = sys::open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  if (!fd.ok() && fd.error().number == EEXIST)
    return refusal(path + " is there already, and nothing is overwritten", "take another name");
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

int failed(const Error& error) {
  complain(describe(error));
  return error.cause == Cause::usage ? 2 : 125;
}

}  // namespace

int new_door(std::span<char* const> words) {
  const auto arguments = parse_new(words);
  if (!arguments.ok()) return failed(arguments.error());
  if (arguments.value().help) {
    print(new_help());
    return 0;
  }
  const auto thing = thing_for(arguments.value());
  if (!thing.ok()) return failed(thing.error());
  const std::string& directory = arguments.value().directory;
  std::error_code ignored;  // what cannot be made is the next step's error
  std::filesystem::create_directories(directory, ignored);
  if (const auto written = write_thing(thing.value(), directory); !written.ok())
    return failed(written.error());
  const std::string in = directory == "." ? "" : "cd " + quote_words({directory}) + " && ";
  print("try it: " + visible(in + thing.value().next) + "\n");
  return 0;
}

}  // namespace cloche
