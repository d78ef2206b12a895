// An empty directory of Cloche's own to try something in; gone with everything in it when we are done, or,
// where we were killed in between, when the next one for the same purpose is made.
#pragma once

#include <string>

#include "base/fd.hpp"

namespace cloche {

class Throwaway {
 public:
  // In /var/tmp, because the host's /tmp is not what a command sees there; in /tmp where that is all one can
  // write to, on a host that is read-only otherwise.
  explicit Throwaway(const std::string& purpose);
  ~Throwaway();
  Throwaway(const Throwaway&) = delete;
  Throwaway& operator=(const Throwaway&) = delete;

  const std::string& path() const { return path_; }  // empty: it could not be made

 private:
  std::string path_;
  OwnedFd lock_;  // on the directory, as long as somebody uses it
};

}  // namespace cloche
