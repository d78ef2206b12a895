// Compilers and runtimes inside, with the default profile: node, C, C++, make, cmake, Java, Rust, Go, Ruby,
// Perl and a Python of the caller's own.
#include <unistd.h>

#include <cstdlib>

#include "everyday/support.hpp"

namespace cloche::test {
namespace {

using std::chrono::seconds;

class Languages : public Everyday {
 protected:
  static std::string variable(const char* name) {
    const char* value = getenv(name);
    return value != nullptr ? value : "";
  }
  // The environment of whoever runs the tests: toolchains are found by HOME and PATH.
  static Command as_caller() {
    Command how = {.deadline = seconds(90)};
    for (const char* name : {"HOME", "PATH"}) {
      how.env[name] = variable(name);
    }
    return how;
  }
  // A program below the caller's HOME, on the caller's PATH.
  static bool has_own(const std::string& program) {
    const std::string home = variable("HOME");
    const std::string path = variable("PATH");
    for (size_t at = 0; at < path.size() && !home.empty();) {
      const size_t colon = std::min(path.find(':', at), path.size());
      const std::string folder = path.substr(at, colon - at);
      at = colon + 1;
      if (access((fs::path(folder) / program).c_str(), X_OK) == 0) return folder.rfind(home + "/", 0) == 0;
    }
    return false;
  }
};
FOR_EVERYONE(Languages);

TEST_P(Languages, NodeScriptWorkersAndChildren) {
  NEEDS("node");
  const auto script = file("main.js", R"(
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
if (!isMainThread) { parentPort.postMessage(workerData * 2); return; }
const { execFileSync, spawn, fork, execSync } = require('child_process');
const crypto = require('crypto'), fs = require('fs'), os = require('os'), zlib = require('zlib');
const work = n => new Promise((yes, no) => {
  const w = new Worker(__filename, { workerData: n }); w.on('message', yes); w.on('error', no); });
(async () => {
  console.log(await Promise.all([1, 2, 3, 4].map(work)));
  console.log(execFileSync('echo', ['child']).toString().trim(), execSync('echo $((6*7))').toString().trim());
  const code = await new Promise(yes => spawn('sh', ['-c', 'exit 5'], { stdio: 'inherit' }).on('exit', yes));
  console.log(code);
  fs.writeFileSync('forked.js', "process.on('message', m => { process.send(m + 1); process.disconnect(); });");
  console.log(await new Promise(yes => { const f = fork('./forked.js'); f.on('message', yes); f.send(41); }));
  console.log(crypto.createHash('sha256').update('glass').digest('hex').length, crypto.randomBytes(8).length);
  const key = await new Promise((y, n) => crypto.pbkdf2('a', 'b', 1000, 32, 'sha256', (e, k) => e ? n(e) : y(k)));
  console.log(key.length, zlib.gunzipSync(zlib.gzipSync('zip')).toString());
  console.log(os.cpus().length > 0, os.totalmem() > 0, os.userInfo().username.length > 0, os.tmpdir());
  await fs.promises.mkdir('deep/er', { recursive: true });
  await fs.promises.rm('deep', { recursive: true });
  console.log(fs.existsSync('deep'));
})();
)");
  EXPECT_TRUE(printed(inside({"node", script}),
                      "[ 2, 4, 6, 8 ]\nchild 42\n5\n42\n64 8\n32 zip\ntrue true true /tmp\nfalse\n"));
}

TEST_P(Languages, NodeServesFetchesAndWatches) {
  NEEDS("node");
  const auto script = file("serve.mjs", R"(
import http from 'http'; import fs from 'fs'; import net from 'net'; import dns from 'dns/promises';
for (const host of ['127.0.0.1', '::1', 'localhost']) {
  const server = http.createServer((q, s) => s.end('served')).listen(0, host);
  await new Promise(y => server.on('listening', y));
  const shown = host.includes(':') ? `[${host}]` : host;
  console.log(await (await fetch(`http://${shown}:${server.address().port}/`)).text());
  server.closeAllConnections(); server.close();
}
const local = net.createServer(s => s.end('pipe')).listen('./node.sock');
await new Promise(y => local.on('listening', y));
console.log(await new Promise(y => net.connect('./node.sock').on('data', d => y(d.toString()))));
local.close();
fs.mkdirSync('watched');
const seen = new Promise(y => { const w = fs.watch('watched', (e, name) => { w.close(); y(name); }); });
fs.writeFileSync('watched/new', '1');
console.log(await seen);
)");
  EXPECT_TRUE(printed(inside({"node", script}), "served\nserved\nserved\npipe\nnew\n"));
}

TEST_P(Languages, NpmStartsAndRunsAScript) {
  NEEDS("npm");
  file("package.json", R"({"name": "tiny", "version": "1.0.0", "scripts": {"hello": "echo from-npm"}})");
  const Ran version = inside({"npm", "--version"});
  ASSERT_TRUE(exited(version, 0));
  EXPECT_TRUE(isdigit(version.out.at(0))) << version.out;
  EXPECT_TRUE(printed(
      bash("npm run --silent hello && npm install --offline --no-audit >/dev/null && ls package-lock.json"),
      "from-npm\npackage-lock.json\n"));
}

TEST_P(Languages, GccCompilesAndTheResultRuns) {
  NEEDS("gcc");
  file("hello.c",
       "#include <math.h>\n#include <stdio.h>\n"
       "int main(int n, char** v) { printf(\"%s %.1f\\n\", v[1], sqrt(n * 2.0)); return 3; }\n");
  const Ran ran = bash(
      "gcc -O2 -Wall -pipe -o hello hello.c -lm && gcc -static -o still hello.c -lm && ./still s; ./hello d");
  EXPECT_TRUE(exited(ran, 3));
  EXPECT_EQ(ran.out, "s 2.0\nd 2.0\n");
}

TEST_P(Languages, CxxWithExceptionsThreadsAndASharedLibrary) {
  NEEDS("g++");
  file("lib.cpp", "#include <stdexcept>\nvoid raise_it() { throw std::runtime_error(\"thrown\"); }\n");
  file("main.cpp", R"(
#include <atomic>
#include <filesystem>
#include <future>
#include <iostream>
#include <random>
#include <thread>
#include <vector>
void raise_it();
int main() {
  std::atomic<int> sum = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 32; ++i) threads.emplace_back([&, i] { sum += i; });
  for (auto& t : threads) t.join();
  std::cout << sum << "\n";
  try { raise_it(); } catch (const std::exception& e) { std::cout << e.what() << "\n"; }
  auto later = std::async(std::launch::async, [] { throw 7; return 0; });
  try { later.get(); } catch (int n) { std::cout << n << "\n"; }
  std::random_device device;
  std::cout << (device() != device()) << std::filesystem::exists("lib.cpp") << "\n";
}
)");
  EXPECT_TRUE(
      printed(bash("set -e; g++ -std=c++20 -fPIC -shared -o libraise.so lib.cpp\n"
                   "g++ -std=c++20 -pthread main.cpp -L. -lraise -Wl,-rpath,'$ORIGIN' -o main && ./main",
                   {.deadline = seconds(60)}),
              "496\nthrown\n7\n11\n"));
}

TEST_P(Languages, AddressSanitizerFindsAnOverflow) {
  if (bare()) GTEST_SKIP() << "skipped: leak detection is off inside only, and good.c leaks";
  NEEDS("gcc");
  file("good.c", "#include <stdlib.h>\nint main() { char* p = malloc(8); p[7] = 1; return p[7] - 1; }\n");
  file("bad.c",
       "#include <stdlib.h>\nint main(int n, char** v) { char* p = malloc(8); p[7 + n] = 1; return 0; }\n");
  EXPECT_TRUE(
      printed(bash("gcc -g -fsanitize=address,undefined -o good good.c && ./good && echo clean"), "clean\n"));
  const Ran bad = bash("gcc -g -fsanitize=address -o bad bad.c && ./bad");
  EXPECT_TRUE(exited(bad, 1));
  EXPECT_TRUE(contains(bad.err, "heap-buffer-overflow")) << bad.err;
  EXPECT_TRUE(contains(bad.err, "bad.c:2")) << bad.err;
}

TEST_P(Languages, ThreadSanitizerRuns) {
  NEEDS("gcc");
  file("t.c",
       "#include <pthread.h>\n#include <stdio.h>\nstatic void* f(void* p) { *(int*)p = 1; return 0; }\n"
       "int main() { int n = 0; pthread_t t; pthread_create(&t, 0, f, &n); pthread_join(t, 0); "
       "printf(\"%d\\n\", n); }\n");
  EXPECT_TRUE(printed(bash("gcc -g -fsanitize=thread -o t t.c && ./t"), "1\n"));
}

TEST_P(Languages, MakeInParallel) {
  NEEDS("make");
  NEEDS("gcc");
  std::string objects;
  for (int i = 0; i < 12; ++i) {
    file("f" + std::to_string(i) + ".c",
         "int f" + std::to_string(i) + "(void) { return " + std::to_string(i) + "; }\n");
    objects += " f" + std::to_string(i) + ".o";
  }
  file("main.c", "#include <stdio.h>\nint f11(void); int main() { printf(\"%d\\n\", f11()); }\n");
  file("Makefile", "all: main\nmain: main.o" + objects +
                       "\n\tgcc -o $@ $^\n%.o: %.c\n\tgcc -c -o $@ $<\n"
                       "clean:\n\trm -f *.o main\n.PHONY: all clean\n");
  EXPECT_TRUE(printed(bash("make -s -j4 && ./main && make -q && make -s clean && ls *.o 2>/dev/null | wc -l"),
                      "11\n0\n"));
}

TEST_P(Languages, CmakeConfiguresBuildsAndTests) {
  NEEDS("cmake");
  NEEDS("g++");
  file("CMakeLists.txt",
       "cmake_minimum_required(VERSION 3.10)\nproject(small CXX)\nfind_package(Threads REQUIRED)\n"
       "add_executable(small small.cpp)\ntarget_link_libraries(small Threads::Threads)\n"
       "enable_testing()\nadd_test(NAME small COMMAND small)\n");
  file("small.cpp", "#include <cstdio>\nint main() { std::puts(\"built\"); }\n");
  EXPECT_TRUE(printed(bash("{ cmake -S . -B out && cmake --build out -j 2 && (cd out && ctest); } > log 2>&1 "
                           "|| cat log; out/small",
                           {.deadline = seconds(90)}),
                      "built\n"));
}

TEST_P(Languages, JavaCompilesAndRuns) {
  NEEDS("javac");
  file("Hello.java", R"(
import java.nio.file.*; import java.util.stream.*; import java.net.*;
public class Hello {
  public static void main(String[] a) throws Exception {
    var t = new Thread(() -> System.out.println("thread")); t.start(); t.join();
    System.out.println(IntStream.range(0, 1000).parallel().sum());
    Files.writeString(Path.of("out.txt"), "text"); System.out.println(Files.readString(Path.of("out.txt")));
    try (var s = new ServerSocket(0, 1, InetAddress.getLoopbackAddress()); var c = new Socket(s.getInetAddress(), s.getLocalPort())) {
      System.out.println(c.isConnected());
    }
    var p = new ProcessBuilder("echo", "process").inheritIO().start(); System.out.println(p.waitFor());
  }
}
)");
  const Command patient = {.deadline = seconds(90)};
  ASSERT_TRUE(exited(inside({"javac", "Hello.java"}, patient), 0));
  EXPECT_TRUE(printed(inside({"java", "Hello"}, patient), "thread\n499500\ntext\ntrue\nprocess\n0\n"));
}

TEST_P(Languages, PerlAndAwkAndBc) {
  NEEDS("perl");
  EXPECT_TRUE(
      printed(bash(R"(perl -MFile::Temp=tempfile -MPOSIX -e 'my ($h, $n) = tempfile(); print $h "x"; close $h;
print -s $n, " ", `echo sub`; my $pid = fork; if (!$pid) { exit 4 } waitpid $pid, 0; print $? >> 8, "\n"; printf "%s\n", join ",", sort { $b <=> $a } 1..5;'
perl -pe 's/a/b/' <<< banana)"),
              "1 sub\n4\n5,4,3,2,1\nbbnana\n"));
}

TEST_P(Languages, CargoBuildsACrateOffline) {
  const bool own = has_own("cargo");
  if (!own && !installed("cargo")) GTEST_SKIP() << "skipped: cargo is not installed";
  if (own && as() == As::nobody) GTEST_SKIP() << "skipped: the cargo here is in another user's home";
  file("Cargo.toml", "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
  file("src/main.rs",
       "fn main() { let t = std::thread::spawn(|| 42); println!(\"{}\", t.join().unwrap()); }\n");
  const Ran ran = inside({"cargo", "run", "--offline", "--quiet"}, as_caller());
  EXPECT_TRUE(printed(ran, "42\n"));
  EXPECT_TRUE(exited(inside({"rustc", "--version"}, as_caller()), 0));
}

TEST_P(Languages, ThePythonOfTheCallersPath) {
  if (!has_own("python3")) GTEST_SKIP() << "skipped: no python3 of the caller's own on PATH";
  if (as() == As::nobody) GTEST_SKIP() << "skipped: the python3 here is in another user's home";
  const std::string question = "import ssl, sqlite3, sys; print(sys.version.split()[0])";
  const Command how = as_caller();
  const Ran host = run({.argv = {"python3", "-c", question}, .env = how.env});
  ASSERT_TRUE(exited(host, 0));
  EXPECT_TRUE(printed(inside({"python3", "-c", question}, how), host.out));
}

TEST_P(Languages, ToolchainsNoneShowsTheSystemsPython) {
  if (bare() || !has_own("python3")) GTEST_SKIP() << "skipped: no python3 of the caller's own on PATH";
  if (as() == As::nobody) GTEST_SKIP() << "skipped: the python3 here is in another user's home";
  Command how = command({}, as_caller());
  how.argv = under_cloche({"--toolchains", "none"}, {"python3", "-c", "import sys; print(sys.prefix)"});
  EXPECT_TRUE(printed(run(how), "/usr\n"));
}

TEST_P(Languages, GoBuildsAndRuns) {
  NEEDS("go");
  file("main.go",
       "package main\nimport \"fmt\"\nfunc main() { c := make(chan int); go func() { c <- 42 }(); "
       "fmt.Println(<-c) }\n");
  EXPECT_TRUE(printed(bash("go build -o out main.go && ./out", {.deadline = seconds(90)}), "42\n"));
}

TEST_P(Languages, RubyRuns) {
  NEEDS("ruby");
  EXPECT_TRUE(printed(inside({"ruby", "-rtempfile", "-e",
                              "t = Thread.new { 42 }; puts t.value; puts `echo sub`; puts fork { exit 3 } && "
                              "Process.wait2[1].exitstatus"}),
                      "42\nsub\n3\n"));
}

}  // namespace
}  // namespace cloche::test
