// Reads a git configuration as git does, entry by entry: sections and keys on one line or several, comments,
// quotes, escapes, lines that go on. What it includes from elsewhere is the caller's to read. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cloche {

struct GitConfigEntry {
  std::string section;    // lower case; empty before the first one, where git takes keys as well
  bool has_name = false;  // [remote "origin"], or [remote.origin] as it once was
  std::string name = {};
  std::string key = {};    // lower case
  std::string value = {};  // empty for a key alone, which is a yes
  bool has_value = false;

  bool operator==(const GitConfigEntry&) const = default;
};

// "section.key", or "section.*.key" where the section has a name of its own.
std::string kind_of(const GitConfigEntry& entry);

class GitConfigReader {
 public:
  explicit GitConfigReader(std::string_view text);

  // Nothing: there is no more, or git would give up here.
  std::optional<GitConfigEntry> next();
  bool has_failed() const { return failed_; }

 private:
  bool skip_blank();
  void skip_line();
  std::optional<char> take();
  std::string take_word();
  bool read_section();
  bool read_section_name();
  std::optional<GitConfigEntry> read_entry();
  std::optional<std::string> read_value();
  bool read_escape(std::string& value, size_t& kept);

  std::string_view rest_;
  GitConfigEntry section_;  // without key and value
  bool failed_ = false;
};

}  // namespace cloche
