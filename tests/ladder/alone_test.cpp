// The isolation level without a box: everyday programs change modes and times of what they may write to, and
// nobody changes those of the caller's other files, or how his other processes run. Each attack is shown to
// work without Cloche first.
#include <sys/stat.h>

#include "ladder/rungs.hpp"

namespace cloche::test {
namespace {

class Alone : public ::testing::TestWithParam<As> {
 protected:
  As as() const { return GetParam(); }
  Scene& scene() { return scene_; }
  fs::path workspace() const { return scene_.workspace(); }

  Command bare(const std::vector<std::string>& argv) const {
    return {.argv = argv,
            .as = as(),
            .cwd = workspace(),
            .env = {{"XDG_STATE_HOME", state_home(as())}, {"VICTIM", victim()}}};
  }
  Ran held(const std::vector<std::string>& argv, const std::vector<std::string>& flags = {}) const {
    std::vector<std::string> all = {"--isolation", "subprocess", "--env", "VICTIM"};
    all.insert(all.end(), flags.begin(), flags.end());
    return run(bare(under_cloche(all, argv)));
  }
  Ran sh(const std::string& script) const { return held({"sh", "-ec", script}); }

  std::string victim() const { return scene_.root() / "elsewhere" / "mine.txt"; }

 private:
  Scene scene_{GetParam()};
};
FOR_EVERYONE(Alone);

// ---- everyday ----

TEST_P(Alone, WhatACompilerMakesRuns) {
  NEEDS("gcc");
  scene().write("workspace/x.c", "#include <stdio.h>\nint main() { puts(\"made\"); return 0; }\n");
  EXPECT_TRUE(printed(sh("gcc -o x x.c && ./x"), "made\n"));
}

TEST_P(Alone, CopiesAndInstallsKeepModesAndTimes) {
  EXPECT_TRUE(
      printed(sh("umask 022; echo a > a; chmod 750 a; touch -d '2001-02-03 04:05:06 UTC' a; cp -p a b; "
                 "install -m 640 a c; cp -a a d; stat -c '%n %a %Y' b d; stat -c '%n %a' c"),
              "b 750 981173106\nd 750 981173106\nc 640\n"));
}

TEST_P(Alone, ArchivesComeOutAsTheyWentIn) {
  EXPECT_TRUE(
      printed(sh("mkdir -p t/in out; echo a > t/in/a; chmod 705 t/in/a; chmod 711 t/in; ln -s in/a t/l; "
                 "touch -h -d @1000000000 t/l; touch -d @1000000000 t/in/a; tar -cf t.tar t; "
                 "tar -xpf t.tar -C out; stat -c '%n %a' out/t/in out/t/in/a; "
                 "stat -c %Y out/t/in/a out/t/l"),
              "out/t/in 711\nout/t/in/a 705\n1000000000\n1000000000\n"));
}

// Each layer of Landlock forbids it unless it says otherwise, the one that shields the watcher too.
TEST_P(Alone, FilesMoveBetweenDirectories) {
  EXPECT_TRUE(printed(sh("mkdir a b; echo x > a/x; mv a/x b/x; ln b/x a/y; cat a/y; "
                         "python3 -c 'import os; os.rename(\"b/x\", \"a/x\")'; cat a/x"),
                      "x\nx\n"));
}

TEST_P(Alone, GitKeepsARepository) {
  NEEDS("git");
  EXPECT_TRUE(printed(sh("git init -q r; cd r; echo a > a; chmod +x a; git add a; "
                         "git -c user.name=n -c user.email=e commit -qm one; git ls-tree HEAD | cut -c1-6; "
                         "git status --short"),
                      "100755\n"));
}

TEST_P(Alone, PythonChangesModesAndTimesByPathDescriptorAndDirectory) {
  EXPECT_TRUE(printed(held({"python3", "-c", R"(
import os, stat
os.mkdir('d'); open('d/f', 'w').close()
mode = lambda: print(oct(stat.S_IMODE(os.stat('d/f').st_mode)))
os.chmod('d/f', 0o700); mode()
file = os.open('d/f', os.O_RDONLY); os.fchmod(file, 0o711); mode()
os.chmod('f', 0o640, dir_fd=os.open('d', os.O_RDONLY)); mode()
os.chmod(f'/proc/self/fd/{file}', 0o600); mode()
os.chdir('d'); os.chmod('../d/./f', 0o444); os.chdir('..'); mode()
os.utime('d/f', ns=(5, 7)); print(os.stat('d/f').st_mtime_ns)
os.utime(file, (3, 4)); print(int(os.stat('d/f').st_mtime))
os.chown('d/f', os.getuid(), -1)
os.chmod('d', 0o1770); print(oct(os.stat('d').st_mode))
home = os.environ['HOME']; open(home + '/x', 'w').close(); os.chmod(home + '/x', 0o700)
print(oct(os.stat(home + '/x').st_mode))
)"}),
                      "0o700\n0o711\n0o640\n0o600\n0o444\n7\n4\n0o41770\n0o100700\n"));
}

TEST_P(Alone, WhatCannotBeChangedSaysSoAsUsual) {
  EXPECT_TRUE(printed(held({"python3", "-c", R"(
import errno, os
open('f', 'w').close(); os.link('f', 'g'); open('h', 'w').close()
def tried(action):
    try: action(); print('done')
    except OSError as error: print(errno.errorcode[error.errno])
tried(lambda: os.chmod('none', 0o600))
tried(lambda: os.chmod('f/x', 0o600))
tried(lambda: os.chmod('h', 0o4755))
tried(lambda: os.chmod('h', 0o2755))
tried(lambda: os.chmod('f', 0o600))  # its other name might lie anywhere
tried(lambda: os.chown('h', 12345, -1))
tried(lambda: os.setxattr('h', 'user.note', b'x'))
tried(lambda: os.chmod('/etc/passwd', 0o644))
)"}),
                      "ENOENT\nENOTDIR\nEPERM\nEPERM\nEPERM\nEPERM\nENOTSUP\nEPERM\n"));
}

// The warden holds every tree of the plan; that is not the command's to pay for.
TEST_P(Alone, AFewDescriptorsAreEnough) {
  EXPECT_TRUE(printed(
      held({"sh", "-ec", ": > a; chmod 600 a; stat -c %a a; ulimit -n; ulimit -Hn"}, {"--nofile", "16"}),
      "600\n16\n16\n"));
}

// The kernel lets one listen to a process, and whoever was first is not ours to push aside.
TEST_P(Alone, WhereSomebodyListensAlreadyTheRestWorks) {
  std::vector<std::string> argv = {"python3", "-c", R"(
import ctypes, struct, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)
allow = ctypes.create_string_buffer(struct.pack('HBBI', 6, 0, 0, 0x7fff0000))
program = ctypes.create_string_buffer(struct.pack('HxxxxxxQ', 1, ctypes.addressof(allow)))
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.syscall(317, 1, 8, program) >= 0  # a filter with a listener
sys.exit(subprocess.run(sys.argv[1:]).returncode)
)"};
  const auto call =
      under_cloche({"--isolation", "subprocess"}, {"sh", "-c", "echo a > a; cat a; chmod 600 a"});
  argv.insert(argv.end(), call.begin(), call.end());
  const Ran ran = run(bare(argv));
  EXPECT_EQ(ran.out, "a\n") << ran.err;
  EXPECT_TRUE(contains(ran.err, "Function not implemented")) << ran.err;
}

// ---- hostile ----

struct Attack {
  const char* name;
  const char* script;  // python: `mine` is the victim, `often` repeats something for a while
};

const char* const prelude = R"(
import ctypes, mmap, os, signal, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
sys.setswitchinterval(1e-6)
mine = os.environ['VICTIM']
where, what = os.path.split(mine)
open('own', 'w').close()
def often(action):
    end = time.monotonic() + 0.4
    while time.monotonic() < end:
        try: action()
        except OSError: pass
def while_another(process, action):
    other = os.fork()
    while other == 0: process()
    often(action)
    os.kill(other, signal.SIGKILL); os.waitpid(other, 0)
def to(target, link):
    os.symlink(target, link + '.new'); os.rename(link + '.new', link)
)";

const Attack attacks[] = {
    {"ByPath", "os.chmod(mine, 0o666)"},
    {"ByThePathFromItsDirectory", "os.chdir(where); os.chmod(what, 0o666)"},
    {"ByADirectorysDescriptor", "os.chmod(what, 0o666, dir_fd=os.open(where, os.O_PATH))"},
    {"ClimbingOut", "os.chmod(os.path.relpath(mine), 0o666)"},
    {"ThroughALink", "os.symlink(mine, 'l'); os.chmod('l', 0o666)"},
    {"ThroughALinkedDirectory", "os.symlink(where, 'l'); os.chmod('l/' + what, 0o666)"},
    {"ByADescriptorWithoutRights", "os.chmod('/proc/self/fd/%d' % os.open(mine, os.O_PATH), 0o666)"},
    {"ByTheNumberOfTheProcess",
     "os.chmod('/proc/%d/fd/%d' % (os.getpid(), os.open(mine, os.O_PATH)), 0o666)"},
    {"ThroughItsRoot", "os.chmod('/proc/self/root' + mine, 0o666)"},
    {"ThroughItsDirectoryInProc", "os.chdir(where); os.chmod('/proc/self/cwd/' + what, 0o666)"},
    {"ByAnEmptyPath", "libc.syscall(452, os.open(mine, os.O_PATH), b'', 0o666, 0x1000)"},
    {"ByADescriptorToRead", "os.fchmod(os.open(mine, os.O_RDONLY), 0o666)"},
    {"ByAnotherName", "os.chmod('hard', 0o666)"},
    {"ByAnotherNameThatIsGone",
     "file = os.open('hard', os.O_RDONLY); os.unlink('hard'); os.fchmod(file, 0o666)"},
    {"ByAnotherNameThatGoesMeanwhile", R"(
file = os.open('hard', os.O_RDWR)
threading.Timer(0.01, lambda: os.unlink('hard')).start()
often(lambda: os.fchmod(file, 0o666)))"},
    {"ByALinkThatIsSwapped", R"(
to('own', 'l')
while_another(lambda: (to(mine, 'l'), to('own', 'l')), lambda: os.chmod('l', 0o666)))"},
    {"ByADirectoryThatIsSwapped", R"(
os.mkdir('in'); open('in/' + what, 'w').close(); to('in', 'd')
while_another(lambda: (to(where, 'd'), to('in', 'd')), lambda: os.chmod('d/' + what, 0o666)))"},
    {"ByANameThatIsSwapped", R"(
open('plain', 'w').close(); os.symlink(mine, 'link')
def swap(): libc.renameat2(-100, b'plain', -100, b'link', 2)
while_another(swap, lambda: os.chmod('plain', 0o666)))"},
    {"ByAWordThatIsSwapped", R"(
words = mmap.mmap(-1, 4096)
own, other = (os.getcwd() + '/own').encode() + b'\0', mine.encode() + b'\0'
def write(word): words[:len(word)] = word
path = ctypes.addressof(ctypes.c_char.from_buffer(words))
while_another(lambda: (write(own), write(other)), lambda: libc.chmod(ctypes.c_void_p(path), 0o666)))"},
    {"ByADescriptorThatIsSwapped", R"(
own, other, both = os.open('own', os.O_RDWR), os.open(mine, os.O_RDONLY), os.open('own', os.O_RDWR)
stop = False
def swap():
    while not stop: os.dup2(other, both); os.dup2(own, both)
thread = threading.Thread(target=swap); thread.start()
often(lambda: os.fchmod(both, 0o666))
stop = True; thread.join())"},
    {"ByItsOldestTime", "os.utime(mine, (1, 1))"},
    {"ByADescriptorsTime", "os.utime(os.open(mine, os.O_RDONLY), (1, 1))"},
    {"ByALinksTime", "os.symlink(mine, 'l'); os.utime('l', (1, 1))"},
    {"ByTheOldCallsForTimes", R"(
two = (ctypes.c_long * 4)(1, 0, 1, 0); path = mine.encode()
libc.syscall(132, path, two); libc.syscall(235, path, two); libc.syscall(261, -100, path, two))"},
};

// What can be seen of a file without opening it.
std::string looks_of(const std::string& path) {
  struct stat seen {};
  if (::lstat(path.c_str(), &seen) != 0) return "gone";
  return std::to_string(seen.st_mode) + " " + std::to_string(seen.st_uid) + " " +
         std::to_string(seen.st_mtim.tv_sec) + "." + std::to_string(seen.st_mtim.tv_nsec);
}

using Attacked = std::tuple<As, const Attack*>;

class AloneAttacked : public ::testing::TestWithParam<Attacked> {
 protected:
  As as() const { return std::get<0>(GetParam()); }

  // What is left of a file of the caller's outside of the workspace: which he may read, and which has a
  // second name in it.
  std::pair<std::string, std::string> before_and_after(bool with_cloche) const {
    Scene scene(as());
    const std::string victim = scene.write("elsewhere/mine.txt", "mine\n", 0600);
    fs::create_hard_link(victim, scene.workspace() / "hard");
    const std::string before = looks_of(victim);
    const std::vector<std::string> argv = {"python3", "-c",
                                           std::string(prelude) + std::get<1>(GetParam())->script};
    const std::vector<std::string> flags = {"--isolation", "subprocess", "--env",
                                            "VICTIM",      "--ro",       scene.root() / "elsewhere"};
    run({.argv = with_cloche ? under_cloche(flags, argv) : argv,
         .as = as(),
         .cwd = scene.workspace(),
         .env = {{"XDG_STATE_HOME", state_home(as())}, {"VICTIM", victim}}});
    // That it ran at all: what the prelude makes is there.
    EXPECT_TRUE(fs::exists(scene.workspace() / "own"));
    return {before, looks_of(victim)};
  }
};
std::vector<const Attack*> all_attacks() {
  std::vector<const Attack*> all;
  for (const Attack& attack : attacks) all.push_back(&attack);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Of, AloneAttacked,
                         ::testing::Combine(::testing::ValuesIn(identities()),
                                            ::testing::ValuesIn(all_attacks())),
                         [](const ::testing::TestParamInfo<Attacked>& attacked) {
                           return std::string(name_of(std::get<0>(attacked.param))) + "_" +
                                  std::get<1>(attacked.param)->name;
                         });

TEST_P(AloneAttacked, TheCallersOtherFilesStayAsTheyAre) {
  const auto [before, after] = before_and_after(true);
  EXPECT_EQ(before, after);
  const auto [bare_before, bare_after] = before_and_after(false);
  EXPECT_NE(bare_before, bare_after) << "the attack does not work without Cloche either";
}

// As chattr does it, by a descriptor that was opened to read.
TEST_P(Alone, FlagsOfTheCallersOtherFilesAreNotTheCommands) {
  scene().write("elsewhere/mine.txt", "mine\n", 0600);
  const std::vector<std::string> chattr = {"python3", "-c", R"(
import array, errno, fcntl, os
flags, file = array.array('l', [0]), os.open(os.environ['VICTIM'], os.O_RDONLY)
try:
    fcntl.ioctl(file, 0x80086601, flags)
    flags[0] |= 0x40  # no dump
    fcntl.ioctl(file, 0x40086602, flags)
    print('set')
except OSError as error: print(errno.errorcode[error.errno])
)"};
  const Ran control = run(bare(chattr));
  if (control.out != "set\n") GTEST_SKIP() << "skipped: the file system has no flags: " << control.out;
  EXPECT_TRUE(printed(held(chattr, {"--ro", scene().root() / "elsewhere"}), "EPERM\n"));
}

// As debugfs of ext4 counts its inodes: by either of two names, with and without bits that the kernel
// ignores.
TEST_P(Alone, VersionsOfTheCallersOtherFilesAreNotTheCommands) {
  scene().write("elsewhere/mine.txt", "mine\n", 0600);
  const std::vector<std::string> counts = {"python3", "-c", R"(
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
file, version = os.open(os.environ['VICTIM'], os.O_RDONLY), ctypes.c_long(77)
for request in (0x40086604, 0x140086604, 0x40087602, 0x40046604, 0x40047602):
    done = libc.syscall(16, file, ctypes.c_ulong(request), ctypes.byref(version)) == 0
    print('set' if done else errno.errorcode[ctypes.get_errno()])
flags = ctypes.c_long()
print(libc.ioctl(file, ctypes.c_ulong(0x80086601), ctypes.byref(flags)))
)"};
  const Ran control = run(bare(counts));
  EXPECT_TRUE(printed(held(counts, {"--ro", scene().root() / "elsewhere"}),
                      "EPERM\nEPERM\nEPERM\nEPERM\nEPERM\n" +
                          control.out.substr(control.out.rfind('\n', control.out.size() - 2) + 1)));
  if (!control.out.starts_with("set\nset\nset\n"))
    GTEST_SKIP() << "skipped: the file system has no versions to set: " << control.out;
}

// ---- what is heard of files ----

// Waits for what happens to argv[1], and says it.
const char* const listens = R"(
import ctypes, errno, os, select, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
watcher = libc.inotify_init1(0)
mask = int(sys.argv[2], 0) if len(sys.argv) > 2 else 0x102  # changed, made in it
def watch(path):
    watch = libc.inotify_add_watch(watcher, path.encode(), mask)
    return watch if watch >= 0 else errno.errorcode[ctypes.get_errno()]
def heard():
    if not select.select([watcher], [], [], 1)[0]: return 'nothing'
    watch, mask, cookie, size = struct.unpack_from('iIII', data := os.read(watcher, 4096))
    return f'{watch} {mask:#x} {data[16:16 + size].rstrip(bytes(1)).decode()}'
)";

TEST_P(Alone, WhatMayBeReadCanBeWatched) {
  scene().write("granted/a", "a\n");
  const std::vector<std::string> argv = {"python3", "-c", std::string(listens) + R"(
os.mkdir('d'); open('d/f', 'w').close(); os.symlink('d', 'l')
print(watch('d'), watch('d/f'), watch('none'), watch(os.path.abspath('d')))
open('d/new', 'w').close(); print(heard())
os.mkdir('elsewhere'); os.chdir('elsewhere'); print(watch('../l'), watch(sys.argv[1]))
os.chdir('..'); open('l/other', 'w').close(); print(heard())
mask = 0x02000004 | 0x10000000  # attributes of the link itself; a second watch of it is refused
print(watch('l'), watch('l')); os.utime('l', (1, 1), follow_symlinks=False); print(heard())
print(libc.inotify_rm_watch(watcher, 1)); os.close(watcher); print(watch('d'))
)",
                                         scene().root() / "granted"};
  const std::string expected = "1 2 ENOENT 1\n1 0x100 new\n1 3\n1 0x100 other\n4 EEXIST\n4 0x4 \n0\nEBADF\n";
  EXPECT_TRUE(printed(run(bare(argv)), expected)) << "the control";
  fs::remove_all(workspace() / "d");
  fs::remove_all(workspace() / "elsewhere");
  fs::remove(workspace() / "l");
  EXPECT_TRUE(printed(held(argv, {"--ro", scene().root() / "granted"}), expected));
}

TEST_P(Alone, WhatHappensToTheCallersOtherFilesIsNotHeard) {
  scene().write("elsewhere/mine.txt", "mine\n", 0644);
  const std::vector<std::string> argv = {"python3", "-c", std::string(listens) + R"(
mine = os.environ['VICTIM']; where = os.path.dirname(mine)
os.symlink(mine, 'l')
print(watch(mine), watch(where), watch('l'), watch(os.path.relpath(where)), watch('/proc/self/root' + mine))
os.chdir(where); print(watch('.'), watch('mine.txt'), watch('/proc/self/cwd'))
place = os.open(mine, os.O_PATH); print(watch(f'/proc/self/fd/{place}'), watch(f'/dev/fd/{place}'))
)"};
  EXPECT_TRUE(printed(run(bare(argv)), "1 2 1 2 1\n2 1 2\n1 1\n")) << "the control";
  fs::remove(workspace() / "l");
  const Ran ran = held(argv);
  EXPECT_EQ(ran.out.find_first_of("0123456789"), std::string::npos) << ran.out;
  EXPECT_EQ(std::count_if(ran.out.begin(), ran.out.end(), [](char c) { return c == ' ' || c == '\n'; }), 10)
      << "all were tried: " << ran.out << ran.err;
}

TEST_P(Alone, ALinkThatIsSwappedIsNotHeardOfEither) {
  scene().write("elsewhere/mine.txt", "mine\n", 0644);
  const std::string script = std::string(listens) + R"(
import signal, time
mine = os.environ['VICTIM']; open('own', 'w').close()
def to(target): os.symlink(target, 'l.new'); os.rename('l.new', 'l')
to('own'); other = os.fork()
while other == 0: to(mine); to('own')
watches, end = set(), time.monotonic() + 0.4
while time.monotonic() < end: watches.add(watch('l'))
os.kill(other, signal.SIGKILL); print(sorted(one for one in watches if isinstance(one, int)))
)";
  EXPECT_TRUE(printed(run(bare({"python3", "-c", script})), "[1, 2]\n")) << "the control";
  fs::remove(workspace() / "l");
  fs::remove(workspace() / "l.new");
  EXPECT_TRUE(printed(held({"python3", "-c", script}), "[1]\n"));
}

TEST_P(Alone, ProgramsThatFollowAFileDo) {
  EXPECT_TRUE(
      printed(sh("echo one > log; (sleep 0.3; echo two >> log)& timeout 2 tail -n +1 -f log | head -2"),
              "one\ntwo\n"));
  NEEDS("node");
  EXPECT_TRUE(
      printed(held({"node", "-e",
                    "const fs = require('fs'); const w = fs.watch('.', (e, name) => { "
                    "console.log(name); w.close(); }); setTimeout(() => fs.writeFileSync('new', ''), 100)"}),
              "new\n"));
}

// ---- the protected set ----

TEST_P(Alone, WhatTheHostExecutesIsAsItWasAfterTheCall) {
  NEEDS("git");
  const std::string stage =
      "git init -q .; echo export A=1 > .envrc; chmod 640 .envrc; mkdir .vscode; echo {} > "
      ".vscode/tasks.json; "
      "printf '#!/bin/sh\\n' > .git/hooks/pre-push; chmod +x .git/hooks/pre-push; ";
  ASSERT_EQ(run(bare({"sh", "-ec", stage})).exit_code, 0);
  const std::string look =
      "stat -c '%n %a %Y' .envrc .git/hooks/pre-push .vscode/tasks.json .git/config; "
      "cat .envrc .git/hooks/pre-push .vscode/tasks.json .git/config";
  const std::string before = run(bare({"sh", "-ec", look})).out;
  const Ran ran =
      sh("rm .envrc; echo evil >> .git/hooks/pre-push; chmod 600 .vscode/tasks.json; "
         "git config core.pager evil; echo a > a; git add a; "
         "git -c user.name=n -c user.email=e commit -qm one; git log --format=%s");
  EXPECT_TRUE(printed(ran, "one\n"));
  EXPECT_EQ(run(bare({"sh", "-ec", look})).out, before);
  for (const char* path : {".envrc", ".git/hooks/pre-push", ".vscode/tasks.json", ".git/config"})
    EXPECT_TRUE(contains(ran.err, std::string("put back as it was: ") + path + "\n")) << ran.err;
  EXPECT_TRUE(contains(ran.err, "quarantined: .git/hooks/pre-push")) << ran.err;
  EXPECT_TRUE(printed(run(bare({"git", "log", "--format=%s"})), "one\n"));
}

// Also when it changes places with another.
TEST_P(Alone, NothingIsRenamedOutOfATasksHome) {
  NEEDS("python3");
  const std::vector<std::string> task = {"--task", "moves", "--rw", scene().root() / "granted"};
  const auto in_task = [&](const std::string& script) { return held({"bash", "-ec", script}, task); };
  scene().write("granted/here", "");
  ASSERT_TRUE(printed(in_task("mkdir -p \"$HOME/s\""), ""));
  const std::string exchange = R"(
mkdir -p mine; python3 -c '
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
old = os.environ["HOME"] + "/s"
for a, b, flags in ((old, "new", 0), (old, "new", 1), (old, "mine", 2), ("mine", old, 2)):
  ended = libc.renameat2(-100, a.encode(), -100, b.encode(), flags)
  print(ended, errno.errorcode.get(ctypes.get_errno()))
')";
  EXPECT_TRUE(printed(in_task(exchange), "-1 EXDEV\n-1 EXDEV\n-1 EXDEV\n-1 EXDEV\n"));
}

TEST_P(Alone, WhatCannotHideAnythingIsMovedAsUsual) {
  NEEDS("python3");
  const std::vector<std::string> task = {"--task", "moves-2"};
  // By the call itself, so that no program makes a copy instead.
  const std::string script = R"(
import os
home, tmp = os.environ["HOME"], os.environ["TMPDIR"]
for directory in ("a/in", "b", home + "/a/in", home + "/b"): os.makedirs(directory)
for file in ("f", home + "/f", home + "/g"): open(file, "w").close()
os.rename("a/in", "b/in")
os.rename(home + "/a/in", home + "/b/in")
os.rename(home + "/b", tmp + "/b")
os.rename(home + "/f", "from-home")
os.link(home + "/g", "linked")
os.rename("f", home + "/f")
os.rename("b", home + "/b")
print("moved")
)";
  EXPECT_TRUE(printed(held({"python3", "-c", script}, task), "moved\n"));
}

TEST_P(Alone, NoHardLinkLeadsOut) {
  scene().write("granted/rc", "the user's\n");
  const std::string rc = scene().root() / "granted/rc";
  EXPECT_TRUE(printed(held({"sh", "-c", "cat " + rc + "; ln " + rc + " second 2>/dev/null || echo refused"},
                           {"--ro", scene().root() / "granted"}),
                      "the user's\nrefused\n"));
}

TEST_P(Alone, WhatTheOperatorAllowsToChangeStaysChanged) {
  scene().write("workspace/.envrc", "old\n");
  EXPECT_TRUE(printed(held({"sh", "-c", "echo new > .envrc"}, {"--allow-protected", ".envrc"}), ""));
  EXPECT_EQ(read_file(workspace() / ".envrc"), "new\n");
}

// ---- other processes ----

// Once it has answered: it starts the command first.
TEST_P(Alone, WhoeverAnswersTheCommandIsFilteredToo) {
  EXPECT_TRUE(printed(sh(": > a; chmod 600 a; grep -h -e Seccomp: -e NoNewPrivs: /proc/$PPID/status; "
                         "! cat /proc/$PPID/environ 2>/dev/null"),
                      "NoNewPrivs:\t1\nSeccomp:\t2\n"));
}

// Its parent waits for it, answers it and reports: whoever could end that, or stop it, would have the call
// look like something that went wrong in Cloche.
TEST_P(Alone, NoSignalReachesWhoeverWatches) {
  const std::vector<std::string> tries = {"python3", "-c", R"(
import ctypes, errno, fcntl, os, signal
libc = ctypes.CDLL(None, use_errno=True)
parent = os.getppid()
pidfd = os.pidfd_open(parent)
ways = {
    'kill': lambda number: libc.kill(parent, number),
    'tgkill': lambda number: libc.syscall(234, parent, parent, number),
    'tkill': lambda number: libc.syscall(200, parent, number),
    'pidfd': lambda number: libc.syscall(424, pidfd, number, None, 0),
}
for name, way in ways.items():
    refused = [number for number in (0, *signal.valid_signals())
               if way(number) != 0 and ctypes.get_errno() == errno.EPERM]
    print(name, 'refused' if len(refused) == 1 + len(signal.valid_signals()) else refused)
reader, writer = os.pipe()
fcntl.fcntl(reader, fcntl.F_SETOWN, parent)
fcntl.fcntl(reader, 10, signal.SIGKILL)  # what is sent when there is something to read
fcntl.fcntl(reader, fcntl.F_SETFL, os.O_ASYNC)
os.write(writer, b'x')
open('a', 'w').close(); os.chmod('a', 0o600); print('answered')
)"};
  EXPECT_TRUE(printed(held(tries), "kill refused\ntgkill refused\ntkill refused\npidfd refused\nanswered\n"));
  EXPECT_EQ(run(bare({"sh", "-c", "sh -c 'sh -c \"kill -9 \\$PPID\"; :'; echo $?"})).out, "137\n")
      << "the control";
  // At once: before it was told that the command has started.
  for (int i = 0; i < 10; ++i) {
    const Ran ran = held({"sh", "-c", "kill -9 $PPID 2>/dev/null || echo refused"});
    ASSERT_TRUE(printed(ran, "refused\n"));
  }
}

TEST_P(Alone, SignalsReachTheCommandAndAmongItsOwn) {
  EXPECT_TRUE(printed(sh("sleep 30 & kill -TERM $!; wait $! || echo $?; trap 'echo told' USR1; kill -USR1 0"),
                      "143\ntold\n"))
      << "a child, and its own group";
  const Ran late = held({"sleep", "30"}, {"--timeout", "200ms"});
  EXPECT_EQ(late.exit_code, 124) << late.err;
}

TEST_P(Alone, HowTheCallersOtherProcessesRunIsNotTheCommands) {
  scene().write("workspace/tries.py", R"(
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
process = int(os.environ.get('OTHER', '0'))
mask, none, attributes = ctypes.c_ulong(1), ctypes.c_int(0), (ctypes.c_uint32 * 12)(48, 3, 0, 0, 19)
def tried(result):
    print('refused' if result != 0 and ctypes.get_errno() == 1 else 'done')
tried(libc.setpriority(0, process, 19))
tried(libc.sched_setaffinity(process, 8, ctypes.byref(mask)))
tried(libc.sched_setscheduler(process, 3, ctypes.byref(none)))
tried(libc.sched_setparam(process, ctypes.byref(none)))
tried(libc.syscall(314, process, attributes, 0))
tried(libc.syscall(251, 1, process, 3 << 13))
tried(libc.prlimit(process, 7, (ctypes.c_uint64 * 2)(64, 64), None))
)");
  const std::string done = "done\ndone\ndone\ndone\ndone\ndone\ndone\n";
  const std::string refused = "refused\nrefused\nrefused\nrefused\nrefused\nrefused\nrefused\n";
  const auto beside_another = [&](const std::string& how) {
    Command command =
        bare({"sh", "-c", "sleep 30 & export OTHER=$!; " + how + " python3 tries.py; kill $OTHER"});
    command.env["CLOCHE"] = cloche();
    return run(command);
  };
  EXPECT_TRUE(printed(beside_another(""), done)) << "the control";
  EXPECT_TRUE(printed(beside_another("\"$CLOCHE\" run --isolation subprocess --env OTHER --"), refused));
  EXPECT_TRUE(printed(held({"python3", "tries.py"}), done)) << "of itself";
}

// As pthread_setaffinity_np and OpenMP do: libc knows its threads by number alone.
TEST_P(Alone, HowItsOwnThreadsRunIsTheCommandsByNumberToo) {
  EXPECT_TRUE(printed(held({"python3", "-c", R"(
import os, threading
one = {min(os.sched_getaffinity(0))}
go, end = threading.Event(), threading.Event()
other = threading.Thread(target=lambda: (go.set(), end.wait()))
other.start(); go.wait()
for thread in (os.getpid(), other.native_id):
    os.sched_setaffinity(thread, one)
    os.sched_setscheduler(thread, os.SCHED_BATCH, os.sched_param(0))
    os.sched_setparam(thread, os.sched_param(0))
    os.setpriority(os.PRIO_PROCESS, thread, 7)
    print(os.sched_getaffinity(thread) == one, os.sched_getscheduler(thread) == os.SCHED_BATCH,
          os.getpriority(os.PRIO_PROCESS, thread))
end.set(); other.join()
for thread, mask in ((os.getppid(), one), (1 << 30, one), (os.getpid(), {1023})):
    try: os.sched_setaffinity(thread, mask); print('done')
    except OSError as error: print(error.errno)
)"}),
                      "True True 7\nTrue True 7\n1\n1\n22\n"));
}

TEST_P(Alone, AWholeUsersPriorityIsNotTheCommands) {
  EXPECT_TRUE(printed(held({"python3", "-c", R"(
import os
try: os.setpriority(os.PRIO_USER, 0, 19); print('done')
except PermissionError: print('refused')
os.setpriority(os.PRIO_PGRP, 0, 18); print(os.nice(1))
)"}),
                      "refused\n19\n"));
}

}  // namespace
}  // namespace cloche::test
