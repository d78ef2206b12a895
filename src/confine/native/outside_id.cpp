#include "confine/native/outside_id.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <optional>

#include "base/sys/directory.hpp"
#include "base/sys/sys.hpp"

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

// Empty: another call has it.
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

// The bytes of one id in every file of claims, or in none.
bool lock_all(const std::vector<OwnedFd>& files, unsigned slot) {
  for (size_t at = 0; at < files.size(); ++at) {
    if (lock(files[at].get(), slot, F_WRLCK)) continue;
    const int why = errno;
    while (at > 0) lock(files[--at].get(), slot, F_UNLCK);
    errno = why;
    return false;
  }
  return true;
}

void unlock_all(const std::vector<OwnedFd>& files, unsigned slot) {
  for (const OwnedFd& file : files) lock(file.get(), slot, F_UNLCK);
}

struct Ids {
  unsigned first;
  unsigned count;
};

// Those that a call has or has not cleaned up after. However wide the range is: as far as the file goes.
std::vector<unsigned> marked_slots(int file, unsigned count) {
  std::vector<unsigned> marked;
  std::array<char, 4096> marks{};
  for (unsigned begin = 0; begin < count;) {
    const ssize_t got = ::pread(file, marks.data(), std::min<size_t>(marks.size(), count - begin), begin);
    if (got <= 0) break;
    for (unsigned at = 0; at < static_cast<unsigned>(got); ++at)
      if (marks[at] != '\0') marked.push_back(begin + at);
    begin += static_cast<unsigned>(got);
  }
  return marked;
}

// By another file another call may have the id by now: all of them are locked, and the name is taken where
// it counts. The marks are those of the first file, which the next caller of the same kind has first too.
void clean_up(const OutsideId& own, const Ids& ids, const std::function<void(unsigned id)>& clean) {
  const int file = own.locks.front().get();
  for (const unsigned slot : marked_slots(file, ids.count)) {
    if (slot == own.slot || !lock_all(own.locks, slot)) continue;
    const OwnedFd name = own.name ? take_name(ids.first + slot) : OwnedFd();
    if (!own.name || name) clean(ids.first + slot);
    (void)!::pwrite(file, "", 1, slot);
    unlock_all(own.locks, slot);
  }
}

// Never through a link, and nowhere that another user could put a file of his own: a claim that he holds
// would keep every call out, and one that he takes away would give an id to two calls.
Result<OwnedFd> open_claims(const std::string& directory) {
  if (std::string foreign = foreign_part(directory); !foreign.empty())
    return refusal("another user could change " + foreign);
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
  std::vector<OwnedFd> files = {};
  bool all_shared = true;  // each place that all look into is among them
  bool has_first = false;  // the best of these is
};

// Every one that all look into, because not every process can write to each of them: a service may see /run
// read-only. One's own only where there is none of these.
Result<Claims> open_claims(const std::vector<ClaimPlace>& places) {
  Claims claims;
  std::string why;
  int number = 0;
  for (const auto& place : places) {
    if (!place.shared && !claims.files.empty()) continue;
    auto file = open_claims(place.directory);
    if (file.ok()) {
      claims.has_first = claims.has_first || &place == &places.front();
      claims.files.push_back(std::move(file.value()));
      claims.all_shared = claims.all_shared && place.shared;
      continue;
    }
    claims.all_shared = false;
    why += (why.empty() ? "" : "; ") + file.error().what.text();
    if (number == 0) number = file.error().number;
  }
  if (!claims.files.empty()) return claims;
  return Error{Cause::system, "there is no place for the claims of ids: " + why, number,
               "make one writable: mount -t tmpfs -o mode=755 tmpfs /run"};
}

struct Slot {
  unsigned number;
  OwnedFd name;
};
enum class Naming { none, taken };

// Locked, and with its name where that counts. Nothing: all are in use, or many names are in a place where
// there may be no need for one.
Result<std::optional<Slot>> lowest_free(const Claims& claims, const Ids& ids, Naming naming) {
  constexpr unsigned most_names_of_others = 64;
  unsigned names_of_others = 0;
  for (unsigned slot = 0; slot < ids.count; ++slot) {
    if (!lock_all(claims.files, slot)) {
      if (errno != EAGAIN && errno != EACCES) return system_error("claim an id for the sandbox");
      continue;
    }
    OwnedFd name = naming == Naming::taken ? take_name(ids.first + slot) : OwnedFd();
    if (naming == Naming::none || name) return std::optional(Slot{slot, std::move(name)});
    unlock_all(claims.files, slot);
    if (claims.has_first && ++names_of_others == most_names_of_others) break;
  }
  return std::optional<Slot>();
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
  Claims claims = TRY(open_claims(places));
  auto slot = TRY(lowest_free(claims, {first, count}, claims.all_shared ? Naming::none : Naming::taken));
  // Every user can take names, and another place before us: that must not keep root from every id.
  if (!slot && claims.has_first) slot = TRY(lowest_free(claims, {first, count}, Naming::none));
  if (!slot)
    return refusal("every one of the " + std::to_string(count) + " ids for sandboxes is in use",
                   "wait for a call to end, or widen the range");
  OutsideId claimed{first + slot->number, slot->number, std::move(claims.files), std::move(slot->name)};
  clean_up(claimed, {first, count}, clean);
  (void)!::pwrite(claimed.locks.front().get(), "1", 1, claimed.slot);
  return claimed;
}

void leave_nothing(const OutsideId& id) {
  if (!id.locks.empty()) (void)!::pwrite(id.locks.front().get(), "", 1, id.slot);
}

}  // namespace cloche
