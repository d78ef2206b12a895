// The words of `cloche run` and `cloche wrap`, from argv to a request, and their help.
#pragma once

#include <span>
#include <string>

#include "base/result.hpp"
#include "model/run_request.hpp"

namespace cloche {

struct RunArguments {
  RunRequest request;
  bool help = false;
  bool dry_run = false;
  bool json = false;
  bool raw = false;
  int status_fd = -1;
  std::optional<Rung> isolation = {};  // as said; request.rung is what follows from it and the backend
  bool oci = false;                    // --backend oci: crun or runc
  // What makes it a recorded run.
  std::optional<std::string> run = {};
  std::optional<std::string> task = {};
  std::optional<std::string> skill = {};

  // What a hook has kept; then nothing else is said but where the operator's places are, which
  // agent_environment.hpp reads.
  std::optional<std::string> call = {};
  size_t places = 0;  // how many flags say where

  // Of `cloche wrap` alone.
  std::optional<std::string> box = {};  // --backend there
  std::optional<std::string> runtime = {};
  std::optional<std::string> executor = {};  // a manifest
  std::optional<std::string> bundle = {};    // a directory to make

  bool operator==(const RunArguments&) const = default;
};

// SRC or SRC:DST. A colon that belongs to SRC is written \: so that a path can hold one.
Result<Grant> parse_grant(const std::string& value, bool writable);

// --profile. Until a custom one is read, the strictest stands in its place.
Result<void> set_profile_of(RunRequest& request, const std::string& name);

Result<Rung> rung_of_word(const std::string& word);
// None for "oci": crun or runc, whichever works here.
Result<std::optional<Backend>> backend_of_word(const std::string& word);

// Which command's flags are taken.
enum class RunCommand : unsigned { run = 1, wrap = 2 };

// Only the options, and the command as argv: nothing is settled yet.
Result<RunArguments> read_run_words(std::span<char* const> words, RunCommand command);
// What --isolation and --backend come to together.
Result<void> settle_rung(RunArguments& arguments);

// `words` are those after "run".
Result<RunArguments> parse_run(std::span<char* const> words);

std::string run_help();
std::string wrap_help();

}  // namespace cloche
