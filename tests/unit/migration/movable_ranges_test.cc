// SPDX-License-Identifier: Apache-2.0
#include "migration/linux/movable_ranges.h"

#include <gtest/gtest.h>

namespace vmnuma::migration {
namespace {

constexpr Bytes kHuge = kMiB * 2;

/// The ranges of a process with these files.
std::vector<MemoryRange> ranges_of(std::string_view maps, std::string_view numa_maps) {
  const auto mappings = stats::parse_maps(maps);
  const auto pages = stats::parse_numa_maps(numa_maps);
  EXPECT_TRUE(mappings && pages);
  return mappings && pages ? movable_ranges(*mappings, *pages, kHuge) : std::vector<MemoryRange>{};
}

/// Whether a mapping of that name with four pages, so many of them anonymous, is memory of the
/// process's own.
bool is_own(const std::string& permissions, const std::string& name, int anonymous = 0) {
  return !ranges_of("7f0000000000-7f0000400000 " + permissions + " 0 00:01 31 " + name + "\n",
                    "7f0000000000 default anon=" + std::to_string(anonymous) +
                        " N0=4 kernelpagesize_kB=4\n")
              .empty();
}

TEST(MovableRangesTest, AnonymousMemoryHeapAndStacksAreTheProcesssOwn) {
  EXPECT_TRUE(is_own("rw-p", ""));
  EXPECT_TRUE(is_own("rw-p", "[heap]"));
  EXPECT_TRUE(is_own("rw-p", "[stack]"));
  EXPECT_TRUE(is_own("rwxp", "[anon:jit]"));
  EXPECT_TRUE(is_own("r--p", ""));
}

TEST(MovableRangesTest, SharedMemoryAndGuestRamInAFileAreTheProcesssOwn) {
  EXPECT_TRUE(is_own("rw-s", "/memfd:memory-backend-memfd (deleted)"));
  EXPECT_TRUE(is_own("rw-s", "/dev/shm/ram"));
  EXPECT_TRUE(is_own("rw-s", "/dev/zero (deleted)"));
  EXPECT_TRUE(is_own("rw-s", "/SYSV00000000 (deleted)"));
  EXPECT_TRUE(is_own("rw-s", "/var/lib/libvirt/qemu/ram/1-web1/pc.ram"));
}

TEST(MovableRangesTest, WrittenDataOfLibrariesIsTheProcesssOwn) {
  EXPECT_TRUE(is_own("rw-p", "/usr/lib/x86_64-linux-gnu/libc.so.6", 4));
  EXPECT_TRUE(is_own("r--p", "/usr/lib/x86_64-linux-gnu/libc.so.6", 2));
  EXPECT_FALSE(is_own("rw-p", "/usr/lib/x86_64-linux-gnu/libc.so.6", 1));
}

TEST(MovableRangesTest, ProgramsLibrariesAndDevicesAreLeftAlone) {
  EXPECT_FALSE(is_own("r-xp", "/usr/bin/qemu-system-x86_64"));
  EXPECT_FALSE(is_own("rw-p", "/usr/lib/x86_64-linux-gnu/libc.so.6"));
  EXPECT_FALSE(is_own("r--s", "/usr/lib/x86_64-linux-gnu/gconv/gconv-modules.cache"));
  EXPECT_FALSE(is_own("rw-s", "anon_inode:kvm-vcpu:0"));
  EXPECT_FALSE(is_own("rw-s", "/dev/vfio/12"));
  EXPECT_FALSE(is_own("rw-s", "/[aio] (deleted)"));
  EXPECT_FALSE(is_own("r-xp", "[vdso]"));
}

TEST(MovableRangesTest, TellPageSizeSharingAndWhereThePagesAre) {
  const auto ranges = ranges_of(
      "7f0000000000-7f0000400000 rw-s 0 00:01 31 /memfd:ram (deleted)\n",
      "7f0000000000 default file=/memfd:ram\\040(deleted) N0=3 N2=1 kernelpagesize_kB=4\n");
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_EQ(ranges[0], (MemoryRange{.start = 0x7f0000000000,
                                    .length = kMiB * 4,
                                    .page_size = kKiB * 4,
                                    .huge_page_size = kHuge,
                                    .hugetlb = false,
                                    .shared = true,
                                    .policy = "",
                                    .resident = {{NodeId{0}, kKiB * 12}, {NodeId{2}, kKiB * 4}}}));
}

TEST(MovableRangesTest, HugetlbPagesAreNotTransparentOnes) {
  const auto ranges =
      ranges_of("7f0000000000-7f0000400000 rw-p 0 00:01 31 /anon_hugepage (deleted)\n",
                "7f0000000000 default file=/anon_hugepage\\040(deleted) huge anon=2 dirty=2 N1=2 "
                "kernelpagesize_kB=2048\n");
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_TRUE(ranges[0].hugetlb);
  EXPECT_EQ(ranges[0].page_size, kMiB * 2);
  EXPECT_EQ(ranges[0].huge_page_size, Bytes{});
  EXPECT_EQ(ranges[0].resident, (std::vector<NodeBytes>{{NodeId{1}, kMiB * 4}}));
}

TEST(MovableRangesTest, AnExplicitPolicyIsTold) {
  const auto policy = [](const std::string& written) {
    return ranges_of("7f0000000000-7f0000400000 rw-p 0 00:00 0 \n",
                     "7f0000000000 " + written + " N0=1 kernelpagesize_kB=4\n")
        .at(0)
        .policy;
  };
  EXPECT_EQ(policy("default"), "");
  EXPECT_EQ(policy("local"), "");
  EXPECT_EQ(policy("bind:0-1"), "bind:0-1");
  EXPECT_EQ(policy("prefer (many):1"), "prefer (many):1");
}

TEST(MovableRangesTest, MappingsThatOnlyHoldAddressesOrAreInOnlyOneFileAreLeftOut) {
  const auto ranges = ranges_of(
      "10000-20000 rw-p 0 00:00 0 \n"
      "30000-40000 ---p 0 00:00 0 \n"
      "50000-60000 rw-p 0 00:00 0 \n"
      "90000-a0000 rw-p 0 00:00 0 \n",
      "20000 default N0=1 kernelpagesize_kB=4\n"
      "30000 default\n"
      "50000 default N0=1 kernelpagesize_kB=4\n"
      "70000 default N0=1 kernelpagesize_kB=4\n"
      "90000 default N0=1 kernelpagesize_kB=4\n"
      "b0000 default N0=1 kernelpagesize_kB=4\n");
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(ranges[0].start, 0x50000U);
  EXPECT_EQ(ranges[1].start, 0x90000U);
}

TEST(MovableRangesTest, MemoryThatIsNotTouchedYetIsTold) {
  const auto ranges = ranges_of("30000-40000 rw-p 0 00:00 0 \n", "30000 default\n");
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_EQ(ranges[0].length, kKiB * 64);
  EXPECT_EQ(ranges[0].page_size, kKiB * 4);
  EXPECT_TRUE(ranges[0].resident.empty());
}

}  // namespace
}  // namespace vmnuma::migration
