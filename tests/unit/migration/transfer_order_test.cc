// SPDX-License-Identifier: Apache-2.0
#include "migration/transfer_order.h"

#include <vector>

#include <gtest/gtest.h>

#include "tests/support/property.h"

namespace vmnuma::migration {
namespace {

/// Serves `turns` turns and counts how many each got.
std::vector<int> serve(std::vector<Contender> contenders, int turns) {
  std::vector<int> served(contenders.size());
  for (int turn = 1; turn <= turns; ++turn) {
    const std::size_t next = next_contender(contenders, turn);
    ++served[next];
    contenders[next].last_served = turn;
  }
  return served;
}

TEST(TransferOrderTest, TheMostUsefulPerByteGoesFirst) {
  const std::vector<Contender> contenders{{CpuTime{100}, kGiB * 10, 0}, {CpuTime{50}, kGiB, 0}};
  EXPECT_EQ(next_contender(contenders, 1), 1U);
}

TEST(TransferOrderTest, EveryFourthTurnGoesToTheLongestWaiting) {
  EXPECT_EQ(serve({{CpuTime{100}, kGiB, 0}, {CpuTime{1}, kGiB, 0}}, 400),
            (std::vector<int>{300, 100}));
}

TEST(TransferOrderTest, EqualOnesTakeTurns) {
  EXPECT_EQ(serve({{CpuTime{7}, kGiB, 0}, {CpuTime{7}, kGiB, 0}}, 10), (std::vector<int>{5, 5}));
}

RC_GTEST_PROP(TransferOrderTest, NoTransferStarves, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(1, 20);
  std::vector<Contender> contenders;
  for (std::size_t i = 0; i < count; ++i) {
    contenders.push_back({CpuTime{*rc::gen::inRange<std::int64_t>(-1000, std::int64_t{1} << 40)},
                          Bytes{*rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 43)}, 0});
  }
  for (const int turns : serve(contenders, static_cast<int>(count) * 4)) {
    RC_ASSERT(turns > 0);
  }
}

}  // namespace
}  // namespace vmnuma::migration
