#include "gateway/configuration/installation.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

#include "base/sys/directory.hpp"
#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "store/config/config_paths.hpp"

namespace cloche {
namespace {

constexpr std::string_view part_names[] = {"cloche-jail", "cloche-probe", "cloche-egress", "cloche-fetch"};

// Where the caller's settings say, unless another user could change what lies there: root with another
// user's HOME (sudo may keep it) would then make files where that user wants them.
Result<void> find_state(const Environment& environment, Installation& installation) {
  const std::string given = TRY(directory_in(environment, "XDG_STATE_HOME"));
  const std::string home = environment.get("HOME");
  std::string state;
  if (!given.empty()) {
    state = given + "/cloche";
  } else if (is_plain_absolute(home) && home != "/" && ::access(home.c_str(), F_OK) == 0) {
    state = home + "/.local/state/cloche";  // a home that is not there is not made
  }
  if (state.empty()) {
    installation.no_state = "neither XDG_STATE_HOME nor HOME names a directory";
    return {};
  }
  const std::string foreign = foreign_part(state);
  struct stat seen {};
  if (foreign.empty()) {
    installation.state = state;
  } else if (::lstat(state.c_str(), &seen) != 0 && errno == ENOTDIR) {
    // What cannot be there is no other user's: a mistake of the caller's, and no reason to use another
    // directory.
    installation.no_state = state + " cannot be made, because something on the way to it is no directory";
  } else if (::geteuid() == 0 && is_ours_alone("/run/cloche")) {
    installation.state = "/run/cloche/state";  // root in the home of another
  } else {
    installation.no_state = state + " cannot be trusted, because another user could change " + foreign;
    if (::lstat(foreign.c_str(), &seen) == 0 && seen.st_uid == ::geteuid())
      installation.no_state += " (mend it: chmod go-w " + foreign + ")";
  }
  return {};
}

// Beside it first. In a checkout that is the workspace, calls change everything but the directory of the
// programs, and could make a libexec.
Result<std::string> folder_of_parts(const std::string& beside) {
  if (::access((beside + "/cloche-jail").c_str(), F_OK) == 0) {
    TRY(check_parts(beside, beside));
    return beside;
  }
  const std::string prefix(parent_of(beside));
  const std::string installed = (prefix == "/" ? "" : prefix) + "/libexec/cloche";
  if (::access((installed + "/cloche-jail").c_str(), F_OK) != 0) return beside;  // who needs it says so
  TRY(check_parts(installed, beside));
  return installed;
}

// CLOCHE_UID_RANGE=FIRST:COUNT, for hosts on which the standard range is taken.
Result<IdRange> id_range(const Environment& environment) {
  IdRange ids;
  const std::string text = environment.get("CLOCHE_UID_RANGE");
  if (text.empty()) return ids;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, ids.first);
  const bool colon = first.ec == std::errc{} && first.ptr < end && *first.ptr == ':';
  const auto count = std::from_chars(colon ? first.ptr + 1 : end, end, ids.count);
  if (!colon || count.ec != std::errc{} || count.ptr != end || ids.first < 65'536 || ids.count == 0 ||
      uint64_t{ids.first} + ids.count > 0x7fffffffU) {
    return refusal("CLOCHE_UID_RANGE=" + text + " is not FIRST:COUNT with ids from 65536 to 2147483646");
  }
  return ids;
}

}  // namespace

namespace {

Error not_as_safe(const std::string& path, const std::string& beside) {
  return refusal("Cloche cannot be trusted, because a user who could not change what is in " + beside +
                     " could change " + path,
                 "install Cloche again, or: chmod go-w " + path);
}

}  // namespace

// A directory above them counts as well, up to the one that has both. What is beyond that holds the program
// too.
Result<void> check_parts(const std::string& folder, const std::string& beside) {
  struct stat directory {};
  struct stat seen {};
  if (::lstat(beside.c_str(), &directory) != 0) return system_error("look at " + beside);
  for (std::string_view at = folder; !is_beneath(at, beside); at = parent_of(at)) {
    const std::string path(at);
    if (::lstat(path.c_str(), &seen) != 0) return system_error("look at " + path);
    if (!S_ISDIR(seen.st_mode) || !is_as_safe(seen, directory, ::geteuid())) return not_as_safe(path, beside);
  }
  for (const std::string_view name : part_names) {
    const std::string path = folder + "/" + std::string(name);
    if (::stat(path.c_str(), &seen) != 0) continue;  // who needs it says so
    if (!S_ISREG(seen.st_mode) || !is_as_safe(seen, directory, ::geteuid())) return not_as_safe(path, beside);
  }
  return {};
}

bool is_as_safe(const struct stat& parts, const struct stat& beside, uid_t caller) {
  const bool owner = parts.st_uid == 0 || parts.st_uid == caller || parts.st_uid == beside.st_uid;
  const bool group =
      (parts.st_mode & S_IWGRP) == 0 || ((beside.st_mode & S_IWGRP) != 0 && parts.st_gid == beside.st_gid);
  const bool others = (parts.st_mode & S_IWOTH) == 0 || (beside.st_mode & S_IWOTH) != 0;
  return owner && group && others;
}

std::vector<std::string> Installation::folders() const {
  std::vector<std::string> all = {std::string(parent_of(jail))};
  if (!program.empty() && parent_of(program) != all.front()) all.emplace_back(parent_of(program));
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

Result<std::string> Installation::config_folder(const Environment& environment) const {
  return users_config.empty() ? user_config_folder(environment) : users_config;
}

OwnPlaces Installation::places(const Environment& environment) const {
  OwnPlaces own{.state = state, .parts = folders()};
  for (const auto& file : {jail, probe, egress, fetch, program}) {
    own.parts.push_back(file);
    own.trusted.push_back(file);
  }
  std::vector<std::string> directories = {std::string(parent_of(managed_config))};
  // What cannot be a place is refused by who reads it.
  if (const auto users = config_folder(environment); users.ok()) directories.push_back(users.value());
  for (const auto& directory : directories) {
    own.trusted.push_back(directory);
    // In that order: the others count where they are links that lead out of it.
    const std::string commands = directory + "/commands";
    for (const auto& place : {directory, directory + "/config.json", commands})
      own.configuration.push_back(place);
    for (auto& link : links_in(commands)) own.configuration.push_back(std::move(link));
  }
  return own;
}

Result<Installation> find_installation(const Environment& environment, const ProgramPlace& place) {
  Installation installation{.others = place.others};
  const std::string beside(place.folder.empty() ? parent_of(TRY(sys::read_link("/proc/self/exe")))
                                                : place.folder);
  const std::string folder = TRY(folder_of_parts(beside));
  installation.program = place.library.empty() ? beside + "/cloche" : place.library;
  const std::string library = std::string(parent_of(beside)) + "/" CLOCHE_LIBRARY_BELOW_PREFIX;
  // With its directory: what lies beside a library may be loaded for it.
  if (place.library.empty() && ::access(library.c_str(), F_OK) == 0)
    installation.others.emplace_back(parent_of(library));
  installation.jail = folder + "/cloche-jail";
  installation.probe = folder + "/cloche-probe";
  installation.egress = folder + "/cloche-egress";
  installation.fetch = folder + "/cloche-fetch";
  TRY(find_state(environment, installation));
  if (const auto users = user_config_folder(environment); users.ok())
    installation.users_config = users.value();
  installation.ids = TRY(id_range(environment));
  return installation;
}

}  // namespace cloche
