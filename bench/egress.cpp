// The network by name. What it costs to have it, and what passes through the gate against the
// same over the bare loopback. Nothing leaves the machine: the server is the benchmark's own.
#include <dirent.h>

#include <string>
#include <thread>
#include <vector>

#include "base/sys/sys.hpp"
#include "loopback_server.hpp"
#include "sections.hpp"

namespace cloche::bench {
namespace {

constexpr const char* without = "without a network";
constexpr const char* with = "with --net";
constexpr const char* direct = "direct";
constexpr const char* through = "through the gate";

std::vector<std::string> run_with(const Scene& scene, const std::vector<std::string>& flags,
                                  const std::vector<std::string>& argv) {
  std::vector<std::string> words = {scene.program("cloche"), "run", "--ro", scene.programs()};
  words.insert(words.end(), flags.begin(), flags.end());
  words.emplace_back("--");
  words.insert(words.end(), argv.begin(), argv.end());
  return words;
}

// The client, bare or inside; in both it dials the name.
Command client(const Scene& scene, const LoopbackServer& server, bool inside, const std::string& what,
               unsigned long long count) {
  const std::string port = std::to_string(server.port());
  const std::vector<std::string> argv = {
      scene.program("cloche-bench"), "--net-client", what, "localhost", port, std::to_string(count)};
  return {.argv = inside ? run_with(scene, {"--net", "localhost:" + port}, argv) : argv};
}

// By the server's clock.
Measured timed_by(LoopbackServer& server, const Command& command, size_t connections) {
  return [&server, call = spawning(command), connections]() -> Result<double> {
    server.expect(connections);
    TRY(call());
    return server.took();
  };
}

Result<ByName> both_ways(const Scene& scene, LoopbackServer& server, const std::string& what,
                         unsigned long long count, size_t connections, size_t rounds) {
  return interleave({{direct, timed_by(server, client(scene, server, false, what, count), connections)},
                     {through, timed_by(server, client(scene, server, true, what, count), connections)}},
                    1, rounds);
}

Result<void> measure_call(const Scene& scene, Pace pace, Table& table, Report& report) {
  const ByName took =
      TRY(interleave({{without, spawning({.argv = run_with(scene, {}, {"/bin/true"})})},
                      {with, spawning({.argv = run_with(scene, {"--net", "example.org"}, {"/bin/true"})})}},
                     3, pace == Pace::quick ? 20 : 200));
  const Spread ratio = ratio_of_pairs(took.at(with), took.at(without));
  table.rows.push_back({"a call that does not use it, ms", Cell::number(median(took.at(without)) / 1000, 2),
                        Cell::number(median(took.at(with)) / 1000, 2), Cell::spread(ratio)});
  report.targets.push_back({"a call with --net to one without", ratio.middle, 1.2, Target::Sense::at_most});
  return {};
}

Result<void> measure_bytes(const Scene& scene, LoopbackServer& server, Pace pace, Table& table,
                           Report& report) {
  constexpr unsigned long long gibibyte = 1ULL << 30;
  const ByName took = TRY(both_ways(scene, server, "pull", gibibyte, 1, pace == Pace::quick ? 3 : 11));
  const auto rate = [&](const char* name) { return 1024 * 1e6 / median(took.at(name)); };
  const Spread ratio =
      ratio_of_pairs(took.at(direct), took.at(through));  // of the rates: the other way round
  table.rows.push_back({"1 GiB, MiB a second", Cell::number(rate(direct), 0), Cell::number(rate(through), 0),
                        Cell::spread(ratio)});
  report.targets.push_back(
      {"egress, 1 GiB through the gate, to direct", ratio.middle, 0.6, Target::Sense::at_least});
  return {};
}

Result<void> measure_latency(const Scene& scene, LoopbackServer& server, Pace pace, Table& table,
                             Report& report) {
  constexpr size_t connections = 300;
  const ByName took =
      TRY(both_ways(scene, server, "ask", connections, connections, pace == Pace::quick ? 3 : 11));
  const double each_direct = median(took.at(direct)) / connections;
  const double each_through = median(took.at(through)) / connections;
  table.rows.push_back({"connect, ask, answer, close: us", Cell::number(each_direct, 0),
                        Cell::number(each_through, 0), Cell::number(each_through - each_direct, 0)});
  report.targets.push_back(
      {"what the gate adds to a connection, us", each_through - each_direct, 300, Target::Sense::at_most});
  return {};
}

std::string field_of(const std::string& pid, const std::string& name) {
  const auto text = sys::read_file("/proc/" + pid + "/status");
  if (!text.ok()) return {};
  const size_t at = text.value().find(name + ":\t");
  if (at == std::string::npos) return {};
  const size_t begin = at + name.size() + 2;
  return text.value().substr(begin, text.value().find('\n', begin) - begin);
}

// The gate whose parent is of this benchmark's programs.
std::string find_gate(const Scene& scene) {
  std::string found;
  DIR* all = ::opendir("/proc");
  while (const dirent* entry = all != nullptr ? ::readdir(all) : nullptr) {
    const std::string pid = entry->d_name;
    if (field_of(pid, "Name") != "cloche-egress") continue;
    const auto command = sys::read_file("/proc/" + field_of(pid, "PPid") + "/cmdline");
    if (command.ok() && command.value().starts_with(scene.programs())) found = pid;
  }
  if (all != nullptr) ::closedir(all);
  return found;
}

Result<void> measure_memory(const Scene& scene, LoopbackServer& server, Table& table, Report& report) {
  constexpr size_t connections = 1000;
  Result<double> called = 0.0;
  std::thread caller([&] { called = spawning(client(scene, server, true, "hold", connections))(); });
  const Result<void> held = server.wait_for_held(connections);
  const std::string resident = field_of(find_gate(scene), "VmRSS");
  server.release();
  caller.join();
  TRY(held);
  TRY(called);
  const double mebibytes = std::atof(resident.c_str()) / 1024;
  if (mebibytes == 0) return Error{Cause::internal, "the egress process was not found", 0, {}};
  table.rows.push_back(
      {"memory of the gate with 1000 connections, MiB", "-", Cell::number(mebibytes, 1), "-"});
  report.targets.push_back(
      {"MiB that the gate has with 1000 connections", mebibytes, 64, Target::Sense::at_most});
  return {};
}

}  // namespace

Result<void> measure_egress(const Scene& scene, Pace pace, Report& report) {
  const auto server = TRY(LoopbackServer::open());
  Table table{"egress", "The network by name", {"what", "without", "with", "ratio, or difference"}};
  TRY(measure_call(scene, pace, table, report));
  TRY(measure_bytes(scene, *server, pace, table, report));
  TRY(measure_latency(scene, *server, pace, table, report));
  TRY(measure_memory(scene, *server, table, report));
  table.notes.push_back(
      "Against a server on the host's loopback, `--net localhost:PORT`, by the server's clock; each pair of "
      "one round. "
      "The first row's call declares a name and never asks for it, so that no egress process is started.");
  report.tables.push_back(std::move(table));
  return {};
}

}  // namespace cloche::bench
