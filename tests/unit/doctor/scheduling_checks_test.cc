// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/doctor/scheduling_checks.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/doctor/fake_root.h"

namespace vmnuma::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kCgroup = "sys/fs/cgroup/";
constexpr const char* kBalancing = "proc/sys/kernel/numa_balancing";
constexpr const char* kCacheSwitch = "sys/kernel/debug/sched/llc_balancing/enabled";

class SchedulingChecksTest : public ::testing::Test {
 protected:
  SchedulingChecksTest() { make_well(root_); }
  void write(const std::string& path, const std::string& text) { root_.write(path, text + "\n"); }
  void remove(const std::string& path) {
    std::filesystem::remove_all(std::filesystem::path(root_.path()) / path);
  }
  /// Node 0 gets CPU 2, which is a package, and so a last-level cache, of its own.
  void give_node_0_two_caches() {
    write("sys/devices/system/cpu/online", "0-2");
    write("sys/devices/system/node/node0/cpulist", "0,2");
    const std::string cpu = "sys/devices/system/cpu/cpu2/topology";
    write(cpu + "/core_id", "2");
    write(cpu + "/core_cpus", "4");
    write(cpu + "/physical_package_id", "2");
    write(cpu + "/package_cpus", "4");
  }
  tests::FakeRoot root_;
};

TEST_F(SchedulingChecksTest, KernelsOwnBalancingIsFineUnlessItTiersMemory) {
  EXPECT_THAT(check_kernel_balancing(root_.root()).what, HasSubstr("is on"));
  write(kBalancing, "0");
  EXPECT_THAT(check_kernel_balancing(root_.root()).what, HasSubstr("is off"));
  remove(kBalancing);
  EXPECT_EQ(check_kernel_balancing(root_.root()).severity, Severity::kOk);
  write(kBalancing, "3");
  const Finding finding = check_kernel_balancing(root_.root());
  EXPECT_EQ(finding.severity, Severity::kWarning);
  EXPECT_THAT(finding.lines, ElementsAre("sysctl kernel.numa_balancing=1"));
}

TEST_F(SchedulingChecksTest, ASchedulerThatIsABpfProgramIsNotedWithWhatItMeans) {
  EXPECT_EQ(check_sched_ext(root_.root()).severity, Severity::kOk);
  write("sys/kernel/sched_ext/state", "enabled");
  write("sys/kernel/sched_ext/root/ops", "rusty");
  const Finding finding = check_sched_ext(root_.root());
  EXPECT_EQ(finding.severity, Severity::kNote);
  EXPECT_THAT(finding.what, HasSubstr("'rusty' runs all threads: it respects pins"));
  write("sys/kernel/sched_ext/switch_all", "0");
  EXPECT_THAT(check_sched_ext(root_.root()).what, HasSubstr("only threads that ask for it"));
}

TEST_F(SchedulingChecksTest, CacheAwareSchedulingIsFineWhileNumaBalancingIsOn) {
  give_node_0_two_caches();
  EXPECT_THAT(check_cache_scheduling(root_.root()).what, HasSubstr("has no cache-aware"));
  write(kCacheSwitch, "1");
  const Finding finding = check_cache_scheduling(root_.root());
  EXPECT_EQ(finding.severity, Severity::kOk) << finding.what;
  EXPECT_THAT(finding.what, HasSubstr("if its memory fits there"));
}

TEST_F(SchedulingChecksTest, CacheAwareSchedulingWithoutNumaBalancingIsAWarning) {
  give_node_0_two_caches();
  write(kCacheSwitch, "1");
  write(kBalancing, "0");
  const Finding finding = check_cache_scheduling(root_.root());
  EXPECT_EQ(finding.severity, Severity::kWarning);
  EXPECT_THAT(finding.what, HasSubstr("does not see while NUMA balancing is off"));
  EXPECT_THAT(finding.lines, ElementsAre("sysctl kernel.numa_balancing=1",
                                         "echo 0 >/sys/kernel/debug/sched/llc_balancing/enabled"));
  write(kCacheSwitch, "0");
  EXPECT_EQ(check_cache_scheduling(root_.root()).severity, Severity::kOk);
}

TEST_F(SchedulingChecksTest, WhereEachNodeHasOneCacheThereIsNothingToSchedule) {
  write(kCacheSwitch, "1");
  write(kBalancing, "0");
  const Finding finding = check_cache_scheduling(root_.root());
  EXPECT_EQ(finding.severity, Severity::kOk);
  EXPECT_THAT(finding.what, HasSubstr("each node has one last-level cache"));
}

TEST_F(SchedulingChecksTest, CpusThatAreKeptFromVmsAreNamedWithTheReason) {
  EXPECT_EQ(check_isolation(root_.root()).what, "no CPU is kept from VMs");
  give_node_0_two_caches();
  write("sys/devices/system/cpu/isolated", "2");
  write(kCgroup + "cpuset.cpus.effective", "0,2");
  const Finding finding = check_isolation(root_.root());
  EXPECT_EQ(finding.severity, Severity::kNote);
  EXPECT_EQ(finding.what,
            "kept from VMs, so that none is pinned there: CPU 2 (isolcpus=), CPU 1 (another cpuset "
            "partition, or outside the cpuset of VMs)");
  EXPECT_EQ(finding.mend, "");
  write(kCgroup + "cpuset.cpus.isolated", "1");
  EXPECT_THAT(check_isolation(root_.root()).what,
              HasSubstr("CPU 2 (isolcpus=), CPU 1 (isolated cpuset partitions)"));
}

TEST_F(SchedulingChecksTest, CpusWithoutATickThatAreNotIsolatedAreNoted) {
  write("sys/devices/system/cpu/nohz_full", "  (null)");
  EXPECT_EQ(check_isolation(root_.root()).severity, Severity::kOk);
  write("sys/devices/system/cpu/nohz_full", "1");
  const Finding finding = check_isolation(root_.root());
  EXPECT_EQ(finding.severity, Severity::kNote);
  EXPECT_THAT(finding.what, HasSubstr("VMs run on CPU 1 although nohz_full= names it"));
  write("sys/devices/system/cpu/isolated", "1");
  EXPECT_EQ(check_isolation(root_.root()).what,
            "kept from VMs, so that none is pinned there: CPU 1 (isolcpus=)");
}

TEST_F(SchedulingChecksTest, APartitionOfVmsThatIsInvalidOrIsolatedIsAWarning) {
  const std::string partition = kCgroup + "machine.slice/cpuset.cpus.partition";
  write(kCgroup + "machine.slice/cpuset.cpus.effective", "0-1");
  write(partition, "root");
  EXPECT_EQ(check_isolation(root_.root()).severity, Severity::kOk);
  write(partition, "root invalid (Cpu list in cpuset.cpus not exclusive)");
  Finding finding = check_isolation(root_.root());
  EXPECT_EQ(finding.severity, Severity::kWarning);
  EXPECT_THAT(finding.what, HasSubstr("not exclusive"));
  write(partition, "isolated");
  finding = check_isolation(root_.root());
  EXPECT_EQ(finding.severity, Severity::kWarning);
  EXPECT_THAT(finding.lines,
              ElementsAre("echo root >/sys/fs/cgroup/machine.slice/cpuset.cpus.partition"));
}

}  // namespace
}  // namespace vmnuma::tools
