// What each level of the ladder costs, beside the bare tool that builds its box with the same
// words, and so what of it is our own part: the plan, the stage, the watching and the look at what was left.
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/json/json_text.hpp"
#include "sections.hpp"

namespace cloche::bench {
namespace {

using Words = std::vector<std::string>;

constexpr double own_part_goal_ms = 1.5;

struct Work {
  const char* name;
  Words argv;
};

// A backend, and how the same command is started without Cloche.
struct Peer {
  const char* backend;
  const char* tool;
  Result<Words> (*words)(const Scene& scene, const Work& work);
};

Words cloche_words(const Scene& scene, Words flags, const Work& work) {
  Words words = {scene.program("cloche")};
  words.insert(words.end(), flags.begin(), flags.end());
  words.emplace_back("--");
  words.insert(words.end(), work.argv.begin(), work.argv.end());
  return words;
}

Result<Words> bare_words(const Scene&, const Work& work) { return work.argv; }

Result<Words> bwrap_words(const Scene& scene, const Work& work) {
  const std::string text =
      TRY(output_of(cloche_words(scene, {"wrap", "--backend", "bwrap", "--json"}, work)));
  const JsonValue wrapped = TRY(read_json(text, "cloche wrap"));
  const JsonValue* argv = wrapped.find("argv");
  if (argv == nullptr || argv->items.empty()) return refusal("cloche wrap prints no words for bwrap");
  Words words;
  for (const auto& word : argv->items) words.push_back(word.text);
  words[0] = find_program(words[0]);
  if (words[0].empty()) return refusal("bwrap is not installed");
  return words;
}

// A bundle of its own for each work: two boxes may not have one root directory.
std::string place_of(const Scene& scene, const Work& work, const std::string& runtime) {
  return scene.directory() + "/" + runtime + "-" + work.name;
}

Result<Words> runc_words(const Scene& scene, const Work& work) {
  return runtime_words(scene, place_of(scene, work, "runc"), "runc", {}, work.argv);
}

// As Cloche starts it (confine/boxes/box_stage.cpp).
Result<Words> runsc_words(const Scene& scene, const Work& work) {
  return runtime_words(scene, place_of(scene, work, "runsc"), "runsc",
                       {"--rootless", "--network=none", "--ignore-cgroups", "--platform=ptrace"}, work.argv);
}

constexpr Peer peers[] = {
    {"subprocess", bare, bare_words}, {"native", bare, bare_words},        {"bwrap", bubblewrap, bwrap_words},
    {"runc", "runc run", runc_words}, {"runsc", "runsc run", runsc_words},
};

std::string ours_of(const Peer& peer) { return std::string("cloche ") + peer.backend; }
std::string theirs_of(const Peer& peer) { return std::string("bare ") + peer.backend; }

// Both sides of a level, each tried once: what is not here, or does not work here, is said and left out.
Result<std::vector<Contender>> both_sides(const Scene& scene, const Peer& peer, const Work& work) {
  const Words theirs = TRY(peer.words(scene, work));
  std::vector<Contender> both = {
      {ours_of(peer),
       spawning({.argv = cloche_words(scene, {"run", "--backend", peer.backend}, work), .silent = true})},
      {theirs_of(peer), spawning({.argv = theirs, .silent = true})},
  };
  for (const auto& contender : both) TRY(contender.call());
  return both;
}

Row row_of(const Peer& peer, const Work& work, const ByName& samples) {
  const Samples& ours = samples.at(ours_of(peer));
  const Samples& theirs = samples.at(theirs_of(peer));
  return {peer.backend,
          work.name,
          peer.tool,
          Cell::number(median(theirs) / 1000, 2),
          Cell::number(median(ours) / 1000, 2),
          Cell::spread(difference_of_medians(ours, theirs).scaled(0.001))};
}

// The native sandbox has no tool that it stands on: the section Start compares its cost with others.
bool has_goal(const Peer& peer) { return std::string_view(peer.backend) != "native"; }

Result<void> measure_work(const Scene& scene, const Work& work, size_t rounds, Report& report, Table& table) {
  std::vector<Contender> contenders;
  std::vector<const Peer*> here;
  for (const auto& peer : peers) {
    auto both = both_sides(scene, peer, work);
    TRY(go_on());
    if (!both.ok()) {
      table.notes.push_back(std::string(peer.backend) + ", " + work.name +
                            ": left out: " + describe(both.error()));
      continue;
    }
    here.push_back(&peer);
    for (auto& contender : both.value()) contenders.push_back(std::move(contender));
  }
  const ByName samples = TRY(interleave(contenders, 3, rounds));
  for (const Peer* peer : here) {
    table.rows.push_back(row_of(*peer, work, samples));
    if (!has_goal(*peer)) continue;
    const double own_us =
        difference_of_medians(samples.at(ours_of(*peer)), samples.at(theirs_of(*peer))).middle;
    report.targets.push_back({"our own part of " + std::string(peer->backend) + ", " + work.name + ", ms",
                              own_us / 1000, own_part_goal_ms, Target::Sense::at_most});
  }
  return {};
}

// Of the last minute, and of how many cores: a difference of medians is only as good as the machine was
// quiet.
std::string load() {
  double last_minute = 0;
  if (::getloadavg(&last_minute, 1) != 1) return "unknown";
  char text[64];
  std::snprintf(text, sizeof text, "%.1f on %ld cores", last_minute, ::sysconf(_SC_NPROCESSORS_ONLN));
  return text;
}

}  // namespace

Result<void> measure_levels(const Scene& scene, Pace pace, Report& report) {
  const Work works[] = {{"true", {"/bin/true"}}, {"python", {"/usr/bin/python3", "-c", "1"}}};
  Table table{
      "levels",
      "The isolation levels",
      {"backend", "program", "bare tool", "bare tool p50 ms", "cloche run p50 ms", "our own part, ms"}};
  const std::string before = load();
  for (const auto& work : works)
    TRY(measure_work(scene, work, pace == Pace::quick ? size_t{4} : size_t{60}, report, table));
  table.notes.push_back(
      "The bare tool has the words that `cloche wrap` prints for it, `cloche-jail --inner` among them. Our "
      "own "
      "part is the difference of the medians; in brackets its least and greatest over five blocks of the "
      "rounds. Load before and after: " +
      before + ", " + load() + ".");
  report.tables.push_back(std::move(table));
  return {};
}

}  // namespace cloche::bench
