// Section 1: what it costs to start and end /bin/true, bare, in Cloche and in bwrap.
#include <string>

#include "sections.hpp"

namespace cloche::bench {
namespace {

constexpr size_t warm_up_rounds = 20;  // the first call makes the self-proof and the skeleton, too

Row row_of(const std::string& name, const ByName& samples) {
  const Samples& mine = samples.at(name);
  Row row = {name, Cell::number(percentile(mine, 0.5), 0), Cell::number(percentile(mine, 0.99), 0),
             Cell::spread(ratio_of_medians(mine, samples.at(bare)))};
  const auto peer = samples.find(bubblewrap);
  row.push_back(peer == samples.end() ? Cell("no bwrap")
                                      : Cell::spread(ratio_of_medians(mine, peer->second)));
  return row;
}

}  // namespace

Table start_cost_table(int section, const std::string& title, const ByName& samples) {
  Table table{section, title, {"start of /bin/true", "p50 us", "p99 us", "to bare", "to bwrap"}};
  for (const char* name : {bare, library, command_line, bubblewrap}) {
    if (samples.contains(name)) table.rows.push_back(row_of(name, samples));
  }
  table.notes.push_back(
      std::to_string(samples.at(bare).size()) +
      " rounds, each with every contender once in an order drawn anew. A ratio is of medians; in "
      "brackets its least and greatest over five blocks of the rounds.");
  return table;
}

Result<void> measure_start_cost(const Scene& scene, Pace pace, Report& report) {
  const ByName samples =
      TRY(interleave(contenders_for(scene), warm_up_rounds, pace == Pace::quick ? size_t{60} : size_t{400}));
  report.tables.push_back(start_cost_table(1, "Start cost", samples));

  const auto ratio = [&](const char* of, const char* to) {
    return ratio_of_medians(samples.at(of), samples.at(to)).middle;
  };
  constexpr auto most = Target::Sense::at_most;
  report.targets.push_back({"library call to bare", ratio(library, bare), 3.5, most, 3.0});
  report.targets.push_back({"`cloche run` to bare", ratio(command_line, bare), 5.0, most, 4.2});
  if (samples.contains(bubblewrap)) {
    report.targets.push_back({"`cloche run` to bwrap", ratio(command_line, bubblewrap), 0.7, most, 0.6});
  }
  return {};
}

}  // namespace cloche::bench
