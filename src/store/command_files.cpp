#include "store/command_files.hpp"

#include <fcntl.h>

#include "base/directory.hpp"
#include "base/path.hpp"
#include "base/sys.hpp"
#include "store/second_name.hpp"
#include "store/share_place.hpp"

namespace cloche {
namespace {

constexpr size_t max_file_bytes = 1 << 20;

void add_json_files(std::vector<CommandFile>& files, const std::string& folder, const std::string& shown) {
  for (const auto& name : names_in(folder)) {
    if (name.ends_with(".json") && name[0] != '.') files.push_back({shown + "/" + name, folder + "/" + name});
  }
}

std::string config_folder(const Environment& environment) {
  const std::string given = environment.get("XDG_CONFIG_HOME");
  if (is_plain_absolute(given) && given != "/") return given + "/cloche/commands";
  const std::string home = environment.get("HOME");
  return is_plain_absolute(home) && home != "/" ? home + "/.config/cloche/commands" : "";
}

Result<std::string> where_it_is(const std::string& path) {
  const auto fd = TRY(sys::open(path, O_PATH));
  return sys::path_of(fd.get());
}

}  // namespace

Result<std::vector<CommandFile>> find_command_files(const std::string& program,
                                                    const Environment& environment) {
  std::vector<CommandFile> files;
  const std::string shipped = share_beside(program) + "/commands";
  add_json_files(files, shipped, "share/commands");
  if (files.empty()) {
    return refusal("there are no command shapes in " + shipped,
                   "install share/ beside the programs, or build again");
  }
  if (const std::string folder = config_folder(environment); !folder.empty())
    add_json_files(files, folder, folder);
  return files;
}

Result<std::string> read_command_file(const CommandFile& file) {
  return sys::read_file(file.path, max_file_bytes);
}

Result<Shapes> load_command_files(const std::vector<CommandFile>& files, const std::string& program,
                                  const std::string& workspace) {
  Shapes shapes;
  const bool own = !workspace.empty() && is_beneath(workspace, program);
  for (const auto& file : files) {
    const std::string real = TRY(where_it_is(file.path));
    if (!own && !workspace.empty() && lies_in(workspace, real)) {
      return refusal("the command shapes in " + real + " lie in the workspace: a command could widen them",
                     "move them, or name another workspace");
    }
    const std::string text = TRY(read_command_file(file));
    Shapes read = TRY(load_shapes(text, file.shown));
    for (auto& shape : read) shapes.push_back(std::move(shape));
  }
  return shapes;
}

}  // namespace cloche
