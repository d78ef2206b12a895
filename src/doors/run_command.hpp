// The doors `cloche run` and `cloche doctor`: words in, bytes and an exit code out. No decision is taken
// here.
#pragma once

#include <functional>
#include <span>

#include "base/environment.hpp"
#include "base/fd.hpp"
#include "doors/arguments.hpp"
#include "gateway/run.hpp"
#include "model/outcome.hpp"
#include "model/plan.hpp"

namespace cloche {

// Which of the caller's descriptors 0, 1 and 2 were open when the process started.
struct CallersDescriptors {
  bool input = true;
  bool output = true;
  bool errors = true;
};

int exit_code_of(const Error& error);
// An error of our own machinery as the end of a run.
Outcome outcome_of(const Error& error, const RunRequest& request);
// Says them on stderr, and keeps them for --json.
void say_notes(const std::vector<std::string>& notes, RunArguments& arguments);
// What the caller's terminal or another process sends us is for the command: a signalfd with all of it.
OwnedFd take_over_signals();
// Says on stderr that it waits, and why.
void complain_of_wait(std::string_view why);
// Says how it went, on the channels that the words asked for, and gives the exit code.
int finish_run(const Outcome& outcome, const std::string& digest, const RunArguments& arguments);

// Who writes a run down.
class RunWitness {
 public:
  virtual ~RunWitness() = default;
  virtual Result<void> before() = 0;  // an error: nothing starts
  virtual void after(const Outcome& outcome, const ConfinementPlan* plan) = 0;
};

// Words that were parsed and judged.
int run_parsed(RunArguments arguments, const Environment& environment, const CallersDescriptors& callers,
               RunWitness* witness = nullptr, const std::function<int()>& otherwise = {});
// `otherwise` answers instead when this host cannot keep a layer; the command was not started then.
int run_door(std::span<char* const> words, const Environment& environment, const CallersDescriptors& callers,
             const std::function<int()>& otherwise = {});

int doctor_door(std::span<char* const> words, const Environment& environment);

}  // namespace cloche
