// Tables: what a hint comes down to, which places are refused, and what the fine filter covers.
#include "policy/authority/capabilities.hpp"

#include <gtest/gtest.h>

#include "policy/plan/system_view.hpp"

namespace cloche {
namespace {

HostPaths names() {
  return {.home = "/home/u", .workspace = "/home/u/proj", .own = {"/srv/cloche-state"}, .secret_grants = {}};
}

struct Row {
  std::string text;
  std::string answer;
};

// What is mounted for a hint, or why nothing is.
std::string mount_of(const std::string& hint, const HostPaths& host = names()) {
  const auto pattern = expand_hint(hint, host);
  return pattern.ok() ? mount_part(pattern.value()) : pattern.error().what.text();
}

TEST(Capabilities, HintsBecomeMounts) {
  const Row rows[] = {
      {"~/notes/**", "/home/u/notes"},
      {"~/notes/*.md", "/home/u/notes"},
      {"~/notes/a?c/b", "/home/u/notes"},
      {"~/notes/[ab]/c", "/home/u/notes"},
      {"~/notes/{a,b}/c", "/home/u/notes"},
      {"~/notes/x*y/z/**", "/home/u/notes"},
      {"~/notes", "/home/u/notes"},
      {"~/notes/", "/home/u/notes"},
      {"~/./notes//a/./b", "/home/u/notes/a/b"},
      {"~", "/home/u"},
      {"~/", "/home/u"},
      {"~/*", "/home/u"},
      {"~/*/x", "/home/u"},
      {"./out/**", "/home/u/proj/out"},
      {"out", "/home/u/proj/out"},
      {".", "/home/u/proj"},
      {"**", "/home/u/proj"},
      {"*.py", "/home/u/proj"},
      {"/srv/data", "/srv/data"},
      {"/", "/"},
      {"/*", "/"},
      {"/**/x", "/"},
      {"//srv//x", "/srv/x"},
      {"a~b", "/home/u/proj/a~b"},
      {"", "the path \"\" is empty"},
      {"~root/x", "the path \"~root/x\" names the home of another user"},
      {"~*", "the path \"~*\" names the home of another user"},
      {"..", "the path \"..\" has .. in it"},
      {"~/../x", "the path \"~/../x\" has .. in it"},
      {"/a/*/../b", "the path \"/a/*/../b\" has .. in it"},
      {"/a/x[+-9]y", "the path \"/a/x[+-9]y\" has brackets that do not close or hold a slash"},
      {"/a/{b", "the path \"/a/{b\" has brackets that do not close or hold a slash"},
  };
  for (const auto& row : rows) EXPECT_EQ(mount_of(row.text), row.answer) << row.text;
  EXPECT_EQ(mount_of("a\nb").find("has a control character in it") == std::string::npos, false);
  EXPECT_EQ(mount_of("./a", {.home = "/h"}), "the path \"./a\" means nothing: there is no workspace");
  EXPECT_EQ(mount_of("~/a", {.workspace = "/w"}), "the path \"~/a\" means nothing: there is no home");
}

TEST(Capabilities, PlacesThatNoHintComesDownTo) {
  for (const char* place : {"/", "/home", "/home/u", "/tmp", "/var/tmp", "/dev/shm"})
    EXPECT_FALSE(judge_shown_path(place, names()).ok()) << place;
  // Not by any grant either.
  HostPaths generous = names();
  generous.secret_grants = {"/", "~"};
  for (const char* place : {"/", "/home", "/home/u", "/tmp"})
    EXPECT_FALSE(judge_shown_path(place, generous).ok()) << place;
  for (const char* place :
       {"/home/u/notes", "/home/u/.config/other", "/srv/data", "/tmp/mine", "/home/other/pub",
        "/home/u/.sshx", "/home/u/x/.ssh", "/usr/share", "/var/lib/data"})
    EXPECT_TRUE(judge_shown_path(place, names()).ok()) << place;
}

TEST(Capabilities, SecretsNeedAGrant) {
  const Row rows[] = {
      {"/home/u/.ssh", "/home/u/.ssh"},
      {"/home/u/.ssh/id_ed25519", "/home/u/.ssh"},
      {"/home/u/.config", "/home/u/.config/gh"},
      {"/home/u/.config/gh/hosts.yml", "/home/u/.config/gh"},
      {"/home/u/.local", "/home/u/.local/share/keyrings"},
      {"/home/u/.claude/x", "/home/u/.claude"},
      {"/home/u/.config/cloche/skills", "/home/u/.config/cloche"},
      {"/home/other", "/home/other/.ssh"},
      {"/home/other/.aws", "/home/other/.aws"},
      {"/root/.ssh", "/root/.ssh"},
      {"/root", "/root/.ssh"},
      {"/run", "/run/user"},
      {"/run/user/1000/gnupg", "/run/user"},
      {"/run/docker.sock", "/run/docker.sock"},
      {"/var/run/docker.sock", "/var/run/docker.sock"},
      {"/tmp/ssh-abc/agent.1", "/tmp/ssh-*"},
      {"/etc", "/etc/shadow"},
      {"/etc/cloche/config.json", "/etc/cloche"},
      {"/srv/cloche-state/runs", "/srv/cloche-state"},
      {"/srv", "/srv/cloche-state"},
      {"/proc/1/environ", "/proc"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(secret_met(row.text, names()), row.answer) << row.text;
    EXPECT_FALSE(judge_shown_path(row.text, names()).ok()) << row.text;
    HostPaths granted = names();
    granted.secret_grants = {row.text};
    EXPECT_TRUE(judge_shown_path(row.text, granted).ok()) << row.text;
    granted.secret_grants = {row.text + "/below", "/other", row.text + "*"};
    EXPECT_FALSE(judge_shown_path(row.text, granted).ok()) << row.text;
  }
  HostPaths granted = names();
  granted.secret_grants = {"~/.config"};
  EXPECT_TRUE(judge_shown_path("/home/u/.config/gh", granted).ok());
}

TEST(Capabilities, PlacesThatAreNotWrittenTo) {
  for (const char* place : {"/usr", "/usr/bin/x", "/etc/cron.d", "/opt", "/srv", "/var/lib/dpkg/info",
                            "/boot/x", "/home/u/.bashrc", "/home/u/.local", "/home/u/.local/bin/x",
                            "/home/u/bin", "/home/other/.profile", "/home/u/.config"})
    EXPECT_FALSE(judge_written_path(place, names()).ok()) << place;
  for (const char* place : {"/srv/data", "/opt/data", "/var/lib/data", "/home/u/out", "/home/u/binary",
                            "/mnt/x", "/home/u/.cache/x"})
    EXPECT_TRUE(judge_written_path(place, names()).ok()) << place;
  HostPaths granted = names();
  granted.secret_grants = {"~/.local/bin", "/usr"};
  EXPECT_TRUE(judge_written_path("/home/u/.local/bin", granted).ok());
  EXPECT_FALSE(judge_written_path("/usr/bin", granted).ok());
}

TEST(Capabilities, EverySecretOfAHomeIsMet) {
  for (std::string_view secret : home_secrets) {
    const std::string path = "/home/u/" + std::string(secret);
    EXPECT_FALSE(judge_shown_path(path, names()).ok()) << path;
    EXPECT_FALSE(judge_shown_path(path + "/below", names()).ok()) << path;
  }
}

TEST(Capabilities, TheSecretsOfTheSystemAreMet) {
  for (const char* place : {"/etc/shadow", "/etc/shadow-", "/etc/gshadow-", "/etc/passwd-", "/etc/sudoers",
                            "/etc/sudoers.d/x", "/etc/sudo.conf", "/etc/sudo_logsrvd.conf", "/run/cloche",
                            "/run/cloche/state/runs", "/etc/cloche", "/etc", "/run"})
    EXPECT_FALSE(judge_shown_path(place, names()).ok()) << place;
  for (const char* place : {"/etc/passwd", "/etc/su", "/run/clochette", "/etc/ssl/certs"})
    EXPECT_TRUE(judge_shown_path(place, names()).ok()) << place;
}

TEST(Capabilities, TheFineFilter) {
  struct Cover {
    const char* pattern;
    const char* path;
    bool covers;
  };
  const Cover rows[] = {
      {"/n", "/n", true},
      {"/n", "/n/a/b", true},
      {"/n", "/nn", false},
      {"/n/**", "/n", true},
      {"/n/**", "/n/a", true},
      {"/n/**", "/n/a/b/c", true},
      {"/n/**", "/nx/a", false},
      {"/n/*", "/n/a", true},
      {"/n/*", "/n", false},
      {"/n/*", "/n/a/b", false},
      {"/n/*.md", "/n/a.md", true},
      {"/n/*.md", "/n/a.mdx", false},
      {"/n/*.md", "/n/a/b.md", false},
      {"/n/**/*.md", "/n/b.md", true},
      {"/n/**/*.md", "/n/a/c/b.md", true},
      {"/n/**/x/**", "/n/x", true},
      {"/n/**/x/**", "/n/a/x/b", true},
      {"/n/**/x/**", "/n/a/y", false},
      {"/n/?", "/n/a", true},
      {"/n/?", "/n/ab", false},
      {"/n/?", "/n/\xC3\xA4", true},
      {"/n/a?b", "/n/a/b", false},
      {"/n/[ab]", "/n/b", true},
      {"/n/[!ab]", "/n/b", false},
      {"/n/[!ab]", "/n/c", true},
      {"/n/[a-c]x", "/n/bx", true},
      {"/n/[^a]", "/n/^", true},
      {"/n/{a,b}.md", "/n/b.md", true},
      {"/n/{a,b}.md", "/n/c.md", false},
      {"/n/a.b+(c)|d$", "/n/a.b+(c)|d$", true},
      {"/n/a.b", "/n/axb", false},
      {"/n/**", "/n/../etc", false},
      {"/n/**", "/n//a", false},
      {"/n/**", "n/a", false},
      {"/n/*", "/n/a\nb", true},
  };
  for (const auto& row : rows)
    EXPECT_EQ(covers(row.pattern, row.path), row.covers) << row.pattern << " " << row.path;
}

// What makes a backtracking matcher take longer than anybody waits.
TEST(Capabilities, TheFineFilterIsLinear) {
  std::string pattern = "/n";
  for (int i = 0; i < 40; ++i) pattern += "/**/a*a*a*";
  std::string path = "/n";
  for (int i = 0; i < 400; ++i) path += "/aaaaaaaab";
  EXPECT_FALSE(covers(pattern + "/c", path));
}

TEST(Capabilities, WhereLinksLead) {
  struct Lead {
    const char* declared;
    const char* resolved;
    bool good;
  };
  const Lead rows[] = {
      {"/home/u/proj/data", "/home/u/proj/data", true},
      {"/home/u/proj/data", "/home/u/proj/other", true},
      {"/home/u/proj/data", "/home/u/.ssh", false},
      {"/home/u/proj/data", "/srv/data", false},
      {"/home/u/proj/data", "/home/u/projects", false},
      {"/srv/data", "/mnt/data", true},
      {"/srv/data", "/home/u/.ssh", false},
      {"/srv/data", "/", false},
      {"/home/u/notes", "/home/u/proj/notes", true},
      {"/home/u/notes", "/home/u", false},
  };
  for (const auto& row : rows)
    EXPECT_EQ(judge_resolved(row.declared, row.resolved, names()).ok(), row.good)
        << row.declared << row.resolved;
  EXPECT_FALSE(judge_resolved("/srv/data", "/tmp", {.home = "/h"}).ok());
}

TEST(Capabilities, NestedOnesAreRemoved) {
  EXPECT_EQ(outermost({"/a/b", "/a", "/a/b/c", "/ab", "/a", "/c/d"}),
            (std::vector<std::string>{"/a", "/ab", "/c/d"}));
  EXPECT_EQ(outermost({}), std::vector<std::string>{});
}

}  // namespace
}  // namespace cloche
