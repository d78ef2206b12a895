// The words of `cloche run`, from argv to a request. One table, read once; no globals.
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
  // What makes it a recorded run; the front leaves these to cloche-full.
  std::optional<std::string> run = {};
  std::optional<std::string> task = {};
  std::optional<std::string> skill = {};
  std::vector<std::string> notes = {};  // what was said on the way, for --json

  // What a hook has kept; then nothing else is said but where the operator's places are, which
  // agent_environment.hpp reads.
  std::optional<std::string> call = {};
  size_t places = 0;  // how many flags say where
  size_t flags = 0;   // how many there are in all

  bool is_recorded() const { return run || task || skill || call; }
  // What the front can plan without reading anything.
  bool has_shipped_profile() const {
    return request.profile_name.empty() || shipped_profile(request.profile_name);
  }
  // One of several tools, of which only trying tells which one works: the front leaves that to cloche-full.
  // The glass is simply tried first.
  bool leaves_a_choice() const {
    return !request.backend && request.rung != Rung::namespaces && backends_of(request.rung).size() > 1;
  }
};

// SRC or SRC:DST. A colon that belongs to SRC is written \: so that a path can hold one.
Result<Grant> parse_grant(const std::string& value, bool writable);

// --profile. Until a custom one is read, the strictest stands in its place.
Result<void> set_profile_of(RunRequest& request, const std::string& name);

Result<Rung> rung_of_word(const std::string& word);
// None for "oci": crun or runc, whichever works here.
Result<std::optional<Backend>> backend_of_word(const std::string& word);

// `words` are those after "run".
// `command` is what the caller typed, for the usage.
Result<RunArguments> parse_run(std::span<char* const> words, std::string_view command = "cloche run");

}  // namespace cloche
