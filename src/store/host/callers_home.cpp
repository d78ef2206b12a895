#include "store/host/callers_home.hpp"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "confine/supervise/watched_child.hpp"
#include "policy/authority/path_trust.hpp"
#include "store/config/config_paths.hpp"

namespace cloche {
namespace {

constexpr size_t most_passwd_bytes = size_t{1} << 20;
constexpr size_t most_getent_bytes = size_t{64} << 10;
constexpr uint64_t most_getent_ms = 10'000;  // a directory service may be far away

// name:password:id:group:gecos:home:shell, and nothing that is shorter or longer.
struct Account {
  std::string_view id;
  std::string_view home;
};
std::optional<Account> account_in(std::string_view line) {
  std::string_view fields[7];
  size_t count = 0;
  for (size_t at = 0; at <= line.size(); ++count) {
    if (count == std::size(fields)) return std::nullopt;
    const size_t end = std::min(line.find(':', at), line.size());
    fields[count] = line.substr(at, end - at);
    at = end + 1;
  }
  if (count != std::size(fields) || fields[0].empty()) return std::nullopt;
  return Account{fields[2], fields[5]};
}

bool is_id(std::string_view text, uid_t id) {
  uid_t number = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return !text.empty() && read.ec == std::errc{} && read.ptr == end && number == id;
}

// sudo may keep the HOME of the user who called it.
bool is_anothers(const struct stat& seen) { return seen.st_uid != ::geteuid(); }

// What lies there is another process's, and by most names each process sees something else.
bool is_in_proc(const std::string& place) {
  struct statfs seen {};
  return is_beneath("/proc", place) ||
         (::statfs(place.c_str(), &seen) == 0 && seen.f_type == PROC_SUPER_MAGIC);
}

// Whether XDG_CONFIG_HOME is a directory of another user's, or would be made in one; root is no other user.
bool config_home_is_anothers(const Environment& environment) {
  struct stat seen {};
  const std::string given = environment.get("XDG_CONFIG_HOME");
  if (given.empty() || given == "/" || !is_plain_absolute(given)) return false;
  for (std::string_view at = given; at != "/"; at = parent_of(at)) {
    if (::stat(std::string(at).c_str(), &seen) == 0) return seen.st_uid != 0 && is_anothers(seen);
    if (errno != ENOENT) return false;  // cannot be read, which is refused
  }
  return false;
}

// The first home that has a configuration, or may have, which XDG_CONFIG_HOME passes over; empty: none.
std::string passed_over_by(const std::string& config_home, const Environment& environment,
                           const std::string& home) {
  for (const std::string& own : {environment.account_home(), home}) {
    if (!own.empty() && config_home != (own == "/" ? "" : own) + "/.config" && may_have_configuration(own))
      return own;
  }
  return {};
}

// Sources other than the file (LDAP, systemd) are shared libraries that the C library loads. A static program
// has none of them, and code of other projects has no place in it: getent looks there in its own process.
std::string home_by_getent(uid_t id) {
  const WatchedProgram getent{.path = "/usr/bin/getent",
                              .arguments = {"getent", "passwd", std::to_string(id)},
                              .deadline_ms = sys::monotonic_ms() + most_getent_ms,
                              .most_output = most_getent_bytes};
  const auto end = run_watched(getent);
  const bool answered = end.ok() && end.value().how == WatchedEnd::How::exited && end.value().number == 0;
  return answered ? home_in_answer(end.value().output, id) : "";
}

// Only as much as is needed to judge: every call does this.
Result<HomeFacts> look_at_home(const Environment& environment) {
  HomeFacts facts{.user = ::geteuid(), .written = environment.get("HOME")};
  if (facts.written.empty()) return facts;
  facts.path = facts.written == "/" ? facts.written : TRY(directory_in(environment, "HOME"));
  facts.in_proc = is_in_proc(facts.path);
  if (facts.in_proc) return facts;
  // sudo may keep XDG_CONFIG_HOME as well.
  if (config_home_is_anothers(environment)) {
    facts.config_home = environment.get("XDG_CONFIG_HOME");
    facts.passed_over = passed_over_by(facts.config_home, environment, facts.path);
  }
  facts.account = environment.account_home();
  if (facts.path == facts.account) return facts;
  struct stat seen {};
  const bool exists = ::stat(facts.path.c_str(), &seen) == 0;
  if (exists || errno != ENOENT) facts.kind = FileFact::Kind::other;
  if (exists && S_ISDIR(seen.st_mode)) facts.kind = FileFact::Kind::directory;
  facts.of_another_user = exists && is_anothers(seen);
  const bool own = facts.kind == FileFact::Kind::directory && !facts.of_another_user;
  facts.account_is_configured = !own && !facts.account.empty() &&
                                environment.get("XDG_CONFIG_HOME").empty() &&
                                may_have_configuration(facts.account);
  return facts;
}

}  // namespace

std::string plain_home(std::string_view written) {
  return written.starts_with('/') ? tidied("/", std::string(written)) : "";
}

std::string home_of_id(std::string_view passwd, uid_t id) {
  for (size_t at = 0; at < passwd.size();) {
    const size_t end = std::min(passwd.find('\n', at), passwd.size());
    const auto account = account_in(passwd.substr(at, end - at));
    at = end + 1;
    if (!account || !is_id(account->id, id)) continue;
    return plain_home(account->home);
  }
  return {};
}

std::string home_in_answer(std::string_view answer, uid_t id) {
  const bool one_line = !answer.empty() && answer.find('\n') == answer.size() - 1;
  return one_line ? home_of_id(answer, id) : "";
}

std::string home_of_account() {
  const uid_t id = ::geteuid();
  const auto text = sys::read_file("/etc/passwd", most_passwd_bytes);
  std::string home = text.ok() ? home_of_id(text.value(), id) : "";
  return home.empty() ? home_by_getent(id) : home;
}

bool asks_for_account(const Environment& environment) {
  struct stat seen {};
  const std::string home = environment.get("HOME");
  return home.empty() || ::stat(home.c_str(), &seen) != 0 || !S_ISDIR(seen.st_mode) || is_anothers(seen) ||
         config_home_is_anothers(environment);
}

Environment with_home_from_database(const Environment& environment) {
  if (!environment.account_home().empty() || !asks_for_account(environment)) return environment;
  return environment.with_account_home(home_of_account());
}

Result<std::string> callers_home(const Environment& environment) {
  return judge_home(TRY(look_at_home(environment)));
}

}  // namespace cloche
