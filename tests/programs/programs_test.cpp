// Every program that is installed is hardened as docs/threat-model.md says. The control is programs that are
// not: each property that they lack is found to be missing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "programs/elf_file.hpp"

namespace cloche::test {
namespace {

using Missing = std::set<std::string>;

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
std::string installed(const std::string& name) { return content(CLOCHE_TEST_BIN_DIR "/" + name); }
std::string control(const std::string& name) { return content(CLOCHE_TEST_TESTS_DIR "/" + name); }

// The same program with all rights to every segment of the type.
std::string opened(std::string bytes, uint32_t type) {
  Elf64_Ehdr head{};
  std::memcpy(&head, bytes.data(), sizeof head);
  for (size_t i = 0; i < head.e_phnum; ++i) {
    char* const at = bytes.data() + head.e_phoff + i * sizeof(Elf64_Phdr);
    Elf64_Phdr part{};
    std::memcpy(&part, at, sizeof part);
    if (part.p_type == type) part.p_flags = PF_R | PF_W | PF_X;
    std::memcpy(at, &part, sizeof part);
  }
  return bytes;
}

// Without a C library: there is no thread control block that could hold a stack protector's secret.
bool is_bare(const std::string& name) { return name == "cloche-jail" || name == "cloche-egress"; }

// `mov %fs:0x28, REG`, or sub or xor with it: what a protected function begins and ends with.
bool reads_canary(std::string_view code) {
  constexpr std::string_view where("\x25\x28\x00\x00\x00", 5);
  for (size_t at = code.find(where); at != std::string_view::npos; at = code.find(where, at + 1)) {
    if (at < 4 || code[at - 4] != '\x64') continue;
    const auto operation = static_cast<unsigned char>(code[at - 2]);
    if (operation == 0x8b || operation == 0x2b || operation == 0x33 || operation == 0x3b) return true;
  }
  return false;
}

bool is_fortified(std::string_view name) { return name.starts_with("__") && name.ends_with("_chk"); }

// Whether the code calls, or goes on as, the function that lies there.
bool reaches(const Function& caller, const std::set<uint64_t>& targets) {
  for (size_t at = 0; at + 5 <= caller.code.size(); ++at) {
    if (caller.code[at] != '\xe8' && caller.code[at] != '\xe9') continue;
    int32_t distance = 0;
    std::memcpy(&distance, caller.code.data() + at + 1, sizeof distance);
    if (targets.contains(caller.address + at + 5 + static_cast<uint64_t>(int64_t{distance}))) return true;
  }
  return false;
}

bool calls_fortified(const ElfFile& file) {
  if (std::any_of(file.imports().begin(), file.imports().end(), is_fortified)) return true;
  std::set<uint64_t> targets;
  for (const auto& function : file.functions())
    if (is_fortified(function.name)) targets.insert(function.address);
  const auto ours = file.functions_of_ours();
  return std::any_of(ours.begin(), ours.end(),
                     [&](const Function& function) { return reaches(function, targets); });
}

// What is true of every program.
Missing missing_anywhere(const ElfFile& file) {
  Missing missing;
  const Elf64_Phdr* stack = file.segment(PT_GNU_STACK);
  if (stack == nullptr || (stack->p_flags & PF_X) != 0) missing.insert("a stack without code");
  for (const auto& part : file.segments()) {
    if (part.p_type == PT_LOAD && (part.p_flags & PF_W) != 0 && (part.p_flags & PF_X) != 0)
      missing.insert("no segment to write and to execute");
  }
  return missing;
}

Missing missing_of_bare(const ElfFile& file) {
  Missing missing = missing_anywhere(file);
  if (file.segment(PT_INTERP) != nullptr || file.segment(PT_DYNAMIC) != nullptr) missing.insert("static");
  if (file.segment(PT_TLS) != nullptr) missing.insert("no thread-local storage");
  return missing;
}

Missing missing_of_hardened(const ElfFile& file) {
  Missing missing = missing_anywhere(file);
  if (file.type() != ET_DYN || (file.dynamic(DT_FLAGS_1) & DF_1_PIE) == 0)
    missing.insert("position-independent");
  if (file.segment(PT_GNU_RELRO) == nullptr) missing.insert("read-only relocations");
  if ((file.dynamic(DT_FLAGS) & DF_BIND_NOW) == 0 && (file.dynamic(DT_FLAGS_1) & DF_1_NOW) == 0)
    missing.insert("bound at once");
  const auto ours = file.functions_of_ours();
  if (std::none_of(ours.begin(), ours.end(), [](const Function& one) { return reads_canary(one.code); }))
    missing.insert("stack protector");
  if (!calls_fortified(file)) missing.insert("fortified calls");
  return missing;
}

TEST(Programs, AreHardened) {
  std::istringstream names(CLOCHE_PROGRAMS);
  size_t count = 0;
  for (std::string name; names >> name; ++count) {
    const ElfFile file(installed(name));
    ASSERT_TRUE(file.is_readable()) << name;
    // The fetcher calls no function that the compiler could check: it has no buffers.
    const Missing expected = name == "cloche-fetch" ? Missing{"fortified calls"} : Missing{};
    EXPECT_EQ(is_bare(name) ? missing_of_bare(file) : missing_of_hardened(file), expected) << name;
  }
  EXPECT_EQ(count, 5U);
}

// One file that is compiled without it would not be found above.
TEST(Programs, HaveAStackProtectorInEveryRoom) {
  const auto ours = ElfFile(installed("cloche")).functions_of_ours();
  const auto protects = [&](const char* word) {
    return std::any_of(ours.begin(), ours.end(), [&](const Function& function) {
      return function.name.find(word) != std::string::npos && reads_canary(function.code);
    });
  };
  EXPECT_GT(std::count_if(ours.begin(), ours.end(),
                          [](const Function& function) { return reads_canary(function.code); }),
            500);
  for (const char* word : {"sha256", "JsonSchema", "rules_gate", "observe", "spawn", "Gateway", "hook"})
    EXPECT_TRUE(protects(word)) << word;
}

TEST(Programs, LoadNoLibraryIntoTheProgramThatJudges) {
  const ElfFile file(installed("cloche"));
  EXPECT_EQ(file.segment(PT_INTERP), nullptr);
  EXPECT_EQ(file.dynamic(DT_NEEDED), 0U);
  ASSERT_TRUE(file.defines("main"));
  for (const char* database :
       {"getpwuid_r", "getpwnam_r", "getgrgid_r", "getaddrinfo", "gethostbyname_r", "getservbyname_r"})
    EXPECT_FALSE(file.defines(database)) << database;
  // The C library has these for itself.
  std::set<uint64_t> loaders;
  for (const auto& function : file.functions())
    if (function.name == "dlopen" || function.name == "iconv_open") loaders.insert(function.address);
  for (const auto& function : file.functions_of_ours())
    EXPECT_FALSE(reaches(function, loaders)) << function.name;
}

// src/app/start.cpp: nothing makes them.
TEST(Programs, HaveNoStandardStreamsThatNothingMakes) {
  const ElfFile file(installed("cloche"));
  for (const char* stream : {"_ZSt3cin", "_ZSt4cout", "_ZSt4cerr", "_ZSt4clog", "_ZSt4wcin", "_ZSt5wcout",
                             "_ZSt5wcerr", "_ZSt5wclog"})
    EXPECT_FALSE(file.defines(stream)) << stream;
}

TEST(Programs, ThatLackItAreFound) {
  const ElfFile dynamic(control("soft_dynamic"));
  ASSERT_TRUE(dynamic.is_readable());
  EXPECT_EQ(missing_of_hardened(dynamic), (Missing{"position-independent", "read-only relocations",
                                                   "bound at once", "stack protector", "fortified calls"}));
  EXPECT_EQ(missing_of_bare(dynamic), Missing{"static"});
  const ElfFile whole(control("soft_static"));
  ASSERT_TRUE(whole.is_readable());
  EXPECT_EQ(missing_of_bare(whole), Missing{"no thread-local storage"});
  EXPECT_TRUE(missing_of_hardened(whole).contains("stack protector"))
      << "the C library's own functions have one, ours have not";
  const ElfFile stack(opened(installed("cloche"), PT_GNU_STACK));
  EXPECT_EQ(missing_of_hardened(stack), Missing{"a stack without code"});
  const ElfFile loads(opened(installed("cloche-jail"), PT_LOAD));
  EXPECT_EQ(missing_of_bare(loads), Missing{"no segment to write and to execute"});
  EXPECT_FALSE(ElfFile(content("/etc/passwd")).is_readable());
  EXPECT_FALSE(ElfFile("").is_readable());
}

}  // namespace
}  // namespace cloche::test
