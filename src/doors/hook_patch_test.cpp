// The files that a patch names, and the lines that only almost name one.
#include "doors/hook_patch.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

using Files = std::vector<std::string>;

TEST(HookPatch, FilesInTheirOrder) {
  const std::pair<const char*, Files> rows[] = {
      {"", {}},
      {"*** Begin Patch\n*** End Patch", {}},
      {"*** Begin Patch\r\n*** Add File: a\r\n+x\r\n*** End Patch\r\n", {"a"}},
      {"*** Update File: a b\n*** Move to: c\n@@ f\n *x\n-y\n+ *** Add File: z\n*** End of File\n*** Delete "
       "File: d",
       {"a b", "c", "d"}},
      {"<<'EOF'\n*** Begin Patch\n*** Delete File: /e\n*** End Patch\nEOF", {"/e"}},
      {"+*** Add File: a\n-*** Add File: b\n** Add File: c", {}},
  };
  for (const auto& [patch, files] : rows) {
    const auto found = files_of_patch(patch);
    ASSERT_TRUE(found.ok()) << patch << found.error().what;
    EXPECT_EQ(found.value(), files) << patch;
  }
}

TEST(HookPatch, WhatOnlyLooksLikeAHeaderIsRefused) {
  for (const char* line : {" *** Add File: a",
                           "\t*** Delete File: a",
                           "\xc2\xa0*** Update File: a",
                           "\xe3\x80\x80*** Move to: a",
                           "\v*** Add File: a",
                           "\r*** Add File: a",
                           "*** Add File: a ",
                           "*** Add File: a\xc2\xa0",
                           "*** Add File: a\r\r",
                           "*** Add File:  a",
                           "*** Add File: ",
                           "*** Add File:a",
                           "*** add file: a",
                           "***  Add File: a",
                           "***Add File: a",
                           "*** Add File: ~/a",
                           "*** Add File: a\tb",
                           "*** Rename File: a",
                           "*** Environment ID: other",
                           " *** Begin Patch",
                           "*** End Patch ",
                           " *** End of File",
                           "***",
                           " *** of the file's own"}) {
    const std::string patch =
        "*** Begin Patch\n*** Add File: ok\n+x\n" + std::string(line) + "\n*** End Patch\n";
    EXPECT_FALSE(files_of_patch(patch).ok()) << line;
    EXPECT_FALSE(files_of_patch(line).ok()) << line;
  }
}

}  // namespace
}  // namespace cloche
