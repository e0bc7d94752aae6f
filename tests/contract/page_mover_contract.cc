// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/page_mover_contract.h"

#include <algorithm>
#include <cerrno>

#include <gmock/gmock.h>

namespace vmnuma::tests {

using migration::MemoryRange;
using migration::SharedPages;
using testing::AnyOf;
using testing::Contains;
using testing::Each;
using testing::Ge;
using testing::IsEmpty;

namespace {

constexpr NodeId kNoSuchNode{1000};
constexpr std::uint64_t kUnmapped = 0x1000;  // below vm.mmap_min_addr
constexpr Bytes kPopulated = kMiB * 8;

}  // namespace

std::vector<std::uint64_t> PageMoverContract::addresses(const MemoryProcess& process,
                                                        Bytes stride) {
  std::vector<std::uint64_t> found;
  for (Bytes offset; offset < process.populated; offset += stride) {
    found.push_back(process.start + static_cast<std::uint64_t>(offset.value));
  }
  return found;
}

NodeId PageMoverContract::node_of(const MemoryProcess& process) {
  const auto statuses = mover().query(process.process, std::vector{process.start});
  EXPECT_TRUE(statuses) << statuses.error().message;
  return NodeId{statuses ? statuses->at(0) : -1};
}

#define START_OR_SKIP(process, kind)                          \
  const auto process = host_->start(kind, kPopulated);        \
  if (!process) {                                             \
    GTEST_SKIP() << "this host gives no memory of this kind"; \
  }
#define OTHER_NODE_OR_SKIP(node, than)                    \
  const auto node = host_->node_other_than(than);         \
  if (!node) {                                            \
    GTEST_SKIP() << "this host has one node with memory"; \
  }

// ---- finding ----

TEST_P(PageMoverContract, ChecksARunningProcess) {
  START_OR_SKIP(process, MemoryKind::kSmall);
  const auto alive = mover().check(process->process);
  EXPECT_TRUE(alive) << alive.error().message;
}

TEST_P(PageMoverContract, FindsTheMappingAndItsPages) {
  START_OR_SKIP(process, MemoryKind::kSmall);
  const auto ranges = mover().find_ranges(process->process);
  ASSERT_TRUE(ranges) << ranges.error().message;
  const auto range = std::find_if(ranges->begin(), ranges->end(), [&](const MemoryRange& found) {
    return found.start <= process->start &&
           process->start < found.start + static_cast<std::uint64_t>(found.length.value);
  });
  ASSERT_NE(range, ranges->end());
  EXPECT_EQ(range->page_size, process->page_size);
  EXPECT_FALSE(range->hugetlb);
  EXPECT_FALSE(range->shared);
  EXPECT_EQ(range->policy, "");
  Bytes resident;
  for (const NodeBytes& part : range->resident) {
    resident += part.bytes;
  }
  EXPECT_GE(resident, process->populated);
}

TEST_P(PageMoverContract, RangesAscendAndHoldWhatIsResident) {
  START_OR_SKIP(process, MemoryKind::kSmall);
  const auto ranges = mover().find_ranges(process->process);
  ASSERT_TRUE(ranges) << ranges.error().message;
  std::uint64_t end = 0;
  for (const MemoryRange& range : *ranges) {
    EXPECT_GE(range.start, end);
    end = range.start + static_cast<std::uint64_t>(range.length.value);
    EXPECT_EQ(range.length.value % range.page_size.value, 0);
    Bytes resident;
    for (const NodeBytes& part : range.resident) {
      EXPECT_GT(part.bytes, Bytes{});
      resident += part.bytes;
    }
    EXPECT_LE(resident, range.length);
  }
}

TEST_P(PageMoverContract, TellsSharedMappings) {
  START_OR_SKIP(process, MemoryKind::kShared);
  const auto ranges = mover().find_ranges(process->process);
  ASSERT_TRUE(ranges) << ranges.error().message;
  EXPECT_TRUE(std::any_of(ranges->begin(), ranges->end(), [&](const MemoryRange& range) {
    return range.start == process->start && range.shared;
  }));
}

TEST_P(PageMoverContract, TellsHugetlbMappingsAndTheirPageSize) {
  START_OR_SKIP(process, MemoryKind::kHugetlb);
  const auto ranges = mover().find_ranges(process->process);
  ASSERT_TRUE(ranges) << ranges.error().message;
  EXPECT_TRUE(std::any_of(ranges->begin(), ranges->end(), [&](const MemoryRange& range) {
    return range.start == process->start && range.hugetlb && !range.shared &&
           range.page_size == process->huge_page_size && range.huge_page_size == Bytes{};
  }));
}

TEST_P(PageMoverContract, QueryTellsTheNodeOfEveryPage) {
  START_OR_SKIP(process, MemoryKind::kSmall);
  const auto statuses = mover().query(process->process, addresses(*process, process->page_size));
  ASSERT_TRUE(statuses) << statuses.error().message;
  EXPECT_EQ(statuses->size(),
            static_cast<std::size_t>(process->populated.value / process->page_size.value));
  EXPECT_THAT(*statuses, Each(Ge(0)));
}

TEST_P(PageMoverContract, QueryTellsThatThereIsNoPage) {
  START_OR_SKIP(process, MemoryKind::kSmall);
  const std::uint64_t hole =
      process->start + static_cast<std::uint64_t>(process->populated.value) + 4096;
  const auto statuses =
      mover().query(process->process, std::vector{process->start, hole, kUnmapped});
  ASSERT_TRUE(statuses) << statuses.error().message;
  EXPECT_GE(statuses->at(0), 0);
  EXPECT_THAT(statuses->at(1), AnyOf(-ENOENT, -EFAULT));
  EXPECT_THAT(statuses->at(2), AnyOf(-ENOENT, -EFAULT));
}

TEST_P(PageMoverContract, NothingAskedIsNothingAnswered) {
  START_OR_SKIP(process, MemoryKind::kSmall);
  const auto statuses = mover().query(process->process, {});
  ASSERT_TRUE(statuses) << statuses.error().message;
  EXPECT_THAT(*statuses, IsEmpty());
  const auto moved = mover().move(process->process, {}, node_of(*process), SharedPages::kLeave);
  ASSERT_TRUE(moved) << moved.error().message;
  EXPECT_EQ(moved->not_moved, 0);
}

TEST_P(PageMoverContract, RevealingWhatIsSeenOrIsNoHugePageChangesNothing) {
  START_OR_SKIP(process, MemoryKind::kHuge);
  const std::uint64_t hole = process->start + static_cast<std::uint64_t>(process->populated.value);
  const std::vector pages{process->start, hole, hole + 4096};
  const auto before = mover().query(process->process, pages);
  ASSERT_TRUE(before) << before.error().message;
  const auto one =
      mover().reveal(process->process, std::vector{process->start}, process->page_size);
  EXPECT_TRUE(one) << one.error().message;
  const auto blocks =
      mover().reveal(process->process, std::vector{process->start, hole}, process->huge_page_size);
  EXPECT_TRUE(blocks) << blocks.error().message;
  EXPECT_EQ(*mover().query(process->process, pages), *before);
}

// ---- moving ----

TEST_P(PageMoverContract, PagesThatAreThereStayThere) {
  START_OR_SKIP(process, MemoryKind::kSmall);
  const NodeId node = node_of(*process);
  const auto moved = mover().move(process->process, addresses(*process, process->page_size), node,
                                  SharedPages::kLeave);
  ASSERT_TRUE(moved) << moved.error().message;
  EXPECT_EQ(moved->not_moved, 0);
  EXPECT_THAT(moved->statuses, Each(node.value));
  EXPECT_GE(moved->elapsed, Microseconds{});
}

TEST_P(PageMoverContract, AMissingPageHasItsStatusAndTheOthersTheirs) {
  START_OR_SKIP(process, MemoryKind::kSmall);
  const NodeId node = node_of(*process);
  const auto moved =
      mover().move(process->process, std::vector{process->start, kUnmapped, process->start + 4096},
                   node, SharedPages::kLeave);
  ASSERT_TRUE(moved) << moved.error().message;
  EXPECT_EQ(moved->statuses.at(0), node.value);
  EXPECT_THAT(moved->statuses.at(1), AnyOf(-ENOENT, -EFAULT));
  EXPECT_EQ(moved->statuses.at(2), node.value);
}

TEST_P(PageMoverContract, MovesPagesToAnotherNode) {
  START_OR_SKIP(process, MemoryKind::kSmall);
  OTHER_NODE_OR_SKIP(other, node_of(*process));
  const auto pages = addresses(*process, process->page_size);
  const auto moved = mover().move(process->process, pages, *other, SharedPages::kLeave);
  ASSERT_TRUE(moved) << moved.error().message;
  EXPECT_EQ(moved->not_moved, 0);
  EXPECT_THAT(moved->statuses, Each(other->value));
  EXPECT_THAT(*mover().query(process->process, pages), Each(other->value));
}

TEST_P(PageMoverContract, OneAddressMovesAWholeHugePage) {
  START_OR_SKIP(process, MemoryKind::kHuge);
  OTHER_NODE_OR_SKIP(other, node_of(*process));
  const auto heads = addresses(*process, process->huge_page_size);
  const auto moved = mover().move(process->process, heads, *other, SharedPages::kLeave);
  ASSERT_TRUE(moved) << moved.error().message;
  EXPECT_EQ(moved->not_moved, 0);
  EXPECT_THAT(*mover().query(process->process, addresses(*process, process->page_size)),
              Each(other->value));
}

TEST_P(PageMoverContract, TheSecondAddressOfAHugePageIsBusyOrAlreadyThere) {
  START_OR_SKIP(process, MemoryKind::kHuge);
  OTHER_NODE_OR_SKIP(other, node_of(*process));
  const auto moved =
      mover().move(process->process, std::vector{process->start, process->start + 4096}, *other,
                   SharedPages::kLeave);
  ASSERT_TRUE(moved) << moved.error().message;
  EXPECT_EQ(moved->statuses.at(0), other->value);
  EXPECT_THAT(moved->statuses.at(1), AnyOf(-EBUSY, other->value));
}

TEST_P(PageMoverContract, SharedPagesMoveOnlyIfAsked) {
  START_OR_SKIP(process, MemoryKind::kShared);
  OTHER_NODE_OR_SKIP(other, node_of(*process));
  const auto pages = addresses(*process, process->page_size);
  const auto left = mover().move(process->process, pages, *other, SharedPages::kLeave);
  ASSERT_TRUE(left) << left.error().message;
  EXPECT_THAT(left->statuses, Each(-EACCES));
  const auto moved = mover().move(process->process, pages, *other, SharedPages::kMove);
  ASSERT_TRUE(moved) << moved.error().message;
  EXPECT_THAT(*mover().query(process->process, pages), Each(other->value));
}

TEST_P(PageMoverContract, OneAddressMovesAHugetlbPage) {
  START_OR_SKIP(process, MemoryKind::kHugetlb);
  OTHER_NODE_OR_SKIP(other, node_of(*process));
  const auto pages = addresses(*process, process->huge_page_size);
  const auto moved = mover().move(process->process, pages, *other, SharedPages::kLeave);
  ASSERT_TRUE(moved) << moved.error().message;
  EXPECT_EQ(moved->not_moved, 0);
  EXPECT_THAT(moved->statuses, Each(other->value));
  EXPECT_THAT(*mover().query(process->process, pages), Each(other->value));
}

// Linux 6.1 refuses, 6.12 moves.
TEST_P(PageMoverContract, AnAddressInsideAHugetlbPageIsRefusedOrMovesThePage) {
  START_OR_SKIP(process, MemoryKind::kHugetlb);
  const NodeId node = node_of(*process);
  OTHER_NODE_OR_SKIP(other, node);
  const auto moved = mover().move(process->process, std::vector{process->start + 4096}, *other,
                                  SharedPages::kLeave);
  ASSERT_TRUE(moved) << moved.error().message;
  const bool is_refused = moved->statuses == std::vector<int>{-EACCES};
  EXPECT_THAT(moved->statuses, Each(is_refused ? -EACCES : other->value));
  EXPECT_EQ(node_of(*process), is_refused ? node : *other);
}

TEST_P(PageMoverContract, LockedPagesMove) {
  START_OR_SKIP(process, MemoryKind::kLocked);
  OTHER_NODE_OR_SKIP(other, node_of(*process));
  const auto pages = addresses(*process, process->page_size);
  const auto moved = mover().move(process->process, pages, *other, SharedPages::kLeave);
  ASSERT_TRUE(moved) << moved.error().message;
  EXPECT_EQ(moved->not_moved, 0);
  EXPECT_THAT(*mover().query(process->process, pages), Each(other->value));
}

TEST_P(PageMoverContract, PinnedPagesStayAndTheOthersMove) {
  START_OR_SKIP(process, MemoryKind::kPinned);
  const NodeId node = node_of(*process);
  OTHER_NODE_OR_SKIP(other, node);
  const auto pages = addresses(*process, process->page_size);
  const std::size_t pinned = pages.size() / 2;
  const auto all = mover().move(process->process, pages, *other, SharedPages::kLeave);
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_GE(all->not_moved, static_cast<std::int64_t>(pinned));
  const auto rest =
      mover().move(process->process, std::span(pages).subspan(pinned), *other, SharedPages::kLeave);
  ASSERT_TRUE(rest) << rest.error().message;
  EXPECT_EQ(rest->not_moved, 0);
  EXPECT_THAT(*mover().query(process->process, std::span(pages).first(pinned)), Each(node.value));
  EXPECT_THAT(*mover().query(process->process, std::span(pages).subspan(pinned)),
              Each(other->value));
}

TEST_P(PageMoverContract, MergedPagesAreNotTornApart) {
  START_OR_SKIP(process, MemoryKind::kMerged);
  const NodeId node = node_of(*process);
  OTHER_NODE_OR_SKIP(other, node);
  const auto pages = addresses(*process, process->page_size);
  const auto moved = mover().move(process->process, pages, *other, SharedPages::kLeave);
  ASSERT_TRUE(moved) << moved.error().message;
  EXPECT_THAT(moved->statuses, Each(-EACCES));
  EXPECT_THAT(*mover().query(process->process, pages), Each(node.value));
}

TEST_P(PageMoverContract, ANodeThatRunsFullTakesAPartAndNoPageIsLost) {
  constexpr Bytes kRoom = kMiB * 64;
  const auto process = host_->start(MemoryKind::kSmall, kRoom * 4);
  ASSERT_TRUE(process);
  const NodeId node = node_of(*process);
  OTHER_NODE_OR_SKIP(other, node);
  if (!host_->leave_room(*other, kRoom)) {
    GTEST_SKIP() << "this host has no node that can be filled: one is too large, or lacks memory";
  }
  const auto pages = addresses(*process, process->page_size);
  const auto moved = mover().move(process->process, pages, *other, SharedPages::kLeave);
  if (moved) {
    EXPECT_GT(moved->not_moved, 0);
  } else {
    EXPECT_EQ(moved.error().code, ErrorCode::kNoSpace) << moved.error().message;
  }
  const auto at = mover().query(process->process, pages);
  ASSERT_TRUE(at) << at.error().message;
  EXPECT_THAT(*at, Each(AnyOf(node.value, other->value)));
  EXPECT_THAT(*at, Contains(node.value));
  EXPECT_THAT(*at, Contains(other->value));
}

TEST_P(PageMoverContract, ANodeOutsideTheCpusetIsRefusedAndNothingMoves) {
  START_OR_SKIP(process, MemoryKind::kSmall);
  const NodeId node = node_of(*process);
  OTHER_NODE_OR_SKIP(other, node);
  if (!host_->confine(*process, node)) {
    GTEST_SKIP() << "this host lets nobody make a cgroup with a cpuset";
  }
  const auto pages = addresses(*process, process->page_size);
  const auto moved = mover().move(process->process, pages, *other, SharedPages::kLeave);
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(moved.error().errno_value, EACCES);
  EXPECT_THAT(*mover().query(process->process, pages), Each(node.value));
}

TEST_P(PageMoverContract, AnUnknownNodeIsNotFound) {
  START_OR_SKIP(process, MemoryKind::kSmall);
  const auto moved = mover().move(process->process, addresses(*process, process->page_size),
                                  kNoSuchNode, SharedPages::kLeave);
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(moved.error().errno_value, ENODEV);
}

// ---- other processes ----

TEST_P(PageMoverContract, AProcessThatEndedHasVanished) {
  START_OR_SKIP(process, MemoryKind::kSmall);
  const NodeId node = node_of(*process);
  host_->end(*process);
  const std::vector pages{process->start};
  EXPECT_EQ(mover().check(process->process).error().code, ErrorCode::kVanished);
  EXPECT_EQ(mover().find_ranges(process->process).error().code, ErrorCode::kVanished);
  EXPECT_EQ(mover().query(process->process, pages).error().code, ErrorCode::kVanished);
  EXPECT_EQ(mover().reveal(process->process, pages, process->page_size).error().code,
            ErrorCode::kVanished);
  EXPECT_EQ(mover().move(process->process, pages, node, SharedPages::kLeave).error().code,
            ErrorCode::kVanished);
}

TEST_P(PageMoverContract, ALaterProcessWithThePidIsNotTheOne) {
  START_OR_SKIP(process, MemoryKind::kSmall);
  VmProcess earlier = process->process;
  earlier.start_time_ticks -= 1;
  const std::vector pages{process->start};
  EXPECT_EQ(mover().check(earlier).error().code, ErrorCode::kVanished);
  EXPECT_EQ(mover().find_ranges(earlier).error().code, ErrorCode::kVanished);
  EXPECT_EQ(mover().query(earlier, pages).error().code, ErrorCode::kVanished);
  EXPECT_EQ(mover().move(earlier, pages, NodeId{0}, SharedPages::kLeave).error().code,
            ErrorCode::kVanished);
}

// ---- nodes ----

TEST_P(PageMoverContract, ANodeHasNoMoreAvailableThanInAll) {
  START_OR_SKIP(process, MemoryKind::kSmall);
  const auto memory = mover().node_memory(node_of(*process));
  ASSERT_TRUE(memory) << memory.error().message;
  EXPECT_GT(memory->total, Bytes{});
  EXPECT_GE(memory->available, Bytes{});
  EXPECT_LE(memory->available, memory->total);
}

TEST_P(PageMoverContract, AnUnknownNodeHasNoMemory) {
  const auto memory = mover().node_memory(kNoSuchNode);
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().code, ErrorCode::kNotFound);
}

}  // namespace vmnuma::tests
