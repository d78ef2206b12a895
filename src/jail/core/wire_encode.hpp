// The supervisor's half of the wire: a plan with strings of its own, and the bytes of it. Not linked into the
// jail.
#pragma once

#include <string>
#include <vector>

#include "jail/core/wire.hpp"

namespace cloche::wire {

struct MountText {
  MountKind kind = MountKind::directory;
  uint32_t flags = 0;
  uint32_t mode = 0755;
  uint32_t owner_uid = 0;
  uint32_t owner_gid = 0;
  uint64_t size_bytes = 0;
  uint64_t files = 0;
  Identity judged = {};
  std::string target;  // relative to the new root
  std::string source;
  std::string content;
  std::string layers = {};  // of an overlay
  Identity judged_layers = {};

  bool operator==(const MountText&) const = default;
};

struct RuleText {
  Access access = Access::list;
  std::string path;
  Identity judged = {};
};

struct PlanText {
  uint32_t flags = 0;
  uint32_t inside_uid = 0;
  uint32_t inside_gid = 0;
  uint32_t outside_uid = 0;
  uint32_t outside_gid = 0;
  uint32_t umask = 022;
  uint32_t landlock_abi = 0;
  uint32_t rows = 0;
  uint32_t columns = 0;
  std::string directory = "/";
  Identity judged_directory = {};
  std::vector<MountText> mounts;
  std::vector<RuleText> rules;
  std::vector<Limit> limits;
  std::vector<Listener> listeners;
  std::vector<std::string> programs;
  std::vector<std::string> argv;
  std::vector<std::string> env;
};

std::string encode(const PlanText& plan);

}  // namespace cloche::wire
