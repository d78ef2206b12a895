// cloche-bench: measures Cloche against a bare start and against bwrap, in one interleaved run.
#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "base/sys/sys.hpp"
#include "loopback_server.hpp"
#include "sections.hpp"

namespace cloche::bench {
namespace {

constexpr const char* help =
    "cloche-bench [--quick] [--json] [--only N]\n"
    "  --quick   fewer rounds: to see that it works, not to quote\n"
    "  --json    the same numbers as JSON\n"
    "  --only N  one section: 1 start, 2 throughput, 3 inside against outside, 4 growth, 5 start as an "
    "ordinary user,\n"
    "            6 the watched memory limit, 7 permission rules, 8 the gateway, 9 workspace writes,\n"
    "            10 the isolation levels, 11 the MCP server, 12 the network by name,\n"
    "            13 calls in a process that stays\n";

struct Section {
  int number;
  const char* name;
  Result<void> (*measure)(const Scene&, Pace, Report&);
};

constexpr Section sections[] = {
    {1, "start cost", measure_start_cost},
    {2, "throughput", measure_throughput},
    {3, "inside against outside", measure_inside},
    {4, "growth", measure_growth},
    {5, "start cost for an ordinary user", measure_ordinary_user},
    {6, "the watched memory limit", measure_overshoot},
    {7, "permission rules", measure_rules},
    {8, "the gateway's own part", measure_gateway},
    {9, "workspace writes", measure_writes},
    {10, "the isolation levels", measure_levels},
    {11, "the MCP server", measure_mcp},
    {12, "the network by name", measure_egress},
    {13, "calls in a process that stays", measure_warm_calls},
};

struct Arguments {
  Pace pace = Pace::full;
  bool json = false;
  bool help = false;
  std::optional<int> only = {};
};

std::optional<int> section_named(std::string_view word) {
  for (const auto& section : sections) {
    if (std::to_string(section.number) == word) return section.number;
  }
  return std::nullopt;
}

Result<Arguments> parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--quick") {
      arguments.pace = Pace::quick;
    } else if (word == "--json") {
      arguments.json = true;
    } else if (word == "--help") {
      arguments.help = true;
    } else if (word == "--only" && i + 1 < argc && section_named(argv[i + 1])) {
      arguments.only = section_named(argv[++i]);
    } else {
      return usage_error("cannot use " + std::string(word), "see cloche-bench --help");
    }
  }
  return arguments;
}

// Whether every section was measured.
Result<bool> measure_all(const Arguments& arguments) {
  stop_on_signals();
  const Scene scene = TRY(Scene::create(Scene::Programs::copied));
  // Everything we start inherits these two, so that no call of ours has to pass them; ours goes elsewhere.
  const OwnedFd output(::fcntl(1, F_DUPFD_CLOEXEC, 3));
  const OwnedFd nothing = TRY(sys::open("/dev/null", O_RDWR));
  if (!output || ::dup2(nothing.get(), 0) < 0 || ::dup2(nothing.get(), 1) < 0)
    return system_error("set up the output");
  if (find_program("bwrap").empty()) say("bwrap is not installed: its rows are left out");

  Report report;
  bool complete = true;
  TRY(describe_machine(scene, report));
  for (const auto& section : sections) {
    if (arguments.only && *arguments.only != section.number) continue;
    say(std::string("measuring ") + section.name);
    const auto measured = section.measure(scene, arguments.pace, report);
    TRY(go_on());
    if (measured.ok()) continue;
    // The other sections are worth having all the same.
    complete = false;
    say(describe(measured.error()));
    report.tables.push_back(
        {section.number, section.name, {}, {}, {"**failed**: " + describe(measured.error())}});
  }
  TRY(sys::write_all(output.get(), arguments.json ? to_json(report) : to_markdown(report)));
  return complete;
}

// What the benchmark starts itself as.
std::optional<int> serve_ourselves(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  const auto number_at = [&](int index) {
    unsigned long long number = 0;
    std::from_chars(argv[index], argv[index] + std::strlen(argv[index]), number);
    return number;
  };
  if (mode == "--spin" && argc == 3) return spin(number_at(2)) == 0 ? 1 : 0;
  if (mode == "--hog" && argc == 3) hog_memory(argv[2]);
  if (mode == "--net-client" && argc == 6) return be_client(argv[2], argv[3], argv[4], number_at(5));
  if (mode == "--samples" && argc == 4) {
    const auto printed = print_samples(argv[2], number_at(3));
    if (!printed.ok()) say(describe(printed.error()));
    return printed.ok() ? 0 : 1;
  }
  return std::nullopt;
}

}  // namespace
}  // namespace cloche::bench

int main(int argc, char** argv) {
  using namespace cloche::bench;
  if (const auto code = serve_ourselves(argc, argv)) return *code;
  const auto arguments = parse(argc, argv);
  if (!arguments.ok()) {
    say(describe(arguments.error()));
    return 2;
  }
  if (arguments.value().help) {
    (void)cloche::sys::write_all(1, help);
    return 0;
  }
  const auto complete = measure_all(arguments.value());
  if (!complete.ok()) say(describe(complete.error()));
  return complete.ok() && complete.value() ? 0 : 1;
}
