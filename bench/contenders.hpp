// Who is measured, and the one loop that measures everybody in turn.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/call.hpp"
#include "model/plan.hpp"
#include "scene.hpp"
#include "statistics.hpp"

namespace cloche::bench {

// One call; says how many microseconds it took.
using Measured = std::function<Result<double>()>;

struct Contender {
  std::string name;
  Measured call;
  // For what is slow: it takes part in one of so many rounds, and is left out from the first that fails.
  size_t every = 1;
};

inline constexpr const char* bare = "bare posix_spawn";
inline constexpr const char* command_line = "cloche run";
inline constexpr const char* library = "library, commit";  // which is the default
inline constexpr const char* library_live = "library, live";
inline constexpr const char* over_mcp = "tools/call over MCP";
inline constexpr const char* bubblewrap = "bwrap";

// Everybody who is here, each running /bin/true with the workspace to write in. What is installed and does
// not work for this user is said, and left out.
Result<std::vector<Contender>> contenders_for(const Scene& scene);
Contender bare_contender();
Result<Contender> library_contender(const Scene& scene);
std::vector<Contender> bubblewrap_contender(const std::string& workspace);  // none: it is not installed

// A program and its words, started by posix_spawn and waited for. An exit above `highest_exit` is an error.
struct Command {
  std::vector<std::string> argv;
  int highest_exit = 0;
  bool silent = false;  // what it says on stderr is of no interest
  int most_ms = -1;     // it is ended then, which is an error; -1: it is waited for
};
Measured spawning(Command command);
// The model's call through one Gateway, as the library's user makes it: gates, change set and record in.
Result<Measured> calling_gateway(const Scene& scene, std::optional<Writes> writes, ToolCall call);
// What a command prints on stdout. What it says on stderr is dropped; an exit other than 0 is an error.
Result<std::string> output_of(std::vector<std::string> words);
// bwrap and its flags, to which more of them and the command are added. Empty where it is not installed.
std::vector<std::string> bubblewrap_words();
// `runtime run` of a bundle that `cloche wrap` makes for this command at `place`, which is new.
Result<std::vector<std::string>> runtime_words(const Scene& scene, const std::string& place,
                                               const std::string& runtime,
                                               const std::vector<std::string>& flags,
                                               const std::vector<std::string>& command);

// Absolute, from PATH; empty when there is none.
std::string find_program(const std::string& name);

// Whether the user asked us to stop; the loops end then, and everything is cleaned up on the way out.
void stop_on_signals();
Result<void> go_on();

using ByName = std::map<std::string, Samples>;

// Round robin: every round runs each contender once (or one of `every` rounds does), in an order drawn anew,
// so that noise and what a neighbour leaves to the kernel to clear away hit all alike. Sample i of each
// belongs to round i.
Result<ByName> interleave(const std::vector<Contender>& contenders, size_t warm_up, size_t rounds);

// Progress, on stderr.
void say(const std::string& text);

}  // namespace cloche::bench
