// SPDX-License-Identifier: Apache-2.0
#include "balancer/qemu/host_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_host.h"

namespace vmnuma::balancer::qemu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class HostFactsTest : public testing::Test {
 protected:
  tests::FakeHost host_;
  files::Directory root_ = files::Directory::open(host_.path()).value();
};

TEST_F(HostFactsTest, FindsWhereHugePagesAreMountedAndHowLargeTheyAre) {
  host_.write("proc/meminfo", "MemTotal: 1 kB\nHugepagesize:       2048 kB\n");
  host_.write("proc/self/mountinfo",
              "24 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
              "31 24 0:27 / /dev/hugepages rw,relatime shared:15 - hugetlbfs hugetlbfs rw\n"
              "32 24 0:28 / /run/hugepages/kvm/1048576kB rw - hugetlbfs hugetlbfs "
              "rw,pagesize=1024M\n"
              "nonsense\n");
  const HostFacts facts = read_host_facts(root_);
  EXPECT_EQ(facts.default_huge_page_size, kMiB * 2);
  EXPECT_THAT(facts.huge_page_mounts,
              ElementsAre(HugePageMount{"/dev/hugepages", kMiB * 2},
                          HugePageMount{"/run/hugepages/kvm/1048576kB", kGiB}));
}

TEST_F(HostFactsTest, KnowsNothingOfAHostThatTellsNothing) {
  const HostFacts facts = read_host_facts(root_);
  EXPECT_THAT(facts.huge_page_mounts, IsEmpty());
  EXPECT_EQ(facts.default_huge_page_size, Bytes{});
}

TEST_F(HostFactsTest, ATapLeadsToItsBridge) {
  host_.write("sys/class/net/tap100i0/master/uevent", "INTERFACE=vmbr0\nIFINDEX=7\n");
  host_.write("sys/class/net/tap101i0/master/uevent", "INTERFACE=../../x\n");
  EXPECT_EQ(bridge_of(root_, "tap100i0"), "vmbr0");
  EXPECT_EQ(bridge_of(root_, "tap101i0"), "");
  EXPECT_EQ(bridge_of(root_, "eth0"), "");
}

TEST_F(HostFactsTest, ACgroupHasTheCpusOfTheNearestCpuset) {
  host_.write("a/cpuset.cpus.effective", "0-3\n");
  host_.write("a/b/cpuset.cpus.effective", "2\n");
  host_.write("a/b/c/cgroup.procs", "");
  const std::vector<CpuId> online{{0}, {1}, {2}, {3}, {4}};
  EXPECT_THAT(cpus_of_cgroup(root_, "/a/b/c", online), ElementsAre(CpuId{2}));
  EXPECT_EQ(cpus_of_cgroup(root_, "/a/x", online), (std::vector<CpuId>{{0}, {1}, {2}, {3}}));
  EXPECT_EQ(cpus_of_cgroup(root_, "/", online), online);
  EXPECT_EQ(cpus_of_cgroup(root_, "", online), online);
}

}  // namespace
}  // namespace vmnuma::balancer::qemu
