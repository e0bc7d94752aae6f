// SPDX-License-Identifier: Apache-2.0
#include "balancer/protocol/time_text.h"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace vmnuma::balancer {
namespace {

TEST(TimeTextTest, WritesKnownTimes) {
  EXPECT_EQ(time_text(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(time_text(1738324800), "2025-01-31T12:00:00Z");  // date -u -d 2025-01-31T12:00:00 +%s
  EXPECT_EQ(time_text(951782400), "2000-02-29T00:00:00Z");
  EXPECT_EQ(time_text(-1), "1969-12-31T23:59:59Z");
}

TEST(TimeTextTest, ReadsWhatItWrites) {
  for (const std::int64_t time :
       {std::int64_t{0}, std::int64_t{1738324799}, std::int64_t{951782400}, std::int64_t{-86401},
        std::int64_t{253402300799}}) {
    EXPECT_EQ(parse_time(time_text(time)), time);
  }
}

TEST(TimeTextTest, TimesOutsideFourDigitYearsAreCutToThem) {
  EXPECT_EQ(time_text(std::numeric_limits<std::int64_t>::max()), "9999-12-31T23:59:59Z");
  EXPECT_EQ(time_text(std::numeric_limits<std::int64_t>::min()), "0000-01-01T00:00:00Z");
}

TEST(TimeTextTest, RefusesEverythingElse) {
  for (const char* text :
       {"", "now", "2025-01-31", "2025-01-31T12:00:00", "2025-01-31T12:00:00z",
        "2025-01-31 12:00:00Z", "2025-02-29T00:00:00Z", "2025-13-01T00:00:00Z",
        "2025-00-01T00:00:00Z", "2025-01-31T24:00:00Z", "2025-01-31T12:60:00Z",
        "2025-01-31T12:00:60Z", "2025-01-31T12:00:0 Z", "+025-01-31T12:00:00Z",
        "2025-01--1T12:00:00Z", "2025-01-31T12:00:00.5Z", "2025-01-31T12:00:00ZZ"}) {
    EXPECT_EQ(parse_time(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace vmnuma::balancer
