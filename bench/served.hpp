// A `cloche mcp` that runs, from its client's side.
#pragma once

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "base/sys/sys.hpp"

namespace cloche::bench {

inline std::string call_line(int id, const std::string& tool, const std::string& arguments) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"tools/call","params":{"name":")" +
         tool + R"(","arguments":)" + arguments + "}}\n";
}

// The server, and its client's ends of two pipes.
class Served {
 public:
  static Result<Served> start(const std::string& program, const std::string& run,
                              const std::vector<std::string>& flags = {}) {
    Served served;
    Pipe in = TRY(sys::make_pipe());
    Pipe out = TRY(sys::make_pipe());
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, in.read.get(), 0);
    ::posix_spawn_file_actions_adddup2(&actions, out.write.get(), 1);
    std::vector<std::string> words = {program, "mcp", "--run", run};
    words.insert(words.end(), flags.begin(), flags.end());
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const int problem = ::posix_spawn(&served.pid_, argv[0], &actions, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (problem != 0) return system_error("start " + program, problem);
    served.in_ = std::move(in.write);
    served.out_ = std::move(out.read);
    TRY(served.send(
        R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}})"
        "\n"));
    TRY(served.receive());
    return served;
  }
  Served(Served&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)), in_(std::move(other.in_)), out_(std::move(other.out_)) {}
  Served& operator=(Served&&) = delete;
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;
  ~Served() {
    in_.reset();
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  }

  Result<void> send(const std::string& line) const { return sys::write_all(in_.get(), line); }
  // The next line.
  Result<std::string> receive() {
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

 private:
  Served() = default;

  pid_t pid_ = -1;
  OwnedFd in_;
  OwnedFd out_;
  std::string buffer_;
};

}  // namespace cloche::bench
