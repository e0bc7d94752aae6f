// SPDX-License-Identifier: Apache-2.0
#include "stats/formats/proc_formats.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/stats/formats/expect_corrupt.h"

namespace vmnuma::stats {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ProcStatTest, CountsIdleTimeAndWaitingForDisks) {
  // Idle 8 + iowait 16 = 24 ticks of 10 ms.
  const auto cpus = parse_proc_stat("cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 1 2 4 8 16 32 64 128 0 0\n");
  ASSERT_TRUE(cpus.has_value());
  EXPECT_THAT(*cpus, ElementsAre(CpuIdleTime{CpuId{0}, 240'000}));
}

TEST(ProcStatTest, KeepsTheKernelsNumbersWithHoles) {
  const auto cpus = parse_proc_stat(
      "cpu  0 0 0 0 0 0 0 0 0 0\n"
      "cpu1 0 0 0 1 0 0 0 0 0 0\n"
      "cpu1500 0 0 0 2 0 0 0 0 0 0\n"
      "intr 1 2 3\nctxt 5\n");
  ASSERT_TRUE(cpus.has_value());
  EXPECT_THAT(*cpus, ElementsAre(CpuIdleTime{CpuId{1}, 10'000}, CpuIdleTime{CpuId{1500}, 20'000}));
}

TEST(ProcStatTest, RejectsALineWithTooFewNumbersAndQuotesIt) {
  expect_corrupt(parse_proc_stat("cpu0 1 2 3 4\n"), "'cpu0 1 2 3 4'");
}

TEST(ProcStatTest, IgnoresNumbersThatALaterKernelAppends) {
  const auto cpus = parse_proc_stat("cpu0 1 2 4 8 16 32 64 128 0 0 18446744073709551615 7\n");
  ASSERT_TRUE(cpus.has_value()) << cpus.error().message;
  EXPECT_THAT(*cpus, ElementsAre(CpuIdleTime{CpuId{0}, 240'000}));
}

TEST(ProcStatTest, RejectsJunkBehindTheNumbers) {
  expect_corrupt(parse_proc_stat("cpu0 1 2 4 8 16 32 64 128 0 0 x\n"), "0 0 x'");
  expect_corrupt(parse_proc_stat("cpu0 1 2 4 8 16 32 64 128 0 0x\n"), "0 0x'");
  expect_corrupt(parse_proc_stat("cpu0x 1 2 4 8 16 32 64 128 0 0\n"), "'cpu0x ");
}

TEST(ProcStatTest, RejectsNegativeAndImpossiblyLargeNumbers) {
  expect_corrupt(parse_proc_stat("cpu0 -1 0 0 0 0 0 0 0 0 0\n"), "'cpu0 -1");
  expect_corrupt(parse_proc_stat("cpu0 9223372036854775807 0 0 0 0 0 0 0 0 0\n"), "'cpu0 9223");
}

TEST(ProcStatTest, RejectsAFileThatIsCutOff) {
  expect_corrupt(parse_proc_stat("cpu0 1 2 4 8 16 32 64 128 0 0\ncpu1 1 2"), "'cpu1 1 2'");
  expect_corrupt(parse_proc_stat(""), "empty");
  expect_corrupt(parse_proc_stat("ctxt 5\n"), "no line of a CPU");
}

// The fields of /proc/PID/stat behind the name, up to and with the start time 777.
constexpr const char* kFields = "S 1 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 777 22 23";

TEST(ProcessStatTest, FindsTheStartTime) {
  const auto stat = parse_process_stat(std::string("42 (qemu) ") + kFields + "\n");
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->start_time_ticks, 777u);
}

TEST(ProcessStatTest, AcceptsBlanksAndBracketsInTheName) {
  const auto stat = parse_process_stat(std::string("42 (CPU 0) R (KVM) ") + kFields + "\n");
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->start_time_ticks, 777u);
}

TEST(ProcessStatTest, RejectsWhatIsCutOff) {
  expect_corrupt(parse_process_stat(std::string("42 (qemu) ") + kFields), "'42 (qemu)");
  expect_corrupt(parse_process_stat("42 (qemu) S 1 2 3\n"), "'42 (qemu) S 1 2 3?'");
  expect_corrupt(parse_process_stat("42 (qemu\n"), "'42 (qemu?'");
  expect_corrupt(parse_process_stat("42 (qemu) \n"), "'42 (qemu) ?'");
  expect_corrupt(parse_process_stat(""), "''");
}

TEST(ProcessStatTest, FindsTheLastCpu) {
  const std::string line =
      std::string("42 (CPU 0) R (KVM) ") + kFields + " 25 26 27 28 29 30 31 32 33 34 35 36 37 -1 ";
  EXPECT_EQ(parse_last_cpu(line + "13 40 41\n"), CpuId{13});
  expect_corrupt(parse_last_cpu(line + "\n"), "'42 (CPU 0) R (KVM)");
  expect_corrupt(parse_last_cpu(line + "-1 40\n"), "'42 (CPU 0) R (KVM)");
  expect_corrupt(parse_last_cpu(line + "13 40"), "'42 (CPU 0) R (KVM)");
  expect_corrupt(parse_last_cpu("42 (qemu\n"), "'42 (qemu?'");
}

TEST(SchedstatTest, ReadsRunAndWait) {
  const auto times = parse_schedstat("123456789 42 7\n");
  ASSERT_TRUE(times.has_value());
  EXPECT_EQ(times->run_ns, 123'456'789);
  EXPECT_EQ(times->wait_ns, 42);
}

TEST(SchedstatTest, RejectsAnythingElse) {
  for (const char* text : {"", "\n", "1 2\n", "1 2 3", "1 2 3 4\n", "1 2 3\n4\n", "-1 2 3\n",
                           "1 x 3\n", "99999999999999999999 2 3\n"}) {
    expect_corrupt(parse_schedstat(text), "schedstat");
  }
}

TEST(DirectReclaimsTest, AreTheSumOverZones) {
  EXPECT_EQ(parse_direct_reclaims("pgfree 9\nallocstall_dma 1\nallocstall_normal 20\n"
                                  "allocstall_movable 300\npgskip_normal 4\n")
                .value(),
            321);
}

TEST(DirectReclaimsTest, RejectsAnythingElse) {
  expect_corrupt(parse_direct_reclaims(""), "");
  expect_corrupt(parse_direct_reclaims("pgfree 9\n"), "allocstall");
  for (const char* line :
       {"allocstall_dma", "allocstall_dma x", "allocstall_dma -1", "allocstall_dma 1 2"}) {
    expect_corrupt(parse_direct_reclaims(std::string(line) + "\n"), line);
  }
}

TEST(NumaBalancingTest, IsOneNumber) {
  EXPECT_EQ(parse_numa_balancing("0\n").value(), 0);
  EXPECT_EQ(parse_numa_balancing("3\n").value(), 3);
}

TEST(NumaBalancingTest, RejectsAnythingElse) {
  for (const char* text : {"", "1", "x\n", "-1\n", "1\n1\n", "1 \n"}) {
    expect_corrupt(parse_numa_balancing(text), "/proc/sys/kernel/numa_balancing");
  }
}

TEST(PidFileTest, ReadsANumberWithOrWithoutNewline) {
  EXPECT_EQ(parse_pid_file("1234").value(), 1234);
  EXPECT_EQ(parse_pid_file("1234\n").value(), 1234);
}

TEST(PidFileTest, RejectsAnythingElse) {
  for (const char* text : {"", "\n", "0", "-5", "12 34", "12\n34\n", "12x"}) {
    expect_corrupt(parse_pid_file(text), "pid file");
  }
}

class CommandLineTest : public testing::Test {
 protected:
  static std::string arguments(std::string text) {
    for (char& c : text) {
      c = c == ' ' ? '\0' : c;
    }
    return text;
  }
  VmId id_{{0xc7, 0xa5, 0xfd, 0xbd, 0xed, 0xaf, 0x94, 0x55, 0x92, 0x6a, 0xd6, 0x5c, 0x16, 0xdb,
            0x18, 0x09}};
};

TEST_F(CommandLineTest, RecognisesTheUuid) {
  EXPECT_TRUE(is_command_line_of(
      id_, arguments("qemu -name guest=a -uuid c7a5fdbd-edaf-9455-926a-d65c16db1809 -m 64 ")));
}

TEST_F(CommandLineTest, TellsAnotherVmApart) {
  EXPECT_FALSE(is_command_line_of(
      id_, arguments("qemu -name guest=a -uuid c7a5fdbd-edaf-9455-926a-d65c16db180a -m 64 ")));
}

TEST_F(CommandLineTest, IsNotDeceivedByTheUuidElsewhere) {
  EXPECT_FALSE(is_command_line_of(id_, arguments("sh c7a5fdbd-edaf-9455-926a-d65c16db1809 ")));
  EXPECT_FALSE(is_command_line_of(id_, arguments("qemu -uuid ")));
  EXPECT_FALSE(is_command_line_of(id_, ""));
}

TEST(ProcessCgroupTest, TakesTheUnifiedHierarchy) {
  EXPECT_EQ(parse_process_cgroup("4:memory:/a\n0::/machine.slice/b.scope/libvirt/emulator\n"),
            "/machine.slice/b.scope/libvirt/emulator");
  EXPECT_EQ(parse_process_cgroup("0::/\n"), "/");
}

TEST(ProcessCgroupTest, FindsNothingInCgroupV1) {
  EXPECT_EQ(parse_process_cgroup("4:memory:/a\n1:name=systemd:/\n"), std::nullopt);
  EXPECT_EQ(parse_process_cgroup(""), std::nullopt);
}

TEST(ThreadNameTest, KnowsVcpusOfBothAccelerators) {
  EXPECT_EQ(vcpu_of_thread_name("CPU 3/KVM\n"), 3);
  EXPECT_EQ(vcpu_of_thread_name("CPU 255/TCG\n"), 255);
}

TEST(ThreadNameTest, IgnoresAllOthers) {
  for (const char* name : {"qemu-system-x86\n", "IO mon_iothread\n", "CPU /KVM\n", "CPU -1/KVM\n",
                           "CPU 1x/KVM\n", "CPU 1/XEN\n", "ALL CPUs/TCG\n", "KVM\n", ""}) {
    EXPECT_EQ(vcpu_of_thread_name(name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace vmnuma::stats
