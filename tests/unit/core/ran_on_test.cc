// SPDX-License-Identifier: Apache-2.0
/// Where clients on two nodes have run, by the last CPUs of their vCPUs.
#include "balancer/core/ran_on.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/build_snapshot.h"

namespace vmnuma::balancer {
namespace {

/// A client of vCPUs 0 and 1 on a host of two nodes with two CPUs each.
class RanOnTest : public testing::Test {
 protected:
  RanOnTest() {
    client_.shape.vcpus = {0, 1};
    last_.vcpus = {{0, 10, 0, 0}, {1, 11, 0, 0}, {2, 12, 0, 0}};
  }

  /// The next reading: each vCPU has run for so many ms more, and is on that CPU.
  void read(std::vector<std::int64_t> ran_ms, std::vector<CpuId> last_cpus) {
    VmSample now = last_;
    for (std::size_t i = 0; i < ran_ms.size(); ++i) {
      now.vcpus[i].run_ns += ran_ms[i] * 1'000'000;
    }
    now.last_cpus = std::move(last_cpus);
    take_in_where_it_ran(last_, now, topology_, client_);
    last_ = now;
  }
  [[nodiscard]] std::int64_t ms_on(std::int32_t node) const {
    return ran_lately_on(client_, NodeId{node}).value / 1000;
  }

  Topology topology_ = tests::equal_nodes(2, 2, 1, 64);
  ClientRecord client_;
  VmSample last_;
};

TEST_F(RanOnTest, AllThatAVcpuRanCountsWhereItRanLast) {
  read({300, 100, 900}, {CpuId{0}, CpuId{3}, CpuId{0}});
  EXPECT_EQ(ms_on(0), 300);
  EXPECT_EQ(ms_on(1), 100);
}

TEST_F(RanOnTest, EpochsAreAveragedWithAHalfLifeOfOne) {
  read({300, 100, 0}, {CpuId{0}, CpuId{0}, CpuId{0}});
  read({200, 200, 0}, {CpuId{2}, CpuId{2}, CpuId{0}});
  EXPECT_EQ(ms_on(0), 200);
  EXPECT_EQ(ms_on(1), 200);
}

TEST_F(RanOnTest, AnEpochInWhichItDidNotRunChangesNothing) {
  read({300, 0, 0}, {CpuId{0}, CpuId{0}, CpuId{0}});
  read({0, 0, 500}, {CpuId{2}, CpuId{2}, CpuId{2}});
  EXPECT_EQ(ms_on(0), 300);
  EXPECT_EQ(ms_on(1), 0);
}

TEST_F(RanOnTest, WithoutLastCpusOrWithOneOfNoNodeNothingIsKnown) {
  read({300, 0, 0}, {CpuId{0}, CpuId{0}, CpuId{0}});
  read({300, 0, 0}, {});
  EXPECT_TRUE(client_.ran_on.empty());
  read({300, 0, 0}, {CpuId{0}, CpuId{0}, CpuId{0}});
  read({300, 0, 0}, {CpuId{0}, CpuId{9}, CpuId{0}});
  EXPECT_TRUE(client_.ran_on.empty());
}

}  // namespace
}  // namespace vmnuma::balancer
