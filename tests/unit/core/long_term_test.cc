// SPDX-License-Identifier: Apache-2.0
#include "balancer/core/long_term.h"

#include <gtest/gtest.h>

#include "tests/support/build_snapshot.h"

namespace vmnuma::balancer {
namespace {

void waited(ClientState& client, std::int64_t pct) {
  client.owed = client.owed_on_average = client.entitled * pct / 100;
}

TEST(LongTermTest, VmsThatWereOwedEqualSharesTakeNoTurnsWhicheverOfTheirClientsWaited) {
  Snapshot snapshot = tests::SnapshotBuilder()
                          .nodes(2, {.cores = 4})
                          .vm({.name = "a", .homes = {0, 1}, .vcpus = 4})
                          .vm({.name = "b", .homes = {0, 1}, .vcpus = 4})
                          .build();
  ASSERT_EQ(snapshot.clients.size(), 4U);
  waited(snapshot.clients[0], 60);
  waited(snapshot.clients[3], 60);
  const Options options;
  const auto imbalance = [&] {
    return LongTerm(Arrangement(snapshot, options, Arrangement::Basis::kDemand)).imbalance();
  };
  EXPECT_EQ(imbalance(), Permille{});
  waited(snapshot.clients[3], 0);
  EXPECT_EQ(imbalance(), Permille{300});
}

}  // namespace
}  // namespace vmnuma::balancer
