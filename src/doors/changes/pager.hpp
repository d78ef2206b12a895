// A diff on the operator's terminal, through a pager. The pager comes from the operator's environment, never
// from a place that a call can write, and it is started without a shell. `less` is told to run nothing
// itself.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cloche {

// A program that can be executed, every link followed.
struct FoundProgram {
  std::string path;
  std::vector<std::string> turns = {};  // links and directories on the way that decide where it leads
};
using FindProgram = std::function<std::optional<FoundProgram>(const std::string& path)>;
std::optional<FoundProgram> find_program(const std::string& path);  // on this machine

struct Pager {
  std::vector<std::string> argv = {};         // the first is an absolute path; none: print
  std::vector<std::string> environment = {};  // NAME=value
  std::string note = {};                      // why what the operator named is not used; empty otherwise
};

// CLOCHE_PAGER, PAGER, less: the first that is set and can be used. Empty or `cat`: none. The words are split
// as a shell does it, and nothing else a shell does is done: a pager that needs one is not used.
// `writable` has the workspace and whatever else a call may write, absolute.
Pager choose_pager(const std::vector<std::string>& environment, const std::vector<std::string>& writable,
                   const FindProgram& find);

// Shows the text and waits until the reader is done.
Result<void> run_pager(const Pager& pager, std::string_view text);

// Through the pager if stdin and stdout are a terminal, else as it is. Returns the exit code.
int page(const std::string& text, const std::vector<std::string>& writable);

}  // namespace cloche
