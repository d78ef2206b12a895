#include "mcp/driver.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

namespace cloche::test {
namespace {

using Clock = std::chrono::steady_clock;

int left_until(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<Millis>(deadline - Clock::now()).count();
  return left > 0 ? static_cast<int>(left) : 0;
}

std::string id_of(const Json& message) {
  const Json& id = message["id"];
  if (id.is(Json::Kind::string)) return "\"" + id.string + "\"";
  return id.is(Json::Kind::number) ? std::to_string(static_cast<long long>(id.number)) : "null";
}

}  // namespace

std::map<std::string, std::string> McpScene::environment() const {
  const std::string home = scene_.root() / "home";
  std::map<std::string, std::string> variables = more_;
  variables.insert(
      {{"HOME", home}, {"XDG_STATE_HOME", home + "/state"}, {"XDG_CONFIG_HOME", home + "/.config"}});
  return variables;
}

Command McpScene::command(std::vector<std::string> words) const {
  words.insert(words.begin(), program_);
  return {.argv = std::move(words), .as = as_, .cwd = workspace(), .env = environment()};
}

McpClient::McpClient(const McpScene& scene, const std::vector<std::string>& flags) {
  ::signal(SIGPIPE, SIG_IGN);
  std::vector<std::string> words = {"mcp", "--workspace", scene.workspace()};
  words.insert(words.end(), flags.begin(), flags.end());
  Command command = scene.command(std::move(words));
  command.input = "";
  process_ = std::make_unique<Started>(command);
}

void McpClient::send(const std::string& line) { send_bytes(line + "\n"); }

void McpClient::send_bytes(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(process_->input(), bytes.data(), bytes.size());
    if (put < 0) return;
    bytes.remove_prefix(static_cast<size_t>(put));
  }
}

std::optional<Json> McpClient::receive(Millis within) {
  const auto deadline = Clock::now() + within;
  size_t end = buffer_.find('\n');
  while (end == std::string::npos) {
    pollfd event{process_->output(), POLLIN, 0};
    if (::poll(&event, 1, left_until(deadline)) <= 0) return std::nullopt;
    std::string room(64 << 10, '\0');
    const ssize_t got = ::read(process_->output(), room.data(), room.size());
    if (got <= 0) return std::nullopt;
    const size_t before = buffer_.size();
    buffer_.append(room, 0, static_cast<size_t>(got));
    end = buffer_.find('\n', before);
  }
  last_line_ = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  auto message = parse_json(last_line_);
  EXPECT_TRUE(message) << "not JSON: " << last_line_.substr(0, 300);
  return message;
}

Json McpClient::answer(const std::string& id, Millis within) {
  const auto came = std::find_if(messages_.begin(), messages_.end(), [&](const Json& message) {
    return !message.has("method") && id_of(message) == id;
  });
  if (came != messages_.end()) {
    Json found = std::move(*came);
    messages_.erase(came);
    return found;
  }
  const auto deadline = Clock::now() + within;
  while (auto message = receive(Millis(left_until(deadline)))) {
    if (!message->has("method") && id_of(*message) == id) return *std::move(message);
    messages_.push_back(*std::move(message));
  }
  ADD_FAILURE() << "no answer to " << id;
  return {};
}

Json McpClient::ask(const std::string& id, const std::string& method, const std::string& params) {
  send(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method + R"(","params":)" + params + "}");
  return answer(id);
}

void McpClient::shake_hands(const std::string& capabilities, const std::string& version) {
  ask("\"hands\"", "initialize",
      R"({"protocolVersion":")" + version + R"(","capabilities":)" + capabilities +
          R"(,"clientInfo":{"name":"test","version":"1"}})");
  send(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
}

void McpClient::warm_up() { ask("\"warm\"", "tools/call", call_params("run_shell", R"({"cmd":"true"})")); }

uint64_t McpClient::most_memory_bytes() const {
  const std::string status = read_file("/proc/" + std::to_string(process_->pid()) + "/status");
  const size_t place = status.find("VmHWM:");
  return place == std::string::npos ? 0 : std::stoull(status.substr(place + 6)) << 10;
}

Millis McpClient::time_to_end() {
  const auto begin = Clock::now();
  siginfo_t ended{};
  while (Clock::now() - begin < std::chrono::seconds(5)) {
    if (::waitid(P_PID, static_cast<id_t>(process_->pid()), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        ended.si_pid != 0)
      return std::chrono::duration_cast<Millis>(Clock::now() - begin);
    std::this_thread::sleep_for(Millis(5));
  }
  ADD_FAILURE() << "it does not end";
  return std::chrono::seconds(5);
}

std::string call_params(const std::string& name, const std::string& arguments, const std::string& more) {
  return R"({"name":")" + name + R"(","arguments":)" + arguments + (more.empty() ? "" : "," + more) + "}";
}

std::string stateless(const std::string& params, const std::string& capabilities) {
  const std::string meta =
      R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":)" +
      capabilities + "}";
  return params == "{}" ? "{" + meta + "}" : "{" + meta + "," + params.substr(1);
}

std::string text_of(const Json& answer) {
  const auto& content = answer["result"]["content"].array;
  return content.empty() ? "" : content[0]["text"].string;
}

int code_of(const Json& answer) { return static_cast<int>(answer["error"]["code"].number); }

bool wait_for_file(const fs::path& path, Millis within) {
  const auto deadline = Clock::now() + within;
  while (Clock::now() < deadline) {
    if (fs::exists(path)) return true;
    std::this_thread::sleep_for(Millis(5));
  }
  return fs::exists(path);
}

}  // namespace cloche::test
