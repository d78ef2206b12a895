#include "confine/outside_id.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>

#include "base/directory.hpp"
#include "base/sys.hpp"

namespace cloche {
namespace {

bool lock(int file, unsigned slot, short how) {
  struct flock claim {};
  claim.l_type = how;
  claim.l_whence = SEEK_SET;
  claim.l_start = slot;
  claim.l_len = 1;
  return ::fcntl(file, F_OFD_SETLK, &claim) == 0;
}

// Empty: somebody has it.
OwnedFd take_name(unsigned id) {
  OwnedFd taken(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un place{};
  place.sun_family = AF_UNIX;
  const std::string name = "cloche-id-" + std::to_string(id);
  name.copy(place.sun_path + 1, name.size());  // behind the NUL that makes it no file
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const auto* address = reinterpret_cast<const sockaddr*>(&place);
  return taken && ::bind(taken.get(), address, size) == 0 ? std::move(taken) : OwnedFd();
}

// In a file that is not everybody's somebody else may have the id by now.
void clean_up(const OutsideId& own, unsigned first, unsigned count,
              const std::function<void(unsigned id)>& clean) {
  const int file = own.lock.get();
  std::array<char, 512> marks{};
  const ssize_t got = ::pread(file, marks.data(), marks.size(), 0);
  for (unsigned slot = 0; slot < count && static_cast<ssize_t>(slot) < got; ++slot) {
    if (marks[slot] == '\0' || slot == own.slot || !lock(file, slot, F_WRLCK)) continue;
    const OwnedFd name = own.name ? take_name(first + slot) : OwnedFd();
    if (!own.name || name) clean(first + slot);
    (void)!::pwrite(file, "", 1, slot);
    lock(file, slot, F_UNLCK);
  }
}

// Never through a link, and nowhere that another user could put a file of his own: a claim that he holds
// would keep everybody out, and one that he takes away would give an id to two calls.
Result<OwnedFd> open_claims(const std::string& directory) {
  if (std::string foreign = foreign_part(directory); !foreign.empty())
    return refusal("somebody else could change " + foreign);
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
  auto opened = sys::open(directory, flags);
  if (!opened.ok() && opened.error().number == ENOENT) {
    if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) return system_error("make " + directory);
    opened = sys::open(directory, flags);
  }
  const OwnedFd held = TRY(std::move(opened));
  auto file = sys::open_at(held.get(), "ids", O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
  if (!file.ok()) return system_error("open " + directory + "/ids", file.error().number);
  return file;
}

struct Claims {
  OwnedFd file;
  bool shared;
};

Result<Claims> open_first(const std::vector<ClaimPlace>& places) {
  std::string why;
  int number = 0;
  for (const auto& place : places) {
    auto file = open_claims(place.directory);
    if (file.ok()) return Claims{std::move(file.value()), place.shared};
    why += (why.empty() ? "" : "; ") + file.error().what;
    if (number == 0) number = file.error().number;
  }
  return Error{Fault::system, "there is no place for the claims of ids: " + why, number,
               "make one writable: mount -t tmpfs -o mode=755 tmpfs /run"};
}

}  // namespace

std::vector<ClaimPlace> claim_places(const std::string& state) {
  std::vector<ClaimPlace> places = {{"/run/cloche"}, {"/dev/shm/cloche"}};
  if (!state.empty()) places.push_back({state, false});
  return places;
}

Result<OutsideId> claim_outside_id(unsigned first, unsigned count,
                                   const std::function<void(unsigned id)>& clean,
                                   const std::vector<ClaimPlace>& places) {
  Claims claims = TRY(open_first(places));
  OwnedFd& file = claims.file;
  for (unsigned slot = 0; slot < count; ++slot) {
    if (!lock(file.get(), slot, F_WRLCK)) {
      if (errno != EAGAIN && errno != EACCES) return system_error("claim an id for the sandbox");
      continue;
    }
    OwnedFd name = claims.shared ? OwnedFd() : take_name(first + slot);
    if (!claims.shared && !name) {
      lock(file.get(), slot, F_UNLCK);
      continue;
    }
    OutsideId claimed{first + slot, slot, std::move(file), std::move(name)};
    clean_up(claimed, first, count, clean);
    (void)!::pwrite(claimed.lock.get(), "1", 1, slot);
    return claimed;
  }
  return refusal("every one of the " + std::to_string(count) + " ids for sandboxes is in use",
                 "wait for a call to end, or widen the range");
}

void leave_nothing(const OutsideId& id) { (void)!::pwrite(id.lock.get(), "", 1, id.slot); }

}  // namespace cloche
