#include "mcp_client.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "base/sys/sys.hpp"

namespace cloche::bench {

std::string call_line(int id, const ToolCall& call) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"tools/call","params":{"name":")" +
         call.tool + R"(","arguments":)" + call.arguments + "}}\n";
}

Result<McpClient> McpClient::start(const std::string& program, const std::optional<std::string>& run,
                                   const std::vector<std::string>& flags) {
  McpClient client;
  Pipe in = TRY(sys::make_pipe());
  Pipe out = TRY(sys::make_pipe());
  std::vector<std::string> words = {program, "mcp"};
  if (run) words.insert(words.end(), {"--run", *run});
  words.insert(words.end(), flags.begin(), flags.end());
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in.read.get(), 0);
  ::posix_spawn_file_actions_adddup2(&actions, out.write.get(), 1);
  const int problem = ::posix_spawn(&client.pid_, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (problem != 0) return system_error("start " + program, problem);
  client.in_ = std::move(in.write);
  client.out_ = std::move(out.read);
  TRY(client.send(
      R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}})"
      "\n"));
  TRY(client.receive());
  return client;
}

McpClient::McpClient(McpClient&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      in_(std::move(other.in_)),
      out_(std::move(other.out_)),
      buffer_(std::move(other.buffer_)) {}

McpClient::~McpClient() {
  in_.reset();
  if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
}

Result<void> McpClient::send(const std::string& line) const { return sys::write_all(in_.get(), line); }

Result<std::string> McpClient::receive() {
  size_t end = buffer_.find('\n');
  while (end == std::string::npos) {
    char room[16384];
    const ssize_t got = ::read(out_.get(), room, sizeof room);
    if (got <= 0) return system_error("hear the server");
    buffer_.append(room, static_cast<size_t>(got));
    end = buffer_.find('\n');
  }
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return line;
}

}  // namespace cloche::bench
