// What cloche-fetch prints of one answer of a web server, and how the gateway reads it. The program that
// prints it has read what a hostile server sent, so whatever is not exactly this frame is no answer at all.
//
//   cloche-fetch 1          or   cloche-fetch 1
//   status 200                   problem the server's certificate is not trusted
//   location URL            (nothing behind the blank: it is no redirect)
//   type text/html
//   truncated no
//   body 12
//   <12 bytes>
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace cloche {

inline constexpr size_t most_fetched_bytes = size_t{1} << 20;  // of a body; the rest is not fetched

// Stands for an address that a frame cannot carry as it is: it leads nowhere, where one that is changed a
// little would lead somewhere else.
inline constexpr std::string_view unreadable_location = "?";

struct FetchAnswer {
  std::string problem = {};  // why there is none; then nothing below means anything
  int status = 0;
  std::string location = {};  // where a redirect leads, absolute or unreadable; empty: it is none
  std::string type = {};      // of the content, as the server says it
  bool truncated = false;
  std::string body = {};

  bool operator==(const FetchAnswer&) const = default;
};

std::string to_frame(const FetchAnswer& answer);
// Nothing for what is no frame.
std::optional<FetchAnswer> read_frame(std::string_view text);

}  // namespace cloche
