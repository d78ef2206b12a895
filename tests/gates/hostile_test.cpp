// Passive is passive in a hostile workspace. Everything that a listed program might pick up from its
// surroundings is planted at once; each passive call then really runs, does its job, and leaves no canary.
// Where the plain command is known to fall for it, it is run too, as the control: the canary must sing, or
// this test hears nothing.
#include <gtest/gtest.h>

#include "gateway/checks/own_run.hpp"
#include "harness/harness.hpp"
#include "judged_call.hpp"

namespace cloche::test {
namespace {

class Hostile : public testing::Test {
 protected:
  Hostile() {
    plant_python();
    plant_ruby();
    plant_go();
    plant_node();
    plant_programs();
  }

  void plant(const std::string& name, const std::string& text, unsigned mode = 0644) {
    scene.write("workspace/" + name, text, mode);
  }

  void plant_python() {
    const std::string sing = "open('" + canary() + "', 'w').write('python')\n";
    for (const std::string name :
         {"py_compile", "sitecustomize", "usercustomize", "site", "os", "re", "ast", "argparse", "encodings",
          "traceback", "importlib", "runpy", "tokenize", "mypy", "pyflakes", "functools", "json", "enum"}) {
      plant(name + ".py", sing);
    }
    plant("evil.pth", "import os; " + sing);
    plant("site-packages/evil.pth", "import os; " + sing);
    plant("pyvenv.cfg", "home = " + scene.workspace().string() + "\n");
    plant("evil_plugin.py", sing + "from mypy.plugin import Plugin\ndef plugin(version): return Plugin\n");
    plant("mypy.ini", "[mypy]\nplugins = ./evil_plugin.py\n");
    plant(".mypy.ini", "[mypy]\nplugins = ./evil_plugin.py\n");
    plant("setup.cfg", "[mypy]\nplugins = ./evil_plugin.py\n");
    plant("pyproject.toml",
          "[tool.mypy]\nplugins = ['./evil_plugin.py']\n[tool.ruff]\nfix = true\nfix-only = true\n");
    plant("code/good.py", "x: int = 1\n");
    plant("code/wrong.py", "import sys\nx: int = 'text'\n");
    plant("code/broken.py", "def f(:\n");
  }

  void plant_ruby() {
    plant("evil.rb", "File.write('" + canary() + "', 'ruby')\n");
    plant(".rubocop.yml", "require: ./evil.rb\n");
    plant("code/.rubocop.yml", "require: ../evil.rb\n");
    plant(".rubocop", "--require ./evil.rb\n");
    plant("code/.rubocop", "--require ../evil.rb\n");
    plant(".rubocop_todo.yml", "require: ./evil.rb\n");
    plant("code/.rubocop_todo.yml", "inherit_from: ../.rubocop.yml\nrequire: ../evil.rb\n");
    plant("code/new.rb",
          "# frozen_string_literal: true\n\ndef square(num) = num * num\n\nalpha = square(2)\nputs({ alpha: "
          "})\n");
    plant("code/plain.rb", "# frozen_string_literal: true\n\nputs \"plain\"\n");
    plant("Gemfile", "File.write('" + canary() + "', 'gemfile')\n");
    plant("Gemfile.lock", "GEM\n  specs:\n\nBUNDLED WITH\n   9.9.9\n");
    plant(".bundle/config", "---\nBUNDLE_GEMFILE: \"" + scene.workspace().string() + "/Gemfile\"\n");
    plant("code/good.rb", "#!/usr/bin/env ruby -r" + scene.workspace().string() + "/evil.rb\nputs 1\n");
    plant("code/begin.rb", "BEGIN { File.write('" + canary() + "', 'begin') }\n");
    plant("code/broken.rb", "def (\n");
  }

  void plant_go() {
    plant("go.mod", "module x\n\ngo 1.18\n");
    plant("a.go", "package x\n\nimport \"fmt\"\n\nfunc F() { fmt.Printf(\"%d\", \"text\") }\n");
    plant("c.go", "package x\n\n// #cgo CFLAGS: -I" + scene.workspace().string() +
                      "\n// #include \"evil.h\"\nimport \"C\"\n");
    plant("gen.go", "package x\n\n//go:generate touch " + canary() + "\n");
    plant("evil.h", "#error the preprocessor ran\n");
    plant("toolchain/go.mod", "module y\n\ngo 1.99\n\ntoolchain go1.99.9\n");
    plant(".git/config",
          "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = " + scene.workspace().string() + "/git\n");
    plant(".git/HEAD", "ref: refs/heads/main\n");
    fs::create_directories(scene.workspace() / ".git/objects");
    fs::create_directories(scene.workspace() / ".git/refs");
  }

  void plant_node() {
    plant("evil.js", "require('fs').writeFileSync('" + canary() + "', 'node')\n");
    plant(".npmrc",
          "node-options=--require ./evil.js\nscript-shell=./sh\nprefix=./evil\nglobalconfig=./evil\n");
    plant("package.json", R"({"name": "x", "version": "9.9.9", "scripts": {"preversion": "./sh"}})");
    plant(".node_repl_history", "");
  }

  void plant_programs() {
    for (const std::string name :
         {"python3", "ls", "cat", "head", "git", "diff", "gcc", "cc", "sh", "node", "ruby", "go", "env"})
      plant(name, "#!/bin/sh\necho " + name + " > " + canary() + "\n", 0755);
  }

  std::string canary() { return (scene.workspace() / "canary").string(); }
  std::string song() { return fs::exists(canary()) ? read_file(canary()) : ""; }

  Called passive(const std::string& cmd) {
    fs::remove(canary());
    return call_run_shell(scene.workspace(), cmd);
  }

  // It was permitted, it ended like this, it said that, and nothing sang.
  void does_its_job(const std::string& program, const std::string& cmd, int exit_code,
                    const std::string& says) {
    if (!is_installed(program)) {
      ++skipped;
      printf("skipped: %s is not installed, so '%s' was not run\n", program.c_str(), cmd.c_str());
      return;
    }
    const Called called = passive(cmd);
    ASSERT_TRUE(called.outcome) << cmd;
    const std::string said = called.outcome->output + called.outcome->errors;
    EXPECT_EQ(called.outcome->exit_code, exit_code) << cmd << "\n" << said;
    EXPECT_NE(said.find(says), std::string::npos) << cmd << "\n" << said;
    EXPECT_EQ(song(), "") << cmd;
    EXPECT_EQ(called.planned_digest, called.run_digest) << "what was explained is what ran";
    ++ran;
  }

  // The plain command, in the same sandbox: whether the canary sings.
  std::string plain(const std::vector<std::string>& argv) {
    fs::remove(canary());
    test::run({.argv = under_cloche({"--toolchains", "none", "--workspace", scene.workspace()}, argv)});
    return song();
  }

  Scene scene{As::self};
  int ran = 0;
  int skipped = 0;
};

TEST_F(Hostile, Python) {
  does_its_job("python3", "python3 --version", 0, "Python 3");
  does_its_job("python3", "python3 -V", 0, "Python 3");
  does_its_job("python3", "python3 -m py_compile code/good.py", 0, "");
  does_its_job("python3", "python3 -m py_compile code/broken.py", 1, "broken.py");
  EXPECT_FALSE(fs::exists(scene.workspace() / "code/__pycache__")) << "nothing is left behind";
  if (is_installed("python3")) {
    EXPECT_EQ(plain({"python3", "-m", "py_compile", "code/good.py"}), "python") << "the control";
  }
  EXPECT_GT(ran + skipped, 0);
}

TEST_F(Hostile, PythonTools) {
  does_its_job("mypy", "mypy code/wrong.py", 1, "Incompatible types");
  does_its_job("mypy", "mypy code/good.py", 0, "Success");
  does_its_job("pyflakes", "pyflakes code/wrong.py", 1, "imported but unused");
  does_its_job("ruff", "ruff check code/wrong.py", 1, "F401");
  EXPECT_EQ(read_file(scene.workspace() / "code/wrong.py"), "import sys\nx: int = 'text'\n") << "not fixed";
  EXPECT_FALSE(fs::exists(scene.workspace() / ".mypy_cache") ||
               fs::exists(scene.workspace() / ".ruff_cache"));
  if (is_installed("mypy")) {
    EXPECT_EQ(plain({"mypy", "code/good.py"}), "python") << "the control";
  }
  EXPECT_GT(ran + skipped, 0);
}

TEST_F(Hostile, Node) {
  does_its_job("node", "node --version", 0, "v");
  does_its_job("node", "node -v", 0, "v");
  does_its_job("npm", "npm --version", 0, ".");
  EXPECT_FALSE(fs::exists(scene.workspace() / "evil"));
  EXPECT_GT(ran + skipped, 0);
}

TEST_F(Hostile, Ruby) {
  does_its_job("ruby", "ruby --version", 0, "ruby");
  does_its_job("ruby", "ruby -v", 0, "ruby");
  does_its_job("ruby", "ruby -c code/good.rb", 0, "Syntax OK");
  does_its_job("ruby", "ruby -c code/begin.rb", 0, "Syntax OK");
  does_its_job("ruby", "ruby -c code/broken.rb", 1, "syntax error");
  does_its_job("bundle", "bundle --version", 0, "undler version");
  does_its_job("rubocop", "rubocop code/good.rb", 1, "1 file inspected");
  does_its_job("rubocop", "rubocop code/new.rb", 0, "no offenses detected");  // what Ruby 3.1 brought
  does_its_job(
      "rubocop", "rubocop code/plain.rb", 1,
      "\n" + scene.workspace().string() + "/code/plain.rb:3:6: C: [Correctable] Style/StringLiterals");
  if (is_installed("rubocop")) {
    EXPECT_EQ(plain({"rubocop", "code/good.rb"}), "ruby") << "the control";
  }
  if (is_installed("ruby")) {
    EXPECT_EQ(plain({"ruby", "code/good.rb"}), "ruby") << "the control: a first line is obeyed";
  }
  EXPECT_GT(ran + skipped, 0);
}

TEST_F(Hostile, Go) {
  does_its_job("go", "go version", 0, "go version");
  does_its_job("go", "go vet", 2, "Printf format %d");
  does_its_job("go", "go vet .", 2, "Printf format %d");
  does_its_job("gofmt", "gofmt -l a.go", 0, "");
  does_its_job("gofmt", "gofmt -d gen.go", 0, "");
  EXPECT_GT(ran + skipped, 0);
}

TEST_F(Hostile, CoreTools) {
  does_its_job("ls", "ls", 0, "evil.rb");
  does_its_job("ls", "ls -la", 0, ".npmrc");
  does_its_job("ls", "ls code", 0, "good.py");
  does_its_job("cat", "cat code/good.py", 0, "x: int = 1");
  does_its_job("head", "head -1 code/wrong.py", 0, "import sys");
  does_its_job("head", "head -n 1 code/wrong.py", 0, "import sys");
  does_its_job("head", "head code/wrong.py", 0, "text");
  EXPECT_EQ(ran, 7);
  EXPECT_EQ(plain({"./ls"}), "ls\n") << "the control";
}

// The operator's own shell may be poisoned as well.
TEST_F(Hostile, APoisonedEnvironmentStaysOutside) {
  const std::string here = scene.workspace().string();
  const std::pair<const char*, std::string> poison[] = {{"PATH", here + ":/usr/bin:/bin"},
                                                        {"PYTHONPATH", here},
                                                        {"PYTHONSTARTUP", here + "/site.py"},
                                                        {"RUBYOPT", "-r" + here + "/evil.rb"},
                                                        {"NODE_OPTIONS", "--require " + here + "/evil.js"},
                                                        {"GOFLAGS", "-toolexec=" + here + "/sh"},
                                                        {"LD_PRELOAD", here + "/not-there.so"},
                                                        {"BASH_ENV", here + "/sh"}};
  std::map<std::string, std::string> before;
  for (const auto& [name, value] : poison) {
    const char* old = ::getenv(name);
    before[name] = old != nullptr ? old : "";
    ::setenv(name, value.c_str(), 1);
  }
  does_its_job("ls", "ls code", 0, "good.py");
  does_its_job("python3", "python3 -m py_compile code/good.py", 0, "");
  does_its_job("node", "node -v", 0, "v");
  does_its_job("ruby", "ruby -v", 0, "ruby");
  does_its_job("ruby", "ruby -c code/good.rb", 0, "Syntax OK");
  does_its_job("go", "go version", 0, "go version");
  does_its_job("go", "go vet", 2, "Printf format %d");
  does_its_job("gofmt", "gofmt -l a.go", 0, "");
  for (const auto& [name, value] : before)
    value.empty() ? ::unsetenv(name.c_str()) : ::setenv(name.c_str(), value.c_str(), 1);
  EXPECT_GT(ran, 0);
}

// Proven on this kernel: what a passive call could have written does not execute.
TEST_F(Hostile, APassivePlanExecutesNothingOfTheWorkspace) {
  RunRequest request;
  request.workspace = scene.workspace().string();
  request.argv = {
      "/bin/sh", "-c",
      "./ls; cp /bin/true /tmp/t && /tmp/t && echo TMP; cp /bin/true ./t && ./t && echo HERE; true"};
  request.noexec = true;
  Installation installation;
  installation.jail = CLOCHE_TEST_BIN_DIR "/cloche-jail";
  installation.probe = CLOCHE_TEST_BIN_DIR "/cloche-probe";
  const auto ran_plan = run_own(request, Environment(environ), installation);
  ASSERT_TRUE(ran_plan.ok()) << describe(ran_plan.error());
  EXPECT_EQ(ran_plan.value().outcome.output, "") << ran_plan.value().outcome.errors;
  EXPECT_EQ(song(), "");
}

}  // namespace
}  // namespace cloche::test
