// `cloche mcp` from its client's side: what a call costs that starts no process, and two hundred
// at once.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>

#include "base/json/json_text.hpp"
#include "doors/approve/terminal_approver.hpp"
#include "gateway/gateway.hpp"
#include "mcp_client.hpp"
#include "sections.hpp"

namespace cloche::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int at_once = 200;
constexpr double goal_us = 200;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

struct Compared {
  Samples door = {};     // there and back
  Samples gateway = {};  // the same call without the door
};

Result<Compared> compare(McpClient& served, Gateway& gateway, const ToolCall& call, size_t rounds) {
  TerminalApprover nobody(0, "/nonexistent");
  Compared compared;
  for (size_t i = 0; i < rounds; ++i) {
    const std::string line = call_line(static_cast<int>(i), call);
    const auto start = Clock::now();
    TRY(served.send(line));
    const std::string answer = TRY(served.receive());
    compared.door.push_back(microseconds_since(start));
    if (answer.find("\"result\"") == std::string::npos) return refusal("a call was not answered: " + answer);
    const auto again = Clock::now();
    (void)gateway.call(call, {}, nobody);
    compared.gateway.push_back(microseconds_since(again));
  }
  return compared;
}

struct AtOnce {
  double milliseconds = 0;
  int errors = 0;
  int furthest = 0;  // how far from its place in the order of the calls one was answered
};

Result<AtOnce> all_at_once(McpClient& served) {
  AtOnce seen;
  const auto start = Clock::now();
  for (int i = 0; i < at_once; ++i) TRY(served.send(call_line(i, {"run_shell", R"({"cmd":"true"})"})));
  for (int place = 0; place < at_once; ++place) {
    const std::string line = TRY(served.receive());
    const auto answer = TRY(read_json(line, "answer"));
    const JsonValue* result = answer.find("result");
    const JsonValue* is_error = result != nullptr ? result->find("isError") : nullptr;
    if (is_error == nullptr || is_error->truth) ++seen.errors;
    if (const JsonValue* id = answer.find("id"))
      seen.furthest = std::max(seen.furthest, std::abs(place - static_cast<int>(id->integer)));
  }
  seen.milliseconds = microseconds_since(start) / 1000;
  return seen;
}

}  // namespace

Result<void> measure_mcp(const Scene& scene, Pace pace, Report& report) {
  const size_t rounds = pace == Pace::quick ? 1000 : 5000;
  const MemoryPlace place;
  McpClient served = TRY(McpClient::start(scene.program("cloche"), place.directory() + "/served"));
  SessionOptions options = default_session();
  options.run = place.directory() + "/direct";
  options.programs.folder = scene.programs();
  const auto gateway = TRY(Gateway::open(options, Environment(environ)));
  Table table{"mcp",
              "A call through cloche mcp, without a process",
              {"call", "there and back, p50 us", "p99 us", "Gateway::call, p50 us", "the door's own, us"}};
  const std::pair<const char*, ToolCall> calls[] = {
      {"read_artifact, refused", {"read_artifact", R"({"path": "../a"})"}},
      {"read_artifact", {"read_artifact", R"({"path": "none"})"}},
      {"write_artifact", {"write_artifact", R"({"path": "a", "content": "x"})"}}};
  double slowest = 0;
  for (const auto& [name, call] : calls) {
    (void)TRY(compare(served, *gateway, call, 200));  // warm
    const Compared compared = TRY(compare(served, *gateway, call, rounds));
    const double door = median(compared.door);
    if (call.tool != "write_artifact") slowest = std::max(slowest, door);
    table.rows.push_back({name, Cell::number(door, 1), Cell::number(percentile(compared.door, 0.99), 1),
                          Cell::number(median(compared.gateway), 1),
                          Cell::number(door - median(compared.gateway), 1)});
  }
  (void)TRY(all_at_once(served));
  const AtOnce seen = TRY(all_at_once(served));
  table.notes.push_back(std::to_string(at_once) +
                        " calls of `true` at once: " + std::to_string(static_cast<int>(seen.milliseconds)) +
                        " ms, " + std::to_string(seen.errors) + " errors, none answered more than " +
                        std::to_string(seen.furthest) + " places from where it came.");
  report.targets.push_back(
      {"tools/call there and back without a process, us", slowest, goal_us, Target::Sense::at_most});
  report.targets.push_back(
      {"errors of 200 calls at once", static_cast<double>(seen.errors), 0, Target::Sense::at_most});
  report.tables.push_back(std::move(table));
  return {};
}

}  // namespace cloche::bench
