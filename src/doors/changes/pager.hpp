// Which program pages a diff on the operator's terminal. It comes from the operator's environment, never from
// a place that a call can write, and it is started without a shell. `less` is told to run nothing itself.
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

struct PagerRequest {
  std::vector<std::string> environment = {};  // NAME=value
  std::vector<std::string> writable_roots =
      {};  // absolute: the workspace, and whatever else a call may write
};

struct Pager {
  std::vector<std::string> argv = {};  // the first is an absolute path
  std::vector<std::string> environment = {};
};

struct PagerChoice {
  std::optional<Pager> pager = {};  // none: print
  std::string note = {};            // why what the operator named is not used; empty otherwise
};

// CLOCHE_PAGER, PAGER, less: the first that is set and can be used. Empty or `cat`: none. The words are split
// as a shell does it, and nothing else a shell does is done: a pager that needs one is not used.
PagerChoice choose_pager(const PagerRequest& request, const FindProgram& find);

// On this machine.
std::optional<FoundProgram> find_program(const std::string& path);

// Whether text to this descriptor is read by a person.
bool is_terminal(int fd);
// Shows the text and waits until the reader is done; for a terminal as standard output alone.
Result<void> run_pager(const Pager& pager, std::string_view text);

}  // namespace cloche
