// Who is measured, and the one loop that measures everybody in turn.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "scene.hpp"
#include "statistics.hpp"

namespace cloche::bench {

// One call; says how many microseconds it took.
using Measured = std::function<Result<double>()>;

struct Contender {
  std::string name;
  Measured call;
};

inline constexpr const char* bare = "bare posix_spawn";
inline constexpr const char* command_line = "cloche run";
inline constexpr const char* library = "library call";
inline constexpr const char* bubblewrap = "bwrap";

// All four, or three where bwrap is not installed, each running /bin/true.
std::vector<Contender> contenders_for(const Scene& scene);

// A program and its words, started by posix_spawn and waited for. An exit above `highest_exit` is an error.
struct Command {
  std::vector<std::string> argv;
  int highest_exit = 0;
  bool silent = false;  // what it says on stderr is of no interest
};
Measured spawning(Command command);
Measured calling_library(const Scene& scene);
// What a command prints on stdout. What it says on stderr is dropped; an exit other than 0 is an error.
Result<std::string> output_of(std::vector<std::string> words);
// bwrap and its flags, to which more of them and the command are added. Empty where it is not installed.
std::vector<std::string> bubblewrap_words();

// Absolute, from PATH; empty when there is none.
std::string find_program(const std::string& name);

// Whether the user asked us to stop; the loops end then, and everything is cleaned up on the way out.
void stop_on_signals();
Result<void> go_on();

using ByName = std::map<std::string, Samples>;

// Round robin: every round runs each contender once, in an order drawn anew, so that noise and what a
// neighbour leaves to the kernel to clear away hit all alike. Sample i of each belongs to round i.
Result<ByName> interleave(const std::vector<Contender>& contenders, size_t warm_up, size_t rounds);

// Progress, on stderr.
void say(const std::string& text);

}  // namespace cloche::bench
