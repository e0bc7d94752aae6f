// SPDX-License-Identifier: Apache-2.0
#include "migration/transfer.h"

#include <algorithm>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_memory.h"
#include "tests/unit/migration/page_sizes.h"

namespace vmnuma::migration {
namespace {

using tests::FakeMemory;

/// A FakeMemory, some of whose calls fail or change the world just before.
class Meddler final : public PageMover {
 public:
  explicit Meddler(FakeMemory& memory) : memory_(memory) {}

  std::function<std::optional<Error>(const std::string& call)> before;

  Result<void> check(const VmProcess& process) override { return memory_.check(process); }
  Result<std::vector<MemoryRange>> find_ranges(const VmProcess& process) override {
    if (const auto error = meddle("find_ranges")) {
      return tl::unexpected(*error);
    }
    return memory_.find_ranges(process);
  }
  Result<std::vector<int>> query(const VmProcess& process,
                                 std::span<const std::uint64_t> addresses) override {
    if (const auto error = meddle("query")) {
      return tl::unexpected(*error);
    }
    return memory_.query(process, addresses);
  }
  Result<void> reveal(const VmProcess& process, std::span<const std::uint64_t> addresses,
                      Bytes unit) override {
    if (const auto error = meddle("reveal")) {
      return tl::unexpected(*error);
    }
    return memory_.reveal(process, addresses, unit);
  }
  Result<MoveResult> move(const VmProcess& process, std::span<const std::uint64_t> addresses,
                          NodeId node, SharedPages shared) override {
    if (const auto error = meddle("move")) {
      return tl::unexpected(*error);
    }
    return memory_.move(process, addresses, node, shared);
  }
  Result<NodeMemory> node_memory(NodeId node) override {
    if (const auto error = meddle("node_memory")) {
      return tl::unexpected(*error);
    }
    return memory_.node_memory(node);
  }

 private:
  std::optional<Error> meddle(const std::string& call) {
    return before ? before(call) : std::nullopt;
  }
  FakeMemory& memory_;
};

MemoryChange shared_out(std::vector<NodeQuota> quotas) {
  MemoryChange change;
  change.quotas = std::move(quotas);
  return change;
}

class TransferTest : public testing::Test {
 protected:
  static FakeMemory four_nodes(Bytes each) {
    return FakeMemory({{NodeId{0}, each, {{kBlock, 8}}},
                       {NodeId{1}, each, {{kBlock, 8}}},
                       {NodeId{2}, each, {}},
                       {NodeId{4}, each, {}}});
  }

  void map(std::uint64_t start, Bytes length) {
    memory_.map(process_, {.start = start,
                           .length = length,
                           .page_size = kPage,
                           .huge_page_size = kBlock,
                           .hugetlb = false,
                           .shared = false,
                           .policy = {},
                           .resident = {}});
  }
  /// Guest memory on node 0.
  void populate(Bytes length, bool huge) {
    map(kRangeStart, length);
    memory_.populate(process_, kRangeStart, length, NodeId{0}, huge);
  }

  /// Runs to the end, or until it waits for room. Time passes as calls and waits say.
  void run(Transfer& transfer) {
    for (int steps = 0; !transfer.finished() && !transfer.waits_for_room(); ++steps) {
      ASSERT_LT(steps, 100'000) << "it does not end";
      now_ = std::max(now_, transfer.ready_at());
      const Bytes moved_before = transfer.outcome().moved;
      const TransferStep step = transfer.step(mover_, limits_, now_, allowed_);
      EXPECT_EQ(transfer.outcome().moved - moved_before, step.moved);
      EXPECT_TRUE(memory_.consistent());
      now_ += step.elapsed;
    }
  }
  /// Brings everything to node 1.
  Outcome bring_home() {
    Transfer transfer(process_, shared_out({{NodeId{1}, kGiB}}), room_, {});
    run(transfer);
    EXPECT_TRUE(transfer.finished());
    error_ = transfer.error();
    return transfer.outcome();
  }
  [[nodiscard]] Bytes on(std::int32_t node) const {
    return memory_.bytes_on(process_, NodeId{node});
  }

  FakeMemory memory_ = four_nodes(kGiB);
  Meddler mover_{memory_};
  VmProcess process_ = memory_.start_process();
  Limits limits_;
  RoomBook room_;
  Bytes allowed_ = kGiB;
  Microseconds now_{1'000'000};
  std::optional<Error> error_;
};

// ---- what is moved ----

TEST_F(TransferTest, TheHugePagesOfEachArchitectureMoveWhole) {
  constexpr Bytes kPages[][2] = {{kPage, kBlock},
                                 {kKiB * 16, kMiB * 32},    // arm64
                                 {kKiB * 64, kMiB * 512}};  // arm64
  for (const auto& [page, block] : kPages) {
    memory_ = four_nodes(kGiB * 2);
    process_ = memory_.start_process();
    memory_.map(process_, {.start = kRangeStart,
                           .length = block * 3,
                           .page_size = page,
                           .huge_page_size = block,
                           .hugetlb = false,
                           .shared = false,
                           .policy = {},
                           .resident = {}});
    memory_.populate(process_, kRangeStart, block * 3, NodeId{0}, /*huge=*/true);
    const Outcome outcome = bring_home();
    EXPECT_EQ(outcome.moved, block * 3);
    EXPECT_LE(outcome.calls, 3) << block.value;
  }
}

TEST_F(TransferTest, BringsSmallPagesHome) {
  populate(kMiB * 40, /*huge=*/false);
  const Outcome outcome = bring_home();
  EXPECT_EQ(on(1), kMiB * 40);
  EXPECT_EQ(outcome.moved, kMiB * 40);
  EXPECT_EQ(outcome.left, Bytes{});
  EXPECT_EQ(outcome.unmovable(), Bytes{});
}

TEST_F(TransferTest, BringsHugePagesHomeWithOneAddressEach) {
  populate(kMiB * 40, /*huge=*/true);
  const Outcome outcome = bring_home();
  EXPECT_EQ(on(1), kMiB * 40);
  EXPECT_EQ(outcome.moved, kMiB * 40);
  std::size_t addresses = 0;
  for (const FakeMemory::Call& call : memory_.moves()) {
    addresses += call.addresses.size();
  }
  EXPECT_EQ(addresses, 20U);
}

TEST_F(TransferTest, BringsAMixtureHome) {
  map(kRangeStart + 4096, kMiB * 40);
  for (std::uint64_t block = 1; block < 20; ++block) {
    memory_.populate(process_, kRangeStart + block * 2097152, kBlock, NodeId{0}, block % 3 == 0);
  }
  memory_.populate(process_, kRangeStart + 4096, kMiB, NodeId{2}, false);
  EXPECT_EQ(bring_home().left, Bytes{});
  EXPECT_EQ(on(1), kBlock * 19 + kMiB);
}

TEST_F(TransferTest, BringsHugetlbPagesHomeFromPoolToPool) {
  memory_.map(process_, {.start = kRangeStart,
                         .length = kBlock * 4,
                         .page_size = kBlock,
                         .huge_page_size = {},
                         .hugetlb = true,
                         .shared = true,
                         .policy = {},
                         .resident = {}});
  memory_.populate(process_, kRangeStart, kBlock * 4, NodeId{0}, false);
  EXPECT_EQ(bring_home().moved, kBlock * 4);
  EXPECT_EQ(on(1), kBlock * 4);
}

TEST_F(TransferTest, BringsPagesHomeThatNumaBalancingHasHidden) {
  populate(kMiB * 40, /*huge=*/false);
  memory_.hide(process_, kRangeStart + 4096 * 100, kMiB * 20);
  EXPECT_EQ(bring_home().left, Bytes{});
  EXPECT_EQ(on(1), kMiB * 40);
}

TEST_F(TransferTest, BringsHiddenHugePagesHome) {
  populate(kMiB * 40, /*huge=*/true);
  memory_.hide(process_, kRangeStart, kMiB * 20);
  EXPECT_EQ(bring_home().left, Bytes{});
  EXPECT_EQ(on(1), kMiB * 40);
}

TEST_F(TransferTest, BringsHiddenHugePagesHomeWithoutTouchingHoles) {
  map(kRangeStart, kMiB * 400);
  memory_.populate(process_, kRangeStart + 33554432, kMiB * 40, NodeId{0}, true);
  memory_.populate(process_, kRangeStart + 134217728, kMiB * 3, NodeId{0}, false);
  memory_.hide(process_, kRangeStart, kMiB * 400);
  EXPECT_EQ(bring_home().left, Bytes{});
  EXPECT_EQ(on(1), kMiB * 43);
  EXPECT_EQ(memory_.holes_touched(), 0);
}

TEST_F(TransferTest, LooksOnceWhereNothingIsHidden) {
  populate(kMiB * 400, /*huge=*/true);
  EXPECT_EQ(bring_home().left, Bytes{});
  // A window of 8 MiB, 7 of 64 MiB, and one question after each of the calls that moved.
  EXPECT_EQ(memory_.queries(), 8 + static_cast<std::int64_t>(memory_.moves().size()));
}

TEST_F(TransferTest, AsksOnlyForTheEndsOfBlocksOnceTheyAreHugePages) {
  populate(kMiB * 400, /*huge=*/true);
  EXPECT_EQ(bring_home().left, Bytes{});
  // The first window's pages, two of each block after it, and two after each move of a block.
  EXPECT_EQ(memory_.addresses_asked(), 2048 + 2 * (200 - 4) + 2 * 200);
}

TEST_F(TransferTest, AsksForEveryPageOfABlockThatOnlyLooksHuge) {
  map(kRangeStart, kMiB * 64);
  memory_.populate(process_, kRangeStart, kMiB * 32, NodeId{0}, /*huge=*/true);
  // Both ends on node 0, and between them pages that are at home, elsewhere, or not there.
  memory_.populate(process_, kRangeStart + 33554432, kPage, NodeId{0}, false);
  memory_.populate(process_, kRangeStart + 33554432 + 4096, kPage * 100, NodeId{1}, false);
  memory_.populate(process_, kRangeStart + 33554432 + 4096 * 300, kPage * 212, NodeId{0}, false);
  // Both ends at home, and between them pages that are not.
  memory_.populate(process_, kRangeStart + 35651584, kPage, NodeId{1}, false);
  memory_.populate(process_, kRangeStart + 35651584 + 4096, kPage * 510, NodeId{2}, false);
  memory_.populate(process_, kRangeStart + 35651584 + 4096 * 511, kPage, NodeId{1}, false);
  const Outcome outcome = bring_home();
  EXPECT_EQ(outcome.left, Bytes{});
  EXPECT_EQ(outcome.already_home, kPage * 102);
  EXPECT_EQ(outcome.moved, kMiB * 32 + kPage * (213 + 510));
  EXPECT_EQ(outcome.absent, Bytes{});
}

TEST_F(TransferTest, AsksForSomePagesOnlyWhereAMappingOfSmallPagesIsAllOnOneNode) {
  populate(kMiB * 400, /*huge=*/false);
  const Outcome outcome = bring_home();
  EXPECT_EQ(outcome.moved, kMiB * 400);
  EXPECT_EQ(on(1), kMiB * 400);
  EXPECT_LT(memory_.addresses_asked(), 400 * 256 / 5);
}

TEST_F(TransferTest, AsksForNoHolesBehindTheLastPageOfAMapping) {
  map(kRangeStart, kMiB * 1024);
  memory_.populate(process_, kRangeStart, kMiB * 3, NodeId{0}, false);
  memory_.populate(process_, kRangeStart + 4194304, kMiB * 20, NodeId{0}, true);
  EXPECT_EQ(bring_home().moved, kMiB * 23);
  EXPECT_LT(memory_.addresses_asked(), 100 * 256);
}

TEST_F(TransferTest, AsksForEveryPageWhereSomeOfAMappingAreElsewhere) {
  populate(kMiB * 400, /*huge=*/false);
  memory_.discard(process_, kRangeStart + 41943040, kPage);
  memory_.populate(process_, kRangeStart + 41943040, kPage, NodeId{2}, false);
  EXPECT_EQ(bring_home().moved, kMiB * 400);
  EXPECT_GE(memory_.addresses_asked(), 400 * 256);
}

TEST_F(TransferTest, AsksForEveryPageOfAWindowOfWhichSomeAreNoMoreWhereTheyWere) {
  populate(kMiB * 128, /*huge=*/false);
  mover_.before = [this](const std::string& call) -> std::optional<Error> {
    if (call == "move" && memory_.moves().empty()) {
      memory_.discard(process_, kRangeStart + 33554432, kMiB * 4);
      memory_.populate(process_, kRangeStart + 33554432, kMiB * 4, NodeId{1}, false);
    }
    return std::nullopt;
  };
  const Outcome outcome = bring_home();
  EXPECT_EQ(outcome.moved, kMiB * 124);
  EXPECT_EQ(outcome.left, Bytes{});
}

TEST_F(TransferTest, PagesThatDoNotArriveAreAskedAboutWhateverSpokeForThem) {
  populate(kMiB * 128, /*huge=*/false);
  memory_.pin(process_, kRangeStart + 67108864 + 4096, kPage * 5);
  memory_.make_busy(process_, kRangeStart + 16777216, kPage * 7, 1, /*at_queueing=*/true);
  mover_.before = [this](const std::string& call) -> std::optional<Error> {
    if (call == "move" && memory_.moves().empty()) {
      memory_.discard(process_, kRangeStart + 33554432 + 4096 * 3, kPage * 9);
    }
    return std::nullopt;
  };
  const Outcome outcome = bring_home();
  EXPECT_EQ(outcome.moved, kMiB * 128 - kPage * (5 + 9));
  EXPECT_EQ(outcome.left_because(Leftover::kPinned), kPage * 5);
  EXPECT_EQ(outcome.left, kPage * 5);
}

TEST_F(TransferTest, HiddenSharedPagesAreRevealedOnlyWhereThereIsNoHole) {
  for (const bool full : {true, false}) {
    memory_ = four_nodes(kGiB);
    process_ = memory_.start_process();
    memory_.map(process_, {.start = kRangeStart,
                           .length = kMiB * 4,
                           .page_size = kPage,
                           .huge_page_size = {},
                           .hugetlb = false,
                           .shared = true,
                           .policy = {},
                           .resident = {}});
    memory_.populate(process_, kRangeStart, full ? kMiB * 4 : kMiB * 3, NodeId{0}, false);
    memory_.hide(process_, kRangeStart, kMiB);
    const Outcome outcome = bring_home();
    EXPECT_EQ(outcome.left, full ? Bytes{} : kMiB);
    EXPECT_EQ(outcome.left_because(Leftover::kUnseen), outcome.left);
    EXPECT_EQ(memory_.holes_touched(), 0);
  }
}

TEST_F(TransferTest, FindsPagesAgainThatAreHiddenWhileTheyAreMoved) {
  for (const bool huge : {false, true}) {
    memory_ = four_nodes(kGiB);
    process_ = memory_.start_process();
    populate(kMiB * 40, huge);
    int hidings = 3;
    mover_.before = [&](const std::string& call) -> std::optional<Error> {
      if (call == "move" && hidings-- > 0) {
        memory_.hide(process_, kRangeStart, kMiB * 40);
      }
      return std::nullopt;
    };
    const Outcome outcome = bring_home();
    EXPECT_EQ(outcome.left, Bytes{});
    EXPECT_EQ(outcome.absent, Bytes{});
    EXPECT_EQ(on(1), kMiB * 40);
  }
}

TEST_F(TransferTest, CountsWhatCameElsewhereMeanwhileAsUnseen) {
  populate(kMiB * 64, /*huge=*/false);
  bool first = true;
  mover_.before = [&](const std::string& call) -> std::optional<Error> {
    if (call == "move" && std::exchange(first, false)) {
      memory_.map(process_, {.start = kRangeStart + 1'073'741'824,
                             .length = kPage * 4,
                             .page_size = kPage,
                             .huge_page_size = {},
                             .hugetlb = false,
                             .shared = false,
                             .policy = {},
                             .resident = {}});
      memory_.populate(process_, kRangeStart + 1'073'741'824, kPage * 4, NodeId{0}, false);
    }
    return std::nullopt;
  };
  const Outcome outcome = bring_home();
  EXPECT_EQ(outcome.left, kPage * 4);  // too little for another pass
  EXPECT_EQ(outcome.left_because(Leftover::kUnseen), kPage * 4);
}

TEST_F(TransferTest, LeavesWhatIsHomeAlone) {
  map(kRangeStart, kMiB * 40);
  memory_.populate(process_, kRangeStart, kMiB * 40, NodeId{1}, true);
  const Outcome outcome = bring_home();
  EXPECT_EQ(outcome.already_home, kMiB * 40);
  EXPECT_EQ(outcome.calls, 0);
  EXPECT_TRUE(memory_.moves().empty());
}

TEST_F(TransferTest, SubmitsOnlyPagesThatMustMoveAndOneTargetACall) {
  map(kRangeStart, kMiB * 8);
  for (std::uint64_t page = 0; page < 2048; ++page) {
    memory_.populate(process_, kRangeStart + page * 4096, kPage, NodeId{static_cast<int>(page % 2)},
                     false);
  }
  EXPECT_EQ(bring_home().moved, kMiB * 4);
  for (const FakeMemory::Call& call : memory_.moves()) {
    EXPECT_EQ(call.node, NodeId{1});
    for (const std::uint64_t address : call.addresses) {
      EXPECT_EQ((address - kRangeStart) / 4096 % 2, 0U);
    }
  }
}

TEST_F(TransferTest, AProcessWithoutMemoryIsDoneAtOnce) {
  const Outcome outcome = bring_home();
  EXPECT_EQ(outcome, Outcome{});
  EXPECT_EQ(memory_.queries(), 0);
}

TEST_F(TransferTest, AMappingWithItsOwnPolicyIsLeftAndSaidSo) {
  memory_.map(process_, {.start = kRangeStart,
                         .length = kMiB * 4,
                         .page_size = kPage,
                         .huge_page_size = kBlock,
                         .hugetlb = false,
                         .shared = false,
                         .policy = "bind:0",
                         .resident = {}});
  memory_.populate(process_, kRangeStart, kMiB * 4, NodeId{0}, false);
  const Outcome outcome = bring_home();
  EXPECT_EQ(outcome.left_because(Leftover::kPolicy), kMiB * 4);
  EXPECT_EQ(outcome.left, kMiB * 4);
  EXPECT_EQ(on(0), kMiB * 4);
}

TEST_F(TransferTest, SharedMappingsAreMovedWithAllTheirMappers) {
  memory_.map(process_, {.start = kRangeStart,
                         .length = kMiB * 4,
                         .page_size = kPage,
                         .huge_page_size = {},
                         .hugetlb = false,
                         .shared = true,
                         .policy = {},
                         .resident = {}});
  memory_.populate(process_, kRangeStart, kMiB * 4, NodeId{0}, false);
  memory_.share(process_, kRangeStart, kMiB * 4);
  EXPECT_EQ(bring_home().left, Bytes{});
  EXPECT_EQ(memory_.moves().front().shared, SharedPages::kMove);
}

TEST_F(TransferTest, PagesOfPrivateMemoryThatAreSharedStayAndAreCounted) {
  populate(kMiB * 8, /*huge=*/false);
  memory_.share(process_, kRangeStart + 4096 * 5, kPage * 3);
  const Outcome outcome = bring_home();
  EXPECT_EQ(outcome.left_because(Leftover::kShared), kPage * 3);
  EXPECT_EQ(outcome.left, kPage * 3);
  EXPECT_EQ(outcome.moved, kMiB * 8 - kPage * 3);
}

// ---- how pages fail ----

TEST_F(TransferTest, RequeriesAfterAPositiveReturnAndMovesTheRest) {
  populate(kMiB * 8, /*huge=*/false);
  memory_.make_busy(process_, kRangeStart + 4096 * 100, kPage * 50, 2, /*at_queueing=*/false);
  const Outcome outcome = bring_home();
  EXPECT_EQ(outcome.moved, kMiB * 8);
  EXPECT_EQ(outcome.unmovable(), Bytes{});
}

TEST_F(TransferTest, RetriesPagesThatCouldNotBeQueued) {
  populate(kMiB * 8, /*huge=*/false);
  memory_.make_busy(process_, kRangeStart, kMiB, 3, /*at_queueing=*/true);
  const Outcome outcome = bring_home();
  EXPECT_EQ(outcome.moved, kMiB * 8);
}

TEST_F(TransferTest, GivesUpOnBusyPagesAfterThreeRounds) {
  populate(kMiB * 8, /*huge=*/false);
  memory_.make_busy(process_, kRangeStart, kPage * 10, 200, /*at_queueing=*/true);
  const Outcome outcome = bring_home();
  EXPECT_EQ(outcome.left_because(Leftover::kBusy), kPage * 10);
  EXPECT_EQ(outcome.left, kPage * 10);
}

TEST_F(TransferTest, PinnedPagesAmongOthersAreLeftAndTheOthersMove) {
  populate(kMiB * 32, /*huge=*/false);
  for (std::uint64_t page = 0; page < 8192; page += 64) {
    memory_.pin(process_, kRangeStart + page * 4096, kPage);
  }
  const Outcome outcome = bring_home();
  EXPECT_EQ(outcome.left_because(Leftover::kPinned), kPage * 128);
  EXPECT_EQ(outcome.left, kPage * 128);
  EXPECT_EQ(on(1), kMiB * 32 - kPage * 128);
}

TEST_F(TransferTest, PinnedHugePagesAreLeftWholeAndTheOthersMove) {
  populate(kMiB * 32, /*huge=*/true);
  memory_.pin(process_, kRangeStart + 3 * 2097152, kBlock);
  const Outcome outcome = bring_home();
  // Its second page is already queued with the first, which the kernel calls busy.
  EXPECT_EQ(outcome.left_because(Leftover::kPinned), kBlock - kPage);
  EXPECT_EQ(outcome.left_because(Leftover::kBusy), kPage);
  EXPECT_EQ(outcome.left, kBlock);
}

TEST_F(TransferTest, AFullyPinnedRangeIsGivenUpAfterAFewCalls) {
  populate(kMiB * 512, /*huge=*/false);
  memory_.pin(process_, kRangeStart, kMiB * 512);
  const Outcome outcome = bring_home();
  EXPECT_EQ(outcome.left_because(Leftover::kPinned), kMiB * 512);
  EXPECT_EQ(outcome.moved, Bytes{});
  EXPECT_LT(outcome.calls, 20);
}

TEST_F(TransferTest, AHugePageWhoseFirstPageIsPinnedKeepsNoOtherPageBack) {
  populate(kMiB * 8, /*huge=*/false);
  memory_.pin(process_, kRangeStart + 2097152, kPage);
  const Outcome outcome = bring_home();
  EXPECT_EQ(outcome.left_because(Leftover::kPinned), kPage);
  EXPECT_EQ(outcome.moved, kMiB * 8 - kPage);
}

TEST_F(TransferTest, PagesGivenBackMeanwhileAreAbsent) {
  populate(kMiB * 4, /*huge=*/false);
  mover_.before = [this](const std::string& call) -> std::optional<Error> {
    if (call == "move" && memory_.moves().size() == 1) {
      memory_.discard(process_, kRangeStart + 4096 * 8, kPage * 4);
    }
    return std::nullopt;
  };
  const Outcome outcome = bring_home();
  EXPECT_EQ(outcome.absent, kPage * 4);
  EXPECT_EQ(outcome.left, Bytes{});
}

TEST_F(TransferTest, PagesThatAppearElsewhereMeanwhileAreBroughtHomeInAnotherPass) {
  map(kRangeStart, kMiB * 64);
  memory_.populate(process_, kRangeStart + 33554432, kMiB * 32, NodeId{0}, false);
  mover_.before = [this](const std::string& call) -> std::optional<Error> {
    if (call == "move") {
      memory_.populate(process_, kRangeStart, kMiB * 32, NodeId{2}, false);
    }
    return std::nullopt;
  };
  EXPECT_EQ(bring_home().left, Bytes{});
  EXPECT_EQ(on(1), kMiB * 64);
}

TEST_F(TransferTest, StopsAfterThreePassesHoweverMuchAppears) {
  map(kRangeStart, kGiB);
  memory_.populate(process_, kRangeStart, kMiB * 16, NodeId{0}, false);
  std::uint64_t next = kRangeStart + 16777216;
  mover_.before = [&](const std::string& call) -> std::optional<Error> {
    if (call == "find_ranges") {
      memory_.populate(process_, next, kMiB * 16, NodeId{2}, false);
      next += 16777216;
    }
    return std::nullopt;
  };
  const Outcome outcome = bring_home();
  EXPECT_EQ(outcome.left, kMiB * 16);
  EXPECT_EQ(on(2), kMiB * 16);
}

// ---- room ----

TEST_F(TransferTest, StopsBeforeTheTargetFallsBelowItsReserve) {
  populate(kMiB * 64, /*huge=*/true);
  limits_.node_reserve = Permille{100};
  const Bytes reserve = kGiB / 1000 * 100;
  memory_.set_used_by_others(NodeId{1}, kGiB - reserve - kMiB * 20);
  Transfer transfer(process_, shared_out({{NodeId{1}, kGiB}}), room_, {});
  run(transfer);
  EXPECT_TRUE(transfer.waits_for_room());
  EXPECT_EQ(on(1), kMiB * 20);
  transfer.give_up_room(now_);
  run(transfer);
  EXPECT_EQ(transfer.outcome().left_because(Leftover::kNoRoom), kMiB * 44);
  EXPECT_EQ(transfer.outcome().left, kMiB * 44);
}

TEST_F(TransferTest, GoesOnWhenRoomIsMade) {
  populate(kMiB * 64, /*huge=*/true);
  memory_.set_used_by_others(NodeId{1}, kGiB);
  Transfer transfer(process_, shared_out({{NodeId{1}, kGiB}}), room_, {});
  run(transfer);
  ASSERT_TRUE(transfer.waits_for_room());
  EXPECT_EQ(on(1), Bytes{});
  memory_.set_used_by_others(NodeId{1}, {});
  transfer.retry_room(now_);
  run(transfer);
  EXPECT_TRUE(transfer.finished());
  EXPECT_EQ(on(1), kMiB * 64);
}

TEST_F(TransferTest, CountsPagesThatAHugePageTookAlongIntoTheLastRoom) {
  map(kRangeStart, kLargestChunk * 2);
  // The first window teaches that blocks are of small pages, and so the huge one of the second is
  // taken for small pages, too: the first of them takes all the room that was left.
  const std::uint64_t second_window = kRangeStart + static_cast<std::uint64_t>(kLargestChunk.value);
  memory_.populate(process_, kRangeStart, kBlock, NodeId{0}, /*huge=*/false);
  memory_.populate(process_, second_window, kBlock, NodeId{0}, /*huge=*/true);
  limits_.node_reserve = Permille{0};
  allowed_ = kKiB * 256;
  memory_.set_used_by_others(NodeId{1}, kGiB - kBlock * 2);
  Transfer transfer(process_, shared_out({{NodeId{1}, kGiB}}), room_, {});
  run(transfer);
  ASSERT_TRUE(transfer.waits_for_room());
  transfer.give_up_room(now_);
  run(transfer);
  EXPECT_EQ(on(1), kBlock * 2);
  EXPECT_EQ(transfer.outcome().moved, kBlock * 2);
  EXPECT_EQ(transfer.outcome().unmovable(), Bytes{});
}

TEST_F(TransferTest, ANodeThatRunsFullDuringACallLosesNoPage) {
  populate(kMiB * 64, /*huge=*/false);
  limits_.node_reserve = Permille{0};
  bool full = false;
  mover_.before = [&](const std::string& call) -> std::optional<Error> {
    if (call == "move" && memory_.bytes_on(process_, NodeId{1}) >= kMiB * 8 && !full) {
      full = true;
      memory_.set_used_by_others(NodeId{1}, kGiB - memory_.bytes_on(NodeId{1}) - kMiB);
    }
    return std::nullopt;
  };
  Transfer transfer(process_, shared_out({{NodeId{1}, kGiB}}), room_, {});
  run(transfer);
  ASSERT_TRUE(full);
  ASSERT_TRUE(transfer.waits_for_room());
  EXPECT_EQ(transfer.outcome().moved, on(1));
  memory_.set_used_by_others(NodeId{1}, {});
  transfer.retry_room(now_);
  run(transfer);
  EXPECT_EQ(on(1), kMiB * 64);
  EXPECT_EQ(transfer.outcome().moved, kMiB * 64);
}

TEST_F(TransferTest, AnEmptyHugePagePoolKeepsNoOrdinaryPagesBack) {
  memory_.map(process_, {.start = kRangeStart,
                         .length = kBlock * 16,
                         .page_size = kBlock,
                         .huge_page_size = {},
                         .hugetlb = true,
                         .shared = false,
                         .policy = {},
                         .resident = {}});
  memory_.populate(process_, kRangeStart, kBlock * 8, NodeId{0}, false);
  map(kRangeStart + (std::uint64_t{1} << 30U), kMiB);
  memory_.populate(process_, kRangeStart + (std::uint64_t{1} << 30U), kMiB, NodeId{0}, false);
  const VmProcess other = memory_.start_process();
  memory_.map(other, {.start = kRangeStart,
                      .length = kBlock * 6,
                      .page_size = kBlock,
                      .huge_page_size = {},
                      .hugetlb = true,
                      .shared = false,
                      .policy = {},
                      .resident = {}});
  memory_.populate(other, kRangeStart, kBlock * 6, NodeId{1}, false);
  Transfer transfer(process_, shared_out({{NodeId{1}, kGiB}}), room_, {});
  run(transfer);
  ASSERT_TRUE(transfer.waits_for_room());
  transfer.give_up_room(now_);
  run(transfer);
  EXPECT_EQ(transfer.outcome().left_because(Leftover::kNoRoom), kBlock * 6);
  EXPECT_EQ(on(1), kBlock * 2 + kMiB);
}

// ---- chunks ----

TEST_F(TransferTest, AsksForNoMoreThanAChunkAndMovesNoMoreThanAllowed) {
  populate(kMiB * 64, /*huge=*/false);
  allowed_ = kMiB;
  Transfer transfer(process_, shared_out({{NodeId{1}, kGiB}}), room_, {});
  while (!transfer.finished()) {
    EXPECT_LE(transfer.wants(), kLargestChunk);
    const TransferStep step = transfer.step(mover_, limits_, now_, allowed_);
    EXPECT_LE(step.moved, kMiB);
  }
  EXPECT_EQ(on(1), kMiB * 64);
}

TEST_F(TransferTest, ChunksFollowTheTargetStall) {
  populate(kMiB * 256, /*huge=*/false);
  memory_.set_cost({.call = Microseconds{100}, .page = Microseconds{5}, .huge_page = {}});
  const Outcome outcome = bring_home();
  // 5 ms less 100 us of call at 5 us a page are 980 pages: above that a call stalls. Only the few
  // calls that find this out may.
  EXPECT_LT(outcome.stalls, 8);
  std::size_t largest = 0;
  for (const FakeMemory::Call& call : memory_.moves()) {
    largest = std::max(largest, call.addresses.size());
  }
  EXPECT_GE(largest, 900U);
  EXPECT_LE(largest, 1100U);
}

TEST_F(TransferTest, ChunksOfHugePagesGrowToo) {
  populate(kMiB * 248, /*huge=*/true);
  memory_.set_cost({.call = Microseconds{100}, .page = {}, .huge_page = Microseconds{200}});
  bring_home();
  // 5 ms less 100 us of call at 200 us a block.
  EXPECT_EQ(memory_.moves().back().addresses.size(), 24U);
}

TEST_F(TransferTest, SmallPagesAreNotTakenForHugeOnesForLong) {
  populate(kMiB * 512, /*huge=*/false);
  bring_home();
  // 32 windows; looked for huge pages in the 1st, 3rd, 6th, 11th and 20th only, at 8 addresses.
  const auto probes =
      std::count_if(memory_.moves().begin(), memory_.moves().end(),
                    [](const FakeMemory::Call& call) { return call.addresses.size() == 1; });
  EXPECT_LE(probes, 5 * 8);
  EXPECT_EQ(on(1), kMiB * 512);
}

// ---- several homes ----

TEST_F(TransferTest, SharesAWideVmOutInTheProportionOfItsQuotas) {
  populate(kMiB * 64, /*huge=*/true);
  Transfer transfer(process_, shared_out({{NodeId{1}, kGiB}, {NodeId{2}, kGiB * 3}}), room_, {});
  run(transfer);
  EXPECT_EQ(on(0), Bytes{});
  EXPECT_NEAR(static_cast<double>(on(1).value), static_cast<double>((kMiB * 16).value),
              static_cast<double>((kMiB * 2).value));
  EXPECT_EQ(on(1) + on(2), kMiB * 64);
}

TEST_F(TransferTest, AHomeInSurplusGivesToTheOther) {
  populate(kMiB * 64, /*huge=*/false);
  Transfer transfer(process_, shared_out({{NodeId{0}, kGiB}, {NodeId{1}, kGiB}}), room_, {});
  run(transfer);
  // Half each, but for the slack of 1/64 that may stay.
  EXPECT_EQ(on(0), kMiB * 33);
  EXPECT_EQ(on(1), kMiB * 31);
  EXPECT_EQ(transfer.outcome().left, Bytes{});
}

TEST_F(TransferTest, WhatOneHomeCannotTakeGoesToTheOther) {
  populate(kMiB * 64, /*huge=*/true);
  memory_.set_used_by_others(NodeId{1}, kGiB);
  Transfer transfer(process_, shared_out({{NodeId{1}, kGiB}, {NodeId{2}, kGiB}}), room_, {});
  run(transfer);
  ASSERT_TRUE(transfer.waits_for_room() || transfer.finished());
  EXPECT_EQ(on(2), kMiB * 64);
}

// ---- guest NUMA cells ----

class CellsTest : public TransferTest {
 protected:
  static constexpr std::uint64_t kSecondCell = kRangeStart;
  static constexpr std::uint64_t kFirstCell = kRangeStart + (kMiB * 64).value;

  /// Two cells of 32 MiB, mapped one below the other as QEMU does, and QEMU's own memory.
  void map_cells() {
    map(kSecondCell, kMiB * 32);
    map(kFirstCell, kMiB * 32);
    map(kOwn, kMiB * 8);
    memory_.populate(process_, kOwn, kMiB * 8, NodeId{0}, /*huge=*/false);
  }
  static MemoryChange cells_to(std::int32_t first, std::int32_t second) {
    MemoryChange change;
    change.quotas = {{NodeId{first}, kMiB * 32}, {NodeId{second}, kMiB * 32}};
    std::sort(change.quotas.begin(), change.quotas.end(),
              [](const NodeQuota& a, const NodeQuota& b) { return a.node < b.node; });
    change.cells = {{kMiB * 32, NodeId{first}}, {kMiB * 32, NodeId{second}}};
    return change;
  }
  Bytes on_node(std::uint64_t start, std::int32_t node) {
    const auto ranges = memory_.find_ranges(process_).value();
    const auto range = std::find_if(ranges.begin(), ranges.end(),
                                    [&](const MemoryRange& found) { return found.start == start; });
    Bytes bytes;
    for (const NodeBytes& part : range->resident) {
      bytes += part.node == NodeId{node} ? part.bytes : Bytes{};
    }
    return bytes;
  }

  static constexpr std::uint64_t kOwn = kRangeStart + (kGiB).value;
};

TEST_F(CellsTest, EachCellGoesToItsOwnHomeAndTheRestIsSharedOut) {
  map_cells();
  memory_.populate(process_, kFirstCell, kMiB * 32, NodeId{0}, /*huge=*/false);
  memory_.populate(process_, kSecondCell, kMiB * 32, NodeId{1}, /*huge=*/true);
  Transfer transfer(process_, cells_to(2, 4), room_, {});
  run(transfer);
  EXPECT_TRUE(transfer.finished());
  EXPECT_EQ(on_node(kFirstCell, 2), kMiB * 32);
  EXPECT_EQ(on_node(kSecondCell, 4), kMiB * 32);
  EXPECT_EQ(on_node(kOwn, 2), kMiB * 4);
  EXPECT_EQ(on_node(kOwn, 4), kMiB * 4);
  EXPECT_EQ(transfer.outcome().left, Bytes{});
  EXPECT_EQ(transfer.cells_unknown_because(), "");
}

TEST_F(CellsTest, CellsThatLieOnEachOthersHomesChangePlaces) {
  map_cells();
  memory_.populate(process_, kFirstCell, kMiB * 32, NodeId{1}, /*huge=*/true);
  memory_.populate(process_, kSecondCell, kMiB * 32, NodeId{0}, /*huge=*/true);
  Transfer transfer(process_, cells_to(0, 1), room_, {});
  run(transfer);
  EXPECT_EQ(on_node(kFirstCell, 0), kMiB * 32);
  EXPECT_EQ(on_node(kSecondCell, 1), kMiB * 32);
}

TEST_F(CellsTest, ACellThatIsNotTouchedYetDoesNotHideTheOther) {
  map_cells();
  memory_.populate(process_, kSecondCell, kMiB * 32, NodeId{0}, /*huge=*/true);
  Transfer transfer(process_, cells_to(1, 2), room_, {});
  run(transfer);
  EXPECT_EQ(on_node(kSecondCell, 2), kMiB * 32);
}

TEST_F(CellsTest, CellsThatCannotBeToldApartAreSharedOutAndItIsSaid) {
  map_cells();
  map(kRangeStart + (kGiB * 2).value, kMiB * 32);
  memory_.populate(process_, kFirstCell, kMiB * 32, NodeId{0}, /*huge=*/true);
  memory_.populate(process_, kSecondCell, kMiB * 32, NodeId{0}, /*huge=*/true);
  Transfer transfer(process_, cells_to(1, 2), room_, {});
  run(transfer);
  EXPECT_EQ(transfer.cells_unknown_because(), "32 MiB: 3 mappings for 2 guest NUMA cells");
  EXPECT_EQ(transfer.outcome().left, Bytes{});
  EXPECT_EQ(on(0), Bytes{});
  EXPECT_LE(on(1) - on(2), kMiB * 4);
  EXPECT_LE(on(2) - on(1), kMiB * 4);
}

// ---- errors ----

TEST_F(TransferTest, ACpusetThatRefusesTheNodeIsAReason) {
  populate(kMiB * 8, /*huge=*/true);
  memory_.set_cpuset(process_, {NodeId{0}});
  const Outcome outcome = bring_home();
  EXPECT_FALSE(error_);
  EXPECT_EQ(outcome.left_because(Leftover::kNotAllowed), kMiB * 8);
  EXPECT_EQ(outcome.calls, 1);
}

TEST_F(TransferTest, AnUnknownNodeIsAReason) {
  populate(kMiB * 8, /*huge=*/true);
  Transfer transfer(process_, shared_out({{NodeId{3}, kGiB}}), room_, {});
  run(transfer);
  EXPECT_TRUE(transfer.finished());
  EXPECT_EQ(transfer.outcome().left_because(Leftover::kNoNode), kMiB * 8);
}

TEST_F(TransferTest, AProcessThatEndsEndsIt) {
  populate(kMiB * 64, /*huge=*/true);
  mover_.before = [this](const std::string& call) -> std::optional<Error> {
    if (call == "move" && memory_.moves().size() == 2) {
      memory_.end_process(process_);
    }
    return std::nullopt;
  };
  bring_home();
  ASSERT_TRUE(error_);
  EXPECT_EQ(error_->code, ErrorCode::kVanished);
}

TEST_F(TransferTest, MissingRightsEndItAtOnce) {
  populate(kMiB * 64, /*huge=*/true);
  memory_.deny(process_);
  bring_home();
  ASSERT_TRUE(error_);
  EXPECT_EQ(error_->code, ErrorCode::kPermissionDenied);
}

TEST_F(TransferTest, AFailureThatGoesAwayIsTriedAgainLater) {
  for (const std::string failing : {"find_ranges", "query", "reveal", "move", "node_memory"}) {
    SCOPED_TRACE(failing);
    memory_ = four_nodes(kGiB);
    process_ = memory_.start_process();
    populate(kMiB * 16, /*huge=*/true);
    memory_.hide(process_, kRangeStart, kBlock);
    int failures = 3;
    mover_.before = [&](const std::string& call) -> std::optional<Error> {
      if (call == failing && failures > 0) {
        --failures;
        return Error{ErrorCode::kIo, EIO, "it did not work"};
      }
      return std::nullopt;
    };
    const Microseconds before = now_;
    EXPECT_EQ(bring_home().left, Bytes{});
    EXPECT_FALSE(error_);
    EXPECT_GE(now_ - before, Microseconds{100'000});
    EXPECT_EQ(on(1), kMiB * 16);
  }
}

TEST_F(TransferTest, AFailureThatStaysEndsItWithTheError) {
  for (const std::string failing : {"find_ranges", "query", "reveal", "move", "node_memory"}) {
    SCOPED_TRACE(failing);
    memory_ = four_nodes(kGiB);
    process_ = memory_.start_process();
    populate(kMiB * 16, /*huge=*/true);
    memory_.hide(process_, kRangeStart, kBlock);
    int calls = 0;
    mover_.before = [&](const std::string& call) -> std::optional<Error> {
      if (call == failing) {
        ++calls;
        return Error{ErrorCode::kIo, EIO, "it did not work"};
      }
      return std::nullopt;
    };
    bring_home();
    ASSERT_TRUE(error_);
    EXPECT_EQ(error_->message, "it did not work");
    EXPECT_EQ(calls, 4);
  }
}

TEST_F(TransferTest, StoppingSaysWhatIsLeft) {
  populate(kMiB * 64, /*huge=*/true);
  Transfer transfer(process_, shared_out({{NodeId{1}, kGiB}}), room_, {});
  while (transfer.outcome().moved == Bytes{}) {
    transfer.step(mover_, limits_, now_, allowed_);
  }
  transfer.stop();
  EXPECT_TRUE(transfer.finished());
  EXPECT_EQ(transfer.outcome().left, kMiB * 64 - on(1));
  EXPECT_EQ(transfer.remaining(), transfer.outcome().left);
}

TEST_F(TransferTest, ASecondTransferGoesOnWhereTheFirstWasStopped) {
  populate(kMiB * 64, /*huge=*/true);
  Transfer first(process_, shared_out({{NodeId{1}, kGiB}}), room_, {});
  while (first.outcome().moved < kMiB * 32) {
    first.step(mover_, limits_, now_, allowed_);
  }
  const Outcome second = bring_home();
  EXPECT_EQ(second.already_home, first.outcome().moved);
  EXPECT_EQ(second.moved, kMiB * 64 - first.outcome().moved);
}

// ---- room_on ----

TEST(RoomOnTest, IsWhatIsAboveTheReserveOrInThePool) {
  const NodeMemory node{.total = kGiB * 100, .available = kGiB * 10, .pools = {{kBlock, 3}}};
  EXPECT_EQ(room_on(node, {}, Permille{20}), kGiB * 10 - kGiB * 100 / 1000 * 20);
  EXPECT_EQ(room_on(node, {}, Permille{200}), Bytes{});
  EXPECT_EQ(room_on(node, kBlock, Permille{200}), kBlock * 3);
  EXPECT_EQ(room_on(node, kGiB, Permille{20}), Bytes{});
}

}  // namespace
}  // namespace vmnuma::migration
