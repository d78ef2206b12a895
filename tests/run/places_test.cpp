// Workspaces in odd places, and what else is shown on request.
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cstdio>

#include "run/fixture.hpp"

namespace cloche::test {
namespace {

class Places : public Run {
 protected:
  void give_to_identity(const fs::path& path) const {
    if (as() != As::nobody) return;
    EXPECT_EQ(chown(path.c_str(), nobody, nobody), 0);
  }
  fs::path make(const fs::path& relative) {
    fs::path made = scene().root();
    for (const auto& part : relative) {
      made /= part;
      if (mkdir(made.c_str(), 0755) == 0) give_to_identity(made);
    }
    return made;
  }
  // Root shows a file system's trees as the command's own, which the kernel must be able to: a tmpfs since
  // Linux 6.3. Before, it is refused and said.
  bool may_be_on_tmpfs() const {
    utsname kernel{};
    int major = 0;
    int minor = 0;
    uname(&kernel);
    return !is_root() || std::sscanf(kernel.release, "%d.%d", &major, &minor) != 2 || major > 6 ||
           (major == 6 && minor >= 3);
  }
  static ::testing::AssertionResult refused_on_tmpfs(const Ran& ran) {
    return refused(ran, {125}, {"cannot be idmapped on this kernel: run as its owner instead of root"});
  }
  // A command in this workspace knows where it is and can write.
  void expect_works(const std::string& given, const fs::path& real, const Command& how = {}) {
    const Ran ran = cloche_shell({"--workspace", given}, "pwd -P && echo made > made && cat made", how);
    EXPECT_TRUE(printed(ran, real.string() + "\nmade\n")) << given;
    EXPECT_EQ(read_file(real / "made"), "made\n") << given;
  }
};
FOR_EVERYONE(Places);

TEST_P(Places, BehindASymlink) {
  const auto real = make("real/deep");
  fs::create_directory_symlink(real, scene().root() / "link");
  expect_works(scene().root() / "link", real);
  fs::create_directory_symlink(scene().root() / "link", scene().root() / "link2");
  expect_works(scene().root() / "link2", real);
  fs::create_directory_symlink(scene().root() / "real", scene().root() / "parent");
  expect_works(scene().root() / "parent/deep", real);
  // A shell that came through the link calls the place by the link's name; its programs expect that to work.
  const Ran ran = cloche_shell({}, "cd \"$PWD\" && pwd -P",
                               {.cwd = scene().root() / "link", .env = {{"PWD", scene().root() / "link"}}});
  EXPECT_TRUE(printed(ran, real.string() + "\n"));
}

TEST_P(Places, WithSpacesUtf8AndMarksInItsName) {
  for (const char* name : {"with space", "wörk ☂ späce", "a:b", "a,b=c", "new\nline", "-dash", "quo'te\"s",
                           "back\\slash", "tab\there", "star*", "\xff\xfe"}) {
    const auto real = make(name);
    expect_works(real, real);
  }
}

TEST_P(Places, GivenRelatively) {
  const auto real = make("project/sub");
  expect_works("sub", real, {.cwd = real.parent_path()});
  expect_works("./sub/", real, {.cwd = real.parent_path()});
  expect_works("../project/sub", real, {.cwd = real.parent_path()});
  expect_works(".", real, {.cwd = real});
  expect_works("./.", real, {.cwd = real});
  expect_works(real.string() + "/", real);
  expect_works(real.string() + "//", real);
  expect_works(real.parent_path().string() + "//sub/.", real);
}

TEST_P(Places, TheWorkingDirectoryWhenNotGiven) {
  const auto real = make("project");
  EXPECT_TRUE(printed(cloche_shell({}, "pwd -P; echo x > made", {.cwd = real}), real.string() + "\n"));
  EXPECT_TRUE(fs::exists(real / "made"));
}

// What is prepared for one workspace and kept must not be paid for, all at once, by the call that comes after
// many.
TEST_P(Places, ManyInTurnAndNoneOfThemSlow) {
  for (int i = 0; i < 52; ++i) {
    const auto place = make("place-" + std::to_string(i));
    const Ran ran = cloche_run({"--workspace", place}, {"true"});
    ASSERT_TRUE(exited(ran, 0));
    ASSERT_LT(ran.seconds, 5) << "at workspace " << i;
  }
}

TEST_P(Places, ThreeThousandBytesDeep) {
  fs::path relative;
  for (int i = 0; i < 15; ++i) relative /= std::string(200, static_cast<char>('a' + i));
  const auto real = make(relative);
  ASSERT_GT(real.string().size(), 3000U);
  expect_works(real, real);
}

TEST_P(Places, BelowTheHostsTmpAndShm) {
  for (const char* parent : {"/tmp", "/dev/shm"}) {
    std::string name = std::string(parent) + "/cloche-scene-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    give_to_identity(name);
    struct statfs system {};
    ASSERT_EQ(statfs(name.c_str(), &system), 0);
    if (system.f_type == TMPFS_MAGIC && !may_be_on_tmpfs()) {
      EXPECT_TRUE(refused_on_tmpfs(cloche_run({"--workspace", name}, {"true"})));
    } else {
      expect_works(name, name);
      EXPECT_TRUE(
          printed(cloche_shell({"--workspace", name}, "touch /tmp/x /dev/shm/x && ls -A " + name), "made\n"));
    }
    fs::remove_all(name);
  }
}

TEST_P(Places, OnATmpfs) {
  if (geteuid() != 0) GTEST_SKIP() << "skipped: only root can mount one to try";
  const std::string owner = as() == As::nobody ? "65534" : "0";
  const Ran ran = with_own_mounts("mkdir -p ../t && mount -t tmpfs -o uid=" + owner + ",gid=" + owner +
                                  " none ../t && cd ../t && XDG_STATE_HOME='" + state_home(as()) +
                                  "' $RUN -- sh -c 'echo x > f; ls' && cat f");
  EXPECT_TRUE(may_be_on_tmpfs() ? printed(ran, "f\nx\n") : refused_on_tmpfs(ran));
}

TEST_P(Places, BelowTheHomeWithoutTheRestOfIt) {
  const auto home = make("home");
  const auto project = make("home/project");
  scene().write("home/.ssh/id", "private\n");
  const Command how = {.env = {{"HOME", home}}};
  expect_works(project, project, how);
  EXPECT_TRUE(printed(cloche_shell({"--workspace", project}, "ls -A " + home.string(), how), "project\n"));
}

TEST_P(Places, ThatCannotBeAWorkspace) {
  const auto a_file = file("a-file", "x");
  EXPECT_TRUE(
      refused(cloche_run({"--workspace", a_file}, {"true"}), {2, 125, 126}, {a_file, "not a directory"}));
  const std::string missing = scene().root() / "not-there";
  EXPECT_TRUE(refused(cloche_run({"--workspace", missing}, {"true"}), {2, 125}, {missing}));
  EXPECT_FALSE(fs::exists(missing));
  EXPECT_TRUE(refused(cloche_run({"--workspace", ""}, {"true"}), {2, 125}, {"workspace"}));
  for (const char* path : {"/", "/usr", "/usr/lib", "/etc", "/home", "/proc", "/sys", "/dev", "/var", "/root",
                           "/run", "/boot", "//", "/usr/../etc"}) {
    const Ran ran = cloche_run({"--workspace", path}, {"true"});
    EXPECT_TRUE(refused(ran, {2, 125, 126}, {"workspace"})) << path;
  }
  const Command at_home = {.env = {{"HOME", scene().root()}}};
  EXPECT_TRUE(
      refused(cloche_run({"--workspace", scene().root()}, {"true"}, at_home), {2, 125, 126}, {"home"}));
  EXPECT_TRUE(refused(cloche_run({}, {"true"}, {.cwd = "/"}), {2, 125, 126}, {"workspace"}));
}

TEST_P(Places, ALinkToARefusedPlaceIsRefused) {
  fs::create_directory_symlink("/usr", scene().root() / "innocent");
  EXPECT_TRUE(
      refused(cloche_run({"--workspace", scene().root() / "innocent"}, {"true"}), {2, 125, 126}, {"/usr"}));
}

TEST_P(Places, NotReadableByTheCaller) {
  if (as() != As::nobody) GTEST_SKIP() << "skipped: root may read everything";
  const fs::path place = scene().root() / "of-root";
  fs::create_directory(place);
  chmod(place.c_str(), 0700);
  const Ran ran = cloche_run({"--workspace", place}, {"true"}, {.cwd = scene().root()});
  EXPECT_TRUE(refused(ran, {2, 125, 126}, {place}));
}

TEST_P(Places, ReadableButNotWritable) {
  if (as() != As::nobody) GTEST_SKIP() << "skipped: root may write everywhere";
  const fs::path place = scene().root() / "of-root";
  fs::create_directory(place);
  std::ignore = scene().write("of-root/readme", "read me\n");
  EXPECT_TRUE(
      printed(cloche_shell({"--workspace", place}, "cat readme; touch new 2>/dev/null || echo refused"),
              "read me\nrefused\n"));
}

TEST_P(Places, OwnedBySomebodyElse) {
  if (!is_root()) GTEST_SKIP() << "skipped: only root may use another's directory";
  const fs::path place = make("of-nobody");
  ASSERT_EQ(chown(place.c_str(), nobody, nobody), 0);
  chmod(place.c_str(), 0700);
  EXPECT_TRUE(printed(cloche_shell({"--workspace", place}, "echo x > made; cat made"), "x\n"));
  struct stat made = {};
  ASSERT_EQ(stat((place / "made").c_str(), &made), 0);
  EXPECT_EQ(made.st_uid, nobody) << "what is made belongs to the workspace's owner";
}

TEST_P(Places, DeletedMidway) {
  const auto doomed = make("doomed");
  Started started(under({"--workspace", doomed}, {"sh", "-c", "touch started; sleep 1.5; echo done"}));
  for (int i = 0; i < 500 && !fs::exists(doomed / "started"); ++i) usleep(10'000);
  fs::remove_all(doomed);
  const Ran ran = started.finish();
  EXPECT_TRUE(printed(ran, "done\n"));
  EXPECT_FALSE(fs::exists(doomed));
}

TEST_P(Places, HostMountsBelowAreNotShown) {
  if (geteuid() != 0) GTEST_SKIP() << "skipped: only root can mount something to hide";
  make("workspace/below/deeper");
  file("mountpoint", "underneath\n");
  const auto hidden = secret();
  const Ran ran = with_own_mounts(
      "mount -t tmpfs none below && mkdir below/deeper && echo secret > below/f && mount -t tmpfs none "
      "below/deeper"
      " && echo secret > below/deeper/g && chmod -R a+rX below && mount --bind " +
      hidden.string() +
      " mountpoint;"
      "$RUN --live -- sh -c 'find below -type f; cat mountpoint; echo x > made; echo end'");
  EXPECT_TRUE(exited(ran, 0));
  EXPECT_FALSE(contains(ran.out, "below/f")) << ran.out;
  EXPECT_FALSE(contains(ran.out, "/g")) << ran.out;
  EXPECT_FALSE(contains(ran.out, "do not show")) << ran.out;
  EXPECT_EQ(last_line(ran.out), "end");
  EXPECT_TRUE(fs::exists(workspace() / "made"));
}

TEST_P(Places, AMountBelowThatWasGrantedIsShown) {
  if (geteuid() != 0) GTEST_SKIP() << "skipped: only root can mount something to show";
  make("workspace/below");
  const Ran ran = with_own_mounts(
      "mount -t tmpfs none below && echo shown > below/f && chmod -R a+rX below; $RUN --live --ro below -- "
      "cat "
      "below/f");
  EXPECT_TRUE(may_be_on_tmpfs() ? printed(ran, "shown\n") : refused_on_tmpfs(ran));
}

class Directory : public Run {};
FOR_EVERYONE(Directory);

TEST_P(Directory, IsChosenWithC) {
  file("sub/here", "");
  EXPECT_TRUE(printed(cloche_run({"-C", "sub"}, {"ls"}), "here\n"));
  EXPECT_TRUE(printed(cloche_run({"-C", workspace() / "sub"}, {"ls"}), "here\n"));
  EXPECT_TRUE(printed(cloche_run({"-C", "/tmp"}, {"pwd"}), "/tmp\n"));
  for (const char* itself : {".", "./", "sub/..", "./."})
    EXPECT_TRUE(printed(cloche_run({"-C", itself}, {"ls"}), "sub\n")) << itself;
  EXPECT_TRUE(printed(cloche_run({"-C", workspace() / ""}, {"ls"}), "sub\n"));
  EXPECT_TRUE(printed(
      cloche_run({"--workspace", workspace(), "-C", workspace() / "sub"}, {"ls"}, {.cwd = "/"}), "here\n"));
}

TEST_P(Directory, ThatIsMissingOrOutsideTheViewIsSaid) {
  EXPECT_TRUE(refused(cloche_run({"-C", "nowhere"}, {"true"}), {2, 125, 126, 127}, {"nowhere"}));
  const auto outside_view = secret().parent_path();
  EXPECT_TRUE(refused(cloche_run({"-C", outside_view}, {"true"}), {2, 125, 126, 127}, {outside_view}));
  const auto a_file = file("a-file", "");
  EXPECT_TRUE(refused(cloche_run({"-C", a_file}, {"true"}), {2, 125, 126}, {a_file}));
}

TEST_P(Directory, BelowTheWorkspaceStaysWhereTheCallerIs) {
  file("sub/here", "");
  // The workspace is given, the caller stands below it: the command starts in the workspace or where the
  // caller is, but never somewhere else.
  const Ran ran = cloche_run({"--workspace", ".."}, {"pwd", "-P"}, {.cwd = workspace() / "sub"});
  ASSERT_TRUE(exited(ran, 0));
  EXPECT_TRUE(ran.out == workspace().string() + "\n" || ran.out == (workspace() / "sub").string() + "\n")
      << ran.out;
}

class Grants : public Run {};
FOR_EVERYONE(Grants);

TEST_P(Grants, ReadOnlyDirectory) {
  const auto data = scene().write("data/f", "data\n").parent_path();
  const Ran ran = cloche_shell(
      {"--ro", data}, "cat " + data.string() + "/f; touch " + data.string() + "/new || echo refused");
  EXPECT_TRUE(printed(ran, "data\nrefused\n"));
  EXPECT_TRUE(contains(ran.err, "Read-only file system")) << ran.err;
  EXPECT_FALSE(fs::exists(data / "new"));
}

// What the message about a program that is not in view says to do, done.
TEST_P(Grants, ReadOnlyDirectoryOfTheCallersPathIsOnTheInnerOne) {
  const fs::path tools = scene().root() / "tools";
  scene().write("tools/mine", "#!/bin/sh\necho mine\n", 0755);
  const Command how{.env = {{"PATH", tools.string() + ":/usr/bin:/bin"}}};
  const Ran missing = cloche_run({}, {"mine"}, how);
  EXPECT_TRUE(exited(missing, 127));
  ASSERT_TRUE(contains(missing.err, "--ro " + tools.string())) << missing.err;
  EXPECT_TRUE(printed(cloche_run({"--ro", tools}, {"mine"}, how), "mine\n"));
  EXPECT_TRUE(printed(cloche_shell({"--ro", tools}, "mine", how), "mine\n"));
}

TEST_P(Grants, AProgramThatIsALinkNamesWhatItLeadsToAsWell) {
  const std::string root = scene().root();
  scene().write("share/tool/1/real", "#!/bin/sh\necho mine\n", 0755);
  fs::create_directory(scene().root() / "bin");
  fs::create_symlink("../share/tool/1/real", scene().root() / "bin/mine");
  const Command how{.env = {{"PATH", root + "/bin:/usr/bin:/bin"}}};
  const std::string both = "--ro " + root + "/bin --ro " + root + "/share/tool/1";
  const Ran missing = cloche_run({}, {"mine"}, how);
  EXPECT_TRUE(contains(missing.err, "show it with " + both + "\n")) << missing.err;
  const Ran half = cloche_run({"--ro", root + "/bin"}, {"mine"}, how);
  EXPECT_TRUE(contains(half.err, "a link to " + root +
                                     "/share/tool/1/real, which is not in the sandbox's view; "
                                     "show it with --ro " +
                                     root + "/share/tool/1\n"))
      << half.err;
  EXPECT_TRUE(
      printed(cloche_run({"--ro", root + "/bin", "--ro", root + "/share/tool/1"}, {"mine"}, how), "mine\n"));
}

// pyenv's own pip writes to the shims after an installation, and ends with 1 where it cannot.
TEST_P(Grants, PyenvsPipEndsAsPipDoes) {
  const std::string root = scene().root() / "pyenv";
  scene().write("pyenv/versions/3.12.1/bin/pip", "#!/bin/sh\necho installed\n", 0755);
  scene().write("pyenv/pyenv.d/exec/pip-rehash/pip",
                "#!/bin/sh\n" + root + "/versions/3.12.1/bin/pip && touch " + root + "/shims/new\n", 0755);
  scene().write("pyenv/shims/pip",
                "#!/bin/sh\nown=" + root + "/pyenv.d/exec/pip-rehash/pip\n[ -x $own ] && exec $own\nexec " +
                    root + "/versions/3.12.1/bin/pip\n",
                0755);
  const Command how{.env = {{"PATH", root + "/shims:/usr/bin:/bin"}, {"PYENV_ROOT", root}}};
  EXPECT_TRUE(printed(cloche_run({}, {"pip", "install", "x"}, how), "installed\n"));
}

TEST_P(Grants, ATracerThatIsRefusedIsToldOfDebug) {
  NEEDS("python3");
  const std::vector<std::string> tracer = {
      "/usr/bin/python3", "-c",
      "import ctypes, os, sys\nlibc = ctypes.CDLL(None, use_errno=True)\nif libc.ptrace(0, 0, 0, 0): "
      "sys.exit('tracer: ptrace: ' + os.strerror(ctypes.get_errno()))"};
  const Ran refused = cloche_run({}, tracer);
  EXPECT_TRUE(exited(refused, 1));
  EXPECT_TRUE(contains(refused.err, "--grant debug lets the command trace")) << refused.err;
  EXPECT_TRUE(exited(cloche_run({"--grant", "debug"}, tracer), 0));
}

TEST_P(Grants, AtAnotherPlace) {
  const auto data = scene().write("data/f", "data\n").parent_path();
  EXPECT_TRUE(printed(cloche_shell({"--ro", data.string() + ":/data"}, "cat /data/f; ls -d " + data.string() +
                                                                           " 2>/dev/null"
                                                                           " || echo only there"),
                      "data\nonly there\n"));
  EXPECT_TRUE(printed(cloche_shell({"--rw", data.string() + ":/srv/out/here"},
                                   "echo w > /srv/out/here/g; cat /srv/out/here/f"),
                      "data\n"));
  EXPECT_EQ(read_file(data / "g"), "w\n");
}

TEST_P(Grants, AFile) {
  const auto data = scene().write("data/f", "data\n");
  scene().write("data/other", "other\n");
  EXPECT_TRUE(
      printed(cloche_shell({"--ro", data}, "cat " + data.string() + "; ls " + data.parent_path().string()),
              "data\nf\n"));
  EXPECT_TRUE(printed(cloche_shell({"--ro", data.string() + ":/etc/my.conf"}, "cat /etc/my.conf"), "data\n"));
  EXPECT_TRUE(printed(cloche_shell({"--rw", data}, "echo more >> " + data.string()), ""));
  EXPECT_EQ(read_file(data), "data\nmore\n");
}

TEST_P(Grants, RelativeAndThroughALink) {
  const auto data = scene().write("data/f", "data\n");
  fs::create_directory_symlink(data.parent_path(), scene().root() / "link");
  EXPECT_TRUE(printed(cloche_shell({"--ro", "../data"}, "cat ../data/f"), "data\n"));
  EXPECT_TRUE(printed(cloche_shell({"--ro", scene().root() / "link"}, "cat " + data.string()), "data\n"));
  EXPECT_TRUE(printed(cloche_shell({"--ro", (scene().root() / "link").string() + ":/data"}, "cat /data/f"),
                      "data\n"));
}

TEST_P(Grants, ReadOnlyBelowTheWorkspace) {
  file("kept/f", "kept\n");
  const Ran ran = cloche_shell({"--ro", workspace() / "kept"},
                               "cat kept/f; rm kept/f 2>/dev/null || echo kept; mv kept away 2>/dev/null || "
                               "echo stays; touch new && echo new");
  EXPECT_TRUE(printed(ran, "kept\nkept\nstays\nnew\n"));
}

TEST_P(Grants, WritableBelowAReadOnlyOne) {
  const auto data = scene().write("data/f", "data\n").parent_path();
  scene().write("data/out/f", "");
  const Ran ran = cloche_shell(
      {"--ro", data, "--rw", data / "out"},
      "cd " + data.string() + "; touch new 2>/dev/null || echo refused; touch out/new && echo written");
  EXPECT_TRUE(printed(ran, "refused\nwritten\n"));
}

TEST_P(Grants, OfAMissingSourceAreRefused) {
  for (const char* flag : {"--ro", "--rw"}) {
    const std::string missing = scene().root() / "not-there";
    EXPECT_TRUE(refused(cloche_run({flag, missing}, {"touch", "ran"}), {2, 125, 126}, {flag, missing}));
    EXPECT_FALSE(fs::exists(missing));
    EXPECT_TRUE(refused(cloche_run({flag, ""}, {"touch", "ran"}), {2, 125}, {flag}));
    EXPECT_TRUE(refused(cloche_run({flag, workspace().string() + ":relative"}, {"touch", "ran"}), {2, 125},
                        {"relative"}));
    EXPECT_TRUE(refused(cloche_run({flag, workspace().string() + ":/proc"}, {"touch", "ran"}), {2, 125, 126},
                        {"/proc"}));
  }
  EXPECT_FALSE(fs::exists(workspace() / "ran"));
}

TEST_P(Grants, OfSecretsAreTheOperatorsToGive) {
  const auto keys = scene().write("home/.ssh/id_ed25519", "key\n").parent_path();
  const auto reading_and_writing = [&](const std::vector<std::string>& flags) {
    return cloche_shell(flags, "cat " + keys.string() + "/id_ed25519; echo new > " + keys.string() + "/new",
                        {.env = {{"HOME", scene().root() / "home"}}});
  };
  EXPECT_TRUE(refused(reading_and_writing({"--rw", keys}), {125}, {"protected set", "--allow-protected"}));
  EXPECT_FALSE(fs::exists(keys / "new"));
  EXPECT_TRUE(printed(reading_and_writing({"--rw", keys, "--allow-protected", keys}), "key\n"));
  EXPECT_EQ(read_file(keys / "new"), "new\n");
}

TEST_P(Grants, NothingElseIsShown) {
  const auto hidden = secret();
  const Ran ran = cloche_shell(
      {}, "cat " + hidden.string() + " 2>/dev/null || echo absent; ls " + scene().root().string());
  EXPECT_TRUE(printed(ran, "absent\nworkspace\n"));
}

TEST_P(Grants, ReadonlyProfileWritesNothing) {
  file("f", "text\n");
  const Ran ran =
      cloche_shell({"--profile", "readonly"},
                   "cat f; touch new 2>/dev/null || echo refused; rm f 2>/dev/null || echo refused");
  EXPECT_TRUE(printed(ran, "text\nrefused\nrefused\n"));
  EXPECT_TRUE(refused(cloche_run({"--profile", "no-such"}, {"true"}), {2, 125}, {"no-such"}));
}

}  // namespace
}  // namespace cloche::test
