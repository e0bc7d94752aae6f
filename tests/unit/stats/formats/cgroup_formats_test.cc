// SPDX-License-Identifier: Apache-2.0
#include "stats/formats/cgroup_formats.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/stats/formats/expect_corrupt.h"

namespace vmnuma::stats {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(VmCgroupTest, FindsTheScopeThatSystemdMade) {
  const auto cgroup =
      vm_cgroup_of("/machine.slice/machine-qemu\\x2d3\\x2dweb1.scope/libvirt/emulator");
  ASSERT_TRUE(cgroup.has_value());
  EXPECT_EQ(cgroup->scope, "machine.slice/machine-qemu\\x2d3\\x2dweb1.scope");
  EXPECT_EQ(cgroup->thread_group, "machine.slice/machine-qemu\\x2d3\\x2dweb1.scope/libvirt");
}

TEST(VmCgroupTest, TheScopeOfAPlainProcessIsItsCgroupAtAnyDepth) {
  EXPECT_EQ(scope_of_process("/qemu.slice/100.scope"), "qemu.slice/100.scope");
  EXPECT_EQ(scope_of_process("/a/b/c/d"), "a/b/c/d");
  EXPECT_EQ(scope_of_process("/"), std::nullopt);
  EXPECT_EQ(scope_of_process(""), std::nullopt);
}

TEST(VmCgroupTest, FindsTheGroupThatLibvirtMadeWithoutSystemd) {
  const auto cgroup = vm_cgroup_of("/machine/qemu-3-web1.libvirt-qemu/emulator");
  ASSERT_TRUE(cgroup.has_value());
  EXPECT_EQ(cgroup->scope, "machine/qemu-3-web1.libvirt-qemu");
  EXPECT_EQ(cgroup->thread_group, "machine/qemu-3-web1.libvirt-qemu");
}

TEST(VmCgroupTest, FindsNothingWhereThreadsAreNotSorted) {
  for (const char* path : {"/", "", "/emulator", "/user.slice/session-1.scope",
                           "/machine.slice/x/emulators", "machine/x/emulator"}) {
    EXPECT_EQ(vm_cgroup_of(path), std::nullopt) << path;
  }
}

TEST(VcpuGroupTest, KnowsItsNumber) {
  EXPECT_EQ(vcpu_of_cgroup_name("vcpu0"), 0);
  EXPECT_EQ(vcpu_of_cgroup_name("vcpu287"), 287);
  EXPECT_EQ(vcpu_of_cgroup_name("emulator"), std::nullopt);
  EXPECT_EQ(vcpu_of_cgroup_name("iothread1"), std::nullopt);
  EXPECT_EQ(vcpu_of_cgroup_name("vcpu"), std::nullopt);
  EXPECT_EQ(vcpu_of_cgroup_name("vcpu1x"), std::nullopt);
}

TEST(CgroupThreadsTest, ReadsOneAThreadALine) {
  EXPECT_THAT(parse_cgroup_threads("12\n345\n").value(), ElementsAre(12, 345));
  EXPECT_THAT(parse_cgroup_threads("").value(), IsEmpty());
}

TEST(CgroupThreadsTest, RejectsAnythingElse) {
  for (const char* text : {"\n", "12", "12 13\n", "-1\n", "0\n", "12\nx\n"}) {
    expect_corrupt(parse_cgroup_threads(text), "cgroup.threads");
  }
}

TEST(CpuStatTest, ReadsThrottledTime) {
  EXPECT_EQ(parse_throttled_us("usage_usec 9\nnr_throttled 2\nthrottled_usec 1234\n").value(),
            1234);
}

TEST(CpuStatTest, ReadsUsedTime) {
  EXPECT_EQ(parse_used_us("usage_usec 9\nnr_throttled 2\nthrottled_usec 1234\n").value(), 9);
  expect_corrupt(parse_used_us("nr_throttled 2\n"), "usage_usec");
}

TEST(CpuStatTest, RejectsAFileWithoutIt) {
  expect_corrupt(parse_throttled_us("usage_usec 9\nuser_usec 9\nsystem_usec 0\n"),
                 "throttled_usec");
  expect_corrupt(parse_throttled_us("usage_usec 9\nthrottled_us"), "'throttled_us'");
  expect_corrupt(parse_throttled_us("throttled_usec 12 3\n"), "'throttled_usec 12 3'");
  expect_corrupt(parse_throttled_us(""), "empty");
}

TEST(CpuWeightTest, ReadsTheWeight) {
  EXPECT_EQ(parse_cpu_weight("1\n").value(), 1);
  EXPECT_EQ(parse_cpu_weight("2000\n").value(), 2000);
  EXPECT_EQ(parse_cpu_weight("10000\n").value(), 10'000);
}

TEST(CpuWeightTest, AnIdleGroupHasTheLeast) {
  EXPECT_EQ(parse_cpu_weight("0\n").value(), 1);
}

TEST(CpuWeightTest, RejectsWhatTheKernelNeverWrites) {
  for (const char* text : {"", "100", "10001\n", "-1\n", "100 \n", "max\n", "1\n2\n"}) {
    expect_corrupt(parse_cpu_weight(text), "cpu.weight");
  }
}

TEST(ThreadCountTest, IsOneNumber) {
  EXPECT_EQ(parse_thread_count("17\n").value(), 17);
  EXPECT_EQ(parse_thread_count("0\n").value(), 0);
  for (const char* text : {"", "17", "-1\n", "17 \n", "max\n", "1\n2\n"}) {
    expect_corrupt(parse_thread_count(text), "pids.current");
  }
}

TEST(CpuMaxTest, IsThousandthsOfOneCpu) {
  EXPECT_EQ(parse_cpu_max("50000 100000\n").value(), 500);
  EXPECT_EQ(parse_cpu_max("250000 100000\n").value(), 2500);
  EXPECT_EQ(parse_cpu_max("1999 1000000\n").value(), 1);  // 1.999 thousandths
}

TEST(CpuMaxTest, IsNothingWithoutALimit) {
  EXPECT_EQ(parse_cpu_max("max 100000\n").value(), std::nullopt);
}

TEST(CpuMaxTest, RejectsAnythingElse) {
  for (const char* text : {"", "max\n", "max 100000", "max 0\n", "x 100000\n", "50000 100000 1\n",
                           "-1 100000\n", "9223372036854775807 1\n"}) {
    expect_corrupt(parse_cpu_max(text), "cpu.max");
  }
}

TEST(MemoryNumaStatTest, AddsPrivateAndSharedRamAndCountsSharedRamOnce) {
  // memfd RAM is in `file` as well as in `shmem`; `file` also has page cache, which is not the
  // guest's memory.
  const auto memory = parse_memory_numa_stat(
      "anon N0=4096 N1=8192\n"
      "file N0=1000000 N1=2000000\n"
      "kernel_stack N0=16384 N1=0\n"
      "shmem N0=100 N1=0\n"
      "anon_thp N0=4096 N1=0\n");
  ASSERT_TRUE(memory.has_value());
  EXPECT_THAT(*memory,
              ElementsAre(NodeBytes{NodeId{0}, Bytes{4196}}, NodeBytes{NodeId{1}, Bytes{8192}}));
}

TEST(MemoryNumaStatTest, KeepsSparseNodeNumbers) {
  const auto memory = parse_memory_numa_stat("anon N2=1 N17=2\nshmem N2=0 N17=5\n");
  ASSERT_TRUE(memory.has_value());
  EXPECT_THAT(*memory,
              ElementsAre(NodeBytes{NodeId{2}, Bytes{1}}, NodeBytes{NodeId{17}, Bytes{7}}));
}

TEST(MemoryNumaStatTest, RejectsHalfAFile) {
  expect_corrupt(parse_memory_numa_stat("anon N0=4096\nfile N0=0\n"), "shmem");
  expect_corrupt(parse_memory_numa_stat("anon N0=4096\nshmem N0=12"), "'shmem N0=12'");
  expect_corrupt(parse_memory_numa_stat(""), "empty");
  expect_corrupt(parse_memory_numa_stat("anon\nshmem\n"), "anon");
}

TEST(MemoryNumaStatTest, RejectsABadLineAndQuotesIt) {
  for (const char* line : {"anon N0=x", "anon 0=5", "anon N=5", "anon N0 5", "anon N0=-5",
                           "anon N0=5 junk", "anon N0=9223372036854775807"}) {
    expect_corrupt(parse_memory_numa_stat(std::string(line) + "\nshmem N0=0\n"),
                   "'" + std::string(line) + "'");
  }
}

}  // namespace
}  // namespace vmnuma::stats
