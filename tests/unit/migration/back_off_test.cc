// SPDX-License-Identifier: Apache-2.0
#include "migration/back_off.h"

#include <gtest/gtest.h>

namespace vmnuma::migration {
namespace {

constexpr Microseconds kFirst{100};
constexpr Microseconds kLongest{350};

TEST(AttemptsTest, WaitsDoubleUpToTheLongest) {
  Attempts attempts;
  std::int64_t now = 0;
  for (const std::int64_t wait : {100, 200, 350, 350}) {
    attempts.failed({now}, kFirst, kLongest);
    EXPECT_EQ(attempts.ready_at({now}), Microseconds{now + wait});
    now += wait;
  }
  attempts.reset_failures();
  attempts.failed({now}, kFirst, kLongest);
  EXPECT_EQ(attempts.ready_at({now}), Microseconds{now + 100});
}

TEST(AttemptsTest, AWaitBeginsWhenTheCallHasEndedAndIsNoShorterThanIt) {
  Attempts attempts;
  attempts.failed({1000}, kFirst, kLongest);
  EXPECT_EQ(attempts.ready_at({1040}), Microseconds{1140});
  EXPECT_EQ(attempts.ready_at({1200}), Microseconds{1140});  // it has begun
  attempts.failed({2000}, kFirst, kLongest);
  EXPECT_EQ(attempts.ready_at({32'000}), Microseconds{62'000});
}

}  // namespace
}  // namespace vmnuma::migration
