// The same work inside and outside, in pairs.
#include <fcntl.h>

#include <string>
#include <vector>

#include "base/sys/sys.hpp"
#include "sections.hpp"

namespace cloche::bench {
namespace {

// What an ordinary file of a C++ project makes the compiler do: mostly other people's headers.
constexpr const char* source = R"cpp(
#include <algorithm>
#include <map>
#include <string>
#include <vector>

  std::map<std::string, std::vector<int>> group(const std::vector<std::string>& words) {
    std::map<std::string, std::vector<int>> places;
    for (size_t i = 0; i < words.size(); ++i) places[words[i]].push_back(static_cast<int>(i));
    for (auto& [word, where] : places) std::sort(where.rbegin(), where.rend());
    return places;
  }

  std::vector<std::string> longest(const std::vector<std::string>& words, size_t count) {
    auto sorted = words;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.size() > b.size(); });
    sorted.resize(std::min(sorted.size(), count));
    return sorted;
  }
)cpp";

struct Work {
  std::string name;
  Command command;
  double goal;  // of the ratio with everything in it
  std::string workspace;
};

Result<std::vector<Work>> works(const Scene& scene) {
  const std::string place = scene.workspace();
  const std::string turns = std::to_string(turns_for(0.3));
  const std::string searched = scene.directory() + "/searched";
  TRY(make_tree(searched, 2000, 18'000));
  std::vector<Work> list = {
      {"CPU-bound loop", {.argv = {scene.program("cloche-bench"), "--spin", turns}}, 1.02, place},
      {"find of 20,000 entries", {.argv = {find_program("find"), searched}}, 1.5, searched}};
  if (const std::string git = find_program("git"); !git.empty())
    list.push_back({"git status of 5,000 files", {.argv = {git, "-C", place, "status"}}, 1.5, place});
  if (const std::string compiler = find_program("g++"); !compiler.empty()) {
    const OwnedFd file = TRY(sys::open(place + "/unit.cpp", O_WRONLY | O_CREAT | O_TRUNC, 0644));
    TRY(sys::write_all(file.get(), source));
    list.push_back(
        {"compile, g++ -O1 -c", {.argv = {compiler, "-O1", "-c", "unit.cpp", "-o", "unit.o"}}, 1.05, place});
  }
  return list;
}

Command put_inside(const Scene& scene, const std::string& workspace, Command command) {
  const std::vector<std::string> words = {scene.program("cloche"), "run", "--workspace", workspace, "--ro",
                                          scene.programs(),        "--"};
  command.argv.insert(command.argv.begin(), words.begin(), words.end());
  return command;
}

Samples less_by(Samples samples, double amount) {
  for (auto& sample : samples) sample -= amount;
  return samples;
}

Result<void> measure_work(const Scene& scene, const Work& work, size_t pairs, Table& table, Report& report) {
  constexpr const char* outside_name = "outside";
  constexpr const char* inside_name = "inside";
  const auto pair = [&](const Command& command) {
    return std::vector<Contender>{{outside_name, spawning(command)},
                                  {inside_name, spawning(put_inside(scene, work.workspace, command))}};
  };
  say("inside against outside: " + work.name);
  // Anew for each, because the machine's mood changes over minutes.
  const ByName starts = TRY(interleave(pair({.argv = {"/bin/true"}}), 3, pairs * 3));
  const double start_cost = median(starts.at(inside_name)) - median(starts.at(outside_name));
  const ByName took = TRY(interleave(pair(work.command), 2, pairs));
  const Samples& outside = took.at(outside_name);
  const Samples& inside = took.at(inside_name);
  const Spread ratio = ratio_of_pairs(inside, outside);
  table.rows.push_back({work.name, Cell::number(median(outside) / 1000, 1),
                        Cell::number(median(inside) / 1000, 1), Cell::spread(ratio, 3),
                        Cell::spread(ratio_of_pairs(less_by(inside, start_cost), outside), 3)});
  report.targets.push_back(
      {work.name + ", inside to outside", ratio.middle, work.goal, Target::Sense::at_most});
  return {};
}

}  // namespace

Result<void> measure_inside(const Scene& scene, Pace pace, Report& report) {
  const size_t pairs = pace == Pace::quick ? 5 : 31;
  Table table{"inside",
              "Inside against outside",
              {"work", "outside ms", "inside ms", "ratio", "ratio without the start"}};
  for (const auto& work : TRY(works(scene))) TRY(measure_work(scene, work, pairs, table, report));
  table.notes.push_back(
      std::to_string(pairs) +
      " pairs of `cloche run` and bare, output to /dev/null; the median of the "
      "pairs' ratios with its quartiles. The last column takes off what starting /bin/true costs more "
      "inside. The goals are for the ratio with everything in it.");
  report.tables.push_back(std::move(table));
  return {};
}

}  // namespace cloche::bench
