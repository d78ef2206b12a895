// The sections. Each measures, adds its table and, where the project promised a number, its targets.
#pragma once

#include <cstddef>

#include "base/result.hpp"
#include "contenders.hpp"
#include "report.hpp"
#include "scene.hpp"

namespace cloche::bench {

enum class Pace { full, quick };

Result<void> measure_start(const Scene& scene, Pace pace, Report& report);
Result<void> measure_throughput(const Scene& scene, Pace pace, Report& report);
Result<void> measure_gateway(const Scene& scene, Pace pace, Report& report);
Result<void> measure_mcp(const Scene& scene, Pace pace, Report& report);
Result<void> measure_warm_calls(const Scene& scene, Pace pace, Report& report);
Result<void> measure_python(const Scene& scene, Pace pace, Report& report);
Result<void> measure_growth(const Scene& scene, Pace pace, Report& report);
Result<void> measure_egress(const Scene& scene, Pace pace, Report& report);
Result<void> measure_inside(const Scene& scene, Pace pace, Report& report);
Result<void> measure_writes(const Scene& scene, Pace pace, Report& report);
Result<void> measure_levels(const Scene& scene, Pace pace, Report& report);
Result<void> measure_overshoot(const Scene& scene, Pace pace, Report& report);
Result<void> measure_rules(const Scene& scene, Pace pace, Report& report);

// Part of workspace writes: sets of many files.
Result<void> measure_many_changes(const Scene& scene, Pace pace, Report& report);

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
