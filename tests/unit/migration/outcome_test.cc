// SPDX-License-Identifier: Apache-2.0
#include "migration/outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::migration {
namespace {

TEST(OutcomeTest, SaysWhatWasMovedAndWhatWasLeftAndWhy) {
  Outcome outcome;
  outcome.moved = kMiB * 1946;
  outcome.left = kMiB * 12;
  EXPECT_EQ(describe(outcome), "moved 1.9 GiB, left 12.0 MiB");
  outcome.left_because(Leftover::kShared) = kMiB * 8;
  outcome.left_because(Leftover::kPinned) = kMiB * 4;
  EXPECT_EQ(describe(outcome), "moved 1.9 GiB, left 12.0 MiB (4.0 MiB pinned, 8.0 MiB shared)");
  outcome.calls = 396;
  outcome.longest = Microseconds{6249};
  EXPECT_THAT(describe(outcome), testing::EndsWith("shared); 396 calls, the longest 6.2 ms"));
  outcome.long_stalls = 1;
  EXPECT_THAT(describe(outcome), testing::EndsWith("6.2 ms, 1 above twice the target"));
  EXPECT_EQ(outcome.unmovable(), kMiB * 12);
}

TEST(OutcomeTest, AddsUpMemberByMember) {
  Outcome a{.moved = {1},
            .already_home = {2},
            .absent = {3},
            .left_by_reason = {},
            .left = {4},
            .calls = 5,
            .stalls = 6,
            .long_stalls = 3,
            .longest = {9}};
  a.left_because(Leftover::kBusy) = {7};
  Outcome sum = a;
  sum += a;
  EXPECT_EQ(sum.moved, Bytes{2});
  EXPECT_EQ(sum.already_home, Bytes{4});
  EXPECT_EQ(sum.absent, Bytes{6});
  EXPECT_EQ(sum.left, Bytes{8});
  EXPECT_EQ(sum.calls, 10);
  EXPECT_EQ(sum.stalls, 12);
  EXPECT_EQ(sum.long_stalls, 6);
  EXPECT_EQ(sum.longest, Microseconds{9});
  EXPECT_EQ(sum.left_because(Leftover::kBusy), Bytes{14});
}

TEST(BytesTextTest, PicksTheUnit) {
  EXPECT_EQ(to_text(Bytes{0}), "0 B");
  EXPECT_EQ(to_text(Bytes{1023}), "1023 B");
  EXPECT_EQ(to_text(kKiB), "1.0 KiB");
  EXPECT_EQ(to_text(kMiB - Bytes{1}), "1023.9 KiB");
  EXPECT_EQ(to_text(kMiB), "1.0 MiB");
  EXPECT_EQ(to_text(kGiB * 3 / 2), "1.5 GiB");
  EXPECT_EQ(to_text(kGiB * 1024 * 2048), "2048.0 TiB");
}

}  // namespace
}  // namespace vmnuma::migration
