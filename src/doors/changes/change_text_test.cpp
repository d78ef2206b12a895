#include "doors/changes/change_text.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>

#include "base/scratch.hpp"
#include "base/text/utf8.hpp"
#include "base/text/visible_text.hpp"

namespace cloche {
namespace {

FileState file_state(const std::string& bytes, unsigned mode = 0644) {
  return {.kind = FileKind::file, .mode = mode, .size = bytes.size()};
}
FileState link_state(const std::string& target) {
  return {.kind = FileKind::link, .mode = 0777, .link = target};
}

ShownChange shown_change(const std::string& path, ChangeKind kind) {
  ShownChange file{path, {.path = path, .kind = kind}, {.fate = Fate::committed}};
  return file;
}

ShownChange created(const std::string& path, const std::string& bytes, unsigned mode = 0644) {
  ShownChange file = shown_change(path, ChangeKind::created);
  file.change.after = file_state(bytes, mode);
  file.after = bytes;
  return file;
}

ShownChange deleted(const std::string& path, const std::string& bytes) {
  ShownChange file = shown_change(path, ChangeKind::deleted);
  file.change.before = file_state(bytes);
  file.before = bytes;
  return file;
}

ShownChange changed(const std::string& path, const std::string& before, const std::string& after,
                    unsigned mode_before = 0644, unsigned mode_after = 0644) {
  ShownChange file = shown_change(path, ChangeKind::changed);
  file.change.before = file_state(before, mode_before);
  file.change.after = file_state(after, mode_after);
  file.change.differs.contents = before != after;
  file.change.differs.mode = mode_before != mode_after;
  file.before = before;
  file.after = after;
  return file;
}

ShownChange created_link(const std::string& path, const std::string& target) {
  ShownChange file = shown_change(path, ChangeKind::created);
  file.change.after = link_state(target);
  return file;
}

ShownChange created_directory(const std::string& path, unsigned mode = 0755) {
  ShownChange file = shown_change(path, ChangeKind::created);
  file.change.after = FileState{.kind = FileKind::directory, .mode = mode};
  return file;
}

ShownChange withheld(ShownChange file, const std::string& reason) {
  file.verdict = {Fate::withheld, reason};
  return file;
}

ShownChange ignored(ShownChange file) {
  file.ignored = true;
  return file;
}

TEST(ChangeText, ShowsEachKindOfChange) {
  struct Row {
    ShownChange file;
    std::string text;
  };
  ShownChange replaced = shown_change("l", ChangeKind::changed);
  replaced.change.differs.kind = true;
  replaced.change.before = file_state("x\n");
  replaced.before = "x\n";
  replaced.change.after = link_state("t");
  ShownChange large = changed("big", "a", "b");
  large.change.before->size = 3 << 20;
  large.change.after->size = 1229;
  large.after.reset();
  ShownChange owned = changed("o", "a", "a");
  owned.change.differs.owner = true;
  owned.change.after->uid = 1000;
  ShownChange touched = changed("t", "a", "a");
  touched.change.differs.times = true;
  ShownChange socket = shown_change("s", ChangeKind::created);
  socket.change.after = FileState{.kind = FileKind::socket, .mode = 0755};
  const Row rows[] = {
      {created("a b", "x\n"),
       "diff --git a/a b b/a b\nnew file mode 100644\n--- /dev/null\n+++ b/a b\t\n@@ -0,0 +1 @@\n+x\n"},
      {created("e", ""), "diff --git a/e b/e\nnew file mode 100644\n"},
      {deleted("d", "x"),
       "diff --git a/d b/d\ndeleted file mode 100644\n--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\\ No "
       "newline at end of file\n"},
      {changed("m", "a", "a", 0644, 0600), "diff --git a/m b/m\nold mode 100644\nnew mode 100600\n"},
      {created("u", "", 04755), "diff --git a/u b/u\nnew file mode 104755\n"},
      {created_link("l", "../x"),
       "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+../x\n\\ No "
       "newline at end of file\n"},
      {replaced,
       "diff --git a/l b/l\ndeleted file mode 100644\n--- a/l\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
       "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+t\n\\ No newline "
       "at end of file\n"},
      {changed("bin", std::string("\0", 1), std::string(1229, '\0')),
       "diff --git a/bin b/bin\nBinary files differ (1 B -> 1.2 KiB)\n"},
      {created("run", std::string("#!/bin/sh\n\0x\n", 13)),
       "diff --git a/run b/run\nnew file mode 100644\n--- /dev/null\n+++ b/run\n@@ -0,0 +1,2 "
       "@@\n+#!/bin/sh\n+\\u{0}x\n"},
      {large, "diff --git a/big b/big\nContents not shown (3.0 MiB -> 1.2 KiB)\n"},
      {created_directory("dir"), "diff --git a/dir b/dir\nnew directory mode 040755\n"},
      {socket, "diff --git a/s b/s\nnew socket mode 140755\n"},
      {owned, "diff --git a/o b/o\nowner 0:0 -> 1000:0\n"},
      {touched, "diff --git a/t b/t\nmodification time differs\n"},
      {withheld(created(".envrc", "x\n"), "direnv runs it\nwhen a shell enters"),
       "diff --git a/.envrc b/.envrc\nwithheld: direnv runs it\\u{a}when a shell enters\nnew file mode "
       "100644\n"
       "--- /dev/null\n+++ b/.envrc\n@@ -0,0 +1 @@\n+x\n"},
      {created("/srv/other/f", ""), "diff --git a/srv/other/f b/srv/other/f\nnew file mode 100644\n"},
  };
  for (const Row& row : rows) EXPECT_EQ(diff_text({row.file}), row.text);
}

TEST(ChangeText, ShowsHostileBytes) {
  EXPECT_EQ(diff_text({created("n\n+++ b/x", "\x1b[A\r\n+\xe2\x80\xae\n")}),
            "diff --git \"a/n\\n+++ b/x\" \"b/n\\n+++ b/x\"\nnew file mode 100644\n--- /dev/null\n"
            "+++ \"b/n\\n+++ b/x\"\t\n@@ -0,0 +1,2 @@\n+\\u{1b}[A\\u{d}\n++\\u{202e}\n");
}

TEST(ChangeText, ColoursAndMarksBlanks) {
  const std::vector<ShownChange> files = {changed("f", "a\nb\n", "a\nc \n")};
  EXPECT_EQ(diff_text(files, {.colour = Colour::terminal}),
            "\x1b[1mdiff --git a/f b/f\x1b[m\n\x1b[1m--- a/f\x1b[m\n\x1b[1m+++ b/f\x1b[m\n"
            "\x1b[36m@@ -1,2 +1,2 @@\x1b[m\n a\n\x1b[31m-b\x1b[m\n\x1b[32m+c\x1b[m\x1b[41m \x1b[m\n");
}

std::vector<std::string> paths_in_order(const std::vector<ShownChange>& files) {
  std::vector<std::string> paths;
  for (const ShownPlace& place : display_order(files)) paths.push_back(files[place.index].path);
  return paths;
}

TEST(ChangeText, WhatMustBeSeenComesFirst) {
  const std::vector<ShownChange> files = {
      created_directory("d"),
      created("d/f", ""),
      created("a", ""),
      created("admin", ""),
      created("\xd0\xb0"
              "dmin",
              ""),
      changed("b", "", "", 0644, 0600),
      created_link("c", "x"),
      created("z", "", 0755),
      withheld(created("zz", ""), "why"),
      created_directory("empty"),
      created_directory("open", 0777),
      deleted("gone", ""),
  };
  EXPECT_EQ(paths_in_order(files), (std::vector<std::string>{"zz", "z", "c", "b", "open", "admin",
                                                             "\xd0\xb0"
                                                             "dmin",
                                                             "a", "d/f", "empty", "gone"}));
}

TEST(ChangeText, SummarisesTheRestAlone) {
  std::vector<ShownChange> files;
  for (int i = 0; i < 1300; ++i) {
    const std::string number = std::to_string(1000 + i);
    files.push_back(created("f" + number, "x\n"));
    files.push_back(created("x" + number, "", 0755));
    files.push_back(ignored(created("i" + number, "")));
  }
  files.push_back(ignored(withheld(created("w", ""), "")));
  files.push_back(ignored(created_link("l", "../x\n")));
  const DiffOptions options{.most_files = 2};
  const std::string text = diff_text(files, options);
  EXPECT_TRUE(text.starts_with("diff --git a/w b/w\nwithheld\n"));
  for (int i = 0; i < 1300; ++i)
    EXPECT_NE(text.find("diff --git a/x" + std::to_string(1000 + i)), std::string::npos);
  EXPECT_NE(text.find("\nignored: l (created, link to \"../x\\n\")\n"), std::string::npos);
  EXPECT_TRUE(text.ends_with(
      "+x\n1,300 ignored paths: --stat lists them\n… and 1,298 more files: --stat lists them\n"));
  EXPECT_EQ(files_shown_whole(files, options).size(), 1U + 1300 + 2);

  const std::string short_text = diff_text(files, {.most_bytes = 100, .most_first_bytes = 0});
  EXPECT_TRUE(short_text.ends_with("… and 1,298 more files: --stat lists them\n"));
}

TEST(ChangeText, KeepsTheHeaderWhereTheFirstGroupsAreTooMuch) {
  EXPECT_EQ(diff_text({created("x", "y\n", 0755)}, {.most_first_bytes = 0}),
            "diff --git a/x b/x\nnew file mode 100755\nContents not shown (none -> 2 B)\n");
}

TEST(ChangeText, Stat) {
  std::string lines;
  for (int i = 0; i < 400; ++i) lines += std::to_string(i) + "\n";
  const std::vector<ShownChange> files = {
      created("src/new.cpp", lines),
      changed("a", "1\n2\n", "1\n3\n"),
      deleted("gone", "x\n"),
      created("bin", std::string(2048, '\0')),
      withheld(created(".envrc", "x\n"), "why"),
      created(std::string(100, 'n'), "x\n"),
  };
  EXPECT_EQ(diff_text(files, {.stat = true, .width = 60}),
            " .envrc                         |   1 + (withheld)\n"
            " a                              |   2 +-\n"
            " bin                            | Bin none -> 2.0 KiB\n"
            " gone                           |   1 -\n"
            " ...nnnnnnnnnnnnnnnnnnnnnnnnnnn |   1 +\n"
            " src/new.cpp                    | 400 +++++++++++++++++++++\n"
            " 6 files changed, 403 insertions(+), 2 deletions(-)\n");
  EXPECT_EQ(stat_text({}), "");
  EXPECT_EQ(stat_text(files, {.most_stat_lines = 0}),
            " .envrc | 1 + (withheld)\n … and 5 more files\n 6 files changed, 1 insertion(+)\n");
}

// One code point that a terminal shows and does not act on, or one byte of ours.
void expect_harmless(std::string text, bool coloured) {
  for (const std::string_view sequence : {"\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[36m", "\x1b[1;33m",
                                          "\x1b[41m", "\x1b[m", "\x1b[7m", "\x1b[27m"})
    for (size_t at = 0; coloured && (at = text.find(sequence, at)) != std::string::npos;)
      text.erase(at, sequence.size());
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t length = utf8::sequence_length(rest);
    ASSERT_NE(length, 0U);
    const unsigned code = utf8::decode(rest).value;
    ASSERT_FALSE((is_control(code) && code != '\n' && code != '\t') || turns_text_around(code) ||
                 is_invisible(code))
        << code << " in\n"
        << text;
    rest.remove_prefix(length);
  }
}

std::string random_bytes(std::mt19937& random) {
  const std::string_view pieces[] = {"\x1b[2J",
                                     "\r",
                                     "\n",
                                     "\n",
                                     "\xe2\x80\xae",
                                     "\xe2\x80\x8d",
                                     "\xef\xb8\x8f",
                                     "\xf3\xa0\x81\x81",
                                     "\xcc\x81",
                                     "\xd0\xb0",
                                     "a",
                                     "+",
                                     "\\u{",
                                     "\xc2\x9b",
                                     "\xff",
                                     " ",
                                     "\t",
                                     "\xe2\x80\xa8"};
  std::string bytes;
  for (size_t i = random() % 40; i-- > 0;) {
    if (random() % 4 == 0) {
      bytes += static_cast<char>(random() % 256);
    } else {
      bytes += pieces[random() % std::size(pieces)];
    }
  }
  return bytes;
}

TEST(ChangeText, LetsNoByteActOnTheTerminal) {
  std::mt19937 random(24);
  for (int round = 0; round < 1500; ++round) {
    std::vector<ShownChange> files;
    for (size_t i = 1 + random() % 4; i-- > 0;) {
      const std::string name = random_bytes(random);
      switch (random() % 4) {
        case 0: files.push_back(created(name, random_bytes(random), random() % 2 == 0 ? 0644 : 0755)); break;
        case 1: files.push_back(changed(name, random_bytes(random), random_bytes(random))); break;
        case 2: files.push_back(created_link(name, random_bytes(random))); break;
        default: files.push_back(withheld(deleted(name, random_bytes(random)), random_bytes(random))); break;
      }
      if (random() % 3 == 0) files.back().ignored = true;
    }
    const bool coloured = random() % 2 == 0;
    DiffOptions options{.stat = random() % 4 == 0, .most_files = 2};
    if (coloured) options.colour = Colour::terminal;
    expect_harmless(diff_text(files, options), coloured);
    if (HasFatalFailure()) return;
  }
}

// A repository of git's, to see a file changed as git shows it.
class Repository {
 public:
  static bool git_is_there() { return std::system("git --version >/dev/null 2>&1") == 0; }

  Repository() { run("git init -q ."); }

  std::string diff(const ShownChange& file) {
    run("rm -rf ./*; git read-tree --empty");
    write(file.path, file.change.before, file.before);
    run("git add -A .");
    run("rm -rf ./*");
    write(file.path, file.change.after, file.after);
    run("git add -N --ignore-removal .");
    const std::string text =
        run("git -c core.quotePath=true -c diff.indentHeuristic=false diff --no-color --minimal");
    std::string without_hashes;
    for (size_t at = 0; at < text.size();) {
      const size_t end = text.find('\n', at) + 1;
      if (text.compare(at, 6, "index ") != 0) without_hashes += text.substr(at, end - at);
      at = end;
    }
    return without_hashes;
  }

 private:
  void write(const std::string& name, const std::optional<FileState>& state,
             const std::optional<std::string>& bytes) {
    if (!state) return;
    const std::string path = scratch_.path + "/" + name;
    if (state->kind == FileKind::link) {
      ASSERT_EQ(::symlink(state->link.c_str(), path.c_str()), 0);
      return;
    }
    std::ofstream(path, std::ios::binary) << *bytes;
    ASSERT_EQ(::chmod(path.c_str(), state->mode), 0);
  }

  std::string run(const std::string& command) {
    const std::string whole = "cd " + scratch_.path +
                              " && export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 && { " + command +
                              "; } 2>&1";
    FILE* pipe = ::popen(whole.c_str(), "r");
    std::string text;
    char piece[4096];
    while (const size_t got = ::fread(piece, 1, sizeof piece, pipe)) text.append(piece, got);
    ::pclose(pipe);
    return text;
  }

  Scratch scratch_;
};

TEST(ChangeText, EqualsGit) {
  if (!Repository::git_is_there()) GTEST_SKIP() << "skipped: no git";
  Repository repository;
  ShownChange replaced = shown_change("l", ChangeKind::changed);
  replaced.change.differs.kind = true;
  replaced.change.before = file_state("x\n");
  replaced.before = "x\n";
  replaced.change.after = link_state("t");
  const ShownChange rows[] = {
      created("plain", "a\nb\n"),
      created("with blank", "a"),
      created("gr\xc3\xbcn \"q\"", "a\n"),
      created("new\nline", "a\n"),
      created("empty", ""),
      created("run", "#!/bin/sh\n", 0755),
      created_link("link", "some/where"),
      deleted("gone", "a\nb"),
      deleted("gone-empty", ""),
      changed("f", "int main()\n{\n 1\n 2\n 3\n 4\n 5\n}\n", "int main()\n{\n 1\n 2\n 3\n 4\n five\n}"),
      changed("mode", "a\n", "a\n", 0644, 0755),
      changed("both", "a\n", "b\n", 0755, 0644),
      replaced,
  };
  for (const ShownChange& row : rows) EXPECT_EQ(diff_text({row}), repository.diff(row));
}

}  // namespace
}  // namespace cloche
