// SPDX-License-Identifier: Apache-2.0
#include "migration/limits.h"

#include <gtest/gtest.h>

namespace vmnuma::migration {
namespace {

TEST(LimitsTest, FollowOptionsAndTopology) {
  Options options;
  options.page_mig_enable = 0;
  options.page_mig_rate_max = 1000;
  options.page_mig_vm_rate_max = 10;
  options.page_mig_stall_target = 7000;
  options.node_reserve_pct = 3;
  Topology topology;
  topology.nodes.resize(2);
  topology.nodes[0].cpus = {{.id = {4}}, {.id = {6}}};
  topology.nodes[1].cpus = {{.id = {1}}};
  const Limits limits = limits_from(options, topology);
  EXPECT_FALSE(limits.move_memory);
  EXPECT_EQ(limits.bytes_per_second, Bytes{4'096'000});
  EXPECT_EQ(limits.vm_bytes_per_second, Bytes{40'960});
  EXPECT_EQ(limits.stall_target, Microseconds{7000});
  EXPECT_EQ(limits.node_reserve, Permille{30});
  EXPECT_EQ(limits.all_cpus, (std::vector{CpuId{1}, CpuId{4}, CpuId{6}}));
}

TEST(LimitsTest, TheirDefaultsAreThoseOfTheOptions) {
  Limits limits;
  limits.bytes_per_second = Bytes{4096} * 256000;
  EXPECT_EQ(limits_from({}, {}), limits);
}

}  // namespace
}  // namespace vmnuma::migration
