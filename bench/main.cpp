// cloche-bench: measures Cloche against a bare start and other sandboxes, in one interleaved run.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/sys/sys.hpp"
#include "loopback_server.hpp"
#include "sections.hpp"

namespace cloche::bench {
namespace {

struct Section {
  std::string_view name;
  const char* says;
  Result<void> (*measure)(const Scene&, Pace, Report&);
};

constexpr Section sections[] = {
    {"start", "a start, as root and as an ordinary user, on a quiet machine and on a busy one",
     measure_start},
    {"gateway", "the gateway's own part of a call", measure_gateway},
    {"mcp", "a call through cloche mcp", measure_mcp},
    {"pool", "a call in a process that stays, with sandboxes that wait", measure_warm_calls},
    {"throughput", "calls a second, and their p99, at 1 to 128 at once", measure_throughput},
    {"growth", "a call by the caller's memory and mounts", measure_growth},
    {"python", "run_python", measure_python},
    {"egress", "the network by name", measure_egress},
    {"inside", "the same work inside and outside", measure_inside},
    {"writes", "workspace writes, and the size of the tree", measure_writes},
    {"levels", "the isolation levels", measure_levels},
    {"memory", "the watched memory limit of an ordinary user", measure_overshoot},
    {"rules", "permission rules", measure_rules},
};

std::string help() {
  std::string text =
      "cloche-bench [--quick] [--json] [--only PART]... [--docs DIR]\n"
      "  --quick      fewer rounds: to see that it works, not to quote\n"
      "  --json       the same numbers as JSON\n"
      "  --docs DIR   also write the tables into DIR/bench.md, where it has places for them, and the plots "
      "as\n"
      "               DIR/bench-*.svg\n"
      "  --only PART  of these, as often as you like:\n";
  for (const auto& section : sections) {
    std::string name(section.name);
    name.resize(15, ' ');
    text += "      " + name + section.says + "\n";
  }
  return text;
}

struct Arguments {
  Pace pace = Pace::full;
  bool json = false;
  bool help = false;
  std::vector<std::string_view> only = {};  // none: every section
  std::string docs = {};                    // empty: nothing is written there
};

bool is_section(std::string_view word) {
  return std::any_of(std::begin(sections), std::end(sections),
                     [&](const Section& section) { return section.name == word; });
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
    } else if (word == "--only" && i + 1 < argc && is_section(argv[i + 1])) {
      arguments.only.emplace_back(argv[++i]);
    } else if (word == "--docs" && i + 1 < argc) {
      arguments.docs = std::filesystem::absolute(argv[++i]);
    } else {
      return usage_error("cannot use " + std::string(word), "see cloche-bench --help");
    }
  }
  return arguments;
}

Result<void> write_file(const std::string& path, const std::string& text) {
  const OwnedFd file = TRY(sys::open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644));
  return sys::write_all(file.get(), text);
}

Result<void> write_docs(const std::string& directory, const Report& report) {
  const std::string document = directory + "/bench.md";
  const std::string text = TRY(sys::read_file(document, 1 << 20));
  TRY(write_file(document, with_tables(text, report)));
  for (const auto& plot : report.plots)
    TRY(write_file(directory + "/bench-" + plot.name + ".svg", to_svg(plot)));
  return {};
}

// Whether every section was measured.
Result<bool> measure_all(const Arguments& arguments) {
  stop_on_signals();
  const Scene scene = TRY(Scene::create());
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
    const auto& only = arguments.only;
    if (!only.empty() && std::find(only.begin(), only.end(), section.name) == only.end()) continue;
    say("measuring " + std::string(section.name));
    const auto measured = section.measure(scene, arguments.pace, report);
    TRY(go_on());
    if (measured.ok()) continue;
    // The other sections are worth having all the same.
    complete = false;
    say(describe(measured.error()));
    report.tables.push_back(
        {std::string(section.name), section.says, {}, {}, {"**failed**: " + describe(measured.error())}});
  }
  TRY(sys::write_all(output.get(), arguments.json ? to_json(report) : to_markdown(report)));
  if (!arguments.only.empty()) report.targets.clear();  // a document keeps its rows of the other parts
  if (!arguments.docs.empty()) TRY(write_docs(arguments.docs, report));
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
    (void)cloche::sys::write_all(1, help());
    return 0;
  }
  const auto complete = measure_all(arguments.value());
  if (!complete.ok()) say(describe(complete.error()));
  return complete.ok() && complete.value() ? 0 : 1;
}
