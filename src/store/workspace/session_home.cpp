#include "store/workspace/session_home.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/sys/directory.hpp"
#include "base/sys/sys.hpp"
#include "base/text/random_word.hpp"
#include "store/record/run_place.hpp"

namespace cloche {
namespace {

constexpr const char* alive_name = "alive";
constexpr size_t id_letters = 16;

// Nothing: a running server holds it.
OwnedFd take_over(int session, const std::string& path) {
  auto alive = append_record_file(session, alive_name, path + "/" + alive_name);
  if (!alive.ok() || ::flock(alive.value().get(), LOCK_EX | LOCK_NB) != 0) return {};
  return std::move(alive).value();
}

void remove_dead(int sessions, const std::string& path) {
  for (const auto& name : names_in(path)) {
    if (name == lock_name) continue;
    const std::string one = path + "/" + name;
    const auto session = open_record_directory(sessions, name, one);
    if (!session.ok()) continue;  // not one of ours
    if (const OwnedFd alive = take_over(session.value().get(), one)) remove_tree(one);
  }
}

}  // namespace

Result<std::unique_ptr<SessionHome>> SessionHome::make(const std::string& state) {
  if (state.empty()) return refusal("there is no state directory");
  const std::string path = state + "/" + sessions_name;
  if (!make_private_directories(path)) return system_error("make " + path);
  const OwnedFd above = TRY(sys::open(state, O_RDONLY | O_DIRECTORY));
  const OwnedFd sessions = TRY(make_record_directory(above.get(), sessions_name, path));
  // Held until this one is locked: before that it looks like one that a dead server has left.
  const OwnedFd starting = TRY(append_record_file(sessions.get(), lock_name, path + "/" + lock_name));
  if (::flock(starting.get(), LOCK_EX) != 0) return system_error("wait for another server that starts");
  remove_dead(sessions.get(), path);
  const std::string id = TRY(random_word(id_letters));
  const std::string own = path + "/" + id;
  const OwnedFd session = TRY(make_record_directory(sessions.get(), id, own));
  OwnedFd alive = take_over(session.get(), own);
  if (!alive) return system_error("lock " + own);
  return std::unique_ptr<SessionHome>(new SessionHome(own, std::move(alive)));
}

SessionHome::~SessionHome() { remove_tree(directory_); }

Result<TaskHome> SessionHome::now() const {
  const std::string number = std::to_string(generation_);
  const std::string own = directory_ + "/" + number;
  const OwnedFd session = TRY(sys::open(directory_, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  const OwnedFd place = TRY(make_record_directory(session.get(), number, own));
  return make_home_beneath(place.get(), own);
}

void SessionHome::remove_earlier() const {
  for (const auto& name : names_in(directory_)) {
    if (name != alive_name && name != std::to_string(generation_)) remove_tree(directory_ + "/" + name);
  }
}

}  // namespace cloche
