// run_python against the same code in a python3 that is started for it.
#include <string>

#include "base/json/json_writer.hpp"
#include "sections.hpp"

namespace cloche::bench {
namespace {

struct Code {
  const char* name;
  const char* text;
  std::optional<double> goal;  // of the ratio
};

constexpr Code codes[] = {
    {"print(1)", "print(1)", 1.0 / 7},
    {"import numpy", "import numpy", {}},
    {"import pandas", "import pandas", {}},
};

}  // namespace

Result<void> measure_python(const Scene& scene, Pace pace, Report& report) {
  const std::string python = "/usr/bin/python3";  // the one that is inside, too
  Table table{"python", "Python", {"code", "bare python3 p50 ms", "run_python p50 ms", "ratio"}};
  for (const Code& code : codes) {
    const Measured outside = spawning({.argv = {python, "-c", code.text}, .silent = true});
    if (!outside().ok()) {
      table.notes.push_back(std::string(code.name) + " is left out: it does not work here.");
      continue;
    }
    const std::string arguments = "{\"code\": " + json_quote(code.text) + "}";
    const Measured inside = TRY(calling_gateway(scene, {}, {"run_python", arguments}));
    const ByName took = TRY(
        interleave({{bare, outside}, {library, inside}}, 5, pace == Pace::quick ? size_t{30} : size_t{200}));
    const Spread ratio = ratio_of_medians(took.at(library), took.at(bare));
    table.rows.push_back({code.name, Cell::number(median(took.at(bare)) / 1000, 2),
                          Cell::number(median(took.at(library)) / 1000, 2), Cell::spread(ratio)});
    report.targets.push_back({"`run_python` of `" + std::string(code.text) + "`, to a cold bare python3",
                              ratio.middle, code.goal, Target::Sense::at_most});
  }
  table.notes.push_back("A call of the library as it is by default, to its answer.");
  report.tables.push_back(std::move(table));
  return {};
}

}  // namespace cloche::bench
