// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/host/sim_numa_scanner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::tools {
namespace {

constexpr CpuTime kCpuSecond{1'000'000};
constexpr std::int64_t kPortion = 128;  // simulated pages of 2 MiB
constexpr NodeIndex kHere = 0;
constexpr NodeIndex kThere = 1;
/// The VM runs and has memory on both nodes alike.
const std::vector<SimNumaScanner::Share> kEven{{1, 1}, {1, 1}};

/// All pages of a pass are used by the threads in turn, each on `to`; they are on `from`.
void pass(SimNumaScanner& scanner, std::int32_t threads, NodeIndex from, NodeIndex to) {
  std::int64_t turn = scanner.passes();  // not the same thread for a page in every pass
  for (std::int64_t page = scanner.next_page(); page >= 0; page = scanner.next_page()) {
    (void)scanner.fault(page, static_cast<std::int32_t>(turn++ % threads), from, to,
                        kEven);  // where it goes does not matter
  }
  (void)scanner.pages_due(CpuTime{}, kCpuSecond, kPortion);
}

std::int64_t due(SimNumaScanner& scanner, std::int64_t seconds, std::int64_t resident) {
  std::int64_t pages = 0;
  for (std::int64_t i = 0; i < seconds * 5; ++i) {
    pages += scanner.pages_due(kCpuSecond / 5, kCpuSecond, resident);
  }
  return pages;
}

TEST(SimNumaScannerTest, ASmallVmIsScannedOncePerSecond) {
  SimNumaScanner scanner(kPortion, 1);
  EXPECT_EQ(due(scanner, 10, kPortion), 10 * kPortion);
}

TEST(SimNumaScannerTest, ALargeOneTenTimesAsOftenAndThoseThatShareItTakeTurns) {
  SimNumaScanner one(kPortion * 32, 1);
  EXPECT_EQ(due(one, 10, kPortion * 32), (9 * 10 + 1) * kPortion);  // after a second, every 100 ms
  SimNumaScanner eleven(kPortion * 32, 11);
  EXPECT_EQ(due(eleven, 10, kPortion * 32), 10 * kPortion);
}

TEST(SimNumaScannerTest, AVmThatDoesNotRunIsNotScanned) {
  SimNumaScanner scanner(kPortion, 1);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(scanner.pages_due(kCpuSecond, CpuTime{}, kPortion), 0);
  }
}

TEST(SimNumaScannerTest, NearMemoryIsScannedEverMoreSlowlyAndFarMemoryFasterAgain) {
  SimNumaScanner scanner(kPortion, 4);
  (void)scanner.pages_due(kCpuSecond, kCpuSecond, kPortion);
  const std::int64_t shortest = scanner.period_ms();
  for (int i = 0; i < 40; ++i) {
    const std::int64_t before = scanner.period_ms();
    pass(scanner, 4, kHere, kHere);
    EXPECT_GE(scanner.period_ms(), before);
  }
  EXPECT_EQ(scanner.period_ms(), 60'000 * 3);  // three others share it
  pass(scanner, 4, kHere, kThere);
  EXPECT_LE(scanner.period_ms(), 60'000 * 3 * 7 / 10);
  for (int i = 0; i < 40; ++i) {
    pass(scanner, 4, kHere, kThere);
  }
  EXPECT_EQ(scanner.period_ms(), shortest);
}

TEST(SimNumaScannerTest, FailedMovesAndNoFaultsDoubleThePeriod) {
  SimNumaScanner scanner(kPortion, 2);
  (void)scanner.pages_due(kCpuSecond, kCpuSecond, kPortion);
  scanner.move_failed();
  pass(scanner, 2, kHere, kThere);
  EXPECT_EQ(scanner.period_ms(), 2'000);
}

TEST(SimNumaScannerTest, APageGoesToItsFirstUserAndNeverWithoutNeed) {
  SimNumaScanner scanner(kPortion, 2);
  EXPECT_TRUE(scanner.fault(0, 0, kHere, kThere, kEven));
  EXPECT_FALSE(scanner.fault(1, 0, kHere, kHere, kEven));
}

TEST(SimNumaScannerTest, APageThatTwoNodesUseInTurnStays) {
  SimNumaScanner scanner(kPortion, 2);
  for (int i = 0; i < 6; ++i) {
    pass(scanner, 2, kHere, kHere);
  }
  ASSERT_FALSE(scanner.fault(0, 0, kHere, kHere, kEven));
  EXPECT_FALSE(scanner.fault(0, 1, kHere, kThere, kEven));
  // The last user was there, too, but as much of the VM runs here.
  EXPECT_FALSE(scanner.fault(0, 2, kHere, kThere, kEven));
  // Nearly all of it runs there.
  EXPECT_TRUE(scanner.fault(0, 3, kHere, kThere, {{1, 1}, {4, 1}}));
}

}  // namespace
}  // namespace vmnuma::tools
