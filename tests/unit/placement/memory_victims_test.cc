// SPDX-License-Identifier: Apache-2.0
#include "placement/memory_victims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ReclaimOrderTest, IsByTurnAndThenByWhatCanBeTaken) {
  const std::vector<MemoryUser> users{
      {.guest = kGiB, .min = kGiB},                           // all protected
      {.guest = kGiB, .low = kGiB},                           // protected while others are not
      {.guest = kGiB},                                        //
      {.guest = kGiB * 2, .min = kGiB / 2},                   // most of all unprotected
      {.guest = kMiB * 10, .high = kMiB * 9},                 // has to give some back at once
      {.guest = kGiB, .file = kMiB, .may_swap = false},       // only its page cache can go
      {.guest = kGiB * 4, .unevictable = kGiB * 4},           // locked
      {.guest = kGiB, .file = kMiB * 2, .min = kGiB + kMiB},  //
  };
  EXPECT_THAT(reclaim_order(users),
              ElementsAre(ReclaimPlace{4, ReclaimTurn::kAboveHigh, kMiB * 10},
                          ReclaimPlace{3, ReclaimTurn::kUnprotected, kMiB * 1536},
                          ReclaimPlace{2, ReclaimTurn::kUnprotected, kGiB},
                          ReclaimPlace{5, ReclaimTurn::kUnprotected, kMiB},
                          ReclaimPlace{7, ReclaimTurn::kUnprotected, kMiB},
                          ReclaimPlace{1, ReclaimTurn::kBelowLow, kGiB},
                          ReclaimPlace{0, ReclaimTurn::kNever, Bytes{}},
                          ReclaimPlace{6, ReclaimTurn::kNever, Bytes{}}));
}

TEST(ReclaimOrderTest, AboveHighWithNothingToGiveIsNever) {
  EXPECT_THAT(reclaim_order({{.guest = kGiB, .high = kMiB, .may_swap = false}}),
              ElementsAre(ReclaimPlace{0, ReclaimTurn::kNever, Bytes{}}));
}

TEST(ReclaimOrderTest, LowBelowMinAddsNothing) {
  EXPECT_THAT(reclaim_order({{.guest = kGiB, .min = kMiB * 512, .low = kMiB}}),
              ElementsAre(ReclaimPlace{0, ReclaimTurn::kUnprotected, kMiB * 512}));
}

TEST(ReclaimOrderTest, WithoutVmsThereIsNoOrder) {
  EXPECT_THAT(reclaim_order({}), IsEmpty());
}

TEST(KillOrderTest, IsByMemoryAndSwapMovedByTheAdjustment) {
  const std::vector<MemoryUser> users{
      {.guest = kGiB, .min = kGiB},                      // protections do not count
      {.guest = kGiB / 2, .swap = kGiB},                 //
      {.guest = kMiB, .oom_score_adj = 500},             // half of the host's 8 GiB
      {.guest = kGiB * 5, .oom_score_adj = -1000},       // never
      {.guest = kGiB, .oom_score_adj = -500},            //
      {.guest = kGiB / 4, .file = kGiB * 3, .min = {}},  // page cache does not count
  };
  EXPECT_THAT(
      kill_order(users, kGiB * 8),
      ElementsAre(KillPlace{2, kGiB * 4 + kMiB}, KillPlace{1, kMiB * 1536}, KillPlace{0, kGiB},
                  KillPlace{5, kGiB / 4}, KillPlace{4, kGiB - kGiB * 4}));
}

TEST(EffectiveProtectionTest, IsCutInProportionWhereTheSliceHasLess) {
  EXPECT_THAT(effective_protection({kGiB, kGiB * 3}, kGiB * 4), ElementsAre(kGiB, kGiB * 3));
  EXPECT_THAT(effective_protection({kGiB, kGiB * 3}, kGiB * 2),
              ElementsAre(kMiB * 512, kMiB * 1536));
  EXPECT_THAT(effective_protection({kGiB, Bytes{}}, Bytes{}), ElementsAre(Bytes{}, Bytes{}));
  EXPECT_THAT(effective_protection({}, kGiB), IsEmpty());
}

}  // namespace
}  // namespace vmnuma
