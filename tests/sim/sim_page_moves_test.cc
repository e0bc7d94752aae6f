// SPDX-License-Identifier: Apache-2.0
/// The simulated host's page moves keep to the habits of move_pages(2).
#include <algorithm>
#include <cerrno>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/scenarios.h"
#include "tools/sim/host/sim_host.h"

namespace vmnuma::tools {
namespace {

using migration::kStatusNotWritten;
using migration::MoveResult;
using migration::SharedPages;
using testing::Each;
using testing::ElementsAre;

class SimPageMovesTest : public testing::Test {
 protected:
  void SetUp() override {
    host_ = std::make_unique<SimHost>(small_host(2), /*seed=*/1, /*prefer_ht=*/false, clock_);
    ScenarioVm vm = busy_vm("a", 1, 50);
    vm.memory_on = {{NodeId{0}, kGiB / 2}};
    vm_ = host_->start(vm);
    process_ = host_->sample(1, {}).vms[0].process;
    first_ = host_->kernel().find_ranges(process_).value().at(0).start;
  }
  /// The address of the n-th page.
  [[nodiscard]] std::uint64_t page(std::uint64_t n) const {
    return first_ + n * static_cast<std::uint64_t>(kSimPage.value);
  }
  [[nodiscard]] std::vector<std::uint64_t> pages(std::uint64_t from, std::uint64_t count) const {
    std::vector<std::uint64_t> addresses;
    for (std::uint64_t i = 0; i < count; ++i) {
      addresses.push_back(page(from + i));
    }
    return addresses;
  }
  Result<MoveResult> move(const std::vector<std::uint64_t>& addresses, std::int32_t node) {
    return host_->kernel().move(process_, addresses, NodeId{node}, SharedPages::kLeave);
  }
  std::vector<int> places(const std::vector<std::uint64_t>& addresses) {
    return host_->kernel().query(process_, addresses).value();
  }

  Microseconds clock_;
  std::unique_ptr<SimHost> host_;
  VmId vm_;
  VmProcess process_;
  std::uint64_t first_ = 0;
};

TEST_F(SimPageMovesTest, RangesTellWhereTheirPagesAre) {
  const auto ranges = host_->kernel().find_ranges(process_).value();
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_EQ(ranges[0].length, kGiB);
  EXPECT_EQ(ranges[0].page_size, kSimPage);
  EXPECT_FALSE(ranges[0].hugetlb);
  EXPECT_THAT(ranges[0].resident, ElementsAre(NodeBytes{NodeId{0}, kGiB / 2}));
}

TEST_F(SimPageMovesTest, MovesPagesAndSaysWhereTheyAre) {
  const auto moved = move(pages(0, 3), 1);
  ASSERT_TRUE(moved.has_value());
  EXPECT_EQ(moved->not_moved, 0);
  EXPECT_THAT(moved->statuses, ElementsAre(1, 1, 1));
  EXPECT_THAT(places(pages(0, 4)), ElementsAre(1, 1, 1, 0));
  EXPECT_GT(moved->elapsed, Microseconds{});
  EXPECT_EQ(clock_ > moved->elapsed, true);
  const auto moves = host_->take_moves();
  ASSERT_EQ(moves.size(), 1U);
  EXPECT_EQ(moves[0].moved, kSimPage * 3);
  EXPECT_EQ(host_->audit_memory(), std::nullopt);
}

TEST_F(SimPageMovesTest, AbsentPagesAndThoseAlreadyThereHaveTheirStatus) {
  const auto moved = move({page(0), page(300), page(1)}, 0);
  ASSERT_TRUE(moved.has_value());
  EXPECT_EQ(moved->not_moved, 0);
  EXPECT_THAT(moved->statuses, ElementsAre(0, -EFAULT, 0));
  EXPECT_THAT(places({page(511), page(512), 0, ~std::uint64_t{0}}), Each(-EFAULT));
}

TEST_F(SimPageMovesTest, PagesThatDoNotYieldEndTheCallAndLeaveStatusesUnwritten) {
  host_->set(vm_, &SimVm::pages_busy, true);
  bool seen_positive = false;
  bool seen_busy = false;
  bool seen_moved_without_status = false;
  for (std::uint64_t i = 0; i < 30; ++i) {
    const std::vector<std::uint64_t> chunk = pages(i * 8, 8);
    const auto moved = move(chunk, 1);
    ASSERT_TRUE(moved.has_value());
    const std::vector<int> now = places(chunk);
    const auto still_there = std::count(now.begin(), now.end(), 0);
    const auto busy = std::count(moved->statuses.begin(), moved->statuses.end(), -EBUSY);
    if (moved->not_moved == 0) {
      EXPECT_EQ(still_there, busy);  // every status is written and true
      EXPECT_EQ(std::count(moved->statuses.begin(), moved->statuses.end(), kStatusNotWritten), 0);
    } else {
      seen_positive = true;
      for (std::size_t page = 0; page < chunk.size(); ++page) {
        seen_moved_without_status = seen_moved_without_status ||
                                    (moved->statuses[page] == kStatusNotWritten && now[page] == 1);
      }
    }
    seen_busy = seen_busy || busy > 0;
  }
  EXPECT_TRUE(seen_positive);
  EXPECT_TRUE(seen_busy);
  EXPECT_TRUE(seen_moved_without_status);
  EXPECT_EQ(host_->audit_memory(), std::nullopt);
}

TEST_F(SimPageMovesTest, AFullNodeIsNoSpaceAndWhatFitHasMoved) {
  ScenarioVm filler = busy_vm("filler", 1, 0);
  filler.memory = kGiB * 8;
  filler.memory_on = {{NodeId{1}, kGiB * 8 - kSimPage * 2}};
  (void)host_->start(filler);
  const auto moved = move(pages(0, 3), 1);
  ASSERT_FALSE(moved.has_value());
  EXPECT_EQ(moved.error().code, ErrorCode::kNoSpace);
  EXPECT_THAT(places(pages(0, 3)), ElementsAre(1, 1, 0));
}

TEST_F(SimPageMovesTest, WhatWasToldToBeFreeCountsForAllMovesTogetherUntilTheNextReading) {
  const auto node = host_->kernel().node_memory(NodeId{1});
  ASSERT_TRUE(node.has_value());
  ASSERT_TRUE(move(pages(0, 3), 1).has_value());
  ASSERT_TRUE(move(pages(3, 2), 1).has_value());
  ASSERT_TRUE(host_->kernel().node_memory(NodeId{1}).has_value());
  ASSERT_TRUE(move(pages(5, 1), 1).has_value());
  std::vector<Bytes> told;
  for (const PageMove& made : host_->take_moves()) {
    told.push_back(made.free_told);
  }
  const Bytes before = node->available;
  EXPECT_THAT(told, ElementsAre(before, before - kSimPage * 3, before - kSimPage * 5));
}

TEST_F(SimPageMovesTest, ATargetOutsideTheCpusetIsRefusedBeforeAnythingMoves) {
  ASSERT_TRUE(
      host_->libvirt().change_memory_nodes({vm_}, {NodeId{0}}, migration::MemoryNodes::kSet));
  const auto moved = move(pages(0, 1), 1);
  ASSERT_FALSE(moved.has_value());
  EXPECT_EQ(moved.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(places(pages(0, 1)), ElementsAre(0));
}

TEST_F(SimPageMovesTest, NarrowingTheCpusetMovesWhatIsOutside) {
  const Microseconds before = clock_;
  ASSERT_TRUE(
      host_->libvirt().change_memory_nodes({vm_}, {NodeId{1}}, migration::MemoryNodes::kSet));
  EXPECT_THAT(places(pages(0, 256)), Each(1));
  EXPECT_GT(clock_ - before, Microseconds{256 * 200});
}

TEST_F(SimPageMovesTest, ANodeThatIsNotThereIsNotFound) {
  EXPECT_EQ(move(pages(0, 1), 7).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(host_->kernel().node_memory(NodeId{7}).error().code, ErrorCode::kNotFound);
}

TEST_F(SimPageMovesTest, ANodeTellsWhatIsFree) {
  const auto memory = host_->kernel().node_memory(NodeId{0}).value();
  EXPECT_EQ(memory.total, kGiB * 8);
  EXPECT_EQ(memory.available, kGiB * 7 + kGiB / 2);
}

TEST_F(SimPageMovesTest, AProcessThatEndedHasVanishedWhateverIsAsked) {
  host_->stop(vm_);
  EXPECT_EQ(host_->kernel().check(process_).error().code, ErrorCode::kVanished);
  EXPECT_EQ(host_->kernel().find_ranges(process_).error().code, ErrorCode::kVanished);
  EXPECT_EQ(host_->kernel().query(process_, pages(0, 1)).error().code, ErrorCode::kVanished);
  EXPECT_EQ(move(pages(0, 1), 1).error().code, ErrorCode::kVanished);
  EXPECT_EQ(host_->audit_memory(), std::nullopt);
}

}  // namespace
}  // namespace vmnuma::tools
