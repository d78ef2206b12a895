// Completions of shells, made of the table of commands: a script each for bash, zsh and fish. They complete
// commands, flags, actions, and files where a flag takes one; behind "--" the words are those of another
// program.
#pragma once

#include <string>

namespace cloche {

std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

}  // namespace cloche
