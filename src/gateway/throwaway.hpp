// An empty directory of Cloche's own to try something in; gone with everything in it when we are done.
#pragma once

#include <stdlib.h>

#include <string>

#include "base/directory.hpp"

namespace cloche {

class Throwaway {
 public:
  // In /var/tmp, because the host's /tmp is not what a command sees there; in /tmp where that is all one can
  // write to, on a host that is read-only otherwise.
  explicit Throwaway(const std::string& purpose) {
    for (const char* directory : {"/var/tmp", "/tmp"}) {
      path_ = std::string(directory) + "/cloche-" + purpose + "-XXXXXX";
      if (::mkdtemp(path_.data()) != nullptr) return;
    }
    path_.clear();
  }
  ~Throwaway() {
    if (!path_.empty()) remove_tree(path_);
  }
  Throwaway(const Throwaway&) = delete;
  Throwaway& operator=(const Throwaway&) = delete;

  const std::string& path() const { return path_; }  // empty: it could not be made

 private:
  std::string path_;
};

}  // namespace cloche
