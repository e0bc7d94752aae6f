// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/outcomes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/balancer/host_story.h"

namespace vmnuma::tests {
namespace {

using balancer::Outcomes;
using testing::IsEmpty;
using testing::SizeIs;

/// One node of 4 s capacity with one client that is owed so much.
Snapshot owed(std::int64_t epoch, std::int64_t owed_us) {
  Snapshot snapshot;
  snapshot.epoch = epoch;
  snapshot.epoch_length = {2'000'000};
  snapshot.topology = small_host(1);
  NodeState node;
  node.capacity = {4'000'000};
  node.owed = {owed_us};
  snapshot.nodes = {node};
  VmState vm;
  vm.id = vm_id(1);
  vm.client_count = 1;
  snapshot.vms = {vm};
  ClientState client;
  client.id = {vm_id(1), 0};
  client.home = 0;
  client.demand = {2'000'000};
  client.owed = {owed_us};
  snapshot.clients = {client};
  return snapshot;
}

const Action kAction{Reason::kLoadMove, {{{vm_id(1), 0}, kNoNode, 0, {}}}, {}};

TEST(OutcomesTest, MeasuresAFinishedActionOnceAfterItHasSettled) {
  const Options options;
  Outcomes outcomes;
  outcomes.began(1, kAction, owed(10, 1'000'000), options);
  outcomes.ended(1, /*done=*/true, /*failed=*/false, options, 12);
  EXPECT_THAT(outcomes.settle(owed(14, 200'000), options), IsEmpty());
  const auto settled = outcomes.settle(owed(15, 200'000), options);
  ASSERT_THAT(settled, SizeIs(1));
  EXPECT_EQ(settled.front().before.lost, CpuTime{1'000'000});
  EXPECT_EQ(settled.front().after.lost, CpuTime{200'000});
  EXPECT_FALSE(settled.front().harmful);
  EXPECT_THAT(outcomes.settle(owed(16, 0), options), IsEmpty());
}

TEST(OutcomesTest, AnUndoneActionIsNotMeasured) {
  const Options options;
  Outcomes outcomes;
  outcomes.began(1, kAction, owed(10, 0), options);
  outcomes.ended(1, /*done=*/false, /*failed=*/true, options, 11);
  EXPECT_THAT(outcomes.settle(owed(100, 0), options), IsEmpty());
}

TEST(OutcomesTest, OpensTheBreakerAfterFailuresInARowAndClosesItByItself) {
  Options options;
  options.breaker_failures = 3;
  options.breaker_rest = 10;
  Outcomes outcomes;
  for (std::int64_t epoch = 18; epoch <= 20; ++epoch) {
    EXPECT_FALSE(outcomes.breaker_open(20));
    outcomes.began(epoch, kAction, owed(epoch, 0), options);
    outcomes.ended(epoch, /*done=*/false, /*failed=*/true, options, epoch);
  }
  EXPECT_TRUE(outcomes.breaker_open(20));
  EXPECT_TRUE(outcomes.breaker_open(29));
  EXPECT_FALSE(outcomes.breaker_open(30));
}

TEST(OutcomesTest, ActionsThatFailInOneEpochCountAsOne) {
  Options options;
  options.breaker_failures = 2;
  Outcomes outcomes;
  const auto fail = [&](std::int64_t action, std::int64_t epoch) {
    outcomes.began(action, kAction, owed(epoch, 0), options);
    outcomes.ended(action, /*done=*/false, /*failed=*/true, options, epoch);
  };
  for (std::int64_t action = 1; action <= 5; ++action) {
    fail(action, 20);
  }
  EXPECT_FALSE(outcomes.breaker_open(20));
  fail(6, 21);
  EXPECT_TRUE(outcomes.breaker_open(21));
}

TEST(OutcomesTest, CountsAMoveThatDidHarmAndForgetsItAfterAGoodOne) {
  Options options;
  options.breaker_failures = 2;
  Outcomes outcomes;
  const auto act = [&](std::int64_t action, std::int64_t epoch, std::int64_t owed_after) {
    outcomes.began(action, kAction, owed(epoch, 100'000), options);
    outcomes.ended(action, /*done=*/true, /*failed=*/false, options, epoch);
    return outcomes.settle(owed(epoch + Outcomes::kSettleEpochs, owed_after), options)
        .front()
        .harmful;
  };
  EXPECT_TRUE(act(1, 10, 900'000));
  EXPECT_FALSE(act(2, 20, 0));
  EXPECT_TRUE(act(3, 30, 900'000));
  EXPECT_FALSE(outcomes.breaker_open(34));
  EXPECT_TRUE(act(4, 40, 900'000));
  EXPECT_TRUE(outcomes.breaker_open(44));
}

TEST(OutcomesTest, AnActionThatIsDoneInBetweenEndsARowOfFailuresButNotOfHarm) {
  Options options;
  options.breaker_failures = 2;
  Outcomes outcomes;
  constexpr std::int64_t kNotWatched = 99;  // such as a first placement
  const auto end = [&](bool done, std::int64_t epoch) {
    outcomes.ended(kNotWatched, done, /*failed=*/!done, options, epoch);
  };
  end(/*done=*/false, 10);
  end(/*done=*/true, 12);
  end(/*done=*/false, 14);
  EXPECT_FALSE(outcomes.breaker_open(14));
  end(/*done=*/true, 16);
  const auto harm = [&](std::int64_t action, std::int64_t epoch) {
    outcomes.began(action, kAction, owed(epoch, 100'000), options);
    outcomes.ended(action, /*done=*/true, /*failed=*/false, options, epoch);
    return outcomes.settle(owed(epoch + Outcomes::kSettleEpochs, 900'000), options).front().harmful;
  };
  EXPECT_TRUE(harm(1, 20));
  end(/*done=*/true, 26);
  EXPECT_FALSE(outcomes.breaker_open(26));
  EXPECT_TRUE(harm(2, 30));
  EXPECT_TRUE(outcomes.breaker_open(34));
}

}  // namespace
}  // namespace vmnuma::tests
