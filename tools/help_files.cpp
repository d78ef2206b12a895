// help_files DIRECTORY VERSION: writes the manual pages and the completions of shells, which are installed.
// It is built first and is itself not installed.
#include <cstdio>
#include <string>

#include "doors/cli/completions.hpp"
#include "doors/cli/manual_page.hpp"

namespace {

bool write(const std::string& path, const std::string& text) {
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) {
    std::perror(path.c_str());
    return false;
  }
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && written;
}

bool write_all(const std::string& directory, const std::string& version) {
  using namespace cloche;
  bool good = write(directory + "/cloche.1", main_manual_page(version));
  for (const auto& command : command_helps()) {
    const std::string name = "cloche-" + std::string(command.name);
    good = good &&
           write(directory + "/" + name + ".1", manual_page(name, command.help, command.page(), version));
  }
  return good && write(directory + "/cloche.bash", bash_completion()) &&
         write(directory + "/_cloche", zsh_completion()) &&
         write(directory + "/cloche.fish", fish_completion());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: help_files DIRECTORY VERSION\n", stderr);
    return 2;
  }
  return write_all(argv[1], argv[2]) ? 0 : 1;
}
