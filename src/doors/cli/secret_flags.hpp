// --secret and --env-file of `cloche run`: where values come from that stand in no list of processes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/sys/environment.hpp"
#include "model/named_file.hpp"
#include "model/plan.hpp"
#include "model/run_request.hpp"

namespace cloche {

// NAME: the caller's; NAME=@FILE: what is in the file.
struct SecretFlag {
  std::string name;
  std::optional<std::string> file = {};

  bool operator==(const SecretFlag&) const = default;
};
Result<SecretFlag> parse_secret_flag(std::string_view value);

struct SecretFlags {
  std::vector<std::string> env_files = {};
  std::vector<SecretFlag> secrets = {};

  bool operator==(const SecretFlags&) const = default;
};

// The variables of an --env-file. Each line is empty, a comment behind #, or NAME=VALUE:
// - VALUE is all that stands behind the first =; nothing in it is expanded.
// - Quotes around all of VALUE, '...' or "...", are taken off.
// What readers of such files understand in different ways is refused: blanks around =, blanks at the end, a
// # behind a blank, a quote that does not end where the line does, a backslash between "...", a carriage
// return, a name that comes twice. A refusal names `path` and the line, and nothing that stands there.
Result<std::vector<Secret>> read_env_file(std::string_view text, const std::string& path);

// What a file of --secret holds: all of it but one newline at its end.
Result<std::string> read_secret_file(std::string text, const std::string& path);

// Reads what the flags name, into `request.secrets`. A --secret stands over -e NAME=VALUE, and that over an
// --env-file; of several files the last stands. The answer is the files, for the session to judge how they
// were reached.
Result<std::vector<NamedFile>> read_secrets(const SecretFlags& flags, const Environment& environment,
                                            RunRequest& request);

}  // namespace cloche
