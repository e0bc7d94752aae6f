// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/text/screen.h"

#include <gtest/gtest.h>

namespace vmnuma::tools {
namespace {

TEST(ScreenTest, WidthIsThatOfAllParts) {
  EXPECT_EQ(width_of(Line{}), 0U);
  EXPECT_EQ(width_of(Line{{"ab"}, {"\xc3\xa4", Style::kBad}}), 3U);
}

TEST(ScreenTest, ClippingKeepsStylesAndWholeCharacters) {
  const Line line{{"ab"}, {"\xc3\xa4\xc3\xb6", Style::kBad}, {"c"}};
  EXPECT_EQ(clipped(line, 3), (Line{{"ab"}, {"\xc3\xa4", Style::kBad}}));
  EXPECT_EQ(clipped(line, 2), (Line{{"ab"}}));
  EXPECT_EQ(clipped(line, 9), line);
  EXPECT_EQ(clipped(line, 0), Line{});
}

TEST(ScreenTest, PlainTextHasNoBlanksAtTheEndOfLines) {
  EXPECT_EQ(plain_text({{{"a "}, {"b", Style::kGood}, {"  "}}, {}, {{"   "}}}), "a b\n\n\n");
  EXPECT_EQ(plain_text({}), "");
}

TEST(ScreenTest, ColourEndsWithItsText) {
  EXPECT_EQ(coloured("x", Style::kBad), "\x1b[31mx\x1b[0m");
  EXPECT_EQ(coloured("x", Style::kPlain), "x");
}

}  // namespace
}  // namespace vmnuma::tools
