// SPDX-License-Identifier: Apache-2.0
#include "placement/action_affinity.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement/arrangement.h"
#include "tests/support/build_snapshot.h"

namespace vmnuma {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using tests::SnapshotBuilder;

Options with_weight(std::int64_t weight) {
  Options options;
  options.locality_weight_action_affinity = weight;
  return options;
}

SnapshotBuilder pair_of(std::int32_t a_vcpus, std::int32_t b_vcpus) {
  SnapshotBuilder builder;
  builder.nodes(2, {.cores = 8})
      .vm({.name = "a", .homes = {0}, .vcpus = a_vcpus})
      .vm({.name = "b", .homes = {1}, .vcpus = b_vcpus});
  return builder;
}

TEST(ActionAffinityTest, AWakeUpBetweenNodesLosesTenNanosecondsTimesTheWeight) {
  // 10000 a second in 2 s, 1 us each.
  const Snapshot snapshot = pair_of(2, 2).chat("a", "b", 10'000).build();
  const Talk to_a{0, CpuTime{20'000}};
  const Talk to_b{1, CpuTime{20'000}};
  EXPECT_THAT(talks_of(snapshot, with_weight(100)),
              ElementsAre(ElementsAre(to_b), ElementsAre(to_a)));
  EXPECT_EQ(talks_of(snapshot, with_weight(130))[0][0].lost_apart, CpuTime{26'000});
}

TEST(ActionAffinityTest, WithoutWeightOrLimitOrChatsNoClientTalks) {
  const Snapshot snapshot = pair_of(2, 2).chat("a", "b", 10'000).build();
  EXPECT_THAT(talks_of(snapshot, Options{}), IsEmpty());
  Options options = with_weight(100);
  options.action_affinity_max = 0;
  EXPECT_THAT(talks_of(snapshot, options), IsEmpty());
  EXPECT_THAT(talks_of(pair_of(2, 2).build(), with_weight(100)), IsEmpty());
}

TEST(ActionAffinityTest, NeitherOfAPairLosesMoreThanItsLimit) {
  // 5 % of 2 vCPUs in 2 s are 200 ms; of the other's 8 they would be 800 ms.
  const Snapshot snapshot = pair_of(2, 8).chat("a", "b", 1'000'000).build();
  const auto talks = talks_of(snapshot, with_weight(100));
  EXPECT_EQ(talks[0][0].lost_apart, CpuTime{200'000});
  EXPECT_EQ(talks[1][0].lost_apart, CpuTime{200'000});
}

TEST(ActionAffinityTest, AClientThatTalksToManySharesItsLimitAmongThem) {
  const Snapshot snapshot = pair_of(2, 2)
                                .vm({.name = "c", .homes = {1}, .vcpus = 2})
                                .chat("a", "b", 300'000)
                                .chat("a", "c", 900'000)
                                .build();
  // 200 ms of a, a quarter and three of them.
  const auto talks = talks_of(snapshot, with_weight(100));
  EXPECT_THAT(talks[0], ElementsAre(Talk{1, CpuTime{50'000}}, Talk{2, CpuTime{150'000}}));
  EXPECT_THAT(talks[1], ElementsAre(Talk{0, CpuTime{50'000}}));
}

TEST(ActionAffinityTest, TheWakeUpsOfAWideVmAreDividedOverItsClients) {
  const Snapshot snapshot = SnapshotBuilder()
                                .nodes(2, {.cores = 8})
                                .vm({.name = "wide", .homes = {0, 1}, .vcpus = 4})
                                .vm({.name = "b", .homes = {1}, .vcpus = 4})
                                .chat("wide", "b", 40'000)
                                .build();
  const auto talks = talks_of(snapshot, with_weight(100));
  EXPECT_THAT(talks[2], ElementsAre(Talk{0, CpuTime{40'000}}, Talk{1, CpuTime{40'000}}));
}

TEST(ActionAffinityTest, AChatWithAVmThatIsNotThereCountsForNothing) {
  Snapshot snapshot = pair_of(2, 2).chat("a", "b", 10'000).build();
  snapshot.chats.front().b.uuid[0] = 0xff;
  EXPECT_THAT(talks_of(snapshot, with_weight(100)), ElementsAre(IsEmpty(), IsEmpty()));
}

TEST(ActionAffinityTest, ComingTogetherGainsWhatBeingApartLoses) {
  const Snapshot snapshot = pair_of(2, 2).chat("a", "b", 10'000).build();
  const Options options = with_weight(100);
  const Arrangement arrangement(snapshot, options, Arrangement::Basis::kDemand);
  EXPECT_EQ(arrangement.lost(), CpuTime{20'000});
  const Effect effect = arrangement.effect_of(std::array{Rehoming{0, 1}});
  EXPECT_EQ(effect.talk, CpuTime{20'000});
  EXPECT_EQ(effect.gain, CpuTime{20'000});
  const std::array swap{Rehoming{0, 1}, Rehoming{1, 0}};
  EXPECT_EQ(arrangement.effect_of(swap).gain, CpuTime{});
}

}  // namespace
}  // namespace vmnuma
