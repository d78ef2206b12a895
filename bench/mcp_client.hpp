// A client of `cloche mcp`, and the server that it starts, over two pipes.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "model/call.hpp"

namespace cloche::bench {

// A request as one line.
std::string call_line(int id, const ToolCall& call);

class McpClient {
 public:
  // Where no run is named, the server keeps its record where it always does.
  static Result<McpClient> start(const std::string& program, const std::optional<std::string>& run = {},
                                 const std::vector<std::string>& flags = {});
  McpClient(McpClient&& other) noexcept;
  McpClient& operator=(McpClient&&) = delete;
  McpClient(const McpClient&) = delete;
  McpClient& operator=(const McpClient&) = delete;
  ~McpClient();

  Result<void> send(const std::string& line) const;
  // The next line.
  Result<std::string> receive();

 private:
  McpClient() = default;

  pid_t pid_ = -1;
  OwnedFd in_ = {};
  OwnedFd out_ = {};
  std::string buffer_ = {};
};

}  // namespace cloche::bench
