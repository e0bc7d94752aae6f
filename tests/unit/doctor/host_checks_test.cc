// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/doctor/host_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stats/linux/host_needs.h"
#include "tests/unit/doctor/fake_root.h"

namespace vmnuma::tools {
namespace {

using ::testing::HasSubstr;

class HostChecksTest : public ::testing::Test {
 protected:
  HostChecksTest() { make_well(root_); }
  void write(const std::string& path, const std::string& text) { root_.write(path, text); }
  void remove(const std::string& path) {
    std::filesystem::remove_all(std::filesystem::path(root_.path()) / path);
  }
  tests::FakeRoot root_;
};

TEST_F(HostChecksTest, GoodHostHasNothingToMend) {
  for (const Finding& finding : check_host(root_.root())) {
    EXPECT_EQ(finding.severity, Severity::kOk) << finding.check << ": " << finding.what;
    EXPECT_NE(finding.what, "");
    EXPECT_EQ(finding.mend, "");
  }
}

TEST_F(HostChecksTest, WhatIsLeftOutIsAWarningThatNamesTheFile) {
  write("sys/devices/system/node/node1/meminfo", "");
  const Finding finding = check_topology(root_.root());
  EXPECT_EQ(finding.severity, Severity::kWarning);
  EXPECT_THAT(finding.what, HasSubstr("node1: the node is left out"));
}

TEST_F(HostChecksTest, WhatIsSpecialAboutAHostIsToldAndNothingToMend) {
  write("sys/devices/system/node/node1/memory_side_cache/index1/size", "1073741824\n");
  const Finding finding = check_topology(root_.root());
  EXPECT_EQ(finding.severity, Severity::kOk);
  EXPECT_EQ(finding.what, "memory behind a cache of its own: node 1");
}

TEST_F(HostChecksTest, WhatForbidsCountingReadsIsANote) {
  write("proc/sys/kernel/perf_event_paranoid", "3\n");
  EXPECT_EQ(check_counters(root_.root()).severity, Severity::kNote);
  EXPECT_THAT(check_counters(root_.root()).lines,
              testing::ElementsAre("sysctl kernel.perf_event_paranoid=2"));
  write("proc/sys/kernel/perf_event_paranoid", "-1\n");
  EXPECT_EQ(check_counters(root_.root()).severity, Severity::kOk);
  write("sys/module/kvm_amd/parameters/enable_mediated_pmu", "Y\n");
  EXPECT_EQ(check_counters(root_.root()).severity, Severity::kNote);
}

TEST_F(HostChecksTest, EmptyRootYieldsOneFindingACheck) {
  const tests::FakeRoot empty;
  EXPECT_EQ(check_host(empty.root()).size(), 11U);
}

TEST_F(HostChecksTest, KernelWithoutNodesIsAnError) {
  remove("sys/devices/system/node");
  const Finding finding = check_nodes(root_.root());
  EXPECT_EQ(finding.severity, Severity::kError);
  EXPECT_THAT(finding.mend, HasSubstr("CONFIG_NUMA"));
  EXPECT_EQ(check_distances(root_.root()).severity, Severity::kOk);  // one finding is enough
}

TEST_F(HostChecksTest, HalfWrittenNodesAreAWarning) {
  remove("sys/devices/system/node/has_memory");
  EXPECT_EQ(check_nodes(root_.root()).severity, Severity::kWarning);
  write("sys/devices/system/node/online", "0-x\n");
  EXPECT_EQ(check_nodes(root_.root()).severity, Severity::kError);
}

TEST_F(HostChecksTest, OneNodeIsANote) {
  write("sys/devices/system/node/online", "0\n");
  const Finding finding = check_nodes(root_.root());
  EXPECT_EQ(finding.severity, Severity::kNote);
  EXPECT_THAT(finding.what, HasSubstr("one NUMA node"));
}

TEST_F(HostChecksTest, SparseAndMemorylessAndCpulessNodesAreToldApart) {
  write("sys/devices/system/node/online", "0,2-3,9\n");
  write("sys/devices/system/node/has_cpu", "0,2-3\n");
  write("sys/devices/system/node/has_memory", "0,2,9\n");
  const Finding finding = check_nodes(root_.root());
  EXPECT_EQ(finding.severity, Severity::kNote);
  EXPECT_EQ(finding.what,
            "4 nodes: 0,2-3,9; without memory: 3; without CPUs: 9 (no VM gets its home there)");
  EXPECT_THAT(finding.mend, HasSubstr("slots"));
}

TEST_F(HostChecksTest, EqualDistancesAreAWarning) {
  write("sys/devices/system/node/node0/distance", "10 10\n");
  write("sys/devices/system/node/node1/distance", "10 10\n");
  const Finding finding = check_distances(root_.root());
  EXPECT_EQ(finding.severity, Severity::kWarning);
  EXPECT_THAT(finding.mend, HasSubstr("SLIT"));
}

TEST_F(HostChecksTest, UnreadableDistancesAreAnError) {
  write("sys/devices/system/node/node1/distance", "ten\n");
  EXPECT_EQ(check_distances(root_.root()).severity, Severity::kError);
}

TEST_F(HostChecksTest, HostWithoutCgroupVersionTwoIsAnError) {
  remove("sys/fs/cgroup/cgroup.controllers");
  const Finding finding = check_cgroup(root_.root());
  EXPECT_EQ(finding.severity, Severity::kError);
  EXPECT_THAT(finding.mend, HasSubstr("systemd.unified_cgroup_hierarchy=1"));
}

TEST_F(HostChecksTest, MissingControllersAreNamed) {
  write("sys/fs/cgroup/cgroup.controllers", "cpuset io hugetlb\n");  // "cpu" is not in "cpuset"
  const Finding finding = check_cgroup(root_.root());
  EXPECT_EQ(finding.severity, Severity::kError);
  EXPECT_THAT(finding.what, HasSubstr("cpu, memory"));
}

// What is an error here degrades the daemon there, for the same reason.
TEST_F(HostChecksTest, ErrorsAreWhatTheDaemonLacks) {
  EXPECT_TRUE(stats::host_lacks(root_.root()).empty());
  remove("sys/fs/cgroup/cgroup.controllers");
  remove("proc/self/schedstat");
  const auto lacks = stats::host_lacks(root_.root());
  ASSERT_EQ(lacks.size(), 2U);
  EXPECT_EQ(lacks[0].source, check_cgroup(root_.root()).check);
  EXPECT_EQ(lacks[0].reason, check_cgroup(root_.root()).what);
  EXPECT_EQ(lacks[1].source, check_schedstat(root_.root()).check);
  EXPECT_EQ(lacks[1].reason, check_schedstat(root_.root()).what);
}

TEST_F(HostChecksTest, KernelWithoutSchedstatIsAnError) {
  remove("proc/self/schedstat");
  const Finding finding = check_schedstat(root_.root());
  EXPECT_EQ(finding.severity, Severity::kError);
  EXPECT_THAT(finding.mend, HasSubstr("CONFIG_SCHED_INFO"));
}

TEST_F(HostChecksTest, KernelWithoutPressureIsAWarning) {
  remove("proc/pressure");
  const Finding finding = check_pressure(root_.root());
  EXPECT_EQ(finding.severity, Severity::kWarning);
  EXPECT_THAT(finding.mend, HasSubstr("psi=1"));
}

}  // namespace
}  // namespace vmnuma::tools
