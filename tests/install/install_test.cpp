// What `cmake --install` makes, used where it is put: every program finds its parts under any prefix, and
// what comes with them is read by what it is for: man, mandoc and the shells.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/harness.hpp"

namespace cloche::test {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The tree is made once; a test that changes it makes one of its own.
class Installed : public testing::Test {
 protected:
  static void SetUpTestSuite() { shared_ = new Tree(); }
  static void TearDownTestSuite() {
    delete shared_;
    shared_ = nullptr;
  }

  struct Tree {
    Tree() : scene(As::self) {
      // The umask is the caller's, and install keeps to it.
      const mode_t before = ::umask(022);
      made = run({.argv = {"cmake", "--install", CLOCHE_BINARY_DIR, "--component", "programs", "--prefix",
                           "/opt/some where"},
                  .env = {{"DESTDIR", (scene.root() / "tree").string()}}});
      ::umask(before);
    }
    fs::path prefix() const { return scene.root() / "tree/opt/some where"; }
    Scene scene;
    Ran made;
  };
  static const Tree& tree() { return *shared_; }

  static Ran cloche_of(const fs::path& prefix, std::vector<std::string> words, As as, const fs::path& cwd) {
    words.insert(words.begin(), prefix / "bin/cloche");
    return run({.argv = std::move(words), .as = as, .cwd = cwd, .env = {{"XDG_STATE_HOME", state_home(as)}}});
  }

 private:
  static Tree* shared_;
};
Installed::Tree* Installed::shared_ = nullptr;

TEST_F(Installed, EverythingIsInTheUsualPlaces) {
  ASSERT_EQ(tree().made.exit_code, 0) << tree().made.out << tree().made.err;
  for (const char* file :
       {"bin/cloche", "libexec/cloche/cloche-jail", "libexec/cloche/cloche-probe",
        "libexec/cloche/cloche-egress", "libexec/cloche/cloche-fetch", "share/cloche/protected.json",
        "share/cloche/profiles/readonly.json", "share/man/man1/cloche.1", "share/man/man1/cloche-run.1",
        "share/bash-completion/completions/cloche", "share/zsh/site-functions/_cloche",
        "share/fish/vendor_completions.d/cloche.fish", "share/doc/cloche/LICENSE",
        "share/doc/cloche/CHANGELOG.md", "share/doc/cloche/SECURITY.md",
        "share/doc/cloche/docs/threat-model.md"}) {
    struct stat seen {};
    ASSERT_EQ(::lstat((tree().prefix() / file).c_str(), &seen), 0) << file;
    EXPECT_TRUE(S_ISREG(seen.st_mode)) << file;
    EXPECT_GT(seen.st_size, 0) << file;
    EXPECT_EQ(seen.st_mode & 022, 0U) << file;
  }
  EXPECT_FALSE(fs::exists(tree().prefix() / "bin/cloche-jail"));
}

TEST_F(Installed, WorksWhereItIsPut) {
  for (As as : identities()) {
    Scene scene(as);
    scene.write("workspace/a.txt", "text\n");
    const auto said = [&](std::vector<std::string> words) {
      return cloche_of(tree().prefix(), std::move(words), as, scene.workspace());
    };
    EXPECT_EQ(said({"--version"}).out, "cloche " CLOCHE_VERSION "\n");
    const Ran ran = said({"run", "--", "sh", "-c", "cat a.txt; echo more > b.txt"});
    EXPECT_EQ(ran.exit_code, 0) << name_of(as) << ": " << ran.err;
    EXPECT_EQ(ran.out, "text\n");
    EXPECT_EQ(read_file(scene.workspace() / "b.txt"), "more\n");
    const Ran called = said({"call", "run_shell", R"({"cmd":"cat a.txt"})"});
    EXPECT_TRUE(contains(called.out, "stdout: text")) << name_of(as) << ": " << called.out << called.err;
    // The parts that only a call with a network has: the host is what does not answer.
    const Ran fetched = said({"call", "http_get", R"({"url":"http://localhost:9/"})", "--net", "localhost:9",
                              "--autonomy", "full"});
    EXPECT_TRUE(contains(fetched.out, "localhost:9 could not be reached")) << fetched.out << fetched.err;
  }
}

// A command in a checkout that also holds the installed tree changes nothing of what judges it.
TEST_F(Installed, NoCommandChangesTheProgramOrItsParts) {
  Tree own;
  ASSERT_EQ(own.made.exit_code, 0) << own.made.err;
  const std::string prefix = own.prefix();
  for (const char* attack :
       {"echo x > bin/cloche", "echo x > libexec/cloche/cloche-jail", "rm libexec/cloche/cloche-probe",
        "mv libexec other", "mv bin other", "touch libexec/cloche/more"}) {
    const Ran ran = cloche_of(
        prefix,
        {"run", "--workspace", own.scene.root() / "tree", "-C", "opt/some where", "--", "sh", "-c", attack},
        As::self, own.scene.root());
    EXPECT_NE(ran.exit_code, 0) << attack;
    EXPECT_NE(ran.exit_code, 125) << attack << ": " << ran.err;
  }
  const Ran after = cloche_of(prefix, {"run", "--", "echo", "whole"}, As::self, own.scene.workspace());
  EXPECT_EQ(after.out, "whole\n") << after.err;
}

TEST_F(Installed, PartsThatAnotherUserCouldPlantAreRefused) {
  const auto refused = [](const fs::path& prefix, const fs::path& workspace) {
    const Ran ran = cloche_of(prefix, {"run", "--", "echo", "ran"}, As::self, workspace);
    EXPECT_EQ(ran.exit_code, 125) << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_TRUE(contains(ran.err, "cannot be trusted")) << ran.err;
    EXPECT_TRUE(contains(ran.err, (prefix / "libexec").string())) << ran.err;
  };
  {
    Tree own;
    ASSERT_EQ(::chmod((own.prefix() / "libexec").c_str(), 0777), 0);
    refused(own.prefix(), own.scene.workspace());
  }
  {
    Tree own;
    ASSERT_EQ(::chmod((own.prefix() / "libexec/cloche/cloche-jail").c_str(), 0777), 0);
    refused(own.prefix(), own.scene.workspace());
  }
  {
    Tree own;
    fs::rename(own.prefix() / "libexec/cloche", own.prefix() / "elsewhere");
    fs::create_directory_symlink("../elsewhere", own.prefix() / "libexec/cloche");
    refused(own.prefix(), own.scene.workspace());
  }
  if (::geteuid() == 0) {
    Tree own;
    ASSERT_EQ(::lchown((own.prefix() / "libexec/cloche").c_str(), 65534, 65534), 0);
    refused(own.prefix(), own.scene.workspace());
  }
}

TEST_F(Installed, ManualPagesAreWellFormed) {
  std::vector<std::string> pages;
  for (const auto& page : fs::directory_iterator(tree().prefix() / "share/man/man1"))
    pages.push_back(page.path());
  EXPECT_EQ(pages.size(), 18U);
  for (const auto& page : pages) {
    // A date would be one more place that a release has to change.
    const Ran lint =
        run({.argv = {"sh", "-c", "mandoc -T lint -W warning \"$0\" | grep -v 'missing date'", page}});
    EXPECT_EQ(lint.out + lint.err, "") << page;
    const Ran shown = run({.argv = {"man", "--warnings", "-l", page},
                           .env = {{"MANWIDTH", "80"}, {"LC_ALL", "C.UTF-8"}, {"PATH", "/usr/bin:/bin"}}});
    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    EXPECT_EQ(shown.err, "") << page;
    EXPECT_TRUE(contains(shown.out, "SYNOPSIS\n")) << page;
  }
  const std::string text =
      run({.argv = {"man", "-l", tree().prefix() / "share/man/man1/cloche-run.1"},
           .env = {{"MANWIDTH", "80"}, {"LC_ALL", "C.UTF-8"}, {"PATH", "/usr/bin:/bin"}}})
          .out;
  EXPECT_TRUE(contains(text, "--workspace DIR")) << text;
}

TEST_F(Installed, CompletionsAnswerInTheirShells) {
  const fs::path share = tree().prefix() / "share";
  const auto bash = [&](const std::string& words, int at) {
    return run({.argv = {"bash", "--norc", "-c",
                         "source \"$0\" && COMP_WORDS=(" + words + ") COMP_CWORD=" + std::to_string(at) +
                             " && { _cloche; printf '%s\\n' \"${COMPREPLY[@]}\"; }",
                         share / "bash-completion/completions/cloche"},
                .cwd = "/"});
  };
  const struct {
    const char* words;
    int at;
    const char* answer;
  } rows[] = {
      {"cloche do", 1, "doctor\n"},
      {"cloche run --works", 2, "--workspace\n"},
      {"cloche run --workspace /us", 3, "/usr\n"},
      {"cloche run --workspace = /us", 4, "/usr\n"},
      {"cloche doctor --workspace", 2, "\n"},
      {"cloche log ver", 2, "verify\n"},
      {"cloche new exe", 2, "executor\n"},
      {"cloche run -- cat /us", 4, "/usr\n"},
  };
  for (const auto& row : rows) {
    const Ran ran = bash(row.words, row.at);
    EXPECT_EQ(ran.out, row.answer) << row.words << ": " << ran.err;
  }
  const Ran zsh = run({.argv = {"zsh", "-f", "-n", share / "zsh/site-functions/_cloche"}});
  EXPECT_EQ(zsh.exit_code, 0) << zsh.err;
  // The functions of its completion system stand for themselves.
  const Ran zsh_run = run(
      {.argv = {
           "zsh", "-f", "-c",
           "_describe() { print -rl -- ${(P)@[-1]} }; words=(cloche run --works) CURRENT=3 PREFIX=--works; "
           "source $0",
           share / "zsh/site-functions/_cloche"}});
  EXPECT_TRUE(contains(zsh_run.out, "--workspace:Work in DIR")) << zsh_run.out << zsh_run.err;
  Scene home(As::self);
  const Ran fish =
      run({.argv = {"fish", "--no-config", "-c",
                    "source $argv[1]; complete -C 'cloche do'; complete -C 'cloche run --works'; "
                    "complete -C 'cloche log ver'",
                    share / "fish/vendor_completions.d/cloche.fish"},
           .env = {{"HOME", home.root().string()}}});
  EXPECT_EQ(fish.exit_code, 0) << fish.err;
  EXPECT_TRUE(contains(fish.out, "doctor\tShow what this host can enforce")) << fish.out << fish.err;
  EXPECT_TRUE(contains(fish.out, "--workspace\tWork in DIR")) << fish.out;
  EXPECT_TRUE(contains(fish.out, "verify")) << fish.out;
}

}  // namespace
}  // namespace cloche::test
