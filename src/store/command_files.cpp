#include "store/command_files.hpp"

#include <unistd.h>

#include "base/directory.hpp"
#include "base/path.hpp"
#include "store/config_paths.hpp"
#include "store/operators_file.hpp"
#include "store/second_name.hpp"
#include "store/share_place.hpp"
#include "store/workspace_way.hpp"

namespace cloche {
namespace {

constexpr size_t max_file_bytes = 1 << 20;

void add_json_files(std::vector<CommandFile>& files, const std::string& folder, const std::string& shown,
                    CommandFile::By by) {
  for (const auto& name : names_in(folder)) {
    if (name.ends_with(".json") && name[0] != '.')
      files.push_back({shown + "/" + name, folder + "/" + name, by});
  }
}

// What lies there is the user's own word. Who cannot look into it finds nothing there.
Result<void> judge_users_folder(const std::string& folder) {
  if (::access(folder.c_str(), F_OK) != 0) return {};
  return check_operators_folder(folder, users_writers());
}

Result<OperatorsFile> open_shapes(const CommandFile& file) {
  return file.by == CommandFile::By::user ? open_trusted(file.path, users_writers())
                                          : open_unjudged(file.path);
}

}  // namespace

Result<std::vector<CommandFile>> shipped_command_files(const std::string& program) {
  std::vector<CommandFile> files;
  const std::string shipped = share_beside(program) + "/commands";
  add_json_files(files, shipped, "share/commands", CommandFile::By::shipped);
  if (files.empty()) {
    return refusal("there are no command shapes in " + shipped,
                   "install share/ beside the programs, or build again");
  }
  return files;
}

Result<std::vector<CommandFile>> find_command_files(const std::string& program,
                                                    const Environment& environment) {
  std::vector<CommandFile> files = TRY(shipped_command_files(program));
  const std::string folder = TRY(user_config_folder(environment)) + "/commands";
  TRY(judge_users_folder(folder));
  add_json_files(files, folder, folder, CommandFile::By::user);
  return files;
}

Result<Shapes> load_command_files(const std::vector<CommandFile>& files, const std::string& program,
                                  const std::string& workspace) {
  Shapes shapes;
  const bool own = !workspace.empty() && is_beneath(workspace, program);
  for (const auto& file : files) {
    if (file.by == CommandFile::By::user)
      TRY(judge_reach("the file of command shapes " + file.path, look_at_reach(file.path, workspace)));
    const OperatorsFile opened = TRY(open_shapes(file));
    const bool inside = !own && !workspace.empty() && lies_in(workspace, opened.opened);
    TRY(judge_opened("the file of command shapes",
                     {.path = file.path, .opened = opened.opened, .in_workspace = inside}));
    const std::string text = TRY(read_operators(opened.fd.get(), file.path, max_file_bytes));
    Shapes read = TRY(load_shapes(text, file.shown));
    for (auto& shape : read) shapes.push_back(std::move(shape));
  }
  return shapes;
}

}  // namespace cloche
