// How the library's call grows with the caller's memory and with the number of mounts. Each size is a worker:
// a process that holds so much memory or, in a mount namespace of its own, so many mounts.
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>

#include "sections.hpp"
#include "worker.hpp"

namespace cloche::bench {
namespace {

struct Size {
  std::string name;
  size_t resident_bytes = 0;
  int mounts = 0;
};

Result<void> hold_memory(size_t bytes) {
  if (bytes == 0) return {};
  void* held = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (held == MAP_FAILED) return system_error("hold " + std::to_string(bytes) + " bytes");
  ::madvise(held, bytes, MADV_NOHUGEPAGE);  // small pages are the dear case: a fork copies an entry for each
  std::memset(held, 1, bytes);
  return {};
}

Result<void> hold_mounts(const std::string& directory, int count) {
  if (count == 0) return {};
  if (::unshare(CLONE_NEWNS) != 0) return system_error("make a mount namespace");
  // First of all: nothing that is mounted from here on may reach the host.
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return system_error("make the mounts private");
  for (int i = 0; i < count; ++i) {
    const std::string place = directory + "/" + std::to_string(i);
    if (::mkdir(place.c_str(), 0755) != 0 && errno != EEXIST) return system_error("make " + place);
    if (::mount("tmpfs", place.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "size=4k") != 0)
      return system_error("mount " + place);
  }
  return {};
}

}  // namespace

Result<void> measure_growth(const Scene& scene, Pace pace, Report& report) {
  std::vector<Size> sizes = {{"as it is"}, {"as it is, once more"}, {"1 GiB resident", size_t{1} << 30}};
  Table table{"growth", "Growth of the library's call", {"caller", "p50 us", "p99 us", "to as it is"}};
  if (::geteuid() == 0) {
    if (::mkdir((scene.directory() + "/mounts").c_str(), 0755) != 0 && errno != EEXIST)
      return system_error("make mounts");
    sizes.push_back({"100 more mounts", 0, 100});
    sizes.push_back({"500 more mounts", 0, 500});
  } else {
    table.notes.push_back("skipped: the number of mounts; only root can mount here");
  }
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<Contender> contenders;
  for (const Size& size : sizes) {
    const auto prepare = [&]() -> Result<std::vector<Contender>> {
      TRY(hold_memory(size.resident_bytes));
      TRY(hold_mounts(scene.directory() + "/mounts", size.mounts));
      Contender contender = TRY(library_contender(scene));
      contender.name = size.name;
      return std::vector<Contender>{contender};
    };
    workers.push_back(TRY(Worker::start(prepare)));
    contenders.push_back(workers.back()->contenders("").front());
  }
  const ByName samples = TRY(interleave(contenders, 10, pace == Pace::quick ? size_t{60} : size_t{300}));
  for (const auto& size : sizes) {
    const Samples& mine = samples.at(size.name);
    table.rows.push_back({size.name, Cell::number(percentile(mine, 0.5), 0),
                          Cell::number(percentile(mine, 0.99), 0),
                          Cell::spread(ratio_of_medians(mine, samples.at(sizes[0].name)))});
  }
  const double resident = ratio_of_medians(samples.at(sizes[2].name), samples.at(sizes[0].name)).middle;
  report.targets.push_back(
      {"a library call of 1 GiB resident, to a small one", resident, 1.1, Target::Sense::at_most});
  table.notes.push_back(
      "The second row is the same as the first: how far it is from 1 is the noise of this table.");
  report.tables.push_back(std::move(table));
  return {};
}

}  // namespace cloche::bench
