// SPDX-License-Identifier: Apache-2.0
#include "placement/fair_share.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::int64_t> shares(std::int64_t supply, const std::vector<Claim>& claims) {
  std::vector<std::int64_t> values;
  for (const CpuTime share : fair_shares(CpuTime{supply}, claims)) {
    values.push_back(share.value);
  }
  return values;
}

Claim claim(std::int64_t weight, std::int64_t floor, std::int64_t ceiling) {
  return {weight, CpuTime{floor}, CpuTime{ceiling}};
}

TEST(FairShareTest, GivesEveryClaimItsCeilingWhereThatFits) {
  EXPECT_THAT(shares(100, {claim(1, 0, 30), claim(7, 0, 70)}), ElementsAre(30, 70));
}

TEST(FairShareTest, SharesByWeight) {
  // No claim is satisfied: 300 at weights 1 : 2.
  EXPECT_THAT(shares(300, {claim(1, 0, 1000), claim(2, 0, 1000)}), ElementsAre(100, 200));
}

TEST(FairShareTest, PassesOnWhatOneCannotUse) {
  // Equal thirds would be 100; the first needs only 40, so the others share 260.
  EXPECT_THAT(shares(300, {claim(1, 0, 40), claim(1, 0, 500), claim(1, 0, 500)}),
              ElementsAre(40, 130, 130));
}

TEST(FairShareTest, PassesOnInSeveralSteps) {
  // 10 go to the first (level 10), 20 to the second (20), 30 to the third (30); 40 are left.
  EXPECT_THAT(shares(100, {claim(1, 0, 10), claim(1, 0, 20), claim(1, 0, 30), claim(1, 0, 100)}),
              ElementsAre(10, 20, 30, 40));
}

TEST(FairShareTest, KeepsFloorsBeforeWeights) {
  // By weight the first would get 25 of 100; it is promised 60.
  EXPECT_THAT(shares(100, {claim(1, 60, 100), claim(3, 0, 100)}), ElementsAre(60, 40));
}

TEST(FairShareTest, CountsFloorsOnlyUpToTheCeiling) {
  EXPECT_THAT(shares(100, {claim(1, 60, 10), claim(1, 0, 200)}), ElementsAre(10, 90));
}

TEST(FairShareTest, RaisesAClientAboveItsFloorOnceTheLevelPassesIt) {
  // Level 50 exceeds the floor of 30.
  EXPECT_THAT(shares(100, {claim(1, 30, 100), claim(1, 0, 100)}), ElementsAre(50, 50));
}

TEST(FairShareTest, CutsFloorsThatDoNotFitInProportion) {
  // 300 are promised, 100 are there: a third each, whatever the weights.
  EXPECT_THAT(shares(100, {claim(9, 60, 100), claim(1, 240, 500), claim(5, 0, 100)}),
              ElementsAre(20, 80, 0));
}

TEST(FairShareTest, CutsTinyFloorsInProportion) {
  EXPECT_THAT(shares(50, {claim(1, 10, 10), claim(1, 90, 90)}), ElementsAre(5, 45));
}

TEST(FairShareTest, HonoursFloorsThatFitExactly) {
  EXPECT_THAT(shares(100, {claim(1, 40, 100), claim(1, 60, 100)}), ElementsAre(40, 60));
}

TEST(FairShareTest, HandsOutTheRestByLargestRemainder) {
  // 100 / 7 x weights: 14.28, 28.57, 57.14; one is left, 28.57 has the largest remainder.
  EXPECT_THAT(shares(100, {claim(1, 0, 100), claim(2, 0, 100), claim(4, 0, 100)}),
              ElementsAre(14, 29, 57));
}

TEST(FairShareTest, BreaksEqualRemaindersByOrder) {
  EXPECT_THAT(shares(100, {claim(1, 0, 100), claim(1, 0, 100), claim(1, 0, 100)}),
              ElementsAre(34, 33, 33));
}

TEST(FairShareTest, NeverHandsTheRestBeyondACeiling) {
  // 10 / 3 = 3.33 each; the first may have no more than 3.
  EXPECT_THAT(shares(10, {claim(1, 0, 3), claim(1, 0, 9), claim(1, 0, 9)}), ElementsAre(3, 4, 3));
}

TEST(FairShareTest, GivesNothingWithoutSupply) {
  EXPECT_THAT(shares(0, {claim(1, 5, 10)}), ElementsAre(0));
  EXPECT_THAT(shares(-5, {claim(1, 5, 10)}), ElementsAre(0));
}

TEST(FairShareTest, TakesNegativeCeilingsForNone) {
  EXPECT_THAT(shares(10, {claim(1, 0, -5), claim(1, 0, 20)}), ElementsAre(0, 10));
}

TEST(FairShareTest, WithoutClaimsThereAreNoShares) {
  EXPECT_THAT(shares(10, {}), IsEmpty());
}

TEST(FairShareTest, StaysInRangeOnTheLargestHosts) {
  // 10000 VMs of the largest weight that want 60 s of 8 CPUs each, on 4096 CPUs.
  const std::vector<Claim> claims(10'000, claim(10'000, 0, 8 * 60'000'000LL));
  const std::vector<std::int64_t> all = shares(4096 * 60'000'000LL, claims);
  EXPECT_EQ(all.front(), 24'576'000);
  EXPECT_EQ(all.back(), 24'576'000);
}

TEST(FairShareTest, StaysInRangeIfWeightsAreReservationsInMilliseconds) {
  // 50 VMs to which a minute of 400 CPUs is reserved each, on 15000 CPUs.
  const std::vector<Claim> claims(50, claim(400 * 60'000, 0, 400 * 60'000'000LL));
  const std::vector<std::int64_t> all = shares(15'000 * 60'000'000LL, claims);
  EXPECT_EQ(all.front(), 300 * 60'000'000LL);
  EXPECT_EQ(all.back(), 300 * 60'000'000LL);
}

}  // namespace
}  // namespace vmnuma
