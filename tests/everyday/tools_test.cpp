// The shell and the file tools inside, with the default profile, and git in workspaces of different owners.
#include <sys/stat.h>
#include <unistd.h>

#include "everyday/support.hpp"

namespace cloche::test {
namespace {

class Shell : public Everyday {};
FOR_EVERYONE(Shell);

TEST_P(Shell, TarKeepsGoingWithForeignOwners) {
  EXPECT_TRUE(printed(bash(R"(set -e
mkdir -p d/e; echo one > d/one; ln -s one d/link; ln d/one d/hard; chmod 751 d/e; touch -d '2001-02-03 04:05:06' d/one d/e
tar --owner=1000 --group=1000 --numeric-owner -czf a.tar.gz d
tar --owner=root --group=root -cJf a.tar.xz d
rm -r d
tar xzf a.tar.gz
stat -c '%a %y' d/e d/one | cut -c 1-14
readlink d/link; stat -c %h d/hard
mkdir x && tar xJf a.tar.xz -C x && diff -r d x/d && echo same
tar cf - d | tar tf - | wc -l
)"),
                      "751 2001-02-03\n644 2001-02-03\none\n2\nsame\n5\n"));
}

TEST_P(Shell, FilesAreMadeMovedLinkedAndRemoved) {
  EXPECT_TRUE(
      printed(bash(R"(set -e
mkdir -p a/b/c; echo text > a/b/f; cp -a a z; diff -r a z; mv z y; ln -s ../a y/up; ln a/b/f hard
find . -type f | sort | tr '\n' ' '; echo
stat -c %h hard
chmod +x hard; test -x a/b/f && echo executable
touch -d '2020-01-01 UTC' hard; date -u -r a/b/f +%F
sed -i 's/text/changed/' a/b/f; cat a/b/f
grep -rl changed a; awk '{ print toupper($0) }' a/b/f
rm -r a y; ls
install -m 600 hard copied; stat -c %a copied
truncate -s 1M copied; dd if=/dev/zero of=dd bs=1k count=4 status=none; stat -c %s copied dd
realpath . | grep -c workspace; basename "$PWD"; mktemp -d > /dev/null; ls -la > /dev/null; du -s . > /dev/null; df . > /dev/null
)"),
              "./a/b/f ./hard ./y/b/f \n2\nexecutable\n2020-01-01\nchanged\na/b/f\nCHANGED\nhard\n600\n"
              "1048576\n4096\n1\nworkspace\n"));
}

TEST_P(Shell, CopyWithAttributesFromReadOnlyPlaces) {
  EXPECT_TRUE(printed(bash("cp -a /usr/bin/env ./env && ./env -i A=1 /usr/bin/env && cp -r "
                           "/usr/share/base-files . && ls base-files"
                           " | grep -c '^profile$'; cp /proc/self/status s && test -s s && echo copied"),
                      "A=1\n1\ncopied\n"));
}

TEST_P(Shell, SortsABigFile) {
  EXPECT_TRUE(printed(bash("seq 2000000 | awk '{ print ($1 * 7919) % 2000003 }' > big; sort -n -S 8M "
                           "--parallel=2 big > sorted;"
                           "sort -nc sorted && wc -l < sorted; head -1 sorted; uniq -d sorted | wc -l"),
                      "2000000\n1\n0\n"));
}

TEST_P(Shell, XargsInParallelAndTimeoutsAndLocks) {
  EXPECT_TRUE(printed(bash(R"(seq 40 | xargs -P 4 -n 1 sh -c 'echo $0' | sort -n | tail -1
timeout 0.3 sleep 30; echo $?
flock lock sh -c 'flock -n lock true || echo held'
mkfifo pipe; (echo through > pipe &) ; cat pipe
nohup true 2>/dev/null; nice -n 5 true; setsid -w true; echo $?
time -p true 2>/dev/null; env -i sh -c 'echo bare'
)"),
                      "40\n124\nheld\nthrough\n0\nbare\n"));
}

TEST_P(Shell, CompressorsAgree) {
  EXPECT_TRUE(printed(bash(R"(seq 100000 > n; for z in gzip xz bzip2; do command -v $z > /dev/null || continue
  $z -k n && rm n && $z -d n.* && md5sum < n && rm -f n.*; done | sort -u | wc -l; head -c 1000 /dev/urandom | base64 | base64 -d | wc -c)"),
                      "1\n1000\n"));
}

TEST_P(Shell, BackgroundJobs) {
  EXPECT_TRUE(printed(inside({"bash", file("jobs.sh", R"sh(set -m
sleep 0.2 & first=$!
sleep 30 & second=$!
wait $first; echo waited $?
kill $second; wait $second 2>/dev/null; echo killed $?
sleep 30 & third=$!
kill -STOP $third; sleep 0.1; jobs > list; grep -c Stopped list
kill $third; kill -CONT $third; while kill -0 $third 2>/dev/null; do sleep 0.02; done; echo gone
)sh")}),
                      "waited 0\nkilled 143\n1\ngone\n"));
}

TEST_P(Shell, TrapsAndPipelines) {
  EXPECT_TRUE(printed(inside({"bash", file("traps.sh", R"sh(
trap 'echo exit-trap' EXIT
trap 'echo got-usr1' USR1
kill -USR1 $$
(exit 3) | true; echo "${PIPESTATUS[@]}"
(trap 'echo inner' TERM; kill $BASHPID; echo after)
)sh")}),
                      "got-usr1\n3 0\ninner\nafter\nexit-trap\n"));
}

TEST_P(Shell, SubstitutionsHeredocsAndCoprocesses) {
  EXPECT_TRUE(printed(inside({"bash", file("substitutions.sh", R"sh(
diff <(seq 3) <(seq 3) && echo same
tee >(cat > copy) <<< teed > /dev/null; sleep 0.2; cat copy
cat <<END
heredoc $((2 + 3))
END
exec 5<<< fd5; cat /dev/fd/5
coproc cat; echo co >&"${COPROC[1]}"; read -r line <&"${COPROC[0]}"; echo "$line"; kill $COPROC_PID
)sh")}),
                      "same\nteed\nheredoc 5\nfd5\nco\n"));
}

TEST_P(Shell, StandardStreamsByName) {
  if (bare() && as() == As::nobody) GTEST_SKIP() << "skipped: without Cloche the pipes belong to root";
  const Ran ran = bash(
      "cat /dev/stdin; cat /proc/self/fd/0; echo out > /dev/stdout; echo err > /dev/stderr; echo fd >> "
      "/dev/fd/1;"
      "echo null > /dev/null; head -c 3 /dev/zero | wc -c; head -c 3 /dev/urandom | wc -c; test -c /dev/full "
      "&& echo x 2>/dev/null > /dev/full || echo full",
      {.input = "typed\n"});
  EXPECT_TRUE(printed(ran, "typed\nout\nfd\n3\n3\nfull\n"));
  EXPECT_EQ(ran.err, "err\n");
}

TEST_P(Shell, AScriptInTheWorkspaceRunsByItsName) {
  file("go.sh", "#!/usr/bin/env bash\necho \"$0 $# $2\"\n", 0755);
  EXPECT_TRUE(printed(inside({"./go.sh", "a", "b c"}), "./go.sh 2 b c\n"));
  EXPECT_TRUE(printed(inside({(workspace() / "go.sh").string(), "a", ""}),
                      (workspace() / "go.sh").string() + " 2 \n"));
}

TEST_P(Shell, LooksAtTheSystem) {
  EXPECT_TRUE(printed(bash(R"sh(set -e
test "$(whoami)" = "$(id -un)"; test -n "$(id -gn)"; test "$(nproc)" -gt 0; uname -sm; test -n "$(uname -n)"
ps -e -o comm= | grep -c '^ps$'; ps aux > /dev/null; free > /dev/null; uptime > /dev/null
test -r /etc/os-release; ldd /bin/bash | grep -c libc.so
getent hosts localhost | grep -c localhost; getent services http > /dev/null
cat /proc/meminfo /proc/cpuinfo /proc/loadavg /proc/self/maps /proc/self/mountinfo > /dev/null
echo $HOME | grep -c ^/; cd && touch mine
mount > /dev/null; ulimit -a > /dev/null; locale > /dev/null; tput -T xterm cols > /dev/null
)sh"),
                      "Linux x86_64\n1\n1\n1\n1\n"));
}

TEST_P(Shell, RsyncCopiesATree) {
  NEEDS("rsync");
  EXPECT_TRUE(
      printed(bash("mkdir -p a/b && echo x > a/b/f && rsync -a a/ c && diff -r a c && echo same"), "same\n"));
}

TEST_P(Shell, CurlAndOpensslOnLoopback) {
  NEEDS("openssl");
  NEEDS("curl");
  EXPECT_TRUE(printed(
      bash(
          R"(openssl req -x509 -newkey rsa:2048 -nodes -keyout k.pem -out c.pem -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost 2>log || cat log
cat > s.py <<'END'
import http.server, ssl
s = http.server.HTTPServer(('127.0.0.1', 8443), http.server.SimpleHTTPRequestHandler)
c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER); c.load_cert_chain('c.pem', 'k.pem')
s.socket = c.wrap_socket(s.socket, server_side=True)
open('ready', 'w').close(); s.handle_request()
END
echo body > page; /usr/bin/python3 s.py 2>/dev/null & for i in $(seq 100); do [ -e ready ] && break; sleep 0.1; done
curl -sS --max-time 10 --cacert c.pem https://localhost:8443/page; wait)"),
      "body\n"));
}

class Git : public Everyday {
 protected:
  static constexpr const char* as_someone =
      "export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=A "
      "GIT_COMMITTER_EMAIL=a@example.org;";
};
FOR_EVERYONE(Git);

constexpr const char* a_days_work = R"(
set -e
echo one > f; git add f; git status --short; git commit -qm first; git log --oneline | wc -l
echo two >> f; git diff --stat | tail -1; git stash -q; cat f; git stash pop -q; git commit -qam second
git branch side; git checkout -q side; echo side > s; git add s; git commit -qm side; git checkout -q -; git merge -q --ff-only side
git tag v1; git rebase -q HEAD~1; git gc -q; git fsck 2>&1 | grep -c error || true; git log --format=%s | tr '\n' ' '; git show v1:f | tail -1; git grep -c two f
)";
constexpr const char* its_result =
    "A  f\n1\n 1 file changed, 1 insertion(+)\none\n0\nside second first two\nf:1\n";

TEST_P(Git, WholeDayInARepositoryMadeInside) {
  NEEDS("git");
  EXPECT_TRUE(printed(bash(std::string(as_someone) + "git init -q .;" + a_days_work), its_result));
}

TEST_P(Git, WholeDayInARepositoryMadeOutside) {
  NEEDS("git");
  ASSERT_TRUE(exited(outside("git init -q ."), 0));
  EXPECT_TRUE(printed(bash(std::string(as_someone) + a_days_work), its_result));
  // The host's git finds a sound repository that its owner owns.
  EXPECT_TRUE(
      printed(outside("git fsck 2>&1 | grep -c error; git status --short; git log --format=%s | head -1"),
              "0\nside\n"));
  EXPECT_TRUE(printed(outside("find .git ! -user $(id -u) | wc -l"), "0\n"));
}

TEST_P(Git, OneCommandPerCall) {
  NEEDS("git");
  ASSERT_TRUE(exited(outside("git init -q . && echo one > f"), 0));
  const std::vector<std::string> someone = {"git", "-c", "user.name=A", "-c", "user.email=a@example.org"};
  const auto git = [&](std::vector<std::string> words) {
    words.insert(words.begin(), someone.begin(), someone.end());
    return inside(words);
  };
  EXPECT_TRUE(printed(git({"status", "--short"}), "?? f\n"));
  EXPECT_TRUE(printed(git({"add", "f"}), ""));
  EXPECT_TRUE(exited(git({"diff", "--cached", "--quiet"}), 1));
  EXPECT_TRUE(printed(git({"commit", "-qm", "first"}), ""));
  EXPECT_TRUE(printed(git({"log", "--format=%s %an"}), "first A\n"));
  // For an ordinary user a layer gives a file another number when it is linked, and git takes that for
  // another.
  EXPECT_TRUE(printed(git({"clone", "-q", "--no-hardlinks", ".", "clone"}), ""));
  EXPECT_TRUE(printed(inside({"git", "-C", "clone", "log", "--format=%s"}), "first\n"));
}

// As on the host: from the configuration in the caller's home, unless the repository says something else.
TEST_P(Git, ACommitHasTheCallersName) {
  NEEDS("git");
  scene().write("home/.gitconfig", "[user]\n\tname = Ada Lovelace\n\temail = ada@example.org\n");
  const std::string home = scene().root() / "home";
  const Command how{.argv = {}, .env = {{"HOME", home}, {"XDG_CONFIG_HOME", home + "/.config"}}};
  EXPECT_TRUE(printed(
      bash(R"(set -e; git init -q .; git commit -q --allow-empty -m one; git log --format='%an <%ae> %cn'
git config user.email repo@example.org; git commit -q --allow-empty -m two; git log -1 --format='%an <%ae>'; git status --short)",
           how),
      "Ada Lovelace <ada@example.org> Ada Lovelace\nAda Lovelace <repo@example.org>\n"));
}

TEST_P(Git, WorkspaceWhoseParentBelongsToAnother) {
  NEEDS("git");
  if (geteuid() != 0) GTEST_SKIP() << "skipped: only root can give a directory away";
  const unsigned other = as() == As::nobody ? 0 : nobody;
  ASSERT_EQ(chown(scene().root().c_str(), other, other), 0);
  EXPECT_TRUE(printed(bash(std::string(as_someone) + "git init -q .;" + a_days_work), its_result));
}

}  // namespace
}  // namespace cloche::test
