// A client of `cloche mcp` that a test holds by the hand: lines out, lines in, and what it does wrong it does
// on purpose.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/harness.hpp"
#include "run/json.hpp"

namespace cloche::test {

using Millis = std::chrono::milliseconds;

// A workspace, a home and a state directory of the test's own, in all of which nothing is left behind.
class McpScene {
 public:
  explicit McpScene(As as = As::self) : as_(as), scene_(as) {}

  // The user's configuration.
  void configure(const std::string& json) { scene_.write("home/.config/cloche/config.json", json); }
  fs::path write(const fs::path& relative, const std::string& text) { return scene_.write(relative, text); }
  void set(const std::string& variable, const std::string& value) { more_[variable] = value; }
  fs::path workspace() const { return scene_.workspace(); }
  fs::path root() const { return scene_.root(); }
  std::map<std::string, std::string> environment() const;
  // Another build of Cloche than the tested one.
  void use_program(const fs::path& program) { program_ = program; }
  // Of a command of Cloche's in the workspace.
  Command command(std::vector<std::string> words) const;

 private:
  As as_;
  Scene scene_;
  std::map<std::string, std::string> more_ = {};
  std::string program_ = cloche();
};

class McpClient {
 public:
  explicit McpClient(const McpScene& scene, const std::vector<std::string>& flags = {});

  void send(const std::string& line);       // waits while the server does not read
  void send_bytes(std::string_view bytes);  // the same, as they are
  // The next message of the server's; nothing when none comes in time.
  std::optional<Json> receive(Millis within = std::chrono::seconds(10));
  // The answer to that id (as JSON), which may have come already; what comes before it is kept for
  // messages().
  Json answer(const std::string& id, Millis within = std::chrono::seconds(20));
  Json ask(const std::string& id, const std::string& method, const std::string& params = "{}");
  const std::vector<Json>& messages() const { return messages_; }
  std::string last_line() const { return last_line_; }

  // initialize and what follows it.
  void shake_hands(const std::string& capabilities = "{}", const std::string& version = "2025-11-25");

  // A first command, because that one waits until the box has proven itself.
  void warm_up();

  Started& process() { return *process_; }
  // The most memory that it ever had.
  uint64_t most_memory_bytes() const;
  // How long it takes to end after this; our test fails where that is longer than five seconds.
  Millis time_to_end();

 private:
  std::unique_ptr<Started> process_;
  std::string buffer_;
  std::string last_line_;
  std::vector<Json> messages_;
};

// {"name": NAME, "arguments": ARGUMENTS}, with what else is said.
std::string call_params(const std::string& name, const std::string& arguments, const std::string& more = "");
// params with what 2026-07-28 wants in every request.
std::string stateless(const std::string& params, const std::string& capabilities = "{}");

std::string text_of(const Json& answer);  // of the result of a call
int code_of(const Json& answer);          // of an error; 0: it is none

bool wait_for_file(const fs::path& path, Millis within = std::chrono::seconds(10));

}  // namespace cloche::test
