// What a file tool would do in the workspace, as a plain value: understood by tools/, judged by the gates,
// carried out through Hands. Nothing of it has been looked up yet.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cloche {

struct FileAction {
  enum class Kind { write, edit, read, list, search };

  Kind kind = Kind::read;
  std::string path = {};      // as written, relative to the workspace; of list and search empty: all of it
  std::string content = {};   // of write the whole new file; of edit what comes in
  std::string replaced = {};  // of edit: what goes out; it must be there exactly once
  std::string pattern = {};   // of search RE2's; of list a glob, empty: everything
  uint64_t offset = 0;        // of read: the first byte
  uint64_t limit = 256ULL << 10;  // of read: how many bytes at most
};

constexpr bool changes_files(FileAction::Kind kind) {
  return kind == FileAction::Kind::write || kind == FileAction::Kind::edit;
}

std::string_view name_of(FileAction::Kind kind);
// For plans: what it does and where; new contents by their hash.
std::string to_json(const FileAction& action);

}  // namespace cloche
