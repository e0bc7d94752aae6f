// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/arguments/since.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "tests/support/time_zone.h"

namespace vmnuma::tools {
namespace {

constexpr std::int64_t kNoon = 1738324800;  // 2025-01-31T12:00:00Z

TEST(SinceTest, ReadsAges) {
  EXPECT_EQ(*parse_since("90s", kNoon), kNoon - 90);
  EXPECT_EQ(*parse_since("30m", kNoon), kNoon - 1800);
  EXPECT_EQ(*parse_since("2h", kNoon), kNoon - 7200);
  EXPECT_EQ(*parse_since("7d", kNoon), kNoon - 7 * 86400);
  EXPECT_EQ(*parse_since("0s", kNoon), kNoon);
  EXPECT_EQ(*parse_since("604800s", kNoon), kNoon - 7 * 86400);
  EXPECT_EQ(*parse_since("1w", kNoon), kNoon - 7 * 86400);
  EXPECT_EQ(*parse_since("2d5h", kNoon), kNoon - 53 * 3600);
  EXPECT_EQ(*parse_since("100000d", kNoon), *parse_since("8640000000s", kNoon));
}

TEST(SinceTest, ReadsTimesInTheLocalZone) {
  const tests::TimeZone zone("XYZ-2");  // two hours ahead of UTC (tzset(3))
  EXPECT_EQ(*parse_since("2025-01-31 14:00", kNoon), kNoon);
  EXPECT_EQ(*parse_since("2025-01-31 14:00:05", kNoon), kNoon + 5);
  EXPECT_EQ(*parse_since("2025-01-31T14:00", kNoon), kNoon);
  EXPECT_EQ(*parse_since("2025-01-31", kNoon), kNoon - 14 * 3600);
  EXPECT_EQ(*parse_since("today", kNoon), kNoon - 14 * 3600);
  EXPECT_EQ(*parse_since("yesterday", kNoon), kNoon - 38 * 3600);
}

TEST(SinceTest, ReadsTimesInUtc) {
  const tests::TimeZone zone("XYZ-2");
  EXPECT_EQ(*parse_since("2025-01-31T12:00:00Z", kNoon), kNoon);
}

TEST(SinceTest, RefusesEverythingElse) {
  for (const char* text : {"", "h", "2", "-2h", "2y", "2h ", "2 h", "2d5", "100001d", "8640000001s",
                           "99999999999999999999d", "tomorrow", "2025-02-30", "2025-1-31",
                           "2025-01-31 25:00", "2025-01-31 14:00:5", "31.01.2025"}) {
    const auto time = parse_since(text, kNoon);
    ASSERT_FALSE(time) << text;
    EXPECT_EQ(time.error().code, ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace vmnuma::tools
