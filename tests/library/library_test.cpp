// The library as an outside program has it: installed, moved, and found by CMake's find_package and by
// pkg-config; its headers, its exported symbols, and the programs of the README.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "harness/harness.hpp"

namespace cloche::test {
namespace {

using Words = std::vector<std::string>;

const fs::path here = fs::path(CLOCHE_SOURCE_DIR) / "tests/library";

Words lines_of(const std::string& text) {
  Words lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// What a fenced block of that language in the README says.
std::string program_of_readme(const std::string& language) {
  const std::string text = read_file(fs::path(CLOCHE_SOURCE_DIR) / "README.md");
  const std::string fence = "\n```" + language + "\n";
  const size_t begin = text.find(fence);
  if (begin == std::string::npos) return {};
  const size_t first = begin + fence.size();
  return text.substr(first, text.find("```", first) - first);
}

// The whole installation, in a directory that it was not installed into.
const fs::path& prefix() {
  static const Scene scene(As::self);
  static const fs::path moved = [] {
    const fs::path first = scene.root() / "first";
    const fs::path last = scene.root() / "moved" / "here";
    const Ran ran = run({.argv = {"cmake", "--install", CLOCHE_BUILD_DIR, "--prefix", first.string()}});
    EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
    fs::create_directories(last.parent_path());
    fs::rename(first, last);
    return last;
  }();
  return moved;
}

fs::path library_folder() { return prefix() / CLOCHE_LIBRARY_DIR; }

std::map<std::string, std::string> found_by_pkg_config() {
  return {{"PKG_CONFIG_PATH", (library_folder() / "pkgconfig").string()}};
}

// A program of one file, built as its author would; empty: it could not be.
fs::path compiled(const Scene& scene, const std::string& compiler, const std::string& flags,
                  const fs::path& source) {
  const fs::path program = scene.root() / ("by-" + compiler + source.extension().string());
  const Ran ran =
      run({.argv = {"sh", "-c",
                    compiler + " " + flags + " -Wall -Wextra -Werror -o " + program.string() + " " +
                        source.string() + " $(pkg-config --cflags --libs cloche) -lpthread"},
           .env = found_by_pkg_config()});
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  return ran.exit_code == 0 ? program : fs::path();
}

TEST(Installed, LibraryHeadersAndPackagesAreWhereTheyBelong) {
  const fs::path library = library_folder();
  EXPECT_EQ(fs::read_symlink(library / "libcloche.so"), "libcloche.so.1");
  const Ran dynamic = run({.argv = {"readelf", "-d", (library / "libcloche.so.1").string()}});
  EXPECT_NE(dynamic.out.find("Library soname: [libcloche.so.1]"), std::string::npos) << dynamic.out;
  EXPECT_EQ(dynamic.out.find("RPATH"), std::string::npos);
  EXPECT_EQ(dynamic.out.find("RUNPATH"), std::string::npos);
  EXPECT_EQ(dynamic.out.find("TEXTREL"), std::string::npos);
  std::set<std::string> headers;
  for (const auto& entry : fs::recursive_directory_iterator(prefix() / "include"))
    if (entry.is_regular_file()) headers.insert(fs::relative(entry.path(), prefix() / "include").string());
  EXPECT_EQ(headers, (std::set<std::string>{"cloche/approver.h", "cloche/cloche_c.h", "cloche/gateway.h",
                                            "cloche/values.h", "cloche/version.h"}));
  size_t packages = 0;
  for (const auto& folder : {library / "cmake/cloche", library / "pkgconfig"}) {
    for (const auto& file : fs::directory_iterator(folder)) {
      ++packages;
      const std::string text = read_file(file.path());
      EXPECT_EQ(text.find(prefix().parent_path().parent_path().string()), std::string::npos) << file.path();
      EXPECT_EQ(text.find(CLOCHE_SOURCE_DIR), std::string::npos) << file.path();
    }
  }
  EXPECT_GE(packages, 4U);
}

// Whoever adds one adds a line; none is ever taken away while the library is libcloche.so.1.
TEST(Installed, LibraryExportsWhatIsListedAndNothingElse) {
  const Ran ran =
      run({.argv = {"nm", "-D", "--defined-only", (library_folder() / "libcloche.so.1").string()}});
  std::set<std::string> exported;
  for (const auto& line : lines_of(ran.out)) {
    const std::string symbol = line.substr(line.rfind(' ') + 1);
    const size_t version = symbol.find("@@CLOCHE_1");
    if (symbol != "CLOCHE_1") exported.insert(symbol.substr(0, version));
  }
  const Words listed = lines_of(read_file(here / "exported_symbols.txt"));
  EXPECT_EQ(exported, std::set<std::string>(listed.begin(), listed.end())) << ran.out;
}

TEST(Installed, EachHeaderCompilesAloneAndIncludesLittle) {
  const fs::path headers = prefix() / "include";
  const std::regex include(R"(#include <([a-z_./]+)>)");
  const std::set<std::string> allowed = {"functional", "memory",  "optional", "string",
                                         "utility",    "variant", "vector"};
  size_t seen = 0;
  for (const auto& entry : fs::directory_iterator(headers / "cloche")) {
    ++seen;
    const std::string name = entry.path().filename().string();
    const bool is_c = name == "cloche_c.h";
    size_t included = 0;
    for (const auto& line : lines_of(read_file(entry.path()))) {
      std::smatch found;
      if (!line.starts_with("#")) continue;
      EXPECT_TRUE(is_c || !line.starts_with("#define")) << line;
      if (!line.starts_with("#include")) continue;
      ASSERT_TRUE(std::regex_match(line, found, include)) << name << ": " << line;
      EXPECT_TRUE(found[1].str().starts_with("cloche/") || allowed.contains(found[1].str()))
          << name << ": " << line;
      ++included;
    }
    EXPECT_LE(included, is_c ? 0U : 7U) << name;
    Words commands = {"g++ -std=c++17 -x c++", "clang++ -std=c++20 -x c++"};
    if (is_c)
      commands.insert(commands.end(), {"gcc -std=c99 -x c", "clang -std=c11 -Wstrict-prototypes -x c"});
    for (const auto& command : commands) {
      const Ran ran =
          run({.argv = {"sh", "-c",
                        "printf '#include <cloche/" + name + ">\\n' | " + command +
                            " -Wall -Wextra -pedantic -Wshadow -Wconversion -Werror -fsyntax-only -I " +
                            headers.string() + " -"}});
      EXPECT_EQ(ran.exit_code, 0) << command << " " << name << "\n" << ran.err;
    }
  }
  EXPECT_EQ(seen, 5U);
}

class Library : public testing::TestWithParam<As> {
 protected:
  // With a question of the configuration, for whoever is asked.
  Ran run_as(const Scene& scene, Words argv) const {
    return run({.argv = std::move(argv),
                .as = GetParam(),
                .cwd = scene.workspace().string(),
                .env = {{"HOME", (scene.root() / "home").string()},
                        {"XDG_STATE_HOME", state_home(GetParam())},
                        {"LD_LIBRARY_PATH", library_folder().string()}}});
  }
  static void configure(Scene& scene) {
    scene.write(
        "home/.config/cloche/config.json",
        R"({"permissions": {"default": "allow", "rules": [{"tool": "list_artifacts", "action": "ask", "reason": "look first"}]}})");
  }
};

// CMake's package knows where the library is, also when the program runs.
TEST_P(Library, ProgramsOfTheReadmeAreBuiltByFindPackage) {
  Scene scene(GetParam());
  configure(scene);
  scene.write("program/main.cpp", program_of_readme("cpp"));
  scene.write("program/main.c", program_of_readme("c"));
  scene.write(
      "program/CMakeLists.txt",
      "cmake_minimum_required(VERSION 3.20)\nproject(outside C CXX)\nfind_package(cloche REQUIRED)\n"
      "add_executable(in_cpp main.cpp)\nadd_executable(in_c main.c)\n"
      "foreach(program in_cpp in_c)\n  target_link_libraries(${program} cloche::cloche)\nendforeach()\n");
  const fs::path program = scene.root() / "program";
  const Ran made = run({.argv = {"sh", "-c",
                                 "cmake -S " + program.string() + " -B " + program.string() +
                                     "/build -DCMAKE_PREFIX_PATH=" + prefix().string() +
                                     " && cmake --build " + program.string() + "/build"},
                        .as = GetParam()});
  ASSERT_EQ(made.exit_code, 0) << made.out << made.err;
  for (const char* name : {"in_cpp", "in_c"}) {
    const Ran ran = run(
        {.argv = {(program / "build" / name).string()},
         .as = GetParam(),
         .cwd = scene.workspace().string(),
         .env = {{"HOME", (scene.root() / "home").string()}, {"XDG_STATE_HOME", state_home(GetParam())}}});
    EXPECT_EQ(ran.exit_code, 0) << name << "\n" << ran.out << ran.err;
  }
}

TEST_P(Library, ProgramsAreBuiltByPkgConfig) {
  Scene scene(GetParam());
  configure(scene);
  const std::string c_program = scene.write("main.c", program_of_readme("c")).string();
  const std::pair<fs::path, const char*> programs[] = {
      {compiled(scene, "gcc", "-std=c11 -pedantic", c_program), "\"result\":\"exit_code: 0"},
      {compiled(scene, GetParam() == As::self ? "g++" : "clang++",
                GetParam() == As::self ? "-std=c++17 -fvisibility=hidden -pedantic"
                                       : "-std=c++20 -fvisibility=hidden",
                here / "program.cpp"),
       "ok\n"},
  };
  for (const auto& [program, says] : programs) {
    ASSERT_FALSE(program.empty());
    const Ran ran = run_as(scene, {program.string()});
    EXPECT_EQ(ran.exit_code, 0) << program << "\n" << ran.out << ran.err;
    EXPECT_NE(ran.out.find(says), std::string::npos) << ran.out;
    EXPECT_EQ(ran.err, "");
  }
}

TEST_P(Library, CInterfaceHoldsAgainstAnythingThatPythonGivesIt) {
  Scene scene(GetParam());
  configure(scene);
  const std::string script = scene.write("c_interface.py", read_file(here / "c_interface.py")).string();
  const Ran ran = run_as(scene, {"/usr/bin/python3", script, (library_folder() / "libcloche.so.1").string()});
  EXPECT_EQ(ran.out, "ok\n") << ran.err;
  EXPECT_EQ(ran.exit_code, 0) << ran.signal;
}

// A call that works in the installed tree cannot make what the next program with this library would execute;
// and where there is a second cloche-jail after all, none is.
TEST_P(Library, ACallPlantsNoPartOfIt) {
  Scene scene(GetParam());
  const std::string copy = (scene.workspace() / "copy").string();
  EXPECT_EQ(run_as(scene, {"cp", "-a", "--no-preserve=ownership", prefix().string(), copy}).exit_code, 0);
  const std::string python = R"(import ctypes, json, os, sys
copy = sys.argv[1]
library = ctypes.CDLL(copy + "/" + sys.argv[2] + "/libcloche.so.1")
library.cloche_open.restype = library.cloche_call.restype = ctypes.c_void_p
library.cloche_open.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)]
library.cloche_call.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
error = ctypes.c_void_p()
options = json.dumps({"workspace": os.path.dirname(copy), "flags": ["--autonomy=full"]}).encode()
gateway = library.cloche_open(options, ctypes.byref(error))
if not gateway:
    sys.exit(ctypes.string_at(error.value).decode())
for part in (sys.argv[2] + "/cloche-jail", sys.argv[2] + "/libcloche.so.1", "bin/cloche-jail", "bin/cloche", "libexec/cloche/cloche-jail"):
    code = {"interpreter": "bash", "code": "echo planted > copy/" + part + " && echo done"}
    print("done" in json.loads(ctypes.string_at(library.cloche_call(gateway, json.dumps({"tool": "run_script", "arguments": code}).encode())))["stdout"])
code = {"interpreter": "bash", "code": "echo > beside && echo done"}
print("done" in json.loads(ctypes.string_at(library.cloche_call(gateway, json.dumps({"tool": "run_script", "arguments": code}).encode())))["stdout"])
)";
  const Words words = {"/usr/bin/python3", "-c", python, copy, CLOCHE_LIBRARY_DIR};
  const Ran ran = run_as(scene, words);
  EXPECT_EQ(ran.out, "False\nFalse\nFalse\nFalse\nFalse\nTrue\n") << ran.err;
  const std::string planted = copy + "/" + CLOCHE_LIBRARY_DIR + "/cloche-jail";
  EXPECT_EQ(run_as(scene, {"cp", copy + "/libexec/cloche/cloche-jail", planted}).exit_code, 0);
  const Ran two = run_as(scene, words);
  EXPECT_EQ(two.exit_code, 1) << two.out;
  EXPECT_NE(two.err.find("there are two cloche-jail"), std::string::npos) << two.err;
}

INSTANTIATE_TEST_SUITE_P(As, Library, testing::ValuesIn(identities()),
                         [](const auto& given) { return std::string(name_of(given.param)); });

}  // namespace
}  // namespace cloche::test
