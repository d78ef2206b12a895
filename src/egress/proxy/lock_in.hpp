// What an egress process takes away from itself before it reads a byte of the command or of a host: every
// capability, the id of root, every file, every call that a relay between sockets does not need.
#pragma once

namespace cloche::egress {

struct NewIds {
  unsigned uid = 0;  // 0: it was not started by root, and keeps its id
  unsigned gid = 0;
};

// False: something did not hold, and nothing may be served.
bool lock_in(const NewIds& ids);

}  // namespace cloche::egress
