// SPDX-License-Identifier: Apache-2.0
#include "migration/destinations.h"

#include <gtest/gtest.h>

#include "tests/support/property.h"
#include "tests/unit/migration/page_sizes.h"

namespace vmnuma::migration {
namespace {

std::optional<NodeId> goes_to(const Destinations& destinations, NodeId from, Bytes size = kPage,
                              Bytes pool = kOrdinary,
                              std::optional<NodeId> neighbour = std::nullopt) {
  const Destination destination = destinations.choose(from, size, pool, neighbour);
  const auto* go = std::get_if<GoTo>(&destination);
  return go == nullptr ? std::nullopt : std::optional(go->node);
}

template <class Kind>
bool is(const Destinations& destinations, NodeId from, Bytes size = kPage, Bytes pool = kOrdinary) {
  return std::holds_alternative<Kind>(destinations.choose(from, size, pool, std::nullopt));
}

TEST(ShareOutTest, FollowsTheProportionAndAddsUp) {
  const auto shares = share_out({{NodeId{0}, kGiB}, {NodeId{1}, kGiB * 3}}, kMiB * 8);
  EXPECT_EQ(shares, (std::vector{kMiB * 2, kMiB * 6}));
}

TEST(ShareOutTest, QuotasThatAreAllZeroCountAlike) {
  EXPECT_EQ(share_out({{NodeId{0}, {}}, {NodeId{1}, {}}}, kMiB * 8),
            (std::vector{kMiB * 4, kMiB * 4}));
}

RC_GTEST_PROP(ShareOutTest, AddsUpWhateverTheQuotas, ()) {
  const auto amounts = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::int64_t>>(
      rc::gen::inRange<std::int64_t>(-1, std::int64_t{1} << 50)));
  const Bytes total{*rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 50)};
  std::vector<NodeQuota> quotas;
  for (const std::int64_t amount : amounts) {
    quotas.push_back({NodeId{static_cast<std::int32_t>(quotas.size())}, Bytes{amount}});
  }
  Bytes sum;
  for (const Bytes share : share_out(quotas, total)) {
    RC_ASSERT(share >= Bytes{});
    sum += share;
  }
  RC_ASSERT(sum == total);
}

TEST(DestinationsTest, APageOnTheOnlyHomeStaysAndAllOthersGoThere) {
  const Destinations destinations({{NodeId{1}, kGiB}}, {{NodeId{0}, kGiB}, {NodeId{1}, kGiB}});
  EXPECT_TRUE(is<Stay>(destinations, NodeId{1}));
  EXPECT_EQ(goes_to(destinations, NodeId{0}), NodeId{1});
  EXPECT_EQ(goes_to(destinations, NodeId{7}), NodeId{1});
  EXPECT_EQ(destinations.remaining(), kGiB);
}

TEST(DestinationsTest, APageElsewhereGoesToTheHomeThatLacksMost) {
  // 8 MiB in all, goals 4 and 4: node 1 lacks 3, node 2 lacks 4.
  const Destinations destinations({{NodeId{1}, kGiB}, {NodeId{2}, kGiB}},
                                  {{NodeId{0}, kMiB * 7}, {NodeId{1}, kMiB}});
  EXPECT_EQ(goes_to(destinations, NodeId{0}), NodeId{2});
}

TEST(DestinationsTest, ASurplusGoesWhereItLacks) {
  const Destinations destinations({{NodeId{1}, kGiB}, {NodeId{2}, kGiB}}, {{NodeId{1}, kGiB * 8}});
  EXPECT_EQ(goes_to(destinations, NodeId{1}), NodeId{2});
  // 8 GiB less the goal of 4 GiB less the slack of 1/64.
  EXPECT_EQ(destinations.remaining(), kGiB * 4 - kMiB * 128);
}

TEST(DestinationsTest, ASmallSurplusStays) {
  const Destinations destinations({{NodeId{1}, kGiB}, {NodeId{2}, kGiB}},
                                  {{NodeId{1}, kMiB * 513}, {NodeId{2}, kMiB * 511}});
  EXPECT_TRUE(is<Stay>(destinations, NodeId{1}));
  EXPECT_TRUE(is<Stay>(destinations, NodeId{2}));
  EXPECT_EQ(destinations.remaining(), Bytes{});
}

TEST(DestinationsTest, NeighboursOfAHugePageStayTogether) {
  const Destinations destinations({{NodeId{1}, kGiB}, {NodeId{2}, kGiB}},
                                  {{NodeId{0}, kMiB * 7}, {NodeId{1}, kMiB}});
  EXPECT_EQ(goes_to(destinations, NodeId{0}, kPage, kOrdinary, NodeId{1}), NodeId{1});
}

TEST(DestinationsTest, ABlockedHomeIsWaitedForUntilItReopens) {
  Destinations destinations({{NodeId{1}, kGiB}}, {{NodeId{0}, kGiB}});
  destinations.block(NodeId{1}, kOrdinary);
  EXPECT_TRUE(is<WaitForRoom>(destinations, NodeId{0}));
  EXPECT_TRUE(is<Stay>(destinations, NodeId{1}));
  destinations.reopen();
  EXPECT_EQ(goes_to(destinations, NodeId{0}), NodeId{1});
}

TEST(DestinationsTest, AnotherHomeTakesWhatABlockedOneCannot) {
  Destinations destinations({{NodeId{1}, kGiB}, {NodeId{2}, kGiB}},
                            {{NodeId{0}, kMiB * 7}, {NodeId{1}, kMiB}});
  destinations.block(NodeId{2}, kOrdinary);
  EXPECT_EQ(goes_to(destinations, NodeId{0}), NodeId{1});
  EXPECT_EQ(goes_to(destinations, NodeId{0}, kPage, kOrdinary, NodeId{2}), NodeId{1});
}

TEST(DestinationsTest, AClosedHomeRefusesWithItsReasonAndStaysClosed) {
  Destinations destinations({{NodeId{1}, kGiB}}, {{NodeId{0}, kGiB}});
  destinations.close(NodeId{1}, kOrdinary, Leftover::kNotAllowed);
  destinations.reopen();
  const auto destination = destinations.choose(NodeId{0}, kPage, kOrdinary, std::nullopt);
  ASSERT_TRUE(std::holds_alternative<Refused>(destination));
  EXPECT_EQ(std::get<Refused>(destination).reason, Leftover::kNotAllowed);
}

TEST(DestinationsTest, PoolsAreBlockedSeparately) {
  Destinations destinations({{NodeId{1}, kGiB}}, {{NodeId{0}, kGiB}});
  destinations.block(NodeId{1}, kMiB * 2);
  EXPECT_TRUE(is<WaitForRoom>(destinations, NodeId{0}, kMiB * 2, kMiB * 2));
  EXPECT_EQ(goes_to(destinations, NodeId{0}), NodeId{1});
}

TEST(DestinationsTest, ClosingWhatIsBlockedRefusesForLackOfRoom) {
  Destinations destinations({{NodeId{1}, kGiB}}, {{NodeId{0}, kGiB}});
  destinations.block(NodeId{1}, kOrdinary);
  destinations.close_blocked();
  const auto destination = destinations.choose(NodeId{0}, kPage, kOrdinary, std::nullopt);
  ASSERT_TRUE(std::holds_alternative<Refused>(destination));
  EXPECT_EQ(std::get<Refused>(destination).reason, Leftover::kNoRoom);
}

TEST(DestinationsTest, APageThatIsGoneNoLongerRemains) {
  Destinations destinations({{NodeId{1}, kGiB}}, {{NodeId{0}, kMiB}});
  destinations.count_gone(NodeId{0}, kMiB);
  EXPECT_EQ(destinations.remaining(), Bytes{});
}

RC_GTEST_PROP(DestinationsTest, PagesOnlyGoHomeAndTakingBackRestoresEveryNumber, ()) {
  const auto node = [] { return NodeId{*rc::gen::inRange(0, 5)}; };
  std::vector<NodeQuota> quotas;
  for (std::int32_t i = 0; i < 5; ++i) {
    if (*rc::gen::arbitrary<bool>()) {
      quotas.push_back({NodeId{i}, kGiB * *rc::gen::inRange(0, 5)});
    }
  }
  RC_PRE(!quotas.empty());
  std::map<NodeId, Bytes> resident;
  for (std::int32_t i = 0; i < 5; ++i) {
    resident[NodeId{i}] = kMiB * *rc::gen::inRange(0, 64);
  }
  Destinations destinations(quotas, resident);
  const Bytes before = destinations.remaining();
  struct Move {
    NodeId from, to;
    Bytes size;
  };
  std::vector<Move> moves;
  const int steps = *rc::gen::inRange(0, 100);
  for (int i = 0; i < steps; ++i) {
    const NodeId from = node();
    const Bytes size = *rc::gen::arbitrary<bool>() ? kPage : kMiB * 2;
    if (const auto to = goes_to(destinations, from, size)) {
      RC_ASSERT(*to != from);
      RC_ASSERT(std::any_of(quotas.begin(), quotas.end(),
                            [&](const NodeQuota& quota) { return quota.node == *to; }));
      destinations.count_move(from, *to, size);
      moves.push_back({from, *to, size});
    }
  }
  for (auto move = moves.rbegin(); move != moves.rend(); ++move) {
    destinations.count_move(move->to, move->from, move->size);
  }
  RC_ASSERT(destinations.remaining() == before);
}

}  // namespace
}  // namespace vmnuma::migration
