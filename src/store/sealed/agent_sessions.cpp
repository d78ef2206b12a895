#include "store/sealed/agent_sessions.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/json/json_members.hpp"
#include "base/json/json_writer.hpp"
#include "base/sys/sys.hpp"
#include "base/text/sha256.hpp"
#include "policy/plan/plan_run.hpp"

namespace cloche {
namespace {

constexpr const char* folder_name = "agent-sessions";
constexpr std::string_view session_ending = ".session";
constexpr std::string_view directory_ending = ".directory";
constexpr std::string_view foreground_ending = ".turn";
constexpr size_t most_bytes = 64 << 10;
constexpr size_t most_sessions = 4000;

std::string hash_of(const std::string& text) {
  constexpr size_t enough_letters = 30;
  return sha256(text).substr(0, enough_letters);
}

// A NUL cannot stand in an agent's name, so no two sessions share a text.
std::string session_name(const SessionKey& session) { return hash_of(session.agent + '\0' + session.id); }

// A part's file begins with the name of its session, and so goes with it.
std::string part_name(const SessionKey& session) {
  return session_name(session) + "-" + hash_of(session.subagent);
}

}  // namespace

Result<AgentSessions> AgentSessions::open(const std::string& state) {
  SealedFiles files = TRY(SealedFiles::open(state, folder_name));
  return AgentSessions(std::move(files), state + "/" + folder_name);
}

// The oldest half goes, with their directories. A session that comes back after thousands of others begins
// anew.
void AgentSessions::make_room() const {
  std::vector<std::pair<uint64_t, std::string>> sessions;
  const auto names = files_.names();
  for (const auto& name : names) {
    if (!name.ends_with(session_ending)) continue;
    const auto value = files_.read_json(name, most_bytes);
    sessions.emplace_back(value.ok() ? number_of(value.value(), "first_ms") : 0,
                          name.substr(0, name.find('.')));
  }
  if (sessions.size() < most_sessions) return;
  std::sort(sessions.begin(), sessions.end());
  sessions.resize(sessions.size() / 2);
  for (const auto& name : names)
    if (std::any_of(sessions.begin(), sessions.end(),
                    [&](const auto& old) { return name.starts_with(old.second); }))
      (void)files_.remove(name);
}

Result<void> AgentSessions::fix_workspace(const SessionKey& session, const std::string& workspace,
                                          uint64_t now_ms) const {
  const std::string name = session_name(session) + std::string(session_ending);
  const auto held = TRY(files_.lock());
  const auto known = files_.read_json(name, most_bytes);
  if (known.ok()) return judge_session_workspace(text_of(known.value(), "workspace"), workspace);
  if (known.error().number != ENOENT) return known.error();
  make_room();
  JsonWriter out;
  out.begin_object().member("agent", session.agent).member("workspace", workspace);
  out.member("first_ms", now_ms).end_object();
  return files_.put(name, out.text());
}

std::optional<FirstCall> AgentSessions::newest(const std::string& agent) const {
  std::optional<FirstCall> newest;
  for (const auto& name : files_.names()) {
    if (!name.ends_with(session_ending)) continue;
    const auto value = files_.read_json(name, most_bytes);
    if (!value.ok() || text_of(value.value(), "agent") != agent) continue;
    const uint64_t at_ms = number_of(value.value(), "first_ms");
    if (!newest || at_ms > newest->at_ms) newest = FirstCall{text_of(value.value(), "workspace"), at_ms};
  }
  return newest;
}

std::optional<ShellDirectory> AgentSessions::directory(const SessionKey& session) const {
  const auto value = files_.read_json(part_name(session) + std::string(directory_ending), most_bytes);
  if (!value.ok()) return std::nullopt;
  return ShellDirectory{text_of(value.value(), "client"), text_of(value.value(), "shell")};
}

Result<void> AgentSessions::move(const SessionKey& session, const ShellDirectory& to) const {
  const auto held = TRY(files_.lock());
  if (directory(session) == to) return {};
  JsonWriter out;
  out.begin_object().member("client", to.client).member("shell", to.shell).end_object();
  return files_.put(part_name(session) + std::string(directory_ending), out.text());
}

// Under the lock, so that the beginnings of two commands follow each other.
Result<ForegroundCall> ForegroundCall::begin(const AgentSessions& sessions, const SessionKey& session) {
  const auto held = TRY(sessions.files_.lock());
  const std::string path = sessions.path_ + "/" + part_name(session) + std::string(foreground_ending);
  auto file = TRY(sys::open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
  const bool alone = ::flock(file.get(), LOCK_EX | LOCK_NB) == 0;
  if (::flock(file.get(), LOCK_SH | LOCK_NB) != 0) return system_error("lock " + path);
  uint64_t number = 0;
  (void)!::pread(file.get(), &number, sizeof number, 0);
  ++number;
  if (::pwrite(file.get(), &number, sizeof number, 0) != sizeof number) return system_error("write " + path);
  return ForegroundCall(std::move(file), number, alone);
}

bool ForegroundCall::has_run_alone() const {
  uint64_t number = 0;
  if (!began_alone_ || ::pread(file_.get(), &number, sizeof number, 0) != sizeof number) return false;
  return number == number_ && ::flock(file_.get(), LOCK_EX | LOCK_NB) == 0;
}

}  // namespace cloche
