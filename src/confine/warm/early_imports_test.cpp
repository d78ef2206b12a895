#include "confine/warm/early_imports.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

constexpr const char* file = "/etc/python3.11/sitecustomize.py";

TEST(EarlyImports, AreMadeInTheFileThatTheSystemsPythonReadsFromEtc) {
  const std::pair<const char*, const char*> rows[] = {
      {file, file},
      {"/etc/python3.13/sitecustomize.py", "/etc/python3.13/sitecustomize.py"},
      {"/etc/sitecustomize.py", ""},
      {"/etc/passwd", ""},
      {"/etc/python3/../sitecustomize.py", ""},
      {"/etc/python3.11/x/sitecustomize.py", ""},
      {"/home/me/python3.11/sitecustomize.py", ""},
      {"../etc/python3.11/sitecustomize.py", ""},
      {"", ""},
  };
  for (const auto& [link, found] : rows) EXPECT_EQ(import_file(link), found) << link;
}

TEST(EarlyImports, StandBeforeWhatTheHostsFileSays) {
  const std::string text = import_text({"numpy", "xml.dom"}, "import x\n");
  EXPECT_TRUE(text.starts_with("for name in ('numpy', 'xml.dom', ):\n")) << text;
  EXPECT_TRUE(text.ends_with("del name\nimport gc\ngc.freeze()\ndel gc\nimport x\n")) << text;
}

TEST(EarlyImports, AViewWithoutTheHostsFileHasNone) {
  ConfinementPlan plan;
  plan.argv = {"python3", "-I", "/run/cloche/main.py"};
  plan.environment = {{"PATH", "/usr/bin:/bin"}};
  EXPECT_EQ(early_imports(plan, {"json"}).file, "");
}

TEST(EarlyImports, ReplaceTheCopyOfTheHostsDirectory) {
  ConfinementPlan plan;
  plan.view = {{.kind = EntryKind::tree, .target = "/etc/python3.11", .source = "/etc/python3.11"},
               {.kind = EntryKind::tree, .target = "/etc/python3", .source = "/etc/python3"}};
  for (ViewEntry& entry : plan.view.edit()) entry.copied = true;
  EXPECT_EQ(to_json(with_imports(plan, {})), to_json(plan));
  const ConfinementPlan with = with_imports(plan, {file, "the text"});
  ASSERT_EQ(with.view.size(), 2U);
  const ViewEntry& entry = *with.view.begin();
  EXPECT_EQ(entry.kind, EntryKind::text);
  EXPECT_EQ(entry.target, file);
  EXPECT_EQ(entry.content, "the text");
  EXPECT_FALSE(entry.copied);
  EXPECT_EQ((with.view.begin() + 1)->kind, EntryKind::tree) << "and nothing else";
}

}  // namespace
}  // namespace cloche
