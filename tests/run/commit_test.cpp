// `cloche run --writes commit` and `stage`: the host sees the old state while a command runs, and afterwards
// what the judge let through; what the host did meanwhile is never overwritten; nothing reaches the project
// later by another way.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "run/fixture.hpp"

namespace cloche::test {
namespace {

using Paths = std::vector<std::string>;

class Commit : public Run {
 protected:
  Answer after(const std::string& script, std::vector<std::string> flags = {}) const {
    flags.insert(flags.begin(), {"--writes", "commit"});
    return answer(std::move(flags), {"bash", "-c", script});
  }
  // "created a", "withheld .envrc", ...
  static Paths changes(const Json& json) {
    Paths paths;
    for (const auto& path : json["changes"]["paths"].array) {
      const std::string& verdict = path["verdict"].string;
      paths.push_back((verdict == "committed" ? path["kind"].string : verdict) + " " + path["path"].string);
    }
    std::sort(paths.begin(), paths.end());
    return paths;
  }
  // The host does its part when the command has done its own, and before the command ends.
  Ran while_running(const std::string& script, const std::string& host) const {
    Started started(under({"--writes", "commit"}, {"bash", "-c", script + "; echo written; read word; true"},
                          {.input = ""}));
    char said[8] = {};
    EXPECT_GT(::read(started.output(), said, sizeof said), 0);
    EXPECT_TRUE(exited(outside(host), 0));
    started.close_input();
    return started.finish();
  }
  // A call fills the file system of the state directory; and the next one.
  Ran fill(const std::string& mount) const {
    const std::string owner = is_root() ? "0:0" : "65534:65534";
    return with_own_mounts("rm -rf ../full; mkdir ../full; " + mount + "; chown " + owner +
                           " ../full; export XDG_STATE_HOME=$(realpath ../full); rm -rf big d* work next" +
                           R"(
$RUN --writes commit -- sh -c 'echo w > work; head -c 40M /dev/zero > big; for i in $(seq 99); do mkdir d$i || break; done; true' 2>../said || true
cat work 2>/dev/null || grep -o 'what the command wrote is not in .* and is gone' ../said
$RUN --writes commit -- sh -c 'echo next > next' 2>/dev/null; cat next; rm ../said)");
  }
  std::string content(const std::string& name) const { return read_file(workspace() / name); }
  fs::path layers() const { return fs::path(state_home(as())) / "cloche" / "layers" / "running"; }
};
FOR_EVERYONE(Commit);

TEST_P(Commit, TheListIsWhatTheCommandDid) {
  file("changed", "old");
  file("deleted", "old");
  file("same", "old");
  file("mode", "old");
  file("directory/below", "old");
  file("becomes", "a file");
  const Answer ran = after(R"(echo new > changed; rm deleted; echo new > 'made
here'; chmod 755 mode; rm -r directory; mkdir directory; echo new > directory/other; rm becomes; mkdir becomes
mkdir -p new/deep; echo x > new/deep/file; ln -s file new/deep/link; : >> same; mkdir empty; chmod 000 empty)");
  EXPECT_EQ(ran.json["exit_code"].number, 0) << ran.ran.err;
  EXPECT_EQ(
      changes(ran.json),
      (Paths{"changed becomes", "changed changed", "changed mode", "created directory/other", "created empty",
             "created made\nhere", "created new", "created new/deep", "created new/deep/file",
             "created new/deep/link", "deleted deleted", "deleted directory/below"}));
  EXPECT_EQ(content("changed"), "new\n");
  EXPECT_EQ(content("made\nhere"), "new\n");
  EXPECT_FALSE(is_there("deleted") || is_there("directory/below"));
  EXPECT_TRUE(fs::is_directory(workspace() / "becomes"));
  EXPECT_EQ(fs::status(workspace() / "mode").permissions(), fs::perms(0755));
  EXPECT_EQ(fs::status(workspace() / "empty").permissions(), fs::perms::none);
  EXPECT_EQ(fs::read_symlink(workspace() / "new/deep/link"), "file");
}

TEST_P(Commit, NothingWrittenIsNoChange) {
  file("f", "text");
  const Answer ran = after("cat f; touch -r f f; chmod 644 f");
  EXPECT_EQ(changes(ran.json), Paths{});
  for (const auto& left : fs::directory_iterator(layers()))
    EXPECT_TRUE(left.path().filename().string().starts_with("ended-")) << left.path();
  EXPECT_TRUE(exited(cloche_run({}, {"true"}), 0));
  EXPECT_TRUE(exited(cloche_run({}, {"true"}), 0));
  EXPECT_EQ(std::distance(fs::directory_iterator(layers()), {}), 1) << "they are not used again";
  EXPECT_TRUE(fs::exists(layers().parent_path() / "spare")) << "they are not used again";
}

TEST_P(Commit, ACallThatWroteNothingWaitsForNoCommit) {
  EXPECT_EQ(changes(after("echo text > f").json), Paths{"created f"});
  std::vector<int> held;  // as a commit has them that takes long
  for (const auto& lock : fs::directory_iterator(fs::path(state_home(as())) / "cloche" / "commit-locks")) {
    held.push_back(::open(lock.path().c_str(), O_RDWR | O_CLOEXEC));
    EXPECT_EQ(::flock(held.back(), LOCK_EX | LOCK_NB), 0) << lock.path();
  }
  EXPECT_FALSE(held.empty());
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(exited(cloche_run({"--writes", "commit"}, {"cat", "f"}), 0));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(8)) << "it waited for the locks";
  for (const int fd : held) ::close(fd);
}

TEST_P(Commit, TheHostSeesTheOldStateMeanwhile) {
  file("f", "old\n");
  Started started(under({"--writes", "commit"},
                        {"bash", "-c",
                         "echo new > f; echo new > g; echo evil > .envrc; echo written; read word; "
                         "cat f"},
                        {.input = ""}));
  char said[8] = {};
  ASSERT_GT(::read(started.output(), said, sizeof said), 0);
  EXPECT_EQ(content("f"), "old\n");
  EXPECT_FALSE(is_there("g") || is_there(".envrc"));
  started.close_input();
  const Ran ran = started.finish();
  EXPECT_TRUE(exited(ran, 0)) << ran.err;
  EXPECT_EQ(content("f"), "new\n");
  EXPECT_TRUE(is_there("g"));
  EXPECT_FALSE(is_there(".envrc"));
}

TEST_P(Commit, WhatTheHostExecutesLaterIsWithheldAtAnyDepth) {
  NEEDS("git");
  ASSERT_TRUE(
      exited(outside("git init -q .; git config user.name A; git config user.email a@example.org"), 0));
  const Answer ran =
      after(R"(mkdir -p a/b/.vscode; echo x > a/b/.envrc; echo x > a/b/.vscode/tasks.json; echo x > .BASHRC
printf '#!/bin/sh\n' > .git/hooks/post-commit; chmod +x .git/hooks/post-commit; git config core.fsmonitor ./x
ln -s /etc/passwd out; mkfifo pipe; echo fine > a/b/fine)");
  EXPECT_EQ(changes(ran.json),
            (Paths{"created a", "created a/b", "created a/b/fine", "withheld .BASHRC", "withheld .git/config",
                   "withheld .git/hooks/post-commit", "withheld a/b/.envrc", "withheld a/b/.vscode",
                   "withheld a/b/.vscode/tasks.json", "withheld out", "withheld pipe"}))
      << ran.ran.out;
  EXPECT_FALSE(is_there("a/b/.envrc") || is_there("a/b/.vscode") || is_there(".git/hooks/post-commit"));
  EXPECT_FALSE(contains(content(".git/config"), "fsmonitor"));
  EXPECT_EQ(ran.json["quarantined"].array.size(), 8U);
}

// Where the directories of a row are there already, and only a file in them is new.
TEST_P(Commit, WhatIsProtectedInDirectoriesThatAreThereIsWithheld) {
  ASSERT_TRUE(exited(outside("mkdir -p .config/fish sub/.config/nvim .local/bin"), 0));
  const Answer ran = after(
      "echo x > .config/fish/config.fish; echo x > sub/.config/nvim/init.lua; echo x > .local/bin/ls; echo x "
      "> .config/fine");
  EXPECT_EQ(changes(ran.json), (Paths{"created .config/fine", "withheld .config/fish/config.fish",
                                      "withheld .local/bin/ls", "withheld sub/.config/nvim/init.lua"}));
}

// Prepared by one call where nothing executes it, and put in place by the next. Each writes `ran` when the
// host runs it.
TEST_P(Commit, WhatSeveralCallsPrepareIsNotExecuted) {
  NEEDS("git");
  const std::string payload = "printf '#!/bin/sh\\necho > " + (scene().root() / "ran").string() + "\\n'";
  const struct {
    const char* name;
    std::string host;   // before
    std::string first;  // two calls
    std::string second;
    std::string uses;  // the host, afterwards
  } rows[] = {
      {"a worktree's part that becomes a repository", "mkdir lib",
       "cd lib; echo 'ref: refs/heads/main' > HEAD; echo ../.git > commondir; printf "
       "'[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = .\\n\\tfsmonitor = \"echo "
       "> " +
           (scene().root() / "ran").string() + "; false\"\\n' > config",
       "cd lib; rm commondir; mkdir -p objects/info refs/heads; : > objects/info/k; : > refs/heads/k",
       "cd lib; git status"},
      {"a directory that is moved to where a link of a hook leads",
       "mkdir scripts; echo true > scripts/pre-commit; chmod +x scripts/pre-commit; ln -s "
       "../../scripts/pre-commit "
       ".git/hooks/pre-commit",
       "mv scripts s2; mkdir prep; " + payload + " > prep/pre-commit; chmod +x prep/pre-commit",
       "mv prep scripts", "git commit --allow-empty -m x"},
      {"a target of a hook's link behind thousands of samples",
       "mkdir scripts; echo true > scripts/pre-commit; chmod +x scripts/pre-commit; ln -s "
       "../../scripts/pre-commit "
       ".git/hooks/pre-commit",
       "touch .git/hooks/{1..4200}.sample", payload + " > scripts/pre-commit",
       "git commit --allow-empty -m x"},
      {"a hook of a repository that moved with its configuration",
       "git init -q a; git -C a config core.hooksPath h; git -C a config user.name A; git -C a config "
       "user.email "
       "a@example.org; mkdir a/h",
       "true", "mv a b; " + payload + " > b/h/pre-commit; chmod +x b/h/pre-commit",
       "cd b; git commit --allow-empty -m x"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    ASSERT_TRUE(exited(
        outside(
            "rm -rf * .git; git init -q .; git config user.name A; git config user.email a@example.org; " +
            row.host),
        0));
    after(row.first);
    after(row.second);
    outside(row.uses);
    EXPECT_FALSE(fs::exists(scene().root() / "ran"));
    // The control: the same without Cloche is executed.
    ASSERT_TRUE(exited(
        outside(
            "rm -rf * .git; git init -q .; git config user.name A; git config user.email a@example.org; " +
            row.host + "\n(" + row.first + ")\n(" + row.second + ")\n(" + row.uses + "); true"),
        0));
    EXPECT_TRUE(fs::exists(scene().root() / "ran")) << "the attack does not work on this host";
    fs::remove(scene().root() / "ran");
  }
}

// Files of git's own working that make the host's git write where no commit could. Each row: what a call
// leaves, which path of it is withheld, what the host does then, and what that makes.
TEST_P(Commit, WhatMakesGitWriteElsewhereIsWithheld) {
  NEEDS("git");
  NEEDS("python3");
  file("index.py", R"(import hashlib, struct, subprocess, sys
data = b'DIRC' + struct.pack('>II', 2, 1)
for name in sys.argv[1:]:
    blob = subprocess.run(['git', 'hash-object', '-w', '--stdin'], input=b'#!/bin/sh\ntouch ran\n', capture_output=True).stdout
    entry = struct.pack('>10I', 0, 0, 0, 0, 0, 0, 0o100755, 0, 0, 0) + bytes.fromhex(blob.decode().strip())
    entry += struct.pack('>H', len(name)) + name.encode()
    data += entry + bytes(8 - len(entry) % 8)
open('.git/index', 'wb').write(data + hashlib.sha1(data).digest())
)");
  const std::string begin =
      "rm -rf .git ran ../escaped; git init -q .; git config user.name A; git config user.email "
      "a@example.org; "
      "echo a > a; git add a; git commit -qm a";
  const std::string resolution = std::string(39, '0') + "1";
  const struct {
    std::string call;
    std::string withheld;
    std::string uses;
    std::string made;
  } rows[] = {
      {"/usr/bin/python3 index.py .git/hooks/post-checkout", "staged .git/index", "git checkout .",
       ".git/hooks/post-checkout"},
      {"/usr/bin/python3 index.py ../escaped", "staged .git/index", "git checkout .", "../escaped"},
      {"mkdir -p .git/rr-cache/" + resolution + "; cp .git/config .git/rr-cache/" + resolution +
           "/preimage; (cat .git/config; echo '[alias] planted = x') > .git/rr-cache/" + resolution +
           "/postimage; printf '" + resolution + ".-1\\t.git/config\\0' > .git/MERGE_RR",
       "withheld .git/MERGE_RR", "echo b >> a; git commit -qam b; git config alias.planted && touch ran",
       "ran"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.call);
    ASSERT_TRUE(exited(outside(begin), 0));
    const Answer ran = after(row.call);
    EXPECT_EQ(std::ranges::count(changes(ran.json), row.withheld), 1) << ran.ran.out;
    outside(row.uses);
    EXPECT_FALSE(is_there(row.made));
    // The control: without Cloche git writes it.
    ASSERT_TRUE(exited(outside(begin + "; " + row.call), 0));
    outside(row.uses);
    EXPECT_TRUE(is_there(row.made)) << "the attack does not work on this host";
  }
}

// A call leaves a conflict, the host resolves it, and git remembers how for the next call.
TEST_P(Commit, WhatResolvesAConflictIsRemembered) {
  NEEDS("git");
  ASSERT_TRUE(exited(
      outside(
          "git init -q -b main .; git config user.name A; git config user.email a@example.org; git config "
          "rerere.enabled true; echo a > a; git add a; git commit -qm a; git checkout -qb other; echo "
          "other > a; git commit -qam other; git checkout -q main; echo main > a; git commit -qam main"),
      0));
  const Answer conflict = after("git merge -q other");
  EXPECT_EQ(conflict.json["exit_code"].number, 1);
  EXPECT_EQ(conflict.json["quarantined"].array.size(), 0U) << conflict.ran.out;
  EXPECT_NE(content(".git/MERGE_RR"), "");
  EXPECT_TRUE(exited(outside("echo both > a; git commit -qam both; git reset -q --hard HEAD~1"), 0));
  EXPECT_EQ(content(".git/MERGE_RR"), "");
  EXPECT_EQ(content("a"), "main\n");
  const Answer again = after("git merge -q other");
  EXPECT_EQ(content("a"), "both\n") << again.ran.out;
}

// Git copies what a MERGE_RR names, also what the call itself does not see or reaches by a link alone.
TEST_P(Commit, WhatIsHiddenIsNotCopiedByGit) {
  NEEDS("git");
  const std::string begin =
      "rm -rf .git *; git init -q -b main .; git config user.name A; git config user.email a@example.org; "
      "echo secret > key; echo a > a; git add a; git commit -qm a; mkdir .git/rr-cache";
  const std::string id(40, '1');
  const std::string resolution = "mkdir .git/rr-cache/" + id + "; printf '" + id + "\\t";
  const std::string is_copied =
      "echo b >> a; git commit -qam b; grep -rq secret .git/rr-cache && touch copied";
  const struct {
    std::string first;
    std::string second;
    std::string withheld;
  } rows[] = {
      {"true", resolution + "key\\0' > .git/MERGE_RR", "withheld .git/MERGE_RR"},
      {"true", "ln -s key b; " + resolution + "b\\0' > .git/MERGE_RR", "withheld .git/MERGE_RR"},
      {"echo b > b; " + resolution + "b\\0' > .git/MERGE_RR", "ln -sf key b", "withheld b"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.second);
    ASSERT_TRUE(exited(outside(begin), 0));
    after(row.first, {"--hide", "key"});
    const Answer ran = after(row.second, {"--hide", "key"});
    EXPECT_EQ(std::ranges::count(changes(ran.json), row.withheld), 1) << ran.ran.out;
    outside(is_copied);
    EXPECT_FALSE(is_there("copied"));
    // The control: without Cloche git copies it.
    ASSERT_TRUE(exited(outside(begin + "; " + row.first + "; " + row.second), 0));
    outside(is_copied);
    EXPECT_TRUE(is_there("copied")) << "the attack does not work on this host";
  }
}

// What a configuration names from the top of a checkout is executed in every directory that becomes one.
TEST_P(Commit, ADirectoryThatBecomesAWorkingTreeBringsNoHooksAlong) {
  const std::string hook =
      "mkdir -p z/tools/hooks; printf '#!/bin/sh\ntouch ../ran\n' > z/tools/hooks/pre-commit; "
      "chmod +x z/tools/hooks/*";
  const std::string led = "echo 'gitdir: ../.git' > z/.git";
  const std::string commits = "cd z && git -c user.email=a@b -c user.name=n commit -qm x --allow-empty";
  const std::string worktree =
      "git worktree add -q w; mv w/.git z/.git; echo $PWD/z/.git > .git/worktrees/w/gitdir; rm -rf w";
  for (const std::string& calls : {hook + "; " + worktree, hook + "|" + worktree, hook + "; " + led,
                                   hook + "|" + led, hook + "|ln -s ../.git z/.git"}) {
    ASSERT_TRUE(exited(outside("rm -rf .git z ran; git init -q . && git -c user.email=a@b -c user.name=n "
                               "commit -qm 1 --allow-empty && git config core.hooksPath tools/hooks"),
                       0));
    const size_t bar = calls.find('|');
    EXPECT_TRUE(exited(after(calls.substr(0, bar)).ran, 0));
    const std::string later = bar == std::string::npos ? "true" : calls.substr(bar + 1);
    EXPECT_TRUE(exited(after(later).ran, 0));
    outside(commits);
    EXPECT_FALSE(is_there("ran")) << calls;
    // The control: without Cloche it runs.
    std::string bare = calls;
    std::replace(bare.begin(), bare.end(), '|', ';');
    ASSERT_TRUE(
        exited(outside("rm -rf z; git worktree prune; git branch -D w; " + bare + "; " + commits), 0));
    EXPECT_TRUE(is_there("ran")) << calls;
  }
}

TEST_P(Commit, EverydayGitWorks) {
  NEEDS("git");
  const Answer ran =
      after(R"(set -e; git init -q -b main .; git config user.name A; git config user.email a@example.org
echo one > f; git add f; git commit -qm first; git remote add origin https://example.org/x; git checkout -qb other
echo two > f; git commit -qam second; git branch -m renamed; git stash list; git gc -q; mkdir d; echo x > d/x; git add d
git commit -qm third; mv d e; git add -A; git commit -qm fourth; git rebase -q main; git tag t)");
  EXPECT_EQ(ran.json["exit_code"].number, 0) << ran.json["stderr"].string;
  EXPECT_TRUE(printed(outside("git status --short; git fsck --no-progress 2>/dev/null; git log --format=%s"),
                      "fourth\nthird\nsecond\nfirst\n"));
  const Answer again = after("git commit -q --allow-empty -m fifth");
  EXPECT_EQ(again.json["exit_code"].number, 0);
  EXPECT_TRUE(printed(outside("git log -1 --format=%s"), "fifth\n"));
}

TEST_P(Commit, WhatTheHostChangedMeanwhileIsNotOverwritten) {
  file("f", "old\n");
  file("other", "old\n");
  const Ran ran = while_running("echo mine > f; echo mine > other", "echo theirs > f");
  EXPECT_TRUE(exited(ran, 0)) << ran.err;
  EXPECT_EQ(content("f"), "theirs\n");
  EXPECT_EQ(content("other"), "old\n") << "all of the set is in the project, or nothing";
  EXPECT_TRUE(contains(ran.err, "f was changed since the call began")) << ran.err;
}

// The host and the call make other files in a directory and around it: neither is in the other's way.
TEST_P(Commit, NewFilesBesideThoseOfTheHostAreNoConflict) {
  file("src/f", "old\n");
  const Ran ran = while_running("echo mine > src/mine; echo mine > mine",
                                "echo theirs > src/theirs; echo theirs > theirs");
  EXPECT_TRUE(exited(ran, 0)) << ran.err;
  for (const char* name : {"mine", "theirs"}) {
    EXPECT_EQ(content(name), std::string(name) + "\n") << ran.err;
    EXPECT_EQ(content(std::string("src/") + name), std::string(name) + "\n");
  }
}

TEST_P(Commit, AWorkspaceThatIsRenamedMeanwhileLosesNothing) {
  file("f", "old\n");
  const std::string moved = workspace().string() + ".moved";
  const Ran ran = while_running("echo precious > work; echo new > f; echo x > .envrc",
                                "mv '" + workspace().string() + "' '" + moved + "'");
  EXPECT_TRUE(exited(ran, 0)) << ran.err;
  EXPECT_EQ(read_file(fs::path(moved) / "work"), "precious\n") << ran.err;
  EXPECT_EQ(read_file(fs::path(moved) / "f"), "new\n");
  EXPECT_FALSE(fs::exists(fs::path(moved) / ".envrc"));
  fs::rename(moved, workspace());
}

// What a repository names is executed wherever it lies: also in a tree of the call in which nothing else
// changed.
TEST_P(Commit, WhatARepositoryNamesInAnotherTreeIsWithheld) {
  NEEDS("git");
  const std::string other = workspace().string() + ".other";
  ASSERT_TRUE(exited(outside("mkdir -p '" + other + "/hooks'; git init -q .; git config core.hooksPath '" +
                             other + "/hooks'; git config include.path '" + other + "/included'"),
                     0));
  const std::string attack = "echo x > '" + other + "/included'; cp /bin/true '" + other +
                             "/hooks/pre-commit'; echo fine > '" + other + "/fine'";
  const Answer ran = after(attack, {"--rw", other});
  EXPECT_EQ(changes(ran.json), (Paths{"created " + other + "/fine", "withheld " + other + "/hooks/pre-commit",
                                      "withheld " + other + "/included"}))
      << ran.ran.out;
  EXPECT_TRUE(fs::is_empty(other + "/hooks"));
  ASSERT_TRUE(exited(outside("git config --unset core.hooksPath; git config --unset include.path"), 0));
  const Answer control = after(attack, {"--rw", other});
  EXPECT_EQ(control.json["changes"]["changed"].number + control.json["changes"]["created"].number, 3)
      << control.ran.out;
  EXPECT_TRUE(fs::exists(other + "/hooks/pre-commit")) << "the attack does nothing without the names";
  fs::remove_all(other);
}

// The host's git only notes anew what the files look like, in every kind of repository.
TEST_P(Commit, AnIndexThatTheHostRefreshesIsNoConflict) {
  NEEDS("git");
  const std::string made =
      "set -e; export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org "
      "GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.org; rm -rf * .git ../*.other; mkdir top; cd top; "
      "git init -q .; echo a > a; echo b > b; git add .; git commit -qm one; ";
  const struct {
    const char* name;
    std::string script;     // leaves the repository in `checkout`
    std::string workspace;  // from the one of the test
    std::string start;      // from that
  } rows[] = {
      {"at the top", "", "top", "."},
      {"below the top", "", ".", "top"},
      {"a linked worktree", "git worktree add -q ../linked", "linked", "."},
      {"a submodule",
       "cd ..; mkdir super; cd super; git init -q .; git -c protocol.file.allow=always submodule --quiet add "
       "../top sub",
       "super", "sub"},
  };
  for (const auto& row : rows) {
    ASSERT_TRUE(exited(outside(made + row.script), 0)) << row.name;
    const fs::path checkout = workspace() / row.workspace / row.start;
    const std::string commit =
        "export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=A "
        "GIT_COMMITTER_EMAIL=a@example.org; echo z >> a; git add a; git commit -qm call; echo written; read "
        "word";
    Started started(
        under({"--writes", "commit", "--workspace", (workspace() / row.workspace).string(), "-C", row.start},
              {"bash", "-c", commit}, {.input = ""}));
    char said[8] = {};
    ASSERT_GT(::read(started.output(), said, sizeof said), 0) << row.name;
    ASSERT_TRUE(exited(outside("cd '" + checkout.string() + "'; touch b; git status --short >/dev/null"), 0));
    started.close_input();
    const Ran ran = started.finish();
    EXPECT_FALSE(contains(ran.err, "since the call began")) << row.name << ran.err;
    EXPECT_TRUE(printed(outside("cd '" + checkout.string() + "'; git log -1 --format=%s"), "call\n"))
        << row.name;
  }
}

// A call has no lock while it runs: it may take as long as it likes.
TEST_P(Commit, ALongCallBesideAHundredCommits) {
  Started started(under({"--writes", "commit"}, {"bash", "-c", "echo begun; read word; echo late > late"},
                        {.input = ""}));
  char said[8] = {};
  ASSERT_GT(::read(started.output(), said, sizeof said), 0);
  for (int i = 0; i < 100; ++i) {
    const std::string name = "n" + std::to_string(i);
    const Ran ran = run({.argv = {cloche(), "call", "write_artifact",
                                  R"({"path": ")" + name + R"(", "content": "x"})", "--writes", "commit"},
                         .as = as(),
                         .cwd = workspace(),
                         .env = {{"XDG_STATE_HOME", state_home(as())}}});
    ASSERT_TRUE(exited(ran, 0)) << ran.out << ran.err;
    ASSERT_TRUE(is_there(name));
  }
  started.close_input();
  const Ran ran = started.finish();
  EXPECT_TRUE(exited(ran, 0)) << ran.err;
  EXPECT_EQ(content("late"), "late\n");
}

// Also where its names explain its times.
TEST_P(Commit, ADirectoryThatTheHostPutThereIsNotOverwritten) {
  file("d/x", "d\n");
  file("e/x", "e\n");
  const Ran ran = while_running("echo mine > d/x", "mv d old; mv e d; touch d/z");
  EXPECT_TRUE(exited(ran, 0)) << ran.err;
  EXPECT_EQ(content("d/x"), "e\n");
  EXPECT_EQ(content("old/x"), "d\n");
}

// Whatever it did of the commit, the next call sees all of it or nothing.
TEST_P(Commit, AKilledCommitIsFinishedOrTakenBack) {
  const std::string script = "for i in {1..400}; do echo new > f$i; done; rm -r d";
  int partial = 0;  // without one that was killed in between nothing would be shown
  for (int tries = 0; tries < 12 || (partial == 0 && tries < 60); ++tries) {
    const int delay_ms = tries % 12 * 5;
    ASSERT_TRUE(
        exited(outside("rm -rf * ; mkdir d; for i in {1..400}; do echo old > f$i; echo x > d/$i; done"), 0));
    Started started(under({"--writes", "commit"}, {"bash", "-c", script + "; echo done"}, {.input = ""}));
    char said[8] = {};
    ASSERT_GT(::read(started.output(), said, sizeof said), 0);
    ::usleep(static_cast<unsigned>(delay_ms) * 1000);
    ::kill(started.pid(), SIGKILL);
    started.finish();
    const std::string count = "cat f* | grep -c new; ls d 2>/dev/null | wc -l";
    const std::string between = outside(count).out;
    if (between != "400\n0\n" && between != "0\n400\n") ++partial;
    ASSERT_TRUE(exited(cloche_run({"--writes", "commit"}, {"true"}), 0));
    const std::string afterwards = outside(count).out;
    EXPECT_TRUE(afterwards == "400\n0\n" || afterwards == "0\n400\n") << delay_ms << " ms: " << afterwards;
  }
  EXPECT_GT(partial, 0);
}

TEST_P(Commit, StageBringsNothingIn) {
  file("f", "old\n");
  const Answer ran = answer({"--writes", "stage"}, {"bash", "-c", "echo new > f; echo x > g"});
  EXPECT_EQ(content("f"), "old\n");
  EXPECT_FALSE(is_there("g"));
  EXPECT_EQ(changes(ran.json), (Paths{"staged f", "staged g"}));
}

// The operator's alone: a project may only tighten it.
TEST_P(Commit, AProjectCannotLoosenTheMode) {
  file(".cloche/config.json", R"({"writes": "live"})");
  EXPECT_TRUE(refused(cloche_shell({}, "echo x > g"), {125}, {"can only be tightened by a project"}));
  EXPECT_FALSE(is_there("g"));
  file(".cloche/config.json", R"({"writes": "stage"})");
  EXPECT_TRUE(exited(cloche_run({}, {"bash", "-c", "echo x > g"}), 0));
  EXPECT_FALSE(is_there("g"));
}

TEST_P(Commit, WhatAProcessInTheBackgroundWritesIsJudgedToo) {
  const Answer ran = after(leaves_a_writer);
  EXPECT_EQ(changes(ran.json), (Paths{"created deep", "created deep/er", "created deep/er/plain",
                                      "withheld deep/.envrc", "withheld deep/er/.envrc"}));
  EXPECT_EQ(content("deep/er/plain"), "plain\n");
  EXPECT_FALSE(is_there("deep/er/.envrc") || is_there("deep/.envrc"));
}

// What a process of another call got from this one keeps the overlay alive, and could still write through it.
TEST_P(Commit, WhatOutlivesTheCallReachesNothing) {
  NEEDS("python3");
  const struct {
    const char* name;
    std::string keeps;  // of the descriptors of the file `f` and of its directory, fds[0] and fds[1]
    std::string writes;
  } rows[] = {
      {"a file", "os.close(fds[1])", "os.pwrite(fds[0], b'evil', 0)"},
      {"a directory", "os.close(fds[0])",
       "[os.write(os.open(n, os.O_CREAT | os.O_WRONLY, 0o644, dir_fd=fds[1]), b'evil') for n in ('f', "
       "'evil')]"},
      {"a mapping",
       "libc = ctypes.CDLL(None); libc.mmap.restype = ctypes.c_void_p; "
       "at = libc.mmap(None, ctypes.c_size_t(4096), 3, 1, fds[0], ctypes.c_long(0)); "
       "[os.close(fd) for fd in fds]",
       "ctypes.memmove(at, b'evil', 4)"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const std::string holder = R"(
import ctypes, socket, os, time
s = socket.socket(socket.AF_UNIX); s.bind("/tmp/s"); s.listen(1); open("/tmp/ready", "w").close()
c, _ = s.accept(); _, fds, _, _ = socket.recv_fds(c, 10, 2)
)" + row.keeps + R"(
open("/tmp/taken", "w").close()
while not os.path.exists("/tmp/go"): time.sleep(0.02)
try: )" + row.writes + R"(
except OSError: pass
print("tried")
)";
    const std::string giver = R"(
import socket, os, time
while not os.path.exists("/tmp/ready"): time.sleep(0.02)
f = os.open("f", os.O_RDWR); os.pwrite(f, b"new!", 0)
s = socket.socket(socket.AF_UNIX); s.connect("/tmp/s")
socket.send_fds(s, [b"x"], [f, os.open(".", os.O_RDONLY)])
while not os.path.exists("/tmp/taken"): time.sleep(0.02)
)";
    const std::string run = (scene().root() / row.name).string();
    const std::vector<std::string> flags = {"--run", run, "--task", "t", "--writes", "commit"};
    const fs::path project = fs::path(run) / "artifacts";
    ASSERT_TRUE(exited(cloche_run(flags, {"bash", "-c", "echo old > f"}), 0));
    Started held(under(flags, {"python3", "-c", holder}));
    const Ran gave = cloche_run(flags, {"python3", "-c", giver});
    EXPECT_TRUE(exited(gave, 0)) << gave.err;
    EXPECT_TRUE(contains(gave.err, "may still hold")) << gave.err;
    EXPECT_EQ(read_file(project / "f"), "old\n");
    ASSERT_TRUE(exited(cloche_run(flags, {"touch", "/tmp/go"}), 0));
    EXPECT_TRUE(printed(held.finish(), "tried\n"));
    EXPECT_EQ(read_file(project / "f"), "old\n");
    EXPECT_FALSE(fs::exists(project / "evil"));
  }
}

// A process of the host that looked into the call's mount namespace has the call's own mount.
TEST_P(Commit, WhatTheHostHoldsOfTheCallReachesNothing) {
  NEEDS("python3");
  file("f", "old\n");
  const std::string marker = marker_seconds();
  Started call(under({"--writes", "commit"},
                     {"bash", "-c", "echo new > f; echo written; read word; : " + marker}, {.input = ""}));
  char said[8] = {};
  ASSERT_GT(::read(call.output(), said, sizeof said), 0);
  const auto command = processes_with(marker);
  ASSERT_EQ(command.size(), 1U);
  const std::string path = "/proc/" + std::to_string(command[0]) + "/root" + (workspace() / "f").string();
  Started holder({.argv = {"python3", "-c",
                           "import os, sys; f = os.open(sys.argv[1], os.O_RDWR); print('held', flush=True); "
                           "sys.stdin.read(); os.pwrite(f, b'evil', 0)",
                           path},
                  .as = as(),
                  .input = ""});
  ASSERT_GT(::read(holder.output(), said, sizeof said), 0);
  call.close_input();
  const Ran ran = call.finish();
  EXPECT_TRUE(contains(ran.err, "may still hold")) << ran.err;
  EXPECT_EQ(content("f"), "old\n");
  holder.close_input();
  EXPECT_TRUE(exited(holder.finish(), 0));
  EXPECT_EQ(content("f"), "old\n");
}

// A call is killed amid its renames; then the host makes a repository of the directory that its last file is
// to come into, and that file would be a hook.
TEST_P(Commit, WhatAKilledCommitLeftIsJudgedAnewByWhatComesNext) {
  NEEDS("git");
  NEEDS("strace");
  const Paths rows[] = {{"run", "--", "true"},
                        {"call", "write_artifact", R"({"path": "own", "content": "x"})"},
                        {"log", "prune"}};
  EXPECT_TRUE(exited(cloche_run({}, {"true"}), 0));  // what is made once takes renames as well
  for (const Paths& row : rows) {
    ASSERT_TRUE(exited(outside("rm -rf *; mkdir x; for i in {1..60}; do echo old > f$i; done"), 0));
    Command killed =
        under({"--writes", "commit"}, {"bash", "-c",
                                       "for i in {1..60}; do echo new > f$i; done; mkdir x/hooks; "
                                       "echo evil > x/hooks/post-checkout"});
    killed.argv.insert(killed.argv.begin(), {"strace", "-o", "/dev/null", "-e", "trace=renameat,renameat2",
                                             "-e", "inject=renameat,renameat2:signal=KILL:when=30"});
    run(killed);
    ASSERT_TRUE(printed(outside("git init -q --bare --template= x; cat f* | sort -u"), "new\nold\n"));
    Command next = under({}, {});
    next.argv = row;
    next.argv.insert(next.argv.begin(), cloche());
    EXPECT_TRUE(exited(run(next), 0)) << row[0];
    EXPECT_TRUE(printed(outside("ls -A x; cat f* | sort -u"), "HEAD\nconfig\nobjects\nrefs\nold\n"))
        << row[0];
  }
}

TEST_P(Commit, AKilledClocheLeavesTheProjectAsItWas) {
  file("f", "old\n");
  Started started(
      under({"--writes", "commit"}, {"bash", "-c", "echo new > f; echo written; sleep 100"}, {.input = ""}));
  char said[8] = {};
  ASSERT_GT(::read(started.output(), said, sizeof said), 0);
  ::kill(started.pid(), SIGKILL);
  EXPECT_EQ(started.finish().signal, SIGKILL);
  EXPECT_EQ(content("f"), "old\n");
  EXPECT_TRUE(exited(cloche_run({"--writes", "commit"}, {"bash", "-c", "echo newer > f"}), 0));
  EXPECT_EQ(content("f"), "newer\n");
}

// What lies in the layer is the command's, on the disk as well.
TEST_P(Commit, LimitsOnGrowthHoldInTheLayer) {
  const Ran bytes =
      cloche_run({"--writes", "commit", "--disk", "10M"},
                 {"bash", "-c", "dd if=/dev/zero of=big bs=1M count=60 2>/dev/null; sleep 2; echo survived"});
  EXPECT_TRUE(refused(bytes, {137}, {"disk limit of 10M"})) << bytes.out;
  const Ran files = cloche_run({"--writes", "commit", "--files", "50"},
                               {"bash", "-c", "touch f{1..400}; sleep 2; echo survived"});
  EXPECT_TRUE(refused(files, {137}, {"files limit of 50"})) << files.out;
}

// Every byte of a path is a name, and nothing of it an option of a mount.
TEST_P(Commit, InAWorkspaceWithAHostileName) {
  const fs::path odd = scene().root() / "a:b,upperdir=c\\d";
  ASSERT_TRUE(exited(outside("mkdir '" + odd.string() + "'; echo old > '" + odd.string() + "/f'"), 0));
  EXPECT_TRUE(exited(
      cloche_run({"--writes", "commit", "--workspace", odd}, {"bash", "-c", "echo new > f; echo x > g"}), 0));
  EXPECT_EQ(read_file(odd / "f"), "new\n");
  EXPECT_TRUE(fs::exists(odd / "g"));
}

// The file tools take the same way as a command.
TEST_P(Commit, FileToolsAreJudgedAndListedToo) {
  file("src/f", "one\ntwo\n", 0640);
  const auto call = [&](const std::string& tool, const std::string& arguments) {
    return run({.argv = {cloche(), "call", tool, arguments, "--writes", "commit", "--json"},
                .as = as(),
                .cwd = workspace(),
                .env = {{"XDG_STATE_HOME", state_home(as())}}});
  };
  const Ran wrote = call("write_artifact", R"({"path": "src/new/deep", "content": "x"})");
  EXPECT_TRUE(exited(wrote, 0)) << wrote.out << wrote.err;
  EXPECT_TRUE(contains(wrote.out, R"({"path":"src/new","kind":"created","verdict":"committed"})"))
      << wrote.out;
  EXPECT_TRUE(exited(call("edit_artifact", R"({"path": "src/f", "old": "two", "new": "TWO"})"), 0));
  EXPECT_EQ(content("src/f"), "one\nTWO\n");
  EXPECT_EQ(fs::status(workspace() / "src/f").permissions(), fs::perms(0640));
  EXPECT_EQ(content("src/new/deep"), "x");
  // Not by its name: the repository around it says that git runs it.
  ASSERT_TRUE(exited(outside("git init -q .; git config core.hooksPath tools"), 0));
  const Ran hook = call("write_artifact", R"({"path": "tools/pre-commit", "content": "x"})");
  EXPECT_TRUE(exited(hook, 1)) << hook.out;
  EXPECT_TRUE(contains(hook.out, "withheld")) << hook.out;
  EXPECT_FALSE(is_there("tools/pre-commit"));
}

// The set's name is made from the run's, which may be any, and may have been there before.
TEST_P(Commit, ARunOfAnyNameCanBeMadeAgain) {
  const fs::path record = workspace() / "My Run";
  for (const char* word : {"one", "two"}) {
    const Ran ran = run({.argv = {cloche(), "call", "write_artifact",
                                  std::string(R"({"path": "f", "content": ")") + word + R"("})", "--writes",
                                  "commit", "--run", record},
                         .as = as(),
                         .cwd = workspace(),
                         .env = {{"XDG_STATE_HOME", state_home(as())}}});
    EXPECT_TRUE(exited(ran, 0)) << ran.out << ran.err;
    EXPECT_EQ(read_file(record / "artifacts/f"), word);
    fs::remove_all(record);
  }
}

// Then it is committed by copies, and nothing of ours stays in the project or beside it.
TEST_P(Commit, OnAnotherMountThanTheStateDirectory) {
  if (geteuid() != 0) GTEST_SKIP() << "skipped: only root can mount one to try";
  const std::string owner = is_root() ? "0:0" : "65534:65534";
  const struct {
    const char* name;
    std::string mount;  // at ../t
  } rows[] = {
      {"tmpfs", "mount -t tmpfs -o mode=755 none ../t"},
      {"a bind mount of the same file system", "mkdir ../b; mount --bind ../b ../t"},
      {"an overlay, and the state directory on one too",
       "mkdir ../s ../u; mount -t tmpfs none ../s; mkdir ../s/{l,u,w}; "
       "mount -t overlay -o lowerdir=../s/l,upperdir=../s/u,workdir=../s/w none ../t; "
       "mkdir -m 700 ../t/state; chown " +
           owner + " ../t/state; export XDG_STATE_HOME=$(realpath ../t/state)"},
  };
  for (const auto& row : rows) {
    // For root the owner of the tree has to be mapped, which no kernel does on an overlay.
    if (is_root() && contains(row.mount, "overlay")) continue;
    const Ran ran = with_own_mounts("export XDG_STATE_HOME='" + state_home(as()) +
                                    "'; rm -rf ../[tbsu]; mkdir ../t; " + row.mount + R"(
mkdir -p ../t/ws/gone; cd ../t/ws; echo old > f; chmod 640 f; ln f g; echo x > gone/x; chown -R )" +
                                    owner + R"( .
$RUN --writes commit -- bash -c 'cat f; echo new > f; rm -r gone; mkdir -p n/d; echo x > n/d/x; echo evil > .envrc' 2>/dev/null
stat -c %a f; cat f g n/d/x; ls -A
${RUN% run} undo >/dev/null; cat f gone/x; ls -A; ls -A .. | grep -v state)");
    EXPECT_TRUE(printed(ran, "old\n640\nnew\nold\nx\nf\ng\nn\nold\nx\nf\ng\ngone\nws\n"))
        << row.name << ran.err;
  }
}

// A copy of what another user owns would be the caller's: what deletes it waits, and nothing of ours stays.
TEST_P(Commit, AnothersFileOnAnotherMountIsKeptAsItIs) {
  if (geteuid() != 0) GTEST_SKIP() << "skipped: only root can mount one to try";
  const std::string owner = is_root() ? "0:0" : "65534:65534";
  const Ran ran = with_own_mounts("export XDG_STATE_HOME='" + state_home(as()) + R"('; rm -rf ../t; mkdir ../t
mount -t tmpfs -o mode=755 none ../t; mkdir -p ../t/ws/d; cd ../t/ws; echo r > r; echo r > d/r; echo u > u
chown )" + owner + R"( . d u; for gone in r d; do
$RUN --writes commit -- sh -c "rm -r $gone; echo new > u" 2>../said || true
grep -o "'.*another user or group" ../said || true; ls -A; cat u; ${RUN% run} undo >/dev/null 2>&1 || true; ls -A; done)");
  EXPECT_TRUE(printed(ran, is_root() ? "d\nu\nnew\nd\nr\nu\nr\nu\nnew\nd\nr\nu\n"
                                     : "'r' belongs to another user or group\nd\nr\nu\nu\nd\nr\nu\n"
                                       "'d' holds 'r', which belongs to another user or group\n"
                                       "d\nr\nu\nu\nd\nr\nu\n"))
      << ran.err;
}

// A small reserve is enough to write down what became of it. Without the reserve it is gone, which is said,
// and the next call has the space again.
TEST_P(Commit, AFullFileSystemOfTheStateDirectory) {
  if (geteuid() != 0) GTEST_SKIP() << "skipped: only root can mount one to try";
  const auto in_memory = [](const std::string& size) {
    return "mount -t tmpfs -o mode=700,size=" + size + " none ../full";
  };
  EXPECT_TRUE(printed(fill(in_memory("12m")), "w\nnext\n"));
  EXPECT_TRUE(
      printed(fill(in_memory("3m")),
              "what the command wrote is not in the project: it could not be stored, and is gone\nnext\n"));
}

// Where a directory takes up space too, nothing is there yet of what the first call needs at its end.
TEST_P(Commit, AFullDiskOfTheStateDirectory) {
  if (geteuid() != 0) GTEST_SKIP() << "skipped: only root can mount one to try";
  NEEDS("mkfs.ext4");
  const std::string mount =
      "truncate -s 24M ../image; mkfs.ext4 -q -m 0 ../image; mount -o loop ../image ../full; chmod 700 "
      "../full";
  if (!exited(with_own_mounts("mkdir -p ../full; " + mount), 0))
    GTEST_SKIP() << "skipped: no loop device to mount a disk with";
  EXPECT_TRUE(printed(fill(mount), "w\nnext\n"));
}

// rename(2) of a directory of the project is EXDEV on a layer, whichever program asks.
TEST_P(Commit, ARenameThatFailedIsExplainedAsAGuess) {
  file("d/f", "text");
  file("rename.py", "import os\nos.rename('d', 'e')\n");
  const Ran ran = cloche_run({"--writes", "commit"}, {"python3", "rename.py"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_TRUE(contains(ran.err, "a guess by its last words") && contains(ran.err, "--live")) << ran.err;
  const Ran model =
      run({.argv = {cloche(), "call", "run_shell", R"({"cmd": "python3 rename.py", "profile": "full"})",
                    "--writes", "commit", "--autonomy", "full"},
           .as = as(),
           .cwd = workspace(),
           .env = {{"XDG_STATE_HOME", state_home(as())}}});
  EXPECT_TRUE(contains(model.out, "[a guess by its last words") && !contains(model.out, "--live"))
      << model.out << model.err;
  if (!is_root()) {
    ASSERT_TRUE(
        exited(outside("git init -q .; git add -A; git -c user.name=A -c user.email=a@b commit -qm one"), 0));
    const Ran clone = cloche_run({"--writes", "commit"}, {"git", "clone", "-q", ".", "clone"});
    EXPECT_TRUE(clone.exit_code == 0 || contains(clone.err, "git clone --no-hardlinks works")) << clone.err;
  }
  EXPECT_EQ(cloche_run({"--writes", "commit"}, {"mv", "d", "e"}).exit_code, 0);
  EXPECT_EQ(content("e/f"), "text");
  EXPECT_FALSE(is_there("d"));
}

TEST_P(Commit, ALargeFileThatIsCopiedIsNamed) {
  ASSERT_TRUE(exited(outside("truncate -s 300M large; truncate -s 1M small"), 0));
  const Answer ran = after("echo x >> large; echo x >> small");
  ASSERT_EQ(ran.json["notes"].array.size(), 1U) << ran.ran.out;
  EXPECT_TRUE(contains(ran.json["notes"].array[0].string, "large of 300 MiB was copied")) << ran.ran.out;
}

// As root a command has other ids than the files, and an overlay another device. Git neither inside nor
// outside takes the other's index for stale: it would write it anew.
TEST_P(Commit, GitInsideAndOutsideShareAnIndex) {
  NEEDS("git");
  ASSERT_TRUE(exited(
      outside("git init -q .; for i in 1 2 3; do echo $i > $i; done; touch -d 2020-01-01 1 2 3; git add ."),
      0));
  const auto index = [&] { return outside("git status > ../seen; stat -c '%i %y' .git/index").out; };
  const std::string before = index();
  const Answer ran = after("git status --short");
  EXPECT_EQ(changes(ran.json), Paths());
  EXPECT_EQ(index(), before);
  EXPECT_FALSE(changes(after("rm .git/index; git reset -q; git add .").json).empty());
  const std::string made = outside("stat -c '%i %y' .git/index").out;
  EXPECT_EQ(index(), made) << "an index that was made inside";
}

// Git compares what it noted of a file in the index, before it looks at the bytes.
TEST_P(Commit, GitsIndexFitsTheFilesAfterwards) {
  NEEDS("git");
  ASSERT_TRUE(exited(outside("git init -q .; git config user.name A; git config user.email a@example.org; "
                             "mkdir d; for i in 1 2 3; do echo $i > $i; echo $i > d/$i; done; git add .; "
                             "git commit -qm one"),
                     0));
  const Answer ran =
      after("echo new > 1; echo new > d/2; mkdir e; echo new > e/n; git add -A; git commit -qm two");
  EXPECT_EQ(ran.json["exit_code"].number, 0) << ran.ran.out;
  EXPECT_TRUE(printed(outside("git diff-files; git status --porcelain; git fsck; git log --format=%s"),
                      "two\none\n"));
}

TEST_P(Commit, LivePathsHaveNoLayer) {
  scene().write("config/cloche/config.json", R"({"live_paths": ["target/", "data/**", "absent", "link"]})");
  ASSERT_TRUE(exited(outside("mkdir -p target/debug data; ln -s data link; echo old > f"), 0));
  const Answer ran =
      answer({"--writes", "commit"},
             {"bash", "-c", "echo x > target/debug/o; echo x > data/.envrc; echo new > f; echo x > g"},
             {.env = {{"XDG_CONFIG_HOME", scene().root() / "config"}}});
  EXPECT_EQ(changes(ran.json), (Paths{"changed f", "created g"})) << ran.ran.out << ran.ran.err;
  ASSERT_EQ(ran.json["changes"]["live"].array.size(), 2U) << ran.ran.out;
  EXPECT_EQ(content("target/debug/o") + content("data/.envrc"), "x\nx\n");
}

TEST_P(Commit, EveryBackendWithMountsHasIt) {
  for (const char* backend : {"native", "bwrap", "runc", "crun", "runsc"}) {
    if (std::string(backend) != "native" && !installed(backend)) continue;
    file("f", "old\n");
    const Answer ran = after("echo new > f; echo evil > .envrc", {"--backend", backend});
    EXPECT_EQ(changes(ran.json), (Paths{"changed f", "withheld .envrc"}))
        << backend << ran.ran.out << ran.ran.err;
    EXPECT_EQ(content("f"), "new\n") << backend;
    EXPECT_FALSE(is_there(".envrc")) << backend;
  }
}

}  // namespace
}  // namespace cloche::test
