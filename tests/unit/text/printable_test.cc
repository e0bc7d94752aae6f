// SPDX-License-Identifier: Apache-2.0
#include "stats/text/printable.h"

#include <gtest/gtest.h>

namespace vmnuma::text {
namespace {

TEST(PrintableTest, LeavesTextAsItIs) {
  for (const char* text : {"", "web1", "größe",
                           "a\xc2\xa0"
                           "b",
                           "\xe2\x82\xac", "\xf0\x9f\x90\xa7", "back\\slash"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(PrintableTest, ShowsControlCharactersByTheirEscapes) {
  EXPECT_EQ(printable("a\nb\rc\td"), "a\\nb\\rc\\td");
  EXPECT_EQ(printable("\x1b[2J\x7f"), "\\x1b[2J\\x7f");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J\xc2\x85"),
            "\\u009b2J\\u0085");
}

TEST(PrintableTest, ShowsWhatChangesTheDirectionOfText) {
  // U+202E: what follows is written from right to left.
  EXPECT_EQ(printable("web\xe2\x80\xae"
                      "1"),
            "web\\u202e1");
  EXPECT_EQ(printable("\xe2\x81\xa6\xe2\x81\xa9\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c"),
            "\\u2066\\u2069\\u200e\\u200f\\u061c");
  EXPECT_EQ(printable("\xe2\x80\xa8\xe2\x80\xa9\xef\xbb\xbf"), "\\u2028\\u2029\\ufeff");
}

TEST(PrintableTest, ShowsBytesThatAreNoUtf8) {
  EXPECT_EQ(printable("a\xff"
                      "b"),
            "a\\xffb");
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82");                    // cut off
  EXPECT_EQ(printable("\xc0\x8a"), "\\xc0\\x8a");                    // '\n' in too many bytes
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // half of a surrogate pair
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond U+10FFFF
  EXPECT_EQ(printable("\x9b"), "\\x9b");
}

TEST(PrintableTest, ComesOutPrintableWhateverGoesIn) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string text{static_cast<char>(first), static_cast<char>(second)};
      EXPECT_EQ(printable(printable(text)), printable(text)) << first << " " << second;
    }
  }
}

}  // namespace
}  // namespace vmnuma::text
