// What an in-process tool gives back, and how a part of something longer is shown.
#pragma once

#include <cstdint>
#include <string>

#include "tools/files/workspace_access.hpp"

namespace cloche {

// For front ends that can show one; the text says that there is one.
struct ShownImage {
  std::string type = {};   // "image/png", ...; empty: there is none
  std::string bytes = {};  // of the whole file

  bool is_there() const { return !type.empty(); }
};

struct ToolReply {
  std::string text;             // what the model gets
  bool failed = false;          // it was permitted, and it did not work
  std::string structured = {};  // JSON by the tool's output schema; empty when it failed, and of an image
  ShownImage image = {};
};

ToolReply failed_reply(std::string why);

// A part of a file or of a result, cut between characters, with how to get the rest.
struct Excerpt {
  std::string text;       // UTF-8; a byte that is none shows as U+FFFD
  uint64_t bytes = 0;     // how many of the source it shows
  uint64_t next = 0;      // the offset behind it
  bool more = false;      // whether there is anything behind it
  std::string note = {};  // says so to the model; empty when all was shown
};
Excerpt excerpt(const FilePart& part, uint64_t offset);

// The reply that shows it; `name` is the JSON key that says of what, and `of` is that.
ToolReply show_excerpt(const std::string& name, const std::string& of, const FilePart& part, uint64_t offset);

// The output schema of such a reply.
std::string excerpt_schema(const std::string& name);

}  // namespace cloche
