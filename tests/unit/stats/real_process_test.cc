// SPDX-License-Identifier: Apache-2.0
/// What only a kernel can show: kept descriptors of threads and processes that end, and numbers
/// that are used again.
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include "stats/sampler.h"
#include "stats/topology/topology_reader.h"
#include "tests/support/fake_host.h"
#include "tests/support/fake_qemu.h"

namespace vmnuma::stats {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// The real /proc and /sys, with pid files of our own.
class RealProcessTest : public testing::Test {
 protected:
  RealProcessTest() {
    host_.link("proc", "/proc");
    host_.link("sys", "/sys");
    publish(qemu_);
    vm_.id = id_;
    vm_.name = "real";
    vm_.domain_id = 1;
    vm_.vcpus = {0, 1};
  }

  void publish(const tests::FakeQemu& qemu) {
    host_.write("run/libvirt/qemu/real.pid", std::to_string(qemu.pid()));
  }

  Sample sample(const std::set<VmId>& spilling = {}) {
    const std::vector running{vm_};
    return sampler_.sample({.sequence = 1,
                            .now = Microseconds{1},
                            .running = running,
                            .moving = {},
                            .spilling = spilling});
  }

  static std::vector<std::int32_t> vcpus_of(const Sample& sample) {
    std::vector<std::int32_t> vcpus;
    for (const auto& vcpu : sample.vms.at(0).vcpus) {
      vcpus.push_back(vcpu.vcpu);
    }
    return vcpus;
  }

  VmId id_{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
  VmDescription vm_;
  tests::FakeHost host_;
  tests::FakeQemu qemu_{id_, 2};
  Sampler sampler_{files::Directory::open(host_.path()).value(),
                   read_topology(files::Directory::open("/").value()).value().topology,
                   {.slow_vms_per_epoch = 0}};
};

TEST_F(RealProcessTest, MeasuresCpuTimeOfTheRightThread) {
  const Sample before = sample();
  ASSERT_THAT(vcpus_of(before), ElementsAre(0, 1));
  qemu_.burn(1);
  const Sample after = sample();
  // It burned 20 ms; the kernel's two clocks for that may differ by a fraction.
  constexpr std::int64_t kAtLeastNs = 19'000'000;
  EXPECT_GE(after.vms[0].vcpus[1].run_ns - before.vms[0].vcpus[1].run_ns, kAtLeastNs);
  EXPECT_LT(after.vms[0].vcpus[0].run_ns - before.vms[0].vcpus[0].run_ns, kAtLeastNs);
}

TEST_F(RealProcessTest, TellsTheCpuThatAThreadRanOnLast) {
  const std::int64_t tid = sample().vms.at(0).vcpus.at(1).tid;
  cpu_set_t allowed{};
  ASSERT_EQ(::sched_getaffinity(0, sizeof(allowed), &allowed), 0);
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) {
      continue;
    }
    cpu_set_t only{};
    CPU_SET(cpu, &only);
    ASSERT_EQ(::sched_setaffinity(static_cast<pid_t>(tid), sizeof(only), &only), 0);
    qemu_.burn(1);
    const Sample now = sample({id_});
    ASSERT_THAT(now.vms.at(0).last_cpus, SizeIs(2));
    EXPECT_EQ(now.vms[0].last_cpus[1], CpuId{static_cast<std::int32_t>(cpu)});
  }
}

TEST_F(RealProcessTest, ReadsMemoryFromTheMappings) {
  const Sample now = sample();
  ASSERT_TRUE(now.vms.at(0).memory.has_value());
  Bytes sum;
  for (const auto bytes : *now.vms[0].memory) {
    sum += bytes;
  }
  EXPECT_GT(sum, Bytes{});
}

TEST_F(RealProcessTest, FollowsPlugAndUnplug) {
  ASSERT_THAT(vcpus_of(sample()), ElementsAre(0, 1));
  qemu_.plug(5);
  EXPECT_THAT(vcpus_of(sample()), ElementsAre(0, 1, 5));
  qemu_.unplug(1);
  const Sample after = sample();
  EXPECT_THAT(vcpus_of(after), ElementsAre(0, 5));
  EXPECT_EQ(after.missing.back().source, "VM 'real' vCPU 1");
  // One out and one in: the number of threads is as before.
  qemu_.unplug(0);
  qemu_.plug(6);
  EXPECT_THAT(vcpus_of(sample()), ElementsAre(5, 6));
}

TEST_F(RealProcessTest, NeverReadsAThreadThatTookTheSameVcpuNumber) {
  const Sample before = sample();
  qemu_.burn(1);
  qemu_.unplug(1);
  qemu_.plug(1);
  const Sample after = sample();
  ASSERT_THAT(vcpus_of(after), ElementsAre(0, 1));
  EXPECT_NE(after.vms[0].vcpus[1].tid, before.vms[0].vcpus[1].tid);
  EXPECT_LT(after.vms[0].vcpus[1].run_ns, 19'000'000);  // the new thread burned nothing
}

TEST_F(RealProcessTest, AKilledProcessHasNoNumbers) {
  (void)sample();
  qemu_.kill();
  const Sample after = sample();
  EXPECT_THAT(after.vms, IsEmpty());
  ASSERT_THAT(after.missing, SizeIs(1));
  EXPECT_THAT(after.missing[0].reason, HasSubstr("has ended"));
}

TEST_F(RealProcessTest, ReadsARestartedProcessInTheSameEpoch) {
  const Sample before = sample();
  qemu_.kill();
  const tests::FakeQemu restarted(id_, 2);
  publish(restarted);
  const Sample after = sample();
  ASSERT_THAT(after.vms, SizeIs(1));
  EXPECT_EQ(after.vms[0].process.pid, restarted.pid());
  EXPECT_NE(after.vms[0].process, before.vms[0].process);
}

TEST_F(RealProcessTest, DoesNotBelieveAPidFileOfAnotherProcess) {
  host_.write("run/libvirt/qemu/real.pid", std::to_string(::getpid()));
  const Sample now = sample();
  EXPECT_THAT(now.vms, IsEmpty());
  ASSERT_THAT(now.missing, SizeIs(1));
  EXPECT_THAT(now.missing[0].reason, HasSubstr("is not the QEMU of this VM"));
}

}  // namespace
}  // namespace vmnuma::stats
