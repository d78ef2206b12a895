#include "confine/watch/process_table.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <vector>

#include "base/scratch.hpp"
#include "base/sys/sys.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

TEST(FieldOf, CountsFromZeroBySpaces) {
  const std::string line = "100 22 3  4444\n";
  EXPECT_EQ(field_of(line, 0), 100U);
  EXPECT_EQ(field_of(line, 1), 22U);
  EXPECT_EQ(field_of(line, 2), 3U);
  EXPECT_EQ(field_of(line, 3), 4444U);
  EXPECT_EQ(field_of(line, 4), 0U) << "past the end";
  EXPECT_EQ(field_of("", 0), 0U);
  EXPECT_EQ(field_of("a b", 1), 0U) << "not a number";
  EXPECT_EQ(field_of("1 -5", 1), 0U) << "not a count";
  EXPECT_EQ(field_of("18446744073709551615", 0), ~0ULL);
  EXPECT_EQ(field_of("99999999999999999999", 0), 0U) << "too large for a number";
}

// utime, stime, cutime and cstime are 1000, 200, 30 and 4; every other field is 9.
std::string stat_line(const std::string& name) {
  return "17 (" + name + ") R 1 9 9 9 9 9 9 9 9 9 1000 200 30 4 9 9 9 9 9 9\n";
}

TEST(TicksOf, AddsTheFourTimesWhateverTheNameIs) {
  for (const char* name : {"make", "", "a b c", "(", ")", "((()", ") R 1 2 3 4 5 6 7 8 9 10 11 12", "x) S (y",
                           "line\nbreak", "1 2 3"}) {
    EXPECT_EQ(ticks_of(stat_line(name)).own + ticks_of(stat_line(name)).children, 1234U) << name;
  }
}

TEST(TicksOf, OfALineThatIsNoneIsNothing) {
  for (const char* line :
       {"", "17", "17 (make", "17 (make)", "17 (make) ", "17 (make) R", "17 (make) R 1 2 3", ")))"}) {
    EXPECT_EQ(ticks_of(line).own + ticks_of(line).children + ticks_of(line).started, 0U) << line;
  }
}

TEST(TicksOf, ReadsTheKernelsOwnLines) {
  const auto line = sys::read_file("/proc/self/stat", 4096);
  ASSERT_TRUE(line.ok());
  EXPECT_LT(ticks_of(line.value()).own, 100'000U) << line.value();
  EXPECT_GT(ticks_of(line.value()).started, 0U) << line.value();
}

TEST(ForEachProcess, VisitsNumbersAndNothingElse) {
  const Scratch scratch;
  for (const char* name : {"1", "17", "4711", "self", "sys", "0", "cpuinfo", ".hidden"})
    fs::create_directory(scratch.path + "/" + name);
  const auto table = sys::open(scratch.path, O_RDONLY | O_DIRECTORY);
  for (int again = 0; again < 2; ++again) {  // the position of the borrowed descriptor is not used up
    std::set<std::string> seen;
    for_each_process(table.value().get(), [&](const std::string& process) { seen.insert(process); });
    EXPECT_EQ(seen, (std::set<std::string>{"1", "17", "4711"}));
  }
  for_each_process(-1, [](const std::string& process) { ADD_FAILURE() << process; });
}

// A child belongs to the thread that started it, and a process can have many.
TEST(ForEachProcess, OfAnAncestorFindsWhatItsOtherThreadsHaveStarted) {
  const Scratch scratch;
  const auto has_children = [&](const std::string& process, const std::string& task, const char* children) {
    const std::string directory = scratch.path + "/" + process + "/task/" + task;
    fs::create_directories(directory);
    std::ofstream(directory + "/children") << children;
  };
  has_children("10", "10", "11 12 ");
  has_children("10", "20", "13 ");
  has_children("11", "11", "");
  has_children("12", "12", "");
  has_children("12", "21", "14 15 ");
  has_children("13", "13", "");
  has_children("99", "99", "98 ");
  const auto table = sys::open(scratch.path, O_RDONLY | O_DIRECTORY);
  std::set<std::string> seen;
  for_each_process({table.value().get(), 10}, [&](const std::string& process) { seen.insert(process); });
  EXPECT_EQ(seen, (std::set<std::string>{"11", "12", "13", "14", "15"}));
}

TEST(ForEachProcess, OfTheRealTableFindsUs) {
  const auto root = sys::open("/", O_PATH | O_DIRECTORY);
  const auto table = open_process_table(root.value().get());
  ASSERT_TRUE(table.ok());
  bool found = false;
  for_each_process(table.value().get(), [&](const std::string& process) {
    found = found || process == std::to_string(::getpid());
  });
  EXPECT_TRUE(found);
}

TEST(OpenProcessTable, DoesNotFollowALinkToAnotherProc) {
  const Scratch scratch;
  const auto root = sys::open(scratch.path, O_PATH | O_DIRECTORY);
  EXPECT_FALSE(open_process_table(root.value().get()).ok());
  fs::create_directory_symlink("/proc", scratch.path + "/proc");
  EXPECT_FALSE(open_process_table(root.value().get()).ok());
}

// A table with one process, whose maps are given.
class MapsTest : public testing::Test {
 protected:
  void write(const std::string& maps) const {
    fs::create_directories(scratch_.path + "/17");
    std::ofstream(scratch_.path + "/17/maps") << maps;
  }
  bool visit_all(const std::string& process = "17") {
    names_.clear();
    const auto table = sys::open(scratch_.path, O_RDONLY | O_DIRECTORY);
    return for_each_mapping(table.value().get(), process, [&](const Mapping& mapping) {
      names_.emplace_back(mapping.name);
      return names_.size() < most_;
    });
  }

  const Scratch scratch_;
  std::vector<std::string> names_;
  size_t most_ = ~size_t{0};
};

const std::string line_start = "7f0000000000-7f0000100000 rw-s 00001000 fe:02 1234                 ";

TEST_F(MapsTest, AreReadToTheirEndHoweverManyThereAre) {
  const std::string line = line_start + "/" + std::string(1000, 'l') + "\n";
  std::string maps;
  while (maps.size() < (20 << 20)) maps += line;
  write(maps + line_start + "/last (deleted)\n");
  EXPECT_TRUE(visit_all());
  ASSERT_EQ(names_.size(), maps.size() / line.size() + 1);
  EXPECT_EQ(names_.back(), "/last (deleted)");
  EXPECT_EQ(names_.front().size(), 1001U);
}

TEST_F(MapsTest, ThatWereNotAllReadAreNotTakenForAll) {
  write(line_start + "/one\n" + line_start + "/" + std::string(100'000, 'l') + "\n");
  EXPECT_FALSE(visit_all()) << "a line that is longer than any";
  write(line_start + "/one\n" + line_start + "/two\n");
  most_ = 1;
  EXPECT_FALSE(visit_all()) << "stopped";
  EXPECT_EQ(names_, std::vector<std::string>{"/one"});
}

TEST_F(MapsTest, OfWhatHasEndedAreNone) {
  EXPECT_TRUE(visit_all());
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  const auto proc = sys::open("/proc", O_RDONLY | O_DIRECTORY);
  const auto any = [](const Mapping&) { return true; };
  EXPECT_TRUE(for_each_mapping(proc.value().get(), std::to_string(child), any)) << "not waited for yet";
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(for_each_mapping(proc.value().get(), std::to_string(child), any));
}

TEST_F(MapsTest, SayWhereAFileIsAndHowMuchOfItIsMapped) {
  write(line_start + "/path with blanks (deleted)\n");
  const auto table = sys::open(scratch_.path, O_RDONLY | O_DIRECTORY);
  (void)for_each_mapping(table.value().get(), "17", [&](const Mapping& mapping) {
    EXPECT_EQ(mapping.begin, 0x7f0000000000U);
    EXPECT_EQ(mapping.bytes, 1U << 20);
    EXPECT_EQ(mapping.offset, 0x1000U);
    EXPECT_EQ(mapping.device, ::makedev(0xfe, 2));
    EXPECT_EQ(mapping.inode, 1234U);
    EXPECT_EQ(mapping.name, "/path with blanks (deleted)");
    return true;
  });
}

TEST(PeakBytes, AreReadFromAStatusFile) {
  EXPECT_EQ(peak_bytes_in("Name:\tx\nVmPeak:\t 9 kB\nVmHWM:\t    1234 kB\nVmRSS:\t 8 kB\n"), 1234U << 10);
  for (const char* text : {"", "Name:\tVmHWM: 7 kB\n", "Name:\tx\nVmHWM:", "Name:\tx\nVmHWM:\t kB\n"})
    EXPECT_EQ(peak_bytes_in(text), 0U) << text;
}

TEST(PeakBytes, OfTheLargestProcess) {
  const auto table = open_process_table(sys::open("/", O_RDONLY | O_DIRECTORY).value().get());
  ASSERT_TRUE(table.ok());
  EXPECT_GT(largest_process_bytes(table.value().get()), 1U << 20) << "this one is among them";
}

}  // namespace
}  // namespace cloche
