// The sections. Each measures, adds its table and, where the project promised a number, its targets.
#pragma once

#include <cstddef>

#include "base/result.hpp"
#include "contenders.hpp"
#include "report.hpp"
#include "scene.hpp"

namespace cloche::bench {

enum class Pace { full, quick };

Result<void> measure_start_cost(const Scene& scene, Pace pace, Report& report);     // 1
Result<void> measure_throughput(const Scene& scene, Pace pace, Report& report);     // 2
Result<void> measure_inside(const Scene& scene, Pace pace, Report& report);         // 3
Result<void> measure_growth(const Scene& scene, Pace pace, Report& report);         // 4
Result<void> measure_ordinary_user(const Scene& scene, Pace pace, Report& report);  // 5
Result<void> measure_overshoot(const Scene& scene, Pace pace, Report& report);      // 6
Result<void> measure_rules(const Scene& scene, Pace pace, Report& report);          // 7
Result<void> measure_gateway(const Scene& scene, Pace pace, Report& report);        // 8
Result<void> measure_writes(const Scene& scene, Pace pace, Report& report);         // 9
Result<void> measure_levels(const Scene& scene, Pace pace, Report& report);         // 10
Result<void> measure_mcp(const Scene& scene, Pace pace, Report& report);            // 11
Result<void> measure_egress(const Scene& scene, Pace pace, Report& report);         // 12
Result<void> measure_warm_calls(const Scene& scene, Pace pace, Report& report);     // 13

// Section 1's table, also of numbers that were measured elsewhere.
Table start_cost_table(int section, const std::string& title, const ByName& samples);

// Part of section 9: sets of many files.
Result<void> measure_many_changes(const Scene& scene, Pace pace, Report& report);

// A row of section 3's table, and its target. Section 9 has such a table of its own.
struct InsideWork {
  std::string name;
  Command command;
  double goal;  // of the ratio with everything in it
  std::string workspace;
};
Table inside_table(int section, const std::string& title, size_t pairs);
Result<void> measure_inside_work(const Scene& scene, const InsideWork& work, size_t pairs, Table& table,
                                 Report& report);

// What a program started as another user does for us: measures and prints "name value" lines.
Result<void> print_samples(const std::string& what, size_t rounds);

// The machine, its kernel, the compiler, and the layers that hold in every call that is measured.
Result<void> describe_machine(const Scene& scene, Report& report);

// Programs that run inside. How many turns of spin() take so long, roughly.
unsigned long long spin(unsigned long long turns);
unsigned long long turns_for(double seconds);
// Takes memory as fast as it can, and keeps in `tally`, a file, how much it has. The caller reads that
// when it has ended it.
[[noreturn]] void hog_memory(const char* tally);
Result<unsigned long long> hogged_bytes(const std::string& tally);

}  // namespace cloche::bench
