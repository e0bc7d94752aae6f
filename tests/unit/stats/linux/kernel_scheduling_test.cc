// SPDX-License-Identifier: Apache-2.0
#include "stats/linux/kernel_scheduling.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_host.h"

namespace vmnuma::stats {
namespace {

class KernelSchedulingTest : public testing::Test {
 protected:
  [[nodiscard]] files::Directory root() const {
    return files::Directory::open(host_.path()).value();
  }
  tests::FakeHost host_;
};

TEST_F(KernelSchedulingTest, AnOldKernelHasNeither) {
  EXPECT_EQ(read_sched_ext(root()), std::nullopt);
  EXPECT_FALSE(has_cache_scheduling(root()));
}

TEST_F(KernelSchedulingTest, TellsWhichSchedulerRunsAndWhetherItTakesAllThreads) {
  host_.write("sys/kernel/sched_ext/state", "disabled\n");
  EXPECT_EQ(read_sched_ext(root()), std::nullopt);
  host_.write("sys/kernel/sched_ext/state", "enabled\n");
  host_.write("sys/kernel/sched_ext/switch_all", "1\n");
  host_.write("sys/kernel/sched_ext/root/ops", "rusty\n");
  EXPECT_EQ(read_sched_ext(root()), (SchedExt{"rusty", true}));
  host_.write("sys/kernel/sched_ext/switch_all", "0\n");
  EXPECT_EQ(read_sched_ext(root()), (SchedExt{"rusty", false}));
}

TEST_F(KernelSchedulingTest, ASchedulerWithoutAnythingElseIsTakenToHaveAllThreads) {
  host_.write("sys/kernel/sched_ext/state", "enabling\n");
  EXPECT_EQ(read_sched_ext(root()), (SchedExt{"", true}));
}

TEST_F(KernelSchedulingTest, RootSeesTheSwitchOfCacheAwareScheduling) {
  const std::string path = "sys/kernel/debug/sched/llc_balancing/enabled";
  host_.write(path, "1\n");
  EXPECT_TRUE(has_cache_scheduling(root()));
  EXPECT_EQ(read_cache_scheduling(root()), CacheScheduling::kOn);
  host_.write(path, "0\n");
  EXPECT_TRUE(has_cache_scheduling(root()));
  EXPECT_EQ(read_cache_scheduling(root()), CacheScheduling::kOff);
}

TEST_F(KernelSchedulingTest, OthersSeeThatItIsBuiltIn) {
  host_.write("proc/sys/kernel/osrelease", "7.2.4-amd64\n");
  host_.write("boot/config-7.2.4-amd64", "CONFIG_SMP=y\nCONFIG_SCHED_CACHE=y\nCONFIG_X86=y\n");
  EXPECT_TRUE(has_cache_scheduling(root()));
  EXPECT_EQ(read_cache_scheduling(root()), CacheScheduling::kBuiltIn);
  host_.write("boot/config-7.2.4-amd64", "CONFIG_SMP=y\n# CONFIG_SCHED_CACHE is not set\n");
  EXPECT_FALSE(has_cache_scheduling(root()));
}

TEST_F(KernelSchedulingTest, AReleaseIsNoWayOutOfBoot) {
  host_.write("proc/sys/kernel/osrelease", "/../../etc/secret\n");
  host_.write("etc/secret", "\nCONFIG_SCHED_CACHE=y\n");
  EXPECT_FALSE(has_cache_scheduling(root()));
}

}  // namespace
}  // namespace vmnuma::stats
