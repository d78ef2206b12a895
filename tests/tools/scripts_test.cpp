// run_python is a computation in an empty directory with small limits; run_script is opaque and says so.
#include "tools/fixture.hpp"

namespace cloche::test {
namespace {

class Scripts : public Tools {};

TEST_P(Scripts, PythonComputes) {
  const Answer answer = call({"run_python", code("print(sum(range(10)))")});
  EXPECT_EQ(answer.result(), "exit_code: 0\nstdout: 45\n\nstderr: ");
}

TEST_P(Scripts, PythonIsEndedByItsProcessorTime) {
  const Answer answer = call({"run_python", code("while True: pass")});
  EXPECT_TRUE(ended_by_limit(answer, "cpu"));
  EXPECT_TRUE(contains(answer.result(), "\nended: the cpu limit of 2s was reached")) << answer.result();
}

TEST_P(Scripts, PythonIsEndedByItsMemory) {
  const Answer answer = call({"run_python", code("x = bytearray(300 << 20)\nimport time\ntime.sleep(5)")});
  EXPECT_TRUE(ended_by_limit(answer, "memory"));
  EXPECT_TRUE(contains(answer.result(), "\nended: the memory limit of 256M was reached")) << answer.result();
  EXPECT_TRUE(ended(call({"run_python", code("x = bytearray(150 << 20)")}), "exited"));
}

TEST_P(Scripts, PythonWritesNoLargeFile) {
  const std::string write = "f = open('f', 'wb'); print(f.write(b'x' * (SIZE))); f.close()";
  const auto of_size = [&](const std::string& size) {
    std::string text = write;
    text.replace(text.find("SIZE"), 4, size);
    return call({"run_python", code(text)});
  };
  EXPECT_EQ(of_size("1 << 20").exit_code(), 0);
  const Answer large = of_size("2 << 20");
  EXPECT_EQ(large.exit_code(), 1);
  EXPECT_TRUE(contains(large.result(), "File too large")) << large.result();
}

// Whatever the isolation level has to write to, and where nothing may be written.
TEST_P(Scripts, FilesAreCompiledWithoutAPlaceForTheResult) {
  file("good.py", "x = 1\n");
  file("broken.py", "x = = 1\n");
  for (const Words& flags : {Words{}, Words{"--isolation", "subprocess"}, Words{"--profile", "readonly"}}) {
    EXPECT_EQ(call({"run_shell", R"({"cmd": "python3 -m py_compile good.py"})"}, flags).result(),
              "exit_code: 0\nstdout: \nstderr: ");
    const Answer broken = call({"run_shell", R"({"cmd": "python3 -m py_compile good.py broken.py"})"}, flags);
    EXPECT_EQ(broken.exit_code(), 1) << broken.result();
    EXPECT_TRUE(contains(broken.result(), "File \"broken.py\", line 1")) << broken.result();
  }
  EXPECT_FALSE(fs::exists(workspace() / "__pycache__"));
}

TEST_P(Scripts, PythonStartsNoOtherProcess) {
  for (const char* attempt : {"import os; os.fork(); print('started')",
                              "import subprocess; subprocess.run(['/bin/true']); print('started')",
                              "import os; os.system('true') == 0 and print('started')",
                              "import threading; threading.Thread(target=print).start(); print('started')",
                              "import os; os.posix_spawn('/bin/true', ['true'], {}); print('started')"}) {
    const Answer answer = call({"run_python", code(attempt)});
    EXPECT_TRUE(ended(answer, "exited"));
    EXPECT_FALSE(contains(answer.json["stdout"].string, "started")) << attempt;
  }
}

TEST_P(Scripts, PythonSeesNoWorkspaceAndNothingOfTheCallers) {
  file("secret.txt", "of the workspace");
  file("json.py", "print('planted')");
  const Answer answer = call(
      {"run_python",
       code("import os, json\nprint(os.path.exists('" + workspace().string() +
            "'), os.listdir('.'), sorted(os.listdir(os.path.expanduser('~'))), 'CALLERS' in os.environ)")},
      {}, {.env = {{"CALLERS", "x"}}});
  EXPECT_EQ(answer.result(), "exit_code: 0\nstdout: False [] [] False\n\nstderr: ");
}

TEST_P(Scripts, PythonKeepsNothingEvenWithinATask) {
  const Words flags = {"--run", scene_root() / "run", "--task", "T"};
  EXPECT_EQ(call({"run_python", code("open('left', 'w').write('x')")}, flags).exit_code(), 0);
  EXPECT_EQ(call({"run_python", code("import os; print(os.listdir('.'))")}, flags).result(),
            "exit_code: 0\nstdout: []\n\nstderr: ");
}

TEST_P(Scripts, AShorterTimeoutCounts) {
  const Answer answer =
      call({"run_python", R"json({"code": "import time; time.sleep(60)", "timeout_s": 1})json"});
  EXPECT_TRUE(ended(answer, "timeout"));
  EXPECT_TRUE(contains(answer.result(), "\nended: the timeout limit of 1s was reached")) << answer.result();
}

TEST_P(Scripts, AScriptIsRecordedAsOpaqueAndPythonIsNot) {
  const fs::path run = scene_root() / "run";
  session({{"run_script", script("true")}, {"run_python", code("1")}}, {"--run", run});
  const auto lines = json_lines(run / "artifacts/tool_calls/main.jsonl");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_TRUE(lines[0]["opaque"].boolean);
  EXPECT_FALSE(lines[1]["opaque"].boolean);
}

TEST_P(Scripts, AScriptMayUsePipesAndWritesInTheWorkspaceAlone) {
  const Answer answer =
      call({"run_script", script("for i in 3 1 2; do echo $i; done | sort > sorted; cat sorted; "
                                 "echo x > ../beside; echo x > /usr/x; echo x > /etc/x")});
  EXPECT_EQ(answer.json["stdout"].string, "1\n2\n3\n");
  EXPECT_EQ(read_file(workspace() / "sorted"), "1\n2\n3\n");
  EXPECT_FALSE(fs::exists(scene_root() / "beside"));
  EXPECT_FALSE(fs::exists("/usr/x") || fs::exists("/etc/x"));
}

TEST_P(Scripts, NoStartUpFileOfTheWorkspaceOrTheHomeRuns) {
  file(".bashrc", "echo planted\n");
  scene().write("home/.bashrc", "echo planted\n");
  scene().write("home/.bash_profile", "echo planted\n");
  const Answer answer =
      call({"run_script", script("echo mine")}, {}, {.env = {{"BASH_ENV", workspace() / ".bashrc"}}});
  EXPECT_EQ(answer.result(), "exit_code: 0\nstdout: mine\n\nstderr: ");
}

FOR_EVERYONE(Scripts);

}  // namespace
}  // namespace cloche::test
