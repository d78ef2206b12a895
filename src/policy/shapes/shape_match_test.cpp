// The matcher over the shipped files: what each profile takes and refuses, which words are paths, and what
// runs.
#include "policy/shapes/shape_match.hpp"

#include <gtest/gtest.h>

#include <random>

#include "policy/shapes/shapes_fixture.hpp"

namespace cloche {
namespace {

using Words = std::vector<std::string>;
using Role = ShapeOperand::Role;

const Shapes& shapes() { return shipped_shapes(); }

std::string id_of(CommandProfile profile, const Words& argv) {
  const auto match = find_shape(shapes(), profile, argv);
  return match ? match->shape->id : "";
}

TEST(ShapeMatch, PassiveComesBeforeFull) {
  EXPECT_EQ(id_of(CommandProfile::full, {"python3", "-m", "py_compile", "a.py"}), "py-compile");
  EXPECT_EQ(id_of(CommandProfile::full, {"python3", "-m", "pytest"}), "python-module");
  EXPECT_EQ(id_of(CommandProfile::full, {"go", "vet", "./..."}), "go-vet");
  EXPECT_EQ(id_of(CommandProfile::full, {"go", "vet", "-vettool=x"}), "go");
  EXPECT_EQ(id_of(CommandProfile::passive, {"python3", "-m", "pytest"}), "");
}

// Every option of a listed program that runs code, writes, reads lists, changes directory, never ends or
// reads stdin, in each spelling, at each place of a command that is accepted without it.
TEST(ShapeMatch, PassiveRefusesDangerousOptionsHoweverSpelled) {
  const struct {
    Words base;
    Words options;
  } rows[] = {
      {{"python3", "-V"}, {"-c", "-i", "-x", "-", "-m", "--check-hash-based-pycs=always", "-X", "-W"}},
      {{"python3", "-m", "py_compile", "a.py"}, {"-", "-q", "--quiet", "--qui", "@list", "-i", "--"}},
      {{"ruff", "check", "a"},
       {"--fix",
        "--fix-only",
        "--unsafe-fixes",
        "--watch",
        "-w",
        "--config",
        "--config=x",
        "--output-file=x",
        "-o",
        "--add-noqa",
        "-",
        "--cache-dir=x",
        "--stdin-filename=x",
        "-n",
        "--fi",
        "--wat",
        "-wn",
        "--",
        "@x",
        "--no-fix"}},
      {{"mypy", "a.py"},
       {"--config-file=x", "--config-file", "--config", "-c", "-m", "-p", "@x.py", "--install-types", "--pdb",
        "--python-executable=x", "--junit-xml=x", "--html-report=x", "--shadow-file", "--", "-",
        "--cache-dir=x", "--custom-typeshed-dir=x", "-vm", "--non-interactive"}},
      {{"pyflakes", "a.py"}, {"-", "--", "--version", "-h"}},
      {{"node", "-v"},
       {"-e", "-p", "-r", "--require=x", "--import=x", "--eval=x", "-i", "-", "--inspect", "--env-file=x",
        "-pe", "--loader=x", "--experimental-loader=x", "--prof", "--redirect-warnings=x"}},
      {{"npm", "--version"},
       {"--prefix=x", "-C", "--script-shell=x", "--userconfig=x", "--node-options=x", "x"}},
      {{"ruby", "-v"}, {"-e", "-r./x", "-C", "-Ix", "-S", "-x", "-", "-n", "-p", "-i", "-s", "-ve1"}},
      {{"ruby", "-c", "a.rb"},
       {"-e", "-r./x", "-cr./x", "-C", "-Ix", "-S", "-x", "-", "--", "b.rb", "-i.bak"}},
      {{"bundle", "--version"}, {"--gemfile=x", "exec", "-r", "x"}},
      {{"rubocop", "a.rb"},
       {"-a",
        "-A",
        "--autocorrect",
        "--autoc",
        "-r",
        "-r./x",
        "--require=x",
        "--req=x",
        "-c",
        "-c=x",
        "--config=x",
        "-s",
        "--stdin",
        "-o",
        "--out=x",
        "-fx",
        "--format=x",
        "--server",
        "--init",
        "--auto-gen-config",
        "-x",
        "--cache-root=x",
        "-P",
        "--",
        "-",
        "--plugin=x",
        "@x.rb"}},
      {{"go", "version"}, {"-m", "x", "-C", "-v"}},
      {{"go", "vet", "."}, {"-vettool=x", "--vettool=x",   "-vettool",   "-toolexec=x", "--toolexec", "-C",
                            "-C=x",       "-mod=mod",      "-modfile=x", "-overlay=x",  "-exec=x",    "-n",
                            "-x",         "-o=x",          "-pkgdir=x",  "-tags=x",     "@x",         "--",
                            "-ldflags=x", "-gccgoflags=x", "-work",      "x@latest"}},
      {{"gofmt", "-l", "a.go"},
       {"-w", "--w", "-w=true", "-cpuprofile=x", "-r=a->b", "-r", "--", "-", "-e", "-lw", "-d"}},
      {{"ls"}, {"-R", "--recursive", "-", "--", "-l", "--zero"}},
      {{"ls", "-la"}, {"-R", "-aR", "--recurs", "x"}},
      {{"cat", "a"}, {"-", "-n", "--", "-A", "--show-all", "-u"}},
      {{"head", "a"}, {"-", "--", "-c", "-c5", "--bytes=5", "-q", "-z", "-f", "--retry"}},
      {{"head", "-n", "5", "a"}, {"-", "--", "-c5", "-n", "-v"}},
  };
  for (const auto& row : rows) {
    ASSERT_NE(id_of(CommandProfile::passive, row.base), "") << row.base[0];
    for (const auto& option : row.options) {
      for (size_t at = 1; at <= row.base.size(); ++at) {
        Words argv = row.base;
        argv.insert(argv.begin() + static_cast<long>(at), option);
        // `ls x`, `head x a` and `go vet x .` are commands of their own.
        const bool operand = option[0] != '-' && option[0] != '@' && option.find('@') == std::string::npos;
        if (operand && id_of(CommandProfile::passive, {row.base[0], option}) != "") continue;
        EXPECT_EQ(id_of(CommandProfile::passive, argv), "") << quote_words(argv);
      }
    }
  }
}

TEST(ShapeMatch, ProgramNamesAreExactBytes) {
  for (const std::string name :
       {"LS", "Ls", "ls ", " ls", "./ls", "/bin/ls", "l\xd1\x95", "ls\xe2\x80\x8b", "\xe2\x80\xael",
        "ls\xcc\x81", "\xef\xbd\x8c\xef\xbd\x93", "", "ls/", "../ls", "/proc/self/root/bin/ls"}) {
    for (auto profile : {CommandProfile::passive, CommandProfile::full})
      EXPECT_EQ(id_of(profile, {name}), "") << name;
  }
  EXPECT_EQ(id_of(CommandProfile::passive, {"ls"}), "ls");
}

TEST(ShapeMatch, ForbiddenOptionsAreFoundInEverySpelling) {
  const auto one = read_shapes(
      R"({"profile": "full", "shapes": [{"id": "t", "usage": "t [args]",
          "argv": ["t", {"args": "any", "forbid": ["--exec", "-o", "-C", "-include", "-javaagent"]}], "accepts": ["t a"], "refuses": ["t -o"]}]})",
      "test.json");
  ASSERT_TRUE(one.ok()) << one.error().what;
  const Shape& shape = one.value()[0];
  for (const std::string word : {"--exec",
                                 "--exec=x",
                                 "--exe",
                                 "--e",
                                 "-exec",
                                 "-exec=x",
                                 "-o",
                                 "-ox",
                                 "-o=x",
                                 "-xo",
                                 "-vxof",
                                 "-C",
                                 "-C/",
                                 "--o",
                                 "--C=x",
                                 "-include",
                                 "-includea.h",
                                 "-include=a.h",
                                 "-include/a.h",
                                 "--include",
                                 "--includea.h",
                                 "-inc",
                                 "-javaagent:evil.jar",
                                 "-javaagent=evil.jar"}) {
    EXPECT_FALSE(match_shape(shape, {"t", word})) << word;
    EXPECT_FALSE(match_shape(shape, {"t", "a", "--", word})) << word;
  }
  for (const std::string word : {"a", "--other", "-x", "--executive", "exec", "-", "--", "a-o", "--x=-o",
                                 "include", "a-includea.h", "javaagent:x"})
    EXPECT_TRUE(match_shape(shape, {"t", word})) << word;
}

TEST(ShapeMatch, BodiesAreDataAndFilesArePaths) {
  const Words code = {"python3", "-c", "open('/etc/passwd')"};
  EXPECT_TRUE(path_candidates(*find_shape(shapes(), CommandProfile::full, code), code).list.empty());
  const Words cat = {"cat", "a=/b", "../c"};
  const auto candidates = path_candidates(*find_shape(shapes(), CommandProfile::passive, cat), cat).list;
  ASSERT_EQ(candidates.size(), 2U);
  EXPECT_EQ(candidates[0].written, "a=/b");
  EXPECT_EQ(candidates[1].written, "../c");
  EXPECT_EQ(candidates[1].role, Role::file);
}

struct Hardened {
  Words argv;
  Words runs;
  std::string directory;
};

TEST(ShapeMatch, HardeningIsWhatRuns) {
  const Hardened rows[] = {
      {{"python3", "-m", "py_compile", "a.py", "b.py"},
       {"python3", "-I", "-B", "/run/cloche/py_compile.py", "a.py", "b.py"},
       ""},
      {{"ruff", "check"}, {"ruff", "check", "--no-fix", "--no-fix-only", "--no-cache", "--"}, ""},
      {{"mypy", "a.py"}, {"mypy", "--config-file=", "--cache-dir=/dev/null", "--", "a.py"}, ""},
      {{"rubocop", "a.rb", "/ws/b.rb"},
       {"rubocop", "--config", "/run/cloche/rubocop.yml", "--cache", "false", "--", "/ws/a.rb", "/ws/b.rb"},
       "/run/cloche"},
      {{"npm", "--version"}, {"npm", "--version"}, "/"},
      {{"head", "-5", "a"}, {"head", "-5", "a"}, ""},
      {{"cat", "a"}, {"cat", "--", "a"}, ""},
  };
  for (const auto& row : rows) {
    const auto match = find_shape(shapes(), CommandProfile::passive, row.argv);
    ASSERT_TRUE(match) << row.argv[0];
    const Launch launch = launch_of(*match, row.argv, "/ws");
    EXPECT_EQ(launch.argv, row.runs);
    EXPECT_EQ(launch.directory, row.directory);
    EXPECT_TRUE(launch.noexec && launch.system_programs && launch.fresh_home) << row.argv[0];
    EXPECT_EQ(launch.timeout_ms, passive_wall_ms) << row.argv[0];
    EXPECT_EQ(launch.script.has_value(), row.argv[0] == "rubocop" || row.argv[0] == "python3") << row.argv[0];
  }
  const Words own = {"python3", "a.py"};
  const Launch full = launch_of(*find_shape(shapes(), CommandProfile::full, own), own, "/ws");
  EXPECT_EQ(full.argv, own);
  EXPECT_FALSE(full.noexec || full.fresh_home);
  EXPECT_FALSE(full.timeout_ms);
  EXPECT_TRUE(full.system_programs);
}

TEST(ShapeMatch, GoVetHasNoOtherToolchainAndNoCompilerOfC) {
  const Words argv = {"go", "vet"};
  std::map<std::string, std::string> environment;
  for (const auto& [name, value] :
       launch_of(*find_shape(shapes(), CommandProfile::passive, argv), argv, "/ws").environment)
    environment[name] = value;
  EXPECT_EQ(environment["CGO_ENABLED"], "0");
  EXPECT_EQ(environment["GOTOOLCHAIN"], "local");
  EXPECT_EQ(environment["GOENV"], "off");
  EXPECT_EQ(environment["GOFLAGS"], "-buildvcs=false");
}

// Whatever the words, a match of passive runs the program that was judged, and every operand is a word of the
// call.
TEST(ShapeMatch, RandomCommandsKeepThePromises) {
  std::mt19937 random(3);
  Words words = {"-c",    "-",          "--",  "a.py", "a.rb", "a.go",      "x",     "../x",
                 "@x.py", "-n",         "5",   "-5",   "",     "check",     "vet",   "version",
                 "-m",    "py_compile", "-la", "-l",   "-V",   "--version", "--fix", "."};
  Words programs;
  for (const auto& shape : shapes()) programs.push_back(shape.parts[0].words[0]);
  size_t matched = 0;
  for (int round = 0; round < 50'000; ++round) {
    Words argv = {programs[random() % programs.size()]};
    for (size_t n = random() % 5; n > 0; --n) argv.push_back(words[random() % words.size()]);
    const auto passive = find_shape(shapes(), CommandProfile::passive, argv);
    const auto full = find_shape(shapes(), CommandProfile::full, argv);
    if (!passive) continue;
    ++matched;
    ASSERT_TRUE(full) << "full has all of passive: " << quote_words(argv);
    ASSERT_EQ(passive->shape, full->shape);
    ASSERT_EQ(launch_of(*passive, argv, "/ws").argv[0], argv[0]);
    for (const auto& operand : passive->operands) {
      ASSERT_LT(operand.index, argv.size());
      ASSERT_NE(argv[operand.index][0], '-') << quote_words(argv);
      ASSERT_NE(argv[operand.index][0], '@') << quote_words(argv);
    }
  }
  EXPECT_GT(matched, 1000U);
}

}  // namespace
}  // namespace cloche
