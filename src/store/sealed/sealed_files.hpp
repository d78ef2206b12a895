// A directory of Cloche's state with small files that survive a restart and are trusted when they are read
// again. The directory is 0700 and its files 0600, all owned by the operator. Each file is replaced whole and
// is on the disk before put() returns. Each carries a seal over its name and its bytes, made with a key that
// lies beside it. So a file that was cut off, edited, renamed or planted by a process that can write there
// but cannot read the key is refused. A process with the operator's own user id can read the key.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json/json_text.hpp"
#include "base/result.hpp"
#include "base/sys/fd.hpp"

namespace cloche {

class SealedFiles {
 public:
  // Makes the directory where it is missing. `name` is its name below the state directory.
  static Result<SealedFiles> open(const std::string& state, const std::string& name);

  // Held while something is changed, or is taken that only one caller may have.
  Result<OwnedFd> lock() const;

  // These need no lock: files are replaced whole. A name is a plain id, with or without an ending.
  std::vector<std::string> names() const;
  Result<std::string> read(const std::string& name, size_t most) const;
  Result<JsonValue> read_json(const std::string& name, size_t most) const;

  // An HMAC of the text with this directory's key. For a directory that has no files: a seal is one as well.
  std::string keyed_digest(std::string_view text) const;

  // Under the lock.
  Result<void> put(const std::string& name, std::string_view bytes) const;
  Result<void> remove(const std::string& name) const;

 private:
  SealedFiles(std::string path, OwnedFd directory, std::string key)
      : path_(std::move(path)), directory_(std::move(directory)), key_(std::move(key)) {}

  std::string path_;  // for messages
  OwnedFd directory_;
  std::string key_;
};

}  // namespace cloche
