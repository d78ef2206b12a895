// A web address in the one spelling that is judged and asked for.
#pragma once

#include <string>
#include <string_view>

namespace cloche {

struct WebAddress {
  std::string problem = {};  // why it is none; then nothing below means anything
  bool secure = false;       // https
  std::string host = {};     // NAME:PORT; what the network gate says of it is not known here
  std::string rest = {};     // path and query, beginning with a slash
  std::string url = {};      // all of it again: what is fetched

  bool is_localhost() const { return host.starts_with("localhost:"); }
};

// http or https, a host, perhaps a port, a path and a query of printable ASCII. A fragment is left out. No
// user, because a log would show it, and nothing that two readers could read differently.
WebAddress read_web_address(std::string_view text);

}  // namespace cloche
