// SPDX-License-Identifier: Apache-2.0
#include "stats/perf/read_turns.h"

#include <gtest/gtest.h>

#include "tests/support/fake_thread_counters.h"

namespace vmnuma::stats {
namespace {

constexpr std::int64_t kEpoch = 2'000'000;
constexpr std::int64_t kEpochNs = kEpoch * 1000;
constexpr std::int64_t kThreadsPerVm = 1000;
/// With the epochs of 2 s here.
constexpr int kEpochsOfTurn = 5;
constexpr int kEpochsOfRound = 30;

/// Each vCPU runs all the time; those of VM n read n times a millisecond.
class ReadTurnsTest : public testing::Test {
 protected:
  void add(std::uint8_t number, std::int64_t vcpus) {
    VmSample vm;
    vm.id.uuid[15] = number;
    vm.process = {number * kThreadsPerVm, 1};
    for (std::int64_t vcpu = 0; vcpu < vcpus; ++vcpu) {
      const std::int64_t tid = vm.process.pid + 1 + vcpu;
      vm.vcpus.push_back({static_cast<std::int32_t>(vcpu), tid, 0, 0});
      counters_.run(tid, 0, 0);
    }
    vms_.push_back(std::move(vm));
  }

  Sample epoch() {
    ++epoch_;
    Sample sample{.sequence = epoch_, .taken_at = {epoch_ * kEpoch}};
    for (const VmSample& vm : vms_) {
      for (const VcpuSample& vcpu : vm.vcpus) {
        counters_.run(vcpu.tid, kEpochNs, vm.id.uuid[15] * kEpoch / 1000);
      }
    }
    sample.vms = vms_;
    turns_.take_turns(sample);
    return sample;
  }
  /// How many results each VM has in so many epochs, by the order of VMs.
  std::vector<int> results(int epochs) {
    std::vector<int> counts(vms_.size());
    for (int i = 0; i < epochs; ++i) {
      const Sample sample = epoch();
      for (std::size_t vm = 0; vm < sample.vms.size(); ++vm) {
        counts[vm] += sample.vms[vm].memory_reads ? 1 : 0;
      }
    }
    return counts;
  }

  tests::FakeThreadCounters counters_;
  ReadTurns turns_{&counters_};
  std::vector<VmSample> vms_;
  std::int64_t epoch_ = 0;
};

TEST_F(ReadTurnsTest, ATurnsResultIsInTheSampleWithWhichItEnds) {
  add(1, 2);
  add(2, 3);
  EXPECT_EQ(results(kEpochsOfTurn), (std::vector{0, 0}));
  const Sample sample = epoch();
  EXPECT_EQ(sample.vms[0].memory_reads,
            (MemoryReads{
                .count = 2 * 10'000, .counted = CpuTime{20'000'000}, .ran = CpuTime{20'000'000}}));
  EXPECT_EQ(sample.vms[1].memory_reads->count, 3 * 2 * 10'000);
}

TEST_F(ReadTurnsTest, BetweenTurnsThereIsNoCounter) {
  add(1, 2);
  (void)results(kEpochsOfTurn);
  EXPECT_EQ(counters_.open(), 2U);
  EXPECT_EQ(results(kEpochsOfRound - kEpochsOfTurn), std::vector{1});
  EXPECT_EQ(counters_.open(), 0U);
  (void)epoch();  // the next round
  EXPECT_EQ(counters_.open(), 2U);
}

TEST_F(ReadTurnsTest, NoMoreThanTheMostThreadsAreCountedAtATimeAndEveryVmHasItsTurn) {
  for (std::uint8_t vm = 1; vm <= 10; ++vm) {
    add(vm, 50);
  }
  // Two VMs a turn, five turns.
  EXPECT_EQ(results(5 * kEpochsOfTurn + 1), std::vector<int>(10, 1));
  EXPECT_LE(counters_.most_open(), kMostThreads);
  EXPECT_EQ(counters_.most_open(), 100U);
}

TEST_F(ReadTurnsTest, OfAWiderVmThreadsAreCountedAtEvenDistances) {
  add(1, 200);
  add(2, 1);
  EXPECT_EQ(results(2 * kEpochsOfTurn + 1), (std::vector{1, 1}));
  EXPECT_EQ(counters_.most_open(), kMostThreads);
}

TEST_F(ReadTurnsTest, AVmThatEndsOrStartsAnewHasNoResultAndNoCounter) {
  add(1, 2);
  add(2, 2);
  add(3, 2);
  (void)results(2);
  EXPECT_EQ(counters_.open(), 6U);
  vms_.erase(vms_.begin());
  ++vms_[0].process.start_time_ticks;
  EXPECT_EQ(results(kEpochsOfTurn), (std::vector{0, 1}));
}

TEST_F(ReadTurnsTest, WhatCannotBeCountedIsTriedAgainInTheNextRound) {
  add(1, 2);
  counters_.refuse(ErrorCode::kIo);
  EXPECT_EQ(results(kEpochsOfRound), std::vector{0});
  EXPECT_EQ(counters_.open(), 0U);
  counters_.refuse(std::nullopt);
  EXPECT_EQ(results(kEpochsOfTurn + 1), std::vector{1});
}

TEST_F(ReadTurnsTest, AVmOfWhichOneThreadCannotBeCountedHasNoResult) {
  add(1, 2);
  vms_[0].vcpus.push_back({2, 999'999, 0, 0});
  Sample sample{.sequence = 1, .taken_at = {kEpoch}};
  sample.vms = vms_;
  turns_.take_turns(sample);
  EXPECT_EQ(counters_.open(), 0U);
}

TEST_F(ReadTurnsTest, WithoutCountersNothingIsCounted) {
  add(1, 2);
  turns_ = ReadTurns(nullptr);
  EXPECT_EQ(results(kEpochsOfRound), std::vector{0});
  EXPECT_EQ(counters_.most_open(), 0U);
}

}  // namespace
}  // namespace vmnuma::stats
