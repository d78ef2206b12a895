// Backends: what builds the box that a plan describes. Each stands on one level of the isolation levels.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "model/layers.hpp"

namespace cloche {

enum class Backend {
  native,      // our own namespaces: the sandbox
  bwrap,       // the same level, built by bubblewrap
  subprocess,  // no box: a process that has locked itself in
  crun,        // OCI runtimes
  runc,
  runsc,  // gVisor's
  none,   // the operator's knowing opt-out: no isolation at all
};
inline constexpr Backend all_backends[] = {Backend::native, Backend::bwrap, Backend::subprocess,
                                           Backend::crun,   Backend::runc,  Backend::runsc,
                                           Backend::none};

std::string_view name_of(Backend backend);
std::optional<Backend> backend_named(std::string_view name);

// The package that has the program of this name.
std::string_view package_of(Backend backend);
IsolationLevel level_of(Backend backend);
// The backends of a level, the one to be tried first in front. Empty: nothing that could run a program.
std::span<const Backend> backends_of(IsolationLevel level);

// What happens when the host cannot keep what a level requires.
enum class Missing { refuse, degrade };

// Whether the level namespace goes on where the kernel's Landlock is too old, or not there.
enum class Landlock { required, optional };

std::optional<IsolationLevel> level_named(std::string_view name);

}  // namespace cloche
