// Names as people of many scripts write them, and spellings that another program would change.
#include "doors/hook/written_path.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

TEST(ComposedText, WhatStaysAsItIs) {
  for (const char* text :
       {"", "/p/a.txt", "grüße", "Ångström", "tiếng Việt", "ελληνικά", "русский й", "文書", "がぎぐ",
        "한국어", "বাংলা", "हिन्दी", "ผู้ใช้", "תיקייה", "محمد", "தமிழ்", "👩‍👩‍👧", "❤️"})
    EXPECT_TRUE(is_composed(text)) << text;
}

TEST(ComposedText, WhatAnAgentMayChange) {
  for (const char* text : {
           "e\u0301",             // joins to é
           "a\u0316\u0315",       // marks that may change places
           "\u212b",              // the sign for Ångström, which becomes the letter
           "\u212a",              // the sign for Kelvin, which becomes K
           "\u037e",              // the Greek question mark, which becomes ;
           "\u1fef",              // becomes `
           "\u1112\u1161\u11ab",  // the parts of one syllable
           "\u304b\u3099",        // a kana and its mark
           "\u09c7\u09be",        // two parts of one vowel
           "\u0958",              // becomes two
           "\u0628\u064e\u0651",  // a vowel before the sign that it stands behind
           "\uf900",              // becomes another ideograph
           "\xff",
       })
    EXPECT_FALSE(is_composed(text)) << text;
}

}  // namespace
}  // namespace cloche
