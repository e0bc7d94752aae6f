// SPDX-License-Identifier: Apache-2.0
#include "stats/formats/fields.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace vmnuma::stats {
namespace {

TEST(FieldsTest, TakesLinesWithAndWithoutALastNewline) {
  std::string_view rest = "one\n\ntwo";
  EXPECT_EQ(take_line(rest), "one");
  EXPECT_EQ(take_line(rest), "");
  EXPECT_EQ(take_line(rest), "two");
  EXPECT_EQ(take_line(rest), std::nullopt);
}

TEST(FieldsTest, TakesWordsBetweenAnyBlanks) {
  std::string_view rest = "  one \t two  ";
  EXPECT_EQ(take_word(rest), "one");
  EXPECT_EQ(take_word(rest), "two");
  EXPECT_EQ(take_word(rest), std::nullopt);
}

TEST(FieldsTest, ReadsOnlyWholeNumbersThatFit) {
  EXPECT_EQ(to_number<std::int32_t>("2147483647"), 2'147'483'647);
  EXPECT_EQ(to_number<std::int32_t>("2147483648"), std::nullopt);
  EXPECT_EQ(to_number<std::int32_t>("-1"), std::nullopt);
  EXPECT_EQ(to_number<std::int32_t>("+1"), std::nullopt);
  EXPECT_EQ(to_number<std::int32_t>(" 1"), std::nullopt);
  EXPECT_EQ(to_number<std::int32_t>("1 "), std::nullopt);
  EXPECT_EQ(to_number<std::int32_t>("0x1"), std::nullopt);
  EXPECT_EQ(to_number<std::int32_t>(""), std::nullopt);
}

TEST(FieldsTest, QuotesAtMostTwoHundredPrintableBytes) {
  const auto error = bad_line("x", "tab\there\xff" + std::string(300, 'a')).value();
  EXPECT_EQ(error.message, "this is not x: 'tab?here?" + std::string(191, 'a') + "'");
}

}  // namespace
}  // namespace vmnuma::stats
