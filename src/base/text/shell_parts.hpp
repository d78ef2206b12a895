// Shell text taken apart, where that can be done without doubt: plain words
// joined by && || ; | and line ends, with redirections to /dev/null and of the
// standard streams into each other, and nothing else that a shell would act on.
// Such text has parts, each an argv, and one rendering in which every word is
// quoted: the parts are what is judged and the rendering is what bash gets, so
// that no reading of bash's can differ from ours. All other text is opaque and
// has no parts: assignments, functions, expansions, patterns, groups, reserved
// words, other redirections, background commands, and builtins that change what
// a later word means.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cloche {

struct ShellParts {
  std::vector<std::vector<std::string>> commands = {};  // in the order written; each is good for problem_of()
  std::string rendering = {};                           // all of it, every word quoted
};

// None: the text is opaque.
std::optional<ShellParts> shell_parts(std::string_view text);

// Pieces of opaque text that may be commands, by the letters alone: a help for
// rules that refuse. What a quote or an expansion hides is not found. None:
// there are more of them than can be judged.
std::optional<std::vector<std::string>> shell_pieces(std::string_view text);

// A word that no program has for its name and that every shell knows, as cd,
// export and if.
bool is_shell_word(std::string_view word);

}  // namespace cloche
