// SPDX-License-Identifier: Apache-2.0
/// Tests that the fake and the kernel fulfil the contract, and what can be tested only with the
/// kernel.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>
#include <vector>

#include <fmt/format.h>
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

constexpr Bytes kHugePage = kMiB * 2;

class FakeMemoryHost final : public MemoryHost {
 public:
  migration::PageMover& mover() override { return memory_; }

  std::optional<MemoryProcess> start(MemoryKind kind, Bytes populated) override {
    constexpr std::uint64_t kStart = 0x7f0000000000;
    const bool hugetlb = kind == MemoryKind::kHugetlb;
    const Bytes page_size = hugetlb ? kHugePage : kKiB * 4;
    const VmProcess process = memory_.start_process();
    memory_.map(process, {.start = kStart,
                          .length = populated * 2,
                          .page_size = page_size,
                          .huge_page_size = hugetlb ? Bytes{} : kHugePage,
                          .hugetlb = hugetlb,
                          .shared = kind == MemoryKind::kShared,
                          .policy = {},
                          .resident = {}});
    memory_.populate(process, kStart, populated, NodeId{3}, kind == MemoryKind::kHuge);
    if (kind == MemoryKind::kShared || kind == MemoryKind::kMerged) {
      memory_.share(process, kStart, populated);
    }
    if (kind == MemoryKind::kPinned) {
      memory_.pin(process, kStart, Bytes{populated.value / 2});
    }
    return MemoryProcess{process, kStart, populated, page_size, kHugePage};
  }
  void end(const MemoryProcess& process) override { memory_.end_process(process.process); }
  std::optional<NodeId> node_other_than(NodeId node) override {
    return node == NodeId{3} ? NodeId{5} : NodeId{3};
  }
  bool leave_room(NodeId node, Bytes room) override {
    memory_.set_used_by_others(node, memory_.free_on(node) - room);
    return true;
  }
  bool confine(const MemoryProcess& process, NodeId node) override {
    memory_.set_cpuset(process.process, {node});
    return true;
  }

 private:
  FakeMemory memory_{
      {{NodeId{3}, kMiB * 512, {{kHugePage, 8}}}, {NodeId{5}, kMiB * 512, {{kHugePage, 8}}}}};
};

/// A cgroup during this object's lifetime; empty if none can be created. cgroup v2 as mounted by
/// systemd.
class Cpuset {
 public:
  Cpuset() {
    constexpr std::string_view kParent = "/sys/fs/cgroup";
    path_ = fmt::format("{}/vmnuma-contract-{}", kParent, ::getpid());
    write(fmt::format("{}/cgroup.subtree_control", kParent),
          "+cpuset");  // usually it is already enabled
    std::error_code error;
    if (!std::filesystem::create_directory(path_, error)) {
      path_.clear();
    }
  }
  Cpuset(const Cpuset&) = delete;
  Cpuset& operator=(const Cpuset&) = delete;
  ~Cpuset() {
    std::error_code error;
    std::filesystem::remove(path_, error);  // an empty cgroup left behind does no harm
  }

  /// Confines the process to the node; returns false if that fails.
  [[nodiscard]] bool take(std::int64_t pid, NodeId node) const {
    return !path_.empty() && write(path_ + "/cpuset.mems", std::to_string(node.value)) &&
           write(path_ + "/cgroup.procs", std::to_string(pid));
  }

 private:
  static bool write(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::in);  // does not create the file
    file << text << std::flush;
    return file.good();
  }
  std::string path_;
};

/// The kernel and children of this test, with the page mover as the daemon uses it, including its
/// accounting of CPU time.
class LinuxMemoryHost final : public MemoryHost {
 public:
  migration::PageMover& mover() override { return *mover_; }

  std::optional<MemoryProcess> start(MemoryKind kind, Bytes populated) override {
    auto child = MemoryChild::start({.populated = populated, .alignment = kHugePage, .kind = kind});
    if (child == nullptr) {
      return std::nullopt;
    }
    const Bytes page_size =
        kind == MemoryKind::kHugetlb ? kHugePage : Bytes{::sysconf(_SC_PAGESIZE)};
    const MemoryProcess process{child->process(), child->address(), populated, page_size,
                                kHugePage};
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
  bool leave_room(NodeId node, Bytes room) override {
    constexpr Bytes kMostTaken = kGiB * 4;
    const auto memory = mover_->node_memory(node);
    if (!memory || memory->available - room > kMostTaken) {
      return false;
    }
    const Bytes taken = kHugePage * ((memory->available - room).value / kHugePage.value);
    auto child = MemoryChild::start({.populated = taken, .alignment = kHugePage, .node = node});
    if (child == nullptr) {
      return false;
    }
    children_[child->process()] = std::move(child);
    return true;
  }
  bool confine(const MemoryProcess& process, NodeId node) override {
    cpuset_.emplace();
    return cpuset_->take(process.process.pid, node);
  }

 private:
  Result<LinuxPageMover> mover_ = LinuxPageMover::open("/");
  std::optional<Cpuset> cpuset_;  ///< destroyed after the children, which must have left it
  std::map<VmProcess, std::unique_ptr<MemoryChild>> children_;
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

TEST_F(LinuxPageMoverTest, WhatItsCallsTakeIsCountedAndNeverGoesBack) {
  const auto used = [&] {
    CpuTime all;
    for (const auto& [cpu, time] : mover_->used()) {
      all += time;
    }
    return all;
  };
  EXPECT_EQ(used(), CpuTime{});
  const auto child = MemoryChild::start({.populated = kHugePage, .alignment = kHugePage});
  ASSERT_NE(child, nullptr);
  CpuTime last;
  for (int call = 0; call < 200; ++call) {
    EXPECT_TRUE(mover_->find_ranges(child->process()));
    EXPECT_GE(used(), last);
    last = used();
  }
  EXPECT_GT(last, CpuTime{});
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

TEST_F(LinuxPageMoverTest, AProcessThatEndsWhileItsPagesMoveHasVanished) {
  LinuxMemoryHost host;
  constexpr int kTimes = 8;
  for (int i = 0; i < kTimes; ++i) {
    const auto child = MemoryChild::start({.populated = kMiB * 32, .alignment = kHugePage});
    ASSERT_NE(child, nullptr);
    std::vector<std::uint64_t> pages;
    for (std::uint64_t offset = 0; offset < 32U << 20U; offset += 4096) {
      pages.push_back(child->address() + offset);
    }
    const auto at = mover_->query(child->process(), std::vector{pages.front()});
    ASSERT_TRUE(at) << at.error().message;
    const NodeId target = host.node_other_than(NodeId{at->at(0)}).value_or(NodeId{at->at(0)});
    std::thread end([&child] { child->kill(); });
    const auto moved = mover_->move(child->process(), pages, target, SharedPages::kLeave);
    end.join();
    // The move may have been faster than the process's end.
    EXPECT_TRUE(moved || moved.error().code == ErrorCode::kVanished) << moved.error().message;
    EXPECT_EQ(mover_->check(child->process()).error().code, ErrorCode::kVanished);
  }
}

/// A whole transfer of a real process with huge and small pages: to another node if there is one,
/// otherwise there is nothing to move.
class LinuxTransferTest : public LinuxPageMoverTest,
                          public testing::WithParamInterface<MemoryKind> {};

TEST_P(LinuxTransferTest, BringsARealProcessHome) {
  LinuxMemoryHost host;
  const auto child =
      MemoryChild::start({.populated = kMiB * 64, .alignment = kHugePage, .kind = GetParam()});
  ASSERT_NE(child, nullptr);
  const auto at = mover_->query(child->process(), std::vector{child->address()});
  ASSERT_TRUE(at) << at.error().message;
  const auto other = host.node_other_than(NodeId{at->at(0)});
  const NodeId home = other.value_or(NodeId{at->at(0)});
  migration::MemoryChange change;
  change.quotas = {{home, kGiB}};
  migration::RoomBook room;
  migration::Transfer transfer(child->process(), change, room, {});
  migration::Limits limits;
  limits.node_reserve = {};
  Microseconds now{1};
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
  if (GetParam() == MemoryKind::kHuge) {
    // 16 MiB of huge pages per call once the chunk has grown, far more than with 512 addresses per
    // huge page.
    EXPECT_LE(outcome.calls, 64);
  }
}

INSTANTIATE_TEST_SUITE_P(SmallAndHuge, LinuxTransferTest,
                         testing::Values(MemoryKind::kSmall, MemoryKind::kHuge));

}  // namespace
}  // namespace vmnuma::tests
