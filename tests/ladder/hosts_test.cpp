// Hosts that lack something: no user namespaces, no other sandbox installed, a container around us, no
// cgroup, a /tmp that runs nothing, a root that is read-only. What is left works, and what does not says what
// is missing and how to have it. Each host is made for the test, in namespaces of its own.
#include <unistd.h>

#include <fstream>

#include "ladder/container.hpp"
#include "ladder/rungs.hpp"

namespace cloche::test {
namespace {

class Hosts : public ::testing::TestWithParam<As> {
 protected:
  void SetUp() override {
    adopt_orphans();
    if (geteuid() != 0) GTEST_SKIP() << "skipped: only root can make such a host";
    scene_.write("home/.keep", "");
    scene_.write("config/cloche/.keep", "");
  }
  void TearDown() override { EXPECT_EQ(orphans_left(2), ""); }

  As as() const { return GetParam(); }
  Scene& scene() { return scene_; }
  Ran on_host(const std::string& script) { return in_own_mounts(as(), scene_, script); }
  void configure(const std::string& json) { scene_.write("config/cloche/config.json", json); }

  // In a user namespace that has every id of the host's, and in which no other one can be made.
  Ran without_user_namespaces(const std::string& script) {
    return on_host(
        "mkfifo ../go; "
        "unshare -U bash -c 'read -r _ < ../go; exec bash -c \"$0\"' "
        "\"echo 0 > /proc/sys/user/max_user_namespaces; $(declare -f cloche); " +
        script +
        "\" & "
        "while [ \"$(readlink /proc/$!/ns/user)\" = \"$(readlink /proc/self/ns/user)\" ]; do sleep 0.01; "
        "done; "
        "for map in uid_map gid_map; do echo 0 0 4294967295 > /proc/$!/$map; done; "
        "echo > ../go; wait $!");
  }

 private:
  Scene scene_{GetParam()};
};
FOR_EVERYONE(Hosts);

// The programs are looked up in the system's own directories; there each is covered by something that does
// not run.
const std::string without_tools =
    "for tool in bwrap crun runc runsc; do for directory in /usr/local/sbin /usr/local/bin /usr/sbin "
    "/usr/bin; do "
    "[ -e $directory/$tool ] && mount --bind /dev/null $directory/$tool; done; done; ";

// Some put another /tmp over the host's, in a mount namespace of their own.
bool programs_are_in_tmp() { return std::string(CLOCHE_TEST_BIN_DIR).starts_with("/tmp/"); }

TEST_P(Hosts, WithoutUserNamespacesTheDefaultRefusesAndSaysWhatToDo) {
  const Ran native = without_user_namespaces("cloche run -- touch ran");
  EXPECT_TRUE(refused(native, {125}, {"missing layer user-ids", "user namespaces", "max_user_namespaces"}));
  EXPECT_FALSE(fs::exists(scene().workspace() / "ran"));
}

TEST_P(Hosts, WithoutUserNamespacesASubprocessWorks) {
  EXPECT_TRUE(printed(without_user_namespaces("cloche run --isolation subprocess -- echo works"), "works\n"));
}

TEST_P(Hosts, WithoutUserNamespacesDegradeStepsDownAndSaysSoOnceAndInTheRecord) {
  configure(R"({"missing": "degrade"})");
  const Ran ran = without_user_namespaces("cloche run --task T-001 -- echo works");
  EXPECT_TRUE(printed(ran, "works\n"));
  const std::string note = "stepped down to subprocess";
  const size_t first = ran.err.find(note);
  ASSERT_NE(first, std::string::npos) << ran.err;
  EXPECT_EQ(ran.err.find(note, first + 1), std::string::npos) << "said twice: " << ran.err;
  const Ran record = run({.argv = {"grep", "-rlF", note, scene().root() / "state/cloche/runs"}});
  EXPECT_TRUE(contains(record.out, ".jsonl")) << "not in the record";
}

TEST_P(Hosts, WhatIsRequiredByTheEnvironmentNeverStepsDown) {
  configure(R"({"missing": "degrade"})");
  const Ran ran = without_user_namespaces("CLOCHE_REQUIRE_SANDBOX=1 cloche run -- touch ran");
  EXPECT_TRUE(refused(ran, {125}, {"missing layer user-ids"}));
  EXPECT_FALSE(fs::exists(scene().workspace() / "ran"));
}

TEST_P(Hosts, WithoutUserNamespacesTheDoctorKnowsWhatWorks) {
  const Ran ran = without_user_namespaces("cloche doctor -v");
  EXPECT_NE(ran.exit_code, 0);
  EXPECT_TRUE(contains(ran.out, "sysctl -w user.max_user_namespaces")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "works: subprocess")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "a command gets              nothing: it is refused")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "cloche run --isolation subprocess\n")) << ran.out;
  const std::string blamed = "  MISSING  ";
  EXPECT_EQ(ran.out.find(blamed), ran.out.rfind(blamed)) << "what was not tried is not missing: " << ran.out;
}

TEST_P(Hosts, TheDoctorKnowsThatAStepDownIsAllowed) {
  configure(R"({"missing": "degrade"})");
  const Ran ran = without_user_namespaces("cloche doctor -v");
  EXPECT_TRUE(contains(ran.out, "a command gets              subprocess")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "the configuration gives a command subprocess instead")) << ran.out;
  EXPECT_FALSE(contains(ran.out, "is refused on this host")) << ran.out;
}

TEST_P(Hosts, TheDoctorDoesNotMindATmpThatRunsNothing) {
  if (programs_are_in_tmp()) GTEST_SKIP() << "skipped: the programs lie in /tmp, which this test covers";
  const Ran ran = on_host("mount -t tmpfs -o noexec,mode=1777 none /tmp; cloche doctor -v");
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_TRUE(contains(ran.out, "a command gets              native")) << ran.out;
}

TEST_P(Hosts, ABackendBesideOneThatWorksIsNamedByTheDoctor) {
  const Ran ran = on_host("mount --bind /dev/null /usr/bin/bwrap; cloche doctor -v");
  EXPECT_TRUE(contains(ran.out, "works: native; bwrap is not installed: apt install bubblewrap\n"))
      << ran.out;
}

TEST_P(Hosts, AToolThatSaysNothingIsToBeReinstalled) {
  NEEDS("runc");
  const std::string broken = "mount --bind /bin/false $(command -v runc); ";
  const char* fix = "apt install --reinstall runc";
  EXPECT_TRUE(refused(on_host(broken + "cloche run --backend runc -- true"), {125}, {fix}));
  const Ran doctor = on_host(broken + "cloche doctor -v");
  EXPECT_TRUE(contains(doctor.out, fix)) << doctor.out;
  EXPECT_FALSE(contains(doctor.out, "see cloche doctor")) << doctor.out;
}

TEST_P(Hosts, AStateThatCannotBeWrittenSaysWhatToDo) {
  const std::string command = "cloche run --isolation subprocess -- echo works; ";
  const Ran ran = on_host(command +
                          "mount --bind $XDG_STATE_HOME $XDG_STATE_HOME; "
                          "mount -o remount,bind,ro $XDG_STATE_HOME; " +
                          command);
  EXPECT_TRUE(contains(ran.out, "works\n")) << ran.err;
  EXPECT_TRUE(contains(ran.err, "Read-only file system")) << ran.err;
  EXPECT_TRUE(contains(ran.err, "set XDG_STATE_HOME to a directory")) << ran.err;
}

// The kernel allows no user namespace there, and no switch of the host's is the reason.
TEST_P(Hosts, InAChrootThatIsTheReasonAndNothingIsGuessed) {
  const std::string built = fs::path(cloche()).parent_path().parent_path();
  const std::string enter =
      "root=../root; mkdir $root; for link in bin sbin lib lib64; do ln -s usr/$link $root/$link; done; "
      "for shown in /usr /etc /proc /dev " CLOCHE_SOURCE_DIR " " +
      built + " " + scene().root().string() +
      "; do mkdir -p $root$shown; mount --rbind $shown $root$shown; done; "
      "chroot $root bash -c \"$(declare -f cloche); cd $PWD; ";
  const Ran ran = on_host(enter + "cloche run -- true; cloche doctor\"");
  EXPECT_TRUE(contains(ran.err, "missing layer user-ids")) << ran.err;
  EXPECT_TRUE(contains(ran.err, "outside of the chroot")) << ran.err;
  EXPECT_TRUE(contains(ran.out, "outside of the chroot")) << ran.out;
  EXPECT_FALSE(contains(ran.err + ran.out, "userns")) << ran.err << ran.out;
}

// A command of an agent, for the hook that follows in the pipe.
const std::string agents_call =
    R"(echo '{"session_id": "s", "cwd": "'$PWD'", "hook_event_name": "PreToolUse", "tool_name": "Bash", )"
    R"("tool_input": {"command": "touch ran"}}' | )";

// As --install writes it for an operator whose places are the scene's, and as Claude Code starts it.
const std::string hook =
    "CLAUDE_PROJECT_DIR=$PWD cloche hook --home \"$HOME_OF\" --config-home \"$XDG_CONFIG_HOME\" "
    "--state-home \"$XDG_STATE_HOME\" --uid-range \"$CLOCHE_UID_RANGE\"";

TEST_P(Hosts, TheHookSaysNoToWhatWouldNotRun) {
  for (const char* config :
       {R"({"isolation": "gvisor"})", R"({"isolation": "gvisor", "missing": "degrade"})"}) {
    configure(config);
    const Ran ran = on_host(without_tools + agents_call + "CLOCHE_REQUIRE_SANDBOX=1 " + hook);
    EXPECT_TRUE(refused(ran, {2}, {"runsc is not installed", "the call is refused"})) << config << ran.out;
  }
}

TEST_P(Hosts, TheHookSaysOnWhichRungItRuns) {
  configure(R"({"isolation": "gvisor", "missing": "degrade"})");
  const Ran ran = on_host(without_tools + agents_call + hook);
  EXPECT_TRUE(contains(
      ran.out,
      "it runs in the sandbox, at the isolation level namespace; the isolation level gvisor is missing"))
      << ran.out << ran.err;
}

// Whatever the hook knew that its run does not: a variable, or a host that has lost something since.
TEST_P(Hosts, WhatTheHookHasPromisedNeverRunsOnLess) {
  configure(R"({"missing": "degrade"})");
  const Ran hooked = on_host(agents_call + "CLOCHE_REQUIRE_SANDBOX=1 " + hook);
  const size_t id = hooked.out.find("run --call ");
  ASSERT_NE(id, std::string::npos) << hooked.out << hooked.err;
  const std::string kept = hooked.out.substr(id, hooked.out.find('"', id) - id);
  EXPECT_TRUE(refused(without_user_namespaces("cloche " + kept), {125}, {"missing layer user-ids"}));
  EXPECT_FALSE(fs::exists(scene().workspace() / "ran"));
}

TEST_P(Hosts, TheDoctorKnowsTheRungOfTheProfile) {
  scene().write("profiles/p.json", R"({"extends": "workspace-write-no-network", "isolation": "gvisor"})");
  configure(R"({"default_profile": "p", "missing": "degrade", "profiles_dir": ")" +
            (scene().root() / "profiles").string() + R"("})");
  const Ran ran = on_host(without_tools + "cloche doctor -v");
  EXPECT_TRUE(
      contains(ran.out, "NOTE     the isolation level gvisor is missing here, stepped down to container"))
      << ran.out << ran.err;
  EXPECT_TRUE(
      contains(ran.out, "NOTE     the isolation level container is missing here, stepped down to namespace"))
      << ran.out;
  EXPECT_TRUE(contains(ran.out, "a command gets              native")) << ran.out;
}

TEST_P(Hosts, TheDoctorKnowsTheRungOfTheProjectItStandsIn) {
  configure(R"({"missing": "degrade"})");
  scene().write("workspace/.cloche/config.json", R"({"isolation": "container"})");
  const Ran ran = on_host(without_tools + "cloche doctor -v");
  EXPECT_TRUE(
      contains(ran.out, "NOTE     the isolation level container is missing here, stepped down to namespace"))
      << ran.out << ran.err;
}

TEST_P(Hosts, ABackendThatIsNotInstalledIsNamedWithItsPackage) {
  for (const Rung& rung : rungs) {
    if (*rung.package == '\0') continue;
    const std::string words = std::string("--isolation ") + rung.rung + " --backend " + rung.backend;
    const Ran ran = on_host(without_tools + "cloche run " + words + " -- touch ran");
    EXPECT_TRUE(
        refused(ran, {125}, {rung.backend, "not installed", std::string("apt install ") + rung.package}))
        << rung.backend;
  }
  EXPECT_FALSE(fs::exists(scene().workspace() / "ran"));
  EXPECT_TRUE(printed(on_host(without_tools + "cloche run -- echo works"), "works\n"))
      << "ours needs none of them";
}

TEST_P(Hosts, WithoutOtherToolsDegradeEndsAtTheRungThatIsThere) {
  configure(R"({"missing": "degrade"})");
  const Ran ran = on_host(without_tools + "cloche run --isolation gvisor -- echo works");
  EXPECT_TRUE(printed(ran, "works\n"));
  EXPECT_TRUE(contains(ran.err, "stepped down to container")) << ran.err;
  EXPECT_TRUE(contains(ran.err, "stepped down to namespace")) << ran.err;
  EXPECT_FALSE(contains(ran.err, "stepped down to subprocess")) << ran.err;
}

TEST_P(Hosts, ANamedBackendThatIsMissingIsNoReasonToLeaveItsRung) {
  configure(R"({"missing": "degrade"})");
  const Ran ran = on_host(without_tools + "cloche run --backend bwrap --json -- echo works");
  EXPECT_TRUE(contains(ran.out, R"("backend":"native")")) << ran.out << ran.err;
  EXPECT_TRUE(contains(ran.err, "bwrap is not installed; native, at the same isolation level, instead"))
      << ran.err;
  EXPECT_FALSE(contains(ran.err, "stepped down")) << ran.err;
}

// Before every other of its name, and this instead; as often as said, and then the tool itself.
std::string instead_of(const std::string& tool, int times, const std::string& what) {
  const std::string place = "/usr/local/sbin/" + tool;
  return "mount -t tmpfs -o mode=755 none /usr/local/sbin; mkdir -m 777 /usr/local/sbin/left; "
         "touch $(seq -f /usr/local/sbin/left/%g " +
         std::to_string(times) + "); printf '%s\\n' '#!/bin/sh' " +
         "'for one in /usr/local/sbin/left/*; do rm \"$one\" 2>/dev/null && " + what + "; done' " +
         "'exec /usr/bin/" + tool + " \"$@\"' > " + place + "; chmod 755 " + place + "; ";
}

// Killed as soon as it runs.
std::string killed(const std::string& tool, int times) { return instead_of(tool, times, "kill -9 $$"); }

// As a runtime does that lacks something.
std::string failing(const std::string& tool, int times) {
  return instead_of(tool, times, "{ echo loading >&2; echo no cgroup here >&2; exit 1; }");
}

// It has the command's stderr, but what it says there is no word of the command's.
TEST_P(Hosts, WhatABuilderSaysOfItsFailureIsSaidOnce) {
  for (const char* tool : {"bwrap", "runsc"}) {
    if (access(("/usr/bin/" + std::string(tool)).c_str(), X_OK) != 0) continue;
    const std::string call = std::string("cloche run --backend ") + tool + " -- echo works";
    const Ran ran = on_host(failing(tool, 1000) + call);
    EXPECT_EQ(ran.err, std::string("cloche: missing layer memory-limit: ") + tool +
                           " could not build the box: no cgroup here; mend what it names, or choose another "
                           "box with --isolation or --backend\n");
    EXPECT_EQ(ran.exit_code, 125);
    // The front fails, and what it executes tries once more.
    const Ran again = on_host(failing(tool, 1) + call);
    EXPECT_TRUE(printed(again, "works\n"));
    EXPECT_EQ(again.err, "");
  }
}

// A process that kills a trial does not choose the box of the calls that follow.
TEST_P(Hosts, ATrialThatIsKilledSaysNothingAboutTheHost) {
  configure(R"({"missing": "degrade"})");
  const Ran ran = on_host(killed("runsc", 1000) + "cloche run --isolation gvisor -- touch ran");
  EXPECT_TRUE(refused(ran, {125}, {"ended from outside", "run it again"}));
  EXPECT_FALSE(contains(ran.err, "stepped down")) << ran.err;
  EXPECT_FALSE(fs::exists(scene().workspace() / "ran"));
  const fs::path kept = scene().root() / "state/cloche/backends";
  EXPECT_TRUE(!fs::exists(kept) || fs::is_empty(kept)) << "nothing is remembered of it";
}

TEST_P(Hosts, ATrialThatIsKilledIsTriedAgain) {
  if (access("/usr/bin/bwrap", X_OK) != 0) GTEST_SKIP() << "skipped: no bwrap";
  configure(R"({"missing": "degrade"})");
  const Ran ran = on_host(killed("bwrap", 2) + "cloche run --backend bwrap --json -- true");
  EXPECT_TRUE(contains(ran.out, R"("backend":"bwrap")")) << ran.out << ran.err;
  EXPECT_FALSE(contains(ran.err, "note:")) << ran.err;
}

TEST_P(Hosts, WithoutACgroupMemoryIsWatched) {
  const Ran ran = on_host(
      "mount -t tmpfs -o ro none /sys/fs/cgroup; for rung in subprocess namespace; do "
      "cloche run --isolation $rung --memory 256M -- python3 -c 'len(bytearray(900 << 20))' || echo $rung "
      "$?; done");
  EXPECT_TRUE(printed(ran, "subprocess 137\nnamespace 137\n"));
  EXPECT_TRUE(contains(ran.err, "watched")) << ran.err;
}

// The kernel counts a user's processes wherever they are; in a pid namespace few of them can be seen.
TEST_P(Hosts, ProcessesThatCannotBeSeenTakeNoRoomFromASubprocess) {
  const std::string become = as() == As::nobody ? "setpriv --reuid 65534 --regid 65534 --clear-groups " : "";
  const Ran ran =
      on_host("mount -t tmpfs -o ro none /sys/fs/cgroup; for one in $(seq 40); do " + become +
              "sleep 60 & done; export -f cloche; unshare --pid --fork --mount-proc bash -c '" +
              "cloche run --isolation subprocess --pids 20 -- sh -c \"sleep 0.1 & wait; echo works\"; " +
              "cloche run --isolation subprocess --pids 20 -- sh -c \"for one in \\$(seq 40); do " +
              "sleep 1 & done; echo more\" 2>/dev/null' || true; kill $(jobs -p); wait || true");
  EXPECT_TRUE(printed(ran, as() == As::nobody ? "works\n" : "works\nmore\n")) << "root has no such limit";
}

TEST_P(Hosts, ATmpThatRunsNothingDisturbsNobody) {
  if (programs_are_in_tmp()) GTEST_SKIP() << "skipped: the programs lie in /tmp, which this test covers";
  for (const Rung& rung : rungs) {
    if (!why_not({rung, as()}).empty()) continue;  // the conformance tests say that it is skipped
    const Ran ran =
        on_host(std::string("mount -t tmpfs -o noexec,mode=1777 none /tmp; cloche run --isolation ") +
                rung.rung + " --backend " + rung.backend + " -- echo works");
    EXPECT_TRUE(printed(ran, "works\n")) << rung.backend;
  }
}

// Where the workspace's own mount forbids something, so does the box, and starts.
TEST_P(Hosts, AWorkspaceOnAMountThatForbidsSomethingDisturbsNobody) {
  const std::string before = "cp /bin/true program; ";
  struct Row {
    const char* flags;
    const char* script;
    const char* answer;
  };
  const Row rows[] = {
      {"noexec,nosuid,nodev", "./program 2>/dev/null; echo $? && touch made && echo made", "126\nmade\n"},
      {"ro", "touch made 2>/dev/null; echo $? && ./program && echo ran", "1\nran\n"},
  };
  for (const auto& [flags, script, answer] : rows) {
    for (const Rung& rung : rungs) {
      if (!why_not({rung, as()}).empty()) continue;
      const Ran ran = on_host(before + "mount --bind . .; mount -o remount,bind," + flags +
                              " .; cd \"$PWD\"; cloche run --isolation " + rung.rung + " --backend " +
                              rung.backend + " -- sh -c '" + script + "'");
      EXPECT_TRUE(printed(ran, answer)) << rung.backend << " " << flags << " " << ran.err;
    }
  }
}

// As systemd's SystemCallArchitectures=native has it, and a runtime's profile that names one architecture:
// a process that makes a call of another is ended.
constexpr const char* native_calls_alone = R"(
import ctypes, os, struct, sys
kill, allow = 0x80000000, 0x7fff0000
steps = [(0x20, 0, 0, 4), (0x15, 0, 3, 0xC000003E), (0x20, 0, 0, 0), (0x35, 1, 0, 0x40000000), (6, 0, 0, allow),
         (6, 0, 0, kill)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
program = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0
os.execvp(sys.argv[1], sys.argv[1:])
)";

TEST_P(Hosts, AFilterThatEndsForeignCallsDisturbsNobody) {
#ifndef __x86_64__
  GTEST_SKIP() << "skipped: the filter of this test is x86-64's";
#endif
  scene().write("native.py", native_calls_alone);
  for (const Rung& rung : rungs) {
    if (!why_not({rung, as()}).empty()) continue;
    const Ran ran =
        on_host(std::string("export -f cloche; python3 ../native.py bash -c 'cloche run --isolation ") +
                rung.rung + " --backend " + rung.backend + " -- echo works'");
    EXPECT_TRUE(printed(ran, "works\n")) << rung.backend << ran.err;
  }
}

// Root of a user namespace is nobody outside it, and has one id to give away: its own.
TEST_P(Hosts, RootOfAUserNamespaceHasEveryBox) {
  if (as() != As::nobody) GTEST_SKIP() << "skipped: the namespace is an ordinary user's";
  for (const Rung& rung : rungs) {
    if (!why_not({rung, as()}).empty()) continue;
    const Ran ran =
        on_host(std::string("setpriv --reuid=65534 --regid=65534 --clear-groups unshare -Ur env "
                            "HOME=$HOME_OF $CLOCHE run --live --isolation ") +
                rung.rung + " --backend " + rung.backend + " -- sh -c 'id -u; echo works > made; cat made'");
    // The host's root, who owns the scene, is another user in there: no place for a scratch or a layer to be
    // trusted.
    const bool without_box = rung.rung == std::string("subprocess");
    EXPECT_TRUE(without_box ? refused(ran, {125}, {"XDG_STATE_HOME"}) : printed(ran, "1000\nworks\n"))
        << rung.backend << ran.err;
  }
}

const std::string read_only_root = "mount -o remount,bind,ro /; cd \"$PWD\"; ";

TEST_P(Hosts, AReadOnlyRootIsRefusedInASentenceWhereThereIsNowhereToWrite) {
  for (const Rung& rung : rungs) {
    if (!why_not({rung, as()}).empty()) continue;
    const Ran ran = on_host(read_only_root + "mount -t tmpfs -o ro none /dev/shm; cloche run --isolation " +
                            rung.rung + " --backend " + rung.backend + " -- echo works");
    const bool works = ran.exit_code == 0 && ran.out == "works\n";
    EXPECT_TRUE(works || refused(ran, {125}, {"cloche: ", "Read-only file system"}))
        << rung.backend << ran.err;
  }
}

// What can be tried is tried where something can be written, as long as there is any such place.
TEST_P(Hosts, TheDoctorFindsAPlaceOnAReadOnlyHost) {
  const std::string usual =
      read_only_root + "mount -t tmpfs -o mode=1777 none /dev/shm; export XDG_STATE_HOME=/dev/shm/state; ";
  const Ran doctor = on_host(usual + "cloche doctor -v");
  EXPECT_EQ(doctor.exit_code, 0) << doctor.out << doctor.err;
  EXPECT_FALSE(contains(doctor.out, "Read-only file system")) << doctor.out;
  EXPECT_TRUE(contains(doctor.out, "a command gets              native")) << doctor.out;
  const Ran ran = on_host(usual + "cloche run -- echo works");
  EXPECT_TRUE(printed(ran, "works\n"));
  EXPECT_EQ(ran.err, "") << "nothing is missing";
}

TEST_P(Hosts, AReadOnlyRootWorksWithARunAndATmpThatAreNot) {
  if (programs_are_in_tmp()) GTEST_SKIP() << "skipped: the programs lie in /tmp, which this test covers";
  const std::string usual =
      read_only_root +
      "mount -t tmpfs none /run; mount -t tmpfs -o mode=1777 none /tmp; export XDG_STATE_HOME=/tmp/state; ";
  for (const Rung& rung : rungs) {
    if (!why_not({rung, as()}).empty()) continue;
    const Ran ran = on_host(usual + "cloche run --isolation " + rung.rung + " --backend " + rung.backend +
                            " -- echo works");
    EXPECT_TRUE(printed(ran, "works\n")) << rung.backend;
  }
}

// As `docker run --read-only --tmpfs /tmp` has it: the claims of ids lie in shared memory then.
TEST_P(Hosts, ARunThatIsReadOnlyDisturbsNobody) {
  const std::string usual = "mount -t tmpfs -o ro none /run; mount -t tmpfs -o mode=1777 none /dev/shm; ";
  for (const Rung& rung : rungs) {
    if (!why_not({rung, as()}).empty()) continue;
    const Ran ran = on_host(usual + "cloche run --isolation " + rung.rung + " --backend " + rung.backend +
                            " -- echo works");
    EXPECT_TRUE(printed(ran, "works\n")) << rung.backend;
  }
}

TEST_P(Hosts, WithNoPlaceForClaimsTheDoctorNamesOneAndASubprocessNeedsNone) {
  if (as() != As::self) GTEST_SKIP() << "skipped: only root's calls have ids of their own";
  // The state can be written where a subprocess has its scratch, but not in the directory itself.
  const std::string nowhere =
      "mkdir -p $XDG_STATE_HOME/cloche/scratch; touch $XDG_STATE_HOME/cloche/ids; "
      "mount --bind -o ro $XDG_STATE_HOME/cloche/ids $XDG_STATE_HOME/cloche/ids; "
      "mount -t tmpfs -o ro none /run; mount -t tmpfs -o ro none /dev/shm; ";
  EXPECT_TRUE(printed(on_host(nowhere + "cloche run --isolation subprocess -- echo works"), "works\n"));
  const std::string fix = "mount -t tmpfs -o mode=755 tmpfs /run";
  EXPECT_TRUE(refused(on_host(nowhere + "cloche run -- touch ran"), {125}, {"Read-only file system", fix}));
  EXPECT_FALSE(fs::exists(scene().workspace() / "ran"));
  const Ran doctor = on_host(nowhere + "cloche doctor");
  EXPECT_TRUE(contains(doctor.out, fix)) << doctor.out << doctor.err;
}

// Each looks into a file of its own, and no two have one id all the same.
TEST_P(Hosts, WithoutASharedPlaceForClaimsNoTwoCallsHaveOneId) {
  if (as() != As::self) GTEST_SKIP() << "skipped: only root's calls have ids of their own";
  const Ran ran = on_host(
      "mount -t tmpfs -o ro none /run; mount -t tmpfs -o ro none /dev/shm; "
      "for one in 1 2 3 4; do (export XDG_STATE_HOME=$XDG_STATE_HOME/$one; mkdir -p $XDG_STATE_HOME; "
      "cloche run --live -- sh -c 'touch of-'$one'; while [ ! -e go ]; do sleep 0.05; done' > /dev/null) & "
      "done; "
      "for one in 1 2 3 4; do until [ -e of-$one ]; do sleep 0.05; done; done; "
      "ps -eo uid,args | awk '/[w]hile .* -e go/ && $1 != 0 {print $1}' | sort -u | wc -l; "
      "touch go; wait");
  EXPECT_EQ(ran.out, "4\n") << ran.err;
}

// A hardened service may see one of the two shared places read-only, and others all of them.
TEST_P(Hosts, NoTwoCallsHaveOneIdWhicheverPlaceForClaimsEachCanWrite) {
  if (as() != As::self) GTEST_SKIP() << "skipped: only root's calls have ids of their own";
  const Ran ran = on_host(
      "mount -t tmpfs -o mode=755 none /run; mount -t tmpfs -o mode=1777 none /dev/shm; export -f cloche; "
      "export waits='while [ ! -e go ]; do sleep 0.05; done'; "
      "for covered in '' /run /dev/shm; do unshare -m --propagation private bash -c "
      "'[ -z \"$0\" ] || mount -t tmpfs -o ro none $0; "
      "cloche run --live -- sh -c \"touch of-${0##*/}; $waits\"' \"$covered\" > /dev/null & "
      "until [ -e of-${covered##*/} ]; do sleep 0.05; done; done; "
      "ps -eo uid,args | awk '/[w]hile .* -e go/ && $1 != 0 {print $1}' | sort -u | wc -l; "
      "touch go; wait");
  EXPECT_EQ(ran.out, "3\n") << ran.err;
}

// What is mounted below the workspace is not cloned; where there are no mounts it is refused, or named and
// looked at like every other tree.
TEST_P(Hosts, AMountBelowTheWorkspaceIsLeftOutOrLookedAt) {
  const std::string other = (scene().root() / "other").string();
  const std::string mounted = (scene().workspace() / "m").string();
  for (const Rung& rung : rungs) {
    if (!why_not({rung, as()}).empty()) continue;
    const std::string box = std::string(" --isolation ") + rung.rung + " --backend " + rung.backend;
    const std::string begin = "mkdir -p m '" + other + "/.git/hooks'; mount --bind '" + other + "' m; " +
                              (as() == As::nobody ? "chown -R 65534:65534 '" + other + "'; " : "") +
                              "find m -name '*.cloche-quarantined' -delete; set +e; ";
    // The kernel lets an ordinary user have no layer over it.
    const bool needs_live = as() == As::nobody && rung.rung != std::string("subprocess");
    const std::string attack = "'echo evil > m/.git/hooks/pre-commit; echo evil > m/.envrc; echo fine > m/f'";
    const Ran plain = on_host(begin + "cloche run" + box + " -- sh -c " + attack + " > /dev/null; ls -A m");
    EXPECT_EQ(plain.out, ".git\n") << rung.backend << plain.err;
    EXPECT_EQ(needs_live, contains(plain.err, "or write live: --live")) << rung.backend << plain.err;
    // What cannot be moved to another file system gets a name there that no program looks for.
    const Ran granted =
        on_host(begin + "cloche run" + box + (needs_live ? " --live" : "") + " --rw '" + mounted +
                "' -- sh -c " + attack + "; find m -type f ! -name '*.cloche-quarantined' | sort; rm -f m/f");
    EXPECT_EQ(granted.out, "m/f\n") << rung.backend << granted.err;
  }
}

class Contained : public Hosts {
 protected:
  void SetUp() override {
    Hosts::SetUp();
    if (IsSkipped()) return;
    if (const std::string why = why_not({rungs[3], As::self}); !why.empty())
      GTEST_SKIP() << "skipped: " << why;
  }
  // As the identity, in a container like Docker's.
  Ran in_container(const std::string& words, const ContainerIs& container = {}) {
    const std::string become =
        as() == As::nobody ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : "";
    return run_in_container(scene(), become + cloche() + " " + words, container);
  }
};
FOR_EVERYONE(Contained);

TEST_P(Contained, TheContainerIsLikeDockers) {
  const Ran ran = run_in_container(scene(),
                                   "unshare -U true 2>/dev/null && echo a user namespace; mount -t tmpfs x "
                                   "/mnt 2>/dev/null && echo a mount; "
                                   "grep Seccomp: /proc/self/status");
  EXPECT_TRUE(printed(ran, "Seccomp:\t2\n"));
}

TEST_P(Contained, TheDefaultRefusesByTheNameOfTheLayer) {
  const Ran ran = in_container("run -- touch ran");
  EXPECT_TRUE(refused(ran, {125}, {"missing layer user-ids"}));
  EXPECT_FALSE(fs::exists(scene().workspace() / "ran"));
}

// Only what would help: neither a sysctl that is as it should be nor another user.
void expect_advice_about_the_filter(const std::string& text) {
  EXPECT_TRUE(contains(text, "in the seccomp profile of the container")) << text;
  for (const char* guess : {"run as an ordinary user", "unprivileged_userns_clone=1", "apparmor_restrict"})
    EXPECT_FALSE(contains(text, guess)) << text;
}

TEST_P(Contained, TheFilterIsTheReasonAndNothingIsGuessed) {
  expect_advice_about_the_filter(in_container("run -- true").err);
}

TEST_P(Contained, ASubprocessWorks) {
  scene().write("beside.txt", "secret\n");
  const Ran ran = in_container(
      "run --isolation subprocess -- sh -c 'cat ../beside.txt 2>/dev/null; echo made > made; chmod 400 made; "
      "cat made; stat -c %a made'");
  EXPECT_TRUE(printed(ran, "made\n400\n"));
}

// For every request: a command, a tool call, a server or a hook.
TEST_P(Contained, DegradeStepsDownBehindEveryDoorAndSaysSo) {
  configure(R"({"missing": "degrade"})");
  const std::string note = "stepped down to subprocess";
  // The workspace is all that an ordinary user can write to: rungs are tried out there.
  const std::string set = "export XDG_CONFIG_HOME=" + (scene().root() / "config").string() +
                          " TMPDIR=" + scene().workspace().string() + "; ";
  const std::string become = as() == As::nobody ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : "";
  const auto by_door = [&](const std::string& before, const std::string& words) {
    return run_in_container(scene(), set + before + become + cloche() + " " + words);
  };
  const Ran called = by_door("", R"(call run_shell '{"cmd": "ls -la"}')");
  EXPECT_EQ(called.exit_code, 0) << called.out << called.err;
  EXPECT_TRUE(contains(called.err, note)) << called.err;
  const Ran served = by_door("", "mcp < /dev/null");
  EXPECT_EQ(served.err.find(note), served.err.rfind(note)) << "said twice: " << served.err;
  EXPECT_TRUE(contains(served.err, note)) << served.err;
  const Ran hooked = by_door(
      R"(echo '{"session_id": "s", "cwd": "'$PWD'", "hook_event_name": "PreToolUse", "tool_name": "Bash", )"
      R"("tool_input": {"command": "echo works"}}' | CLAUDE_PROJECT_DIR=$PWD )",
      "hook --home \"$HOME\" --config-home \"$XDG_CONFIG_HOME\" --state-home \"$XDG_STATE_HOME\"");
  EXPECT_TRUE(contains(hooked.out, "does not run in the sandbox")) << hooked.out << hooked.err;
  EXPECT_TRUE(contains(hooked.out, note)) << hooked.out;
  const size_t id = hooked.out.find("run --call ");
  ASSERT_NE(id, std::string::npos) << hooked.out;
  const Ran kept = by_door("", hooked.out.substr(id, hooked.out.find('"', id) - id));
  EXPECT_TRUE(printed(kept, "works\n")) << kept.err;
  EXPECT_TRUE(contains(kept.err, note)) << kept.err;
}

TEST_P(Contained, TheDoctorIsRight) {
  const Ran ran = in_container("doctor -v");
  EXPECT_NE(ran.exit_code, 0);
  EXPECT_TRUE(contains(ran.out, "user-ids")) << ran.out;
  expect_advice_about_the_filter(ran.out);
  EXPECT_TRUE(contains(ran.out, "works: subprocess")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "a command gets              nothing: it is refused")) << ran.out;
}

const ContainerIs docker = {.marker = "/.dockerenv"};

// Each flag where what it takes away is there, and never all of the container's protection.
TEST_P(Contained, TheDoctorNamesTheFlagsOfTheContainer) {
  const struct {
    ContainerIs container;
    const char* fix;
  } rows[] = {
      {docker, "start the container with --security-opt seccomp=FILE (docs/hosts.md has FILE)"},
      {{.marker = "/run/.containerenv"},
       "start the container with --security-opt seccomp=FILE (docs/hosts.md has FILE)"},
      {{.marker = "/var/run/secrets/kubernetes.io/token"},
       "securityContext: seccompProfile: {type: Localhost, localhostProfile: FILE} (docs/hosts.md has FILE)"},
  };
  for (const auto& [container, fix] : rows) {
    const Ran ran = in_container("doctor", container);
    EXPECT_NE(ran.exit_code, 0);
    EXPECT_TRUE(contains(ran.out, fix)) << ran.out << ran.err;
    EXPECT_TRUE(contains(ran.out, "cloche run --isolation subprocess\n")) << ran.out;
    EXPECT_FALSE(contains(ran.out, "--privileged")) << ran.out;
    EXPECT_TRUE(refused(in_container("run -- touch ran", container), {125}, {fix}));
  }
  EXPECT_FALSE(fs::exists(scene().workspace() / "ran"));
}

// Not every kernel gives a fresh /proc where the old one is partly covered.
TEST_P(Contained, ACoveredProcIsInNobodysWayOrTheReason) {
  if (as() == As::self)
    GTEST_SKIP() << "skipped: root of a container lacks CAP_SYS_ADMIN, whatever else it is given";
  const Ran ran =
      in_container("run -- echo works", {.marker = "/.dockerenv", .filtered = Filtered::not_at_all});
  EXPECT_TRUE(ran.exit_code == 0
                  ? printed(ran, "works\n")
                  : refused(ran, {125}, {"start the container with --security-opt systempaths=unconfined"}));
}

TEST_P(Contained, WithWhatTheDoctorSaysTheDefaultWorks) {
  if (as() == As::self)
    GTEST_SKIP() << "skipped: root of a container lacks CAP_SYS_ADMIN, whatever else it is given";
  const ContainerIs open{
      .marker = "/.dockerenv", .filtered = Filtered::as_hosts_says, .proc_is_masked = false};
  const Ran ran = in_container("run --backend native -- sh -c 'echo made > made; cat made'", open);
  EXPECT_TRUE(printed(ran, "made\n")) << ran.err;
}

// All that a command does without a box, under Docker's filter: it takes more calls away than a subprocess
// needs.
TEST_P(Contained, InADockerASubprocessDoesItsWork) {
  const Ran ran = in_container(
      "run --isolation subprocess -- python3 -c 'import os, subprocess, threading, tempfile; "
      "open(\"f\", \"w\").write(\"x\"); os.chmod(\"f\", 0o600); os.utime(\"f\", (1, 1)); os.rename(\"f\", "
      "\"g\"); "
      "t = threading.Thread(target=print, args=(\"thread\",)); t.start(); t.join(); "
      "print(subprocess.check_output([\"stat\", \"-c\", \"%a %Y\", \"g\"]).decode(), end=\"\"); "
      "print(len(tempfile.mkdtemp()) > 0)'",
      docker);
  EXPECT_TRUE(printed(ran, "thread\n600 1\nTrue\n")) << ran.err;
}

}  // namespace
}  // namespace cloche::test
