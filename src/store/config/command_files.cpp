#include "store/config/command_files.hpp"

#include <unistd.h>

#include <iterator>

#include "base/sys/directory.hpp"
#include "policy/shipped_files.hpp"
#include "store/config/config_paths.hpp"
#include "store/trust/bind_mount_alias.hpp"
#include "store/trust/trusted_file.hpp"

namespace cloche {
namespace {

constexpr size_t max_file_bytes = 1 << 20;

Result<std::string> read_users_file(const std::string& path, const std::string& workspace) {
  TRY(judge_crossing("the file of command shapes " + path, observe_crossing(path, workspace)));
  const TrustedFile opened = TRY(open_trusted(path, users_writers()));
  const bool inside = !workspace.empty() && lies_in(workspace, opened.opened);
  TRY(judge_opened("the file of command shapes",
                   {.path = path, .opened = opened.opened, .in_workspace = inside}));
  return read_operators_file(opened.fd.get(), path, max_file_bytes);
}

void append(Shapes& shapes, Shapes more) {
  shapes.insert(shapes.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

Result<std::vector<std::string>> users_command_files(const Environment& environment) {
  const std::string folder = TRY(user_config_folder(environment)) + "/commands";
  std::vector<std::string> files;
  if (::access(folder.c_str(), F_OK) != 0) return files;
  TRY(check_operators_folder(folder, users_writers()));
  for (const auto& name : names_in(folder)) {
    if (name.ends_with(".json") && name[0] != '.') files.push_back(folder + "/" + name);
  }
  return files;
}

Result<Shapes> load_command_shapes(const Environment& environment, const std::string& workspace) {
  Shapes shapes;
  for (const auto& file : shipped_files()) {
    if (file.name.starts_with("share/commands/"))
      append(shapes, TRY(read_shapes(file.text, std::string(file.name))));  // a test has checked the examples
  }
  for (const auto& path : TRY(users_command_files(environment))) {
    const std::string text = TRY(read_users_file(path, workspace));
    append(shapes, TRY(load_shapes(text, path)));
  }
  return shapes;
}

}  // namespace cloche
