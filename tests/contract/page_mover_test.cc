// SPDX-License-Identifier: Apache-2.0
/// The contract, held by the fake and by the kernel, and what only the kernel can be asked.
#include <algorithm>
#include <map>
#include <vector>

#include <gmock/gmock.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "migration/linux/linux_page_mover.h"
#include "migration/transfer.h"
#include "tests/contract/page_mover_contract.h"
#include "tests/support/fake_memory.h"
#include "tests/support/memory_process.h"

namespace vmnuma::tests {
namespace {

using migration::LinuxPageMover;
using migration::SharedPages;
using placement::Bytes;
using placement::kKiB;
using placement::kMiB;
using placement::NodeId;

constexpr Bytes kPopulated = kMiB * 8;
constexpr Bytes kHugePage = kMiB * 2;

class FakeMemoryHost final : public MemoryHost {
 public:
  migration::PageMover& mover() override { return memory_; }

  std::optional<MemoryProcess> start(MemoryKind kind) override {
    constexpr std::uint64_t kStart = 0x7f0000000000;
    const placement::VmProcess process = memory_.start_process();
    memory_.map(process, {.start = kStart,
                          .length = kPopulated * 2,
                          .page_size = kKiB * 4,
                          .huge_page_size = kHugePage,
                          .hugetlb = false,
                          .shared = kind == MemoryKind::kShared,
                          .policy = {},
                          .name = "anonymous",
                          .resident = {}});
    memory_.populate(process, kStart, kPopulated, NodeId{3}, kind == MemoryKind::kHuge);
    if (kind == MemoryKind::kShared) {
      memory_.share(process, kStart, kPopulated);
    }
    return MemoryProcess{process, kStart, kPopulated, kKiB * 4, kHugePage};
  }
  void end(const MemoryProcess& process) override { memory_.end_process(process.process); }
  std::optional<NodeId> node_other_than(NodeId node) override {
    return node == NodeId{3} ? NodeId{5} : NodeId{3};
  }

 private:
  FakeMemory memory_{{{NodeId{3}, kMiB * 64, {}}, {NodeId{5}, kMiB * 64, {}}}};
};

/// The kernel and children of this test.
class LinuxMemoryHost final : public MemoryHost {
 public:
  migration::PageMover& mover() override { return *mover_; }

  std::optional<MemoryProcess> start(MemoryKind kind) override {
    auto child = MemoryChild::start({.populated = kPopulated,
                                     .alignment = kHugePage,
                                     .huge = kind == MemoryKind::kHuge,
                                     .shared_with_second = kind == MemoryKind::kShared});
    if (child == nullptr) {
      return std::nullopt;
    }
    const MemoryProcess process{child->process(), child->address(), kPopulated,
                                Bytes{::sysconf(_SC_PAGESIZE)}, kHugePage};
    children_[process.process] = std::move(child);
    return process;
  }
  void end(const MemoryProcess& process) override { children_.erase(process.process); }
  std::optional<NodeId> node_other_than(NodeId node) override {
    constexpr std::int32_t kMostNodes = 64;
    for (std::int32_t other = 0; other < kMostNodes; ++other) {
      const auto memory = mover_->node_memory(NodeId{other});
      if (NodeId{other} != node && memory && memory->total > Bytes{}) {
        return NodeId{other};
      }
    }
    return std::nullopt;
  }

 private:
  Result<LinuxPageMover> mover_ = LinuxPageMover::open("/");
  std::map<placement::VmProcess, std::unique_ptr<MemoryChild>> children_;
};

INSTANTIATE_TEST_SUITE_P(Fake, PageMoverContract,
                         testing::Values(MemoryHostKind{
                             "FakeMemory", [] { return std::make_unique<FakeMemoryHost>(); }}));
INSTANTIATE_TEST_SUITE_P(Linux, PageMoverContract,
                         testing::Values(MemoryHostKind{
                             "Kernel", [] { return std::make_unique<LinuxMemoryHost>(); }}));

// ---- only the kernel ----

class LinuxPageMoverTest : public testing::Test {
 protected:
  Result<LinuxPageMover> mover_ = LinuxPageMover::open("/");
};

TEST_F(LinuxPageMoverTest, AZombieHasVanished) {
  const auto child = MemoryChild::start({.populated = kMiB, .alignment = kHugePage});
  ASSERT_NE(child, nullptr);
  child->kill();
  EXPECT_EQ(mover_->check(child->process()).error().code, ErrorCode::kVanished);
  EXPECT_EQ(mover_->find_ranges(child->process()).error().code, ErrorCode::kVanished);
  EXPECT_EQ(mover_->query(child->process(), std::vector{child->address()}).error().code,
            ErrorCode::kVanished);
}

TEST_F(LinuxPageMoverTest, WithoutRightsItIsPermissionDenied) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "needs root, to become somebody else";
  }
  const auto child = MemoryChild::start({.populated = kMiB, .alignment = kHugePage});
  ASSERT_NE(child, nullptr);
  const pid_t other = ::fork();
  ASSERT_GE(other, 0);
  if (other == 0) {
    constexpr uid_t kNobody = 65534;
    const std::vector pages{child->address()};
    const bool changed = ::setgid(kNobody) == 0 && ::setuid(kNobody) == 0;
    const bool denied =
        mover_->check(child->process()) &&
        mover_->find_ranges(child->process()).error().code == ErrorCode::kPermissionDenied &&
        mover_->query(child->process(), pages).error().code == ErrorCode::kPermissionDenied &&
        mover_->move(child->process(), pages, NodeId{0}, SharedPages::kLeave).error().code ==
            ErrorCode::kPermissionDenied;
    ::_exit(changed && denied ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(other, &status, 0), other);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST_F(LinuxPageMoverTest, ARootWithoutProcKnowsNoProcess) {
  auto mover = LinuxPageMover::open("/proc/self/task");
  ASSERT_TRUE(mover);
  EXPECT_EQ(mover->check({1, 1}).error().code, ErrorCode::kVanished);
  EXPECT_EQ(mover->node_memory(NodeId{0}).error().code, ErrorCode::kNotFound);
}

TEST_F(LinuxPageMoverTest, AMissingRootIsNotFound) {
  EXPECT_EQ(LinuxPageMover::open("/there/is/no/such/root").error().code, ErrorCode::kNotFound);
}

/// A whole transfer of a real process, huge and small pages: to another node where there is one,
/// otherwise nothing is to be done.
class LinuxTransferTest : public LinuxPageMoverTest, public testing::WithParamInterface<bool> {};

TEST_P(LinuxTransferTest, BringsARealProcessHome) {
  LinuxMemoryHost host;
  const auto child =
      MemoryChild::start({.populated = kMiB * 64, .alignment = kHugePage, .huge = GetParam()});
  ASSERT_NE(child, nullptr);
  const auto at = mover_->query(child->process(), std::vector{child->address()});
  ASSERT_TRUE(at) << at.error().message;
  const auto other = host.node_other_than(NodeId{at->at(0)});
  const NodeId home = other.value_or(NodeId{at->at(0)});
  migration::MemoryChange change;
  change.quotas = {{home, placement::kGiB}};
  migration::Transfer transfer(child->process(), change);
  migration::Limits limits;
  limits.node_reserve = {};
  placement::Microseconds now{1};
  while (!transfer.finished() && !transfer.waits_for_room()) {
    now = std::max(now, transfer.ready_at());
    transfer.step(*mover_, limits, now, transfer.wants());
  }
  ASSERT_TRUE(transfer.finished());
  ASSERT_FALSE(transfer.error()) << transfer.error()->message;
  const migration::Outcome& outcome = transfer.outcome();
  EXPECT_LE(outcome.left * 20, kMiB * 64) << describe(outcome);
  EXPECT_GE(outcome.moved + outcome.already_home, kMiB * 64) << describe(outcome);
  if (!other) {
    GTEST_SKIP() << "this host has one node with memory, so nothing had to move";
  }
  EXPECT_GE(outcome.moved, kMiB * 60) << describe(outcome);
  if (GetParam()) {
    // 16 MiB of huge pages a call once the chunk has grown, far from 512 addresses a huge page.
    EXPECT_LE(outcome.calls, 64);
  }
}

INSTANTIATE_TEST_SUITE_P(SmallAndHuge, LinuxTransferTest, testing::Bool());

}  // namespace
}  // namespace vmnuma::tests
