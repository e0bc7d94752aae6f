// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/orders_under_way.h"

#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/balancer/host_story.h"

namespace vmnuma::tests {
namespace {

using balancer::OrdersUnderWay;
using balancer::UnderWay;
using testing::ElementsAre;

UnderWay order_of(const std::vector<std::uint8_t>& vms) {
  UnderWay order{.action = {Reason::kLoadMove, {}, {}}};
  for (const std::uint8_t vm : vms) {
    order.action.relocations.push_back({{vm_id(vm), 0}, 0, 1, {}});
  }
  return order;
}

TEST(OrdersUnderWayTest, NumbersGrowFromTheHighestOfTheHistory) {
  OrdersUnderWay orders(/*last_action=*/41);
  EXPECT_EQ(orders.next(), 42);
  EXPECT_EQ(orders.begin(order_of({1})), 42);
  EXPECT_EQ(orders.take_number(), 43);
  EXPECT_EQ(orders.begin(order_of({2})), 44);
  EXPECT_EQ(orders.count(), 2U);
}

TEST(OrdersUnderWayTest, AYoungerOrderOfTheVmSupersedesAnOlderOne) {
  OrdersUnderWay orders(0);
  const std::int64_t first = orders.begin(order_of({1, 2}));
  const std::int64_t second = orders.begin(order_of({2}));
  EXPECT_FALSE(orders.is_superseded(first, vm_id(1)));
  EXPECT_TRUE(orders.is_superseded(first, vm_id(2)));
  EXPECT_FALSE(orders.is_superseded(second, vm_id(2)));
  orders.end(second);
  EXPECT_FALSE(orders.is_superseded(first, vm_id(2)));
  EXPECT_TRUE(orders.involves(vm_id(2)));
  EXPECT_FALSE(orders.involves(vm_id(3)));
}

TEST(OrdersUnderWayTest, AnActionNoLongerConcernsAVmThatHasEnded) {
  OrdersUnderWay orders(0);
  UnderWay swap = order_of({1, 2});
  swap.homes_before = {{{vm_id(1), 0}, NodeId{0}}, {{vm_id(2), 0}, NodeId{1}}};
  swap.spills_before = {{{vm_id(1), 0}, NodeId{}}, {{vm_id(2), 0}, NodeId{}}};
  swap.cpu_subsets_before = {{vm_id(1), std::nullopt}, {vm_id(2), std::nullopt}};
  const std::int64_t action = orders.begin(std::move(swap));
  orders.vm_ended(vm_id(1));
  EXPECT_FALSE(orders.involves(vm_id(1)));
  const UnderWay* left = orders.find(action);
  ASSERT_NE(left, nullptr);
  EXPECT_THAT(balancer::vms_of(left->action), ElementsAre(vm_id(2)));
  ASSERT_EQ(left->homes_before.size(), 1U);
  EXPECT_EQ(left->homes_before.front().first.vm, vm_id(2));
  ASSERT_EQ(left->spills_before.size(), 1U);
  EXPECT_EQ(left->spills_before.front().first.vm, vm_id(2));
  ASSERT_EQ(left->cpu_subsets_before.size(), 1U);
  EXPECT_EQ(left->cpu_subsets_before.front().first, vm_id(2));
}

TEST(OrdersUnderWayTest, WhatAnOrderMovedIsKeptWhileItsOutcomeIsAwaited) {
  OrdersUnderWay orders(0);
  orders.await_outcome(1, {kMiB, {5}});
  orders.await_outcome(2, {kMiB, {6}});
  orders.keep_finished([](std::int64_t action) { return action == 2; });
  EXPECT_FALSE(orders.take_finished(1));
  EXPECT_EQ(orders.take_finished(2)->took.value, 6);
  EXPECT_FALSE(orders.take_finished(2));
}

TEST(OrdersUnderWayTest, NamesEachVmOfAnActionOnce) {
  EXPECT_THAT(balancer::vms_of(order_of({2, 1, 2}).action), ElementsAre(vm_id(2), vm_id(1)));
}

}  // namespace
}  // namespace vmnuma::tests
