// A shelf: a directory of Cloche's own state for small things that have to survive a restart and are believed
// when they come back. 0700 with files of 0600, all of them the operator's; each is replaced whole and is on
// the disk before put() returns; each carries a seal made with a key that lies beside it, over its name and
// its bytes. So what was cut off, edited, renamed or planted by whoever could write a file there but not read
// the key is refused; against somebody who has the operator's own id there is no seal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"

namespace cloche {

class Shelf {
 public:
  // Makes what is missing. `name` is the directory's, below the state directory.
  static Result<Shelf> open(const std::string& state, const std::string& name);

  // Whoever changes something, or takes what only one may have, holds this meanwhile.
  Result<OwnedFd> lock() const;

  // These need no lock to be whole; what is not a plain id (with an ending) is no name.
  std::vector<std::string> names() const;
  Result<std::string> read(const std::string& name, size_t most) const;

  // Under the lock.
  Result<void> put(const std::string& name, std::string_view bytes) const;
  Result<void> remove(const std::string& name) const;

 private:
  Shelf(std::string path, OwnedFd directory, std::string key)
      : path_(std::move(path)), directory_(std::move(directory)), key_(std::move(key)) {}

  std::string path_;  // for messages
  OwnedFd directory_;
  std::string key_;
};

}  // namespace cloche
