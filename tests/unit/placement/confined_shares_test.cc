// SPDX-License-Identifier: Apache-2.0
#include "placement/confined_shares.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma {
namespace {

using ::testing::ElementsAre;

std::vector<Supply> nodes(const std::vector<std::int64_t>& cores) {
  std::vector<Supply> supplies;
  for (const std::int64_t count : cores) {
    supplies.push_back({CpuTime{count}, CpuTime{count}, {}, 25});
  }
  return supplies;
}

ConfinedClaim confined(std::size_t confinement, std::int64_t wants, std::int64_t weight = 1,
                       std::int64_t floor = 0) {
  return {{weight, CpuTime{floor}, CpuTime{wants}}, CpuTime{wants}, confinement};
}

std::vector<std::int64_t> shares(const std::vector<std::int64_t>& cores,
                                 const std::vector<NodeSet>& confinements,
                                 const std::vector<ConfinedClaim>& claims) {
  std::vector<std::int64_t> values;
  for (const CpuTime share : confined_shares(nodes(cores), confinements, claims)) {
    values.push_back(share.value);
  }
  return values;
}

TEST(ConfinedSharesTest, WithOneConfinementItIsTheFairShareOfItsNodes) {
  EXPECT_THAT(
      shares({100, 100, 100}, {{0, 1}}, {confined(0, 150), confined(0, 150), confined(0, 150)}),
      ElementsAre(67, 67, 66));
}

TEST(ConfinedSharesTest, ClaimsOnOneNodeTakeNothingFromThoseOnAnother) {
  EXPECT_THAT(shares({100, 100}, {{0}, {1}}, {confined(0, 90), confined(0, 90), confined(1, 90)}),
              ElementsAre(50, 50, 90));
}

TEST(ConfinedSharesTest, WhatAConfinementLeavesGoesToAWiderOne) {
  EXPECT_THAT(shares({100, 100}, {{0, 1}, {0}}, {confined(1, 40), confined(0, 200)}),
              ElementsAre(40, 160));
}

TEST(ConfinedSharesTest, ACrowdOnOneNodeLeavesAnUnconfinedClaimItsShare) {
  // Three claims on node 0 get a third of it each; the one that can use both nodes has node 1.
  EXPECT_THAT(shares({90, 100}, {{0, 1}, {0}},
                     {confined(1, 90), confined(1, 90), confined(1, 90), confined(0, 100)}),
              ElementsAre(30, 30, 30, 100));
}

TEST(ConfinedSharesTest, AConfinedClaimGetsNoMoreThanUnconfinedOnes) {
  EXPECT_THAT(
      shares({100, 100}, {{0, 1}, {0}}, {confined(1, 90), confined(0, 90), confined(0, 90)}),
      ElementsAre(67, 67, 66));
}

TEST(ConfinedSharesTest, OverlappingConfinementsAreShortTogether) {
  // Neither pair of nodes is short; all three together are.
  EXPECT_THAT(shares({60, 60, 60}, {{0, 1}, {1, 2}}, {confined(0, 110), confined(1, 110)}),
              ElementsAre(90, 90));
}

TEST(ConfinedSharesTest, WithinAConfinementFloorsComeBeforeWeights) {
  EXPECT_THAT(shares({90, 500}, {{0}}, {confined(0, 90, 1), confined(0, 90, 2)}),
              ElementsAre(30, 60));
  EXPECT_THAT(shares({90, 500}, {{0}}, {confined(0, 90, 1, 80), confined(0, 90, 2)}),
              ElementsAre(80, 10));
}

TEST(ConfinedSharesTest, AClaimWithoutNodesGetsNothing) {
  EXPECT_THAT(shares({90}, {{0}, {}}, {confined(1, 50), confined(0, 50)}), ElementsAre(0, 50));
}

TEST(ConfinedSharesTest, WithTooManyUnionsNoConfinementGivesMoreThanItHas) {
  // A chain of 20 pairs of neighbours; with all unions there would be 210 pools.
  std::vector<NodeSet> confinements;
  std::vector<ConfinedClaim> claims;
  for (std::size_t i = 0; i < 20; ++i) {
    confinements.push_back({i, i + 1});
    claims.push_back(confined(i, 150));
    claims.push_back(confined(i, 150));
  }
  const auto given = shares(std::vector<std::int64_t>(21, 100), confinements, claims);
  for (std::size_t i = 0; i < claims.size(); i += 2) {
    EXPECT_GT(given[i], 0);
    EXPECT_LE(given[i] + given[i + 1], 200);
  }
}

}  // namespace
}  // namespace vmnuma
