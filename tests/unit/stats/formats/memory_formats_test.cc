// SPDX-License-Identifier: Apache-2.0
#include "stats/formats/memory_formats.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/stats/formats/expect_corrupt.h"

namespace vmnuma::stats {
namespace {

using testing::HasSubstr;

TEST(MemoryFormatsTest, ReadsLimits) {
  EXPECT_EQ(parse_memory_limit("max\n").value(), std::nullopt);
  EXPECT_EQ(parse_memory_limit("0\n").value(), Bytes{0});
  EXPECT_EQ(parse_memory_limit("9223372036854771712\n").value(), Bytes{9223372036854771712});
  expect_corrupt(parse_memory_limit("12"), "a memory limit");
  expect_corrupt(parse_memory_limit("12\n13\n"), "12");
  expect_corrupt(parse_memory_limit("-1\n"), "'-1'");
  expect_corrupt(parse_memory_limit("maximal\n"), "'maximal'");
  expect_corrupt(parse_memory_limit(""), "empty");
}

TEST(MemoryFormatsTest, ReadsAmounts) {
  EXPECT_EQ(parse_memory_amount("4096\n").value(), Bytes{4096});
  expect_corrupt(parse_memory_amount("max\n"), "'max'");
}

TEST(MemoryFormatsTest, ReadsTheLinesOfMemoryStatThatItNeeds) {
  const auto stat = parse_memory_stat(
      "anon 1000\nfile 300\nkernel 7\nshmem 200\nfile_mapped 1\nunevictable 40\npgfault 9\n");
  EXPECT_EQ(stat.value(), (MemoryStat{Bytes{1000}, Bytes{300}, Bytes{200}, Bytes{40}}));
  EXPECT_EQ(parse_memory_stat("anon 9\nfile 3\nshmem 2\nunevictable 1\nanon_thp 6\n"
                              "file_thp 1\nshmem_thp 2\n")
                .value()
                .huge,
            Bytes{8});
  expect_corrupt(parse_memory_stat("anon 1\nfile 2\nunevictable 3\n"), "no line 'shmem'");
  expect_corrupt(parse_memory_stat("anon 1 2\nfile 2\nshmem 1\nunevictable 3\n"), "'anon 1 2'");
}

TEST(MemoryFormatsTest, ReadsWhatWaits) {
  const auto waits = parse_memory_waits(
      "some avg10=12.34 avg60=0.00 avg300=0.00 total=5\n"
      "full avg10=1.09 avg60=0.00 avg300=0.00 total=3\n");
  EXPECT_EQ(waits.value(), (MemoryWaits{Permille{123}, Permille{10}}));
  expect_corrupt(parse_memory_waits("some avg10=12.34 avg60=0.00 avg300=0.00 total=5\n"), "some");
  expect_corrupt(parse_memory_waits("some avg10=12.3 total=5\nfull avg10=0.00 total=3\n"), "12.3");
  expect_corrupt(parse_memory_waits("some avg10=101.00 total=5\nfull avg10=0.00 total=3\n"), "101");
}

TEST(MemoryPressureTest, IsTheShareOfTimeInWhichSomeTaskWaited) {
  EXPECT_EQ(parse_memory_pressure("some avg10=1.53 avg60=0.87 avg300=0.29 total=1157622151\n"
                                  "full avg10=0.00 avg60=0.13 avg300=0.05 total=1047808\n")
                .value(),
            Permille{15});
  EXPECT_EQ(parse_memory_pressure("some avg10=100.00 avg60=0.87 avg300=0.29 total=1\n").value(),
            Permille{1000});
}

TEST(MemoryPressureTest, RejectsAnythingElse) {
  expect_corrupt(parse_memory_pressure(""), "empty");
  for (const char* line :
       {"full avg10=1.00 total=1", "some", "some avg10=", "some avg10=1", "some avg10=1.0",
        "some avg10=-1.00", "some avg10=101.00", "some avg60=1.00 avg10=1.00", "some avg10=x.00"}) {
    expect_corrupt(parse_memory_pressure(std::string(line) + "\n"), line);
  }
}

TEST(MemoryFormatsTest, ReadsHowLongTasksWaitedForACpu) {
  EXPECT_EQ(parse_cpu_waits("some avg10=12.34 avg60=0.00 avg300=0.00 total=5\n"
                            "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")
                .value(),
            Permille{123});
  EXPECT_EQ(parse_cpu_waits("some avg10=1.00 avg60=0.00 avg300=0.00 total=5\n").value(),
            Permille{10});  // before Linux 5.13
  expect_corrupt(parse_cpu_waits("full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"), "full");
  expect_corrupt(parse_cpu_waits(""), "cpu.pressure");
}

TEST(MemoryFormatsTest, ReadsTheOomAdjustment) {
  EXPECT_EQ(parse_oom_score_adj("0\n").value(), 0);
  EXPECT_EQ(parse_oom_score_adj("-1000\n").value(), -1000);
  EXPECT_EQ(parse_oom_score_adj("1000\n").value(), 1000);
  expect_corrupt(parse_oom_score_adj("1001\n"), "'1001'");
  expect_corrupt(parse_oom_score_adj("--1\n"), "'--1'");
}

TEST(MemoryFormatsTest, ReadsSwap) {
  EXPECT_EQ(parse_swap_total("MemTotal:  8 kB\nSwapTotal:        999420 kB\n").value(),
            Bytes{999420 * 1024});
  EXPECT_EQ(parse_swap_total("SwapTotal:             0 kB\n").value(), Bytes{0});
  expect_corrupt(parse_swap_total("MemTotal: 8 kB\n"), "no line 'SwapTotal:'");
  expect_corrupt(parse_swap_total("SwapTotal: 8 MB\n"), "8 MB");
  expect_corrupt(parse_swap_total("SwapTotal: 9007199254740992 kB\n"), "9007199254740992");
}

TEST(DefaultHugePageSizeTest, IsInMeminfo) {
  EXPECT_EQ(
      parse_default_huge_page_size("MemTotal: 8 kB\nHugepagesize:    2048 kB\nHugetlb: 0 kB\n")
          .value(),
      kMiB * 2);
}

TEST(DefaultHugePageSizeTest, IsZeroWithoutHugePages) {
  EXPECT_EQ(parse_default_huge_page_size("MemTotal: 8 kB\n").value(), Bytes{});
}

TEST(DefaultHugePageSizeTest, RejectsAnythingElse) {
  expect_corrupt(parse_default_huge_page_size(""), "empty");
  for (const char* line : {"Hugepagesize: 2048", "Hugepagesize: 2 MB", "Hugepagesize: -1 kB",
                           "Hugepagesize: 2048 kB x", "Hugepagesize: 9007199254740992 kB"}) {
    expect_corrupt(parse_default_huge_page_size(std::string(line) + "\n"),
                   "'" + std::string(line) + "'");
  }
}

TEST(MemoryFormatsTest, SeesWhetherProtectionIsInherited) {
  const auto mount = [](std::string_view options) {
    return "23 1 0:20 / /sys rw - sysfs sysfs rw\n"
           "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 " +
           std::string(options) + "\n";
  };
  EXPECT_EQ(has_recursive_protection(mount("rw,nsdelegate,memory_recursiveprot")), true);
  EXPECT_EQ(has_recursive_protection(mount("rw,nsdelegate")), false);
  EXPECT_EQ(has_recursive_protection(mount("rw,memory_recursiveprots")), false);
  EXPECT_EQ(has_recursive_protection("23 1 0:20 / /sys rw - sysfs sysfs rw\n"), std::nullopt);
  EXPECT_EQ(has_recursive_protection("29 23 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"),
            std::nullopt);
  EXPECT_EQ(has_recursive_protection("29 23\n"), std::nullopt);
  EXPECT_EQ(has_recursive_protection(""), std::nullopt);
}

}  // namespace
}  // namespace vmnuma::stats
