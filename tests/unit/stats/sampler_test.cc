// SPDX-License-Identifier: Apache-2.0
#include "stats/sampler.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "stats/topology/topology_reader.h"
#include "tests/support/fake_host.h"

namespace vmnuma::stats {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Takes a sample while no descriptor can be opened.
Sample sample_without_new_descriptors(Sampler& sampler, const std::vector<VmDescription>& running) {
  const std::set<VmId> no_vms;
  const SampleRequest request{
      .sequence = 1, .now = {}, .running = running, .moving = no_vms, .spilling = no_vms};
  rlimit before{};
  VMNUMA_CHECK(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit none = before;
  none.rlim_cur = 0;
  VMNUMA_CHECK(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  Sample sample = sampler.sample(request);
  VMNUMA_CHECK(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  return sample;
}

class SamplerTest : public testing::Test {
 protected:
  SamplerTest() {
    host_.set_nodes(nodes_);
    host_.start(web_);
    host_.start(db_);
  }

  Sampler make_sampler(std::size_t slow_vms_per_epoch = 50) const {
    files::Directory root = files::Directory::open(host_.path()).value();
    auto topology = read_topology(root).value().topology;
    return {std::move(root), std::move(topology), {.slow_vms_per_epoch = slow_vms_per_epoch}};
  }

  Sample sample(Sampler& sampler) { return sample(sampler, {web_, db_}); }
  Sample sample(Sampler& sampler, const std::vector<tests::FakeVm>& vms) {
    std::vector<VmDescription> running;
    running.reserve(vms.size());
    for (const tests::FakeVm& vm : vms) {
      running.push_back(vm.description());
    }
    return sample_described(sampler, running);
  }
  Sample sample_described(Sampler& sampler, const std::vector<VmDescription>& running) {
    return sampler.sample({.sequence = ++sequence_,
                           .now = Microseconds{sequence_ * 2'000'000},
                           .running = running,
                           .moving = moving_,
                           .spilling = spilling_});
  }

  static const VmSample* find(const Sample& sample, const tests::FakeVm& vm) {
    for (const VmSample& one : sample.vms) {
      if (one.id == vm.id()) {
        return &one;
      }
    }
    return nullptr;
  }

  std::vector<tests::FakeNode> nodes_ = tests::regular_nodes(2, 2, 1, kGiB * 4);
  tests::FakeVm web_{.name = "web",
                     .uuid = 1,
                     .domain_id = 11,
                     .pid = 500,
                     .start_time_ticks = 1000,
                     .vcpus = {{0, 501}, {1, 502}}};
  tests::FakeVm db_{.name = "db",
                    .uuid = 2,
                    .domain_id = 12,
                    .pid = 600,
                    .start_time_ticks = 2000,
                    .vcpus = {{0, 601}, {1, 602}, {2, 603}}};
  tests::FakeHost host_;
  std::set<VmId> moving_;
  std::set<VmId> spilling_;
  std::int64_t sequence_ = 0;
};

TEST_F(SamplerTest, CarriesItsNumberAndTime) {
  Sampler sampler = make_sampler();
  EXPECT_EQ(sample(sampler).sequence, 1);
  EXPECT_EQ(sample(sampler).taken_at, Microseconds{4'000'000});
}

TEST_F(SamplerTest, PoolsOfHugePagesAreReadEveryTime) {
  const auto pages = [this](int node, const std::string& name, const std::string& count) {
    host_.write("sys/devices/system/node/node" + std::to_string(node) + "/hugepages/" + name +
                    "/nr_hugepages",
                count + "\n");
  };
  pages(0, "hugepages-2048kB", "512");
  pages(0, "hugepages-1048576kB", "0");
  Sampler sampler = make_sampler();
  const auto pools = [&](std::size_t node) { return sample(sampler).nodes[node].huge_pages; };
  using Pools = std::vector<HugePagePool>;
  EXPECT_EQ(pools(0), (Pools{{kMiB * 2, 512}}));
  EXPECT_EQ(pools(1), std::nullopt);
  pages(0, "hugepages-2048kB", "256");
  pages(0, "hugepages-1048576kB", "3");
  EXPECT_EQ(pools(0), (Pools{{kMiB * 2, 256}, {kGiB, 3}}));
  pages(0, "hugepages-2048kB", "many");
  EXPECT_EQ(pools(0), std::nullopt);
  pages(0, "hugepages-2048kB", "0");
  EXPECT_EQ(pools(0), (Pools{{kGiB, 3}}));
}

TEST_F(SamplerTest, ReadsNodesAndCpus) {
  host_.set_node_memory(1, kGiB * 4, kGiB);
  host_.set_cpu_times(nodes_, 70'000);
  Sampler sampler = make_sampler();
  const Sample first = sample(sampler);
  EXPECT_THAT(first.nodes, ElementsAre(NodeSample{NodeId{0}, kGiB * 4, kGiB * 4},
                                       NodeSample{NodeId{1}, kGiB, kGiB * 4}));
  // What passed and was not idle.
  EXPECT_THAT(first.cpus,
              ElementsAre(CpuSample{CpuId{0}, 1'930'000}, CpuSample{CpuId{1}, 1'930'000},
                          CpuSample{CpuId{2}, 1'930'000}, CpuSample{CpuId{3}, 1'930'000}));
  EXPECT_THAT(first.missing, IsEmpty());

  host_.set_node_memory(1, kGiB * 4, kGiB * 2);
  host_.set_cpu_times(nodes_, 90'000);
  const Sample second = sample(sampler);
  EXPECT_EQ(second.nodes[1].free, kGiB * 2);
  EXPECT_EQ(second.cpus[3].busy_us, second.taken_at.value - 90'000);
}

TEST_F(SamplerTest, BusyTimeNeverGoesBack) {
  host_.set_cpu_times(nodes_, 70'000);
  Sampler sampler = make_sampler();
  const Sample first = sample(sampler);
  // Idle all the time between the two, and the clock and its ticks disagree by one.
  host_.set_cpu_times(nodes_, 70'000 + 2'000'000 + 10'000);
  const Sample second = sample(sampler);
  EXPECT_EQ(second.taken_at - first.taken_at, Microseconds{2'000'000});
  EXPECT_EQ(second.cpus, first.cpus);
}

TEST_F(SamplerTest, ReadsVcpuCountersAnewEachEpoch) {
  host_.set_vcpu_times(web_, web_.vcpus[1], 5000, 70);
  Sampler sampler = make_sampler();
  const Sample first = sample(sampler);
  ASSERT_THAT(first.vms, SizeIs(2));
  EXPECT_EQ(first.vms[0].id, web_.id());
  EXPECT_EQ(first.vms[0].process, (VmProcess{500, 1000}));
  EXPECT_THAT(first.vms[0].vcpus,
              ElementsAre(VcpuSample{0, 501, 0, 0}, VcpuSample{1, 502, 5000, 70}));

  host_.set_vcpu_times(web_, web_.vcpus[1], 9000, 75);
  EXPECT_EQ(sample(sampler).vms[0].vcpus[1], (VcpuSample{1, 502, 9000, 75}));
}

TEST_F(SamplerTest, TellsWhereVcpusRanLastOfVmsThatSpill) {
  Sampler sampler = make_sampler();
  host_.set_last_cpu(web_, web_.vcpus[0], 3);
  host_.set_last_cpu(web_, web_.vcpus[1], 0);
  const auto last_cpus = [&] { return find(sample(sampler), web_)->last_cpus; };
  EXPECT_THAT(last_cpus(), IsEmpty());
  spilling_ = {web_.id()};
  EXPECT_THAT(last_cpus(), ElementsAre(CpuId{3}, CpuId{0}));
  host_.remove(web_.thread_directory(502) + "stat");
  EXPECT_THAT(last_cpus(), IsEmpty());
}

TEST_F(SamplerTest, SortsVmsByIdWhateverTheOrder) {
  Sampler sampler = make_sampler();
  const Sample both = sample(sampler, {db_, web_, db_});
  ASSERT_THAT(both.vms, SizeIs(2));
  EXPECT_EQ(both.vms[0].id, web_.id());
  EXPECT_EQ(both.vms[1].id, db_.id());
}

TEST_F(SamplerTest, ReadsWeightQuotaAndMemory) {
  host_.write(web_.scope() + "cpu.weight", "2000\n");
  host_.set_quota(web_, 0, "50000 100000");
  host_.set_memory(web_, {{.node = 0, .anonymous = kMiB, .shared = kMiB * 2},
                          {.node = 1, .anonymous = kMiB * 4, .shared = {}}});
  Sampler sampler = make_sampler();
  const VmSample web = sample(sampler).vms[0];
  EXPECT_EQ(web.weight, 2000);
  EXPECT_EQ(web.quota_permille,
            1500);  // half a CPU for vCPU 0, a whole one for vCPU 1, which has no quota
  EXPECT_EQ(web.memory, (std::vector{kMiB * 3, kMiB * 4}));
}

TEST_F(SamplerTest, HasNoQuotaWhereNoneLimits) {
  host_.set_quota(web_, 0, "100000 100000");  // one CPU for one vCPU is no limit
  Sampler sampler = make_sampler();
  EXPECT_EQ(sample(sampler).vms[0].quota_permille, std::nullopt);
}

TEST_F(SamplerTest, TakesTheSmallestOfAllQuotas) {
  host_.set_quota(db_, 0, "50000 100000");                          // vCPUs: 0.5 + 1 + 1
  host_.write(db_.scope() + "libvirt/cpu.max", "120000 100000\n");  // global quota
  host_.write(db_.scope() + "cpu.max", "200000 100000\n");          // systemd's CPUQuota
  Sampler sampler = make_sampler();
  EXPECT_EQ(sample(sampler).vms[1].quota_permille, 1200);
}

TEST_F(SamplerTest, CountsThrottledTimeOnlyWhereAQuotaThrottles) {
  host_.set_quota(web_, 0, "50000 100000");
  host_.set_throttled(web_, 0, 7000);
  host_.write(web_.vcpu_group(1) + "cpu.stat", "not to be read");
  Sampler sampler = make_sampler();
  const Sample first = sample(sampler);
  EXPECT_EQ(first.vms[0].throttled_us, 0);  // counted from when the quota was first seen
  EXPECT_THAT(first.missing, IsEmpty());
  host_.set_throttled(web_, 0, 7500);
  EXPECT_EQ(sample(sampler).vms[0].throttled_us, 500);
  host_.set_throttled(web_, 0, 8500);
  EXPECT_EQ(sample(sampler).vms[0].throttled_us, 1500);
}

TEST_F(SamplerTest, CountsThrottledTimeOfTheGlobalQuota) {
  host_.write(web_.scope() + "libvirt/cpu.max", "120000 100000\n");
  host_.write(web_.scope() + "libvirt/cpu.stat", "throttled_usec 10\n");
  Sampler sampler = make_sampler();
  (void)sample(sampler);
  host_.write(web_.scope() + "libvirt/cpu.stat", "throttled_usec 25\n");
  EXPECT_EQ(sample(sampler).vms[0].throttled_us, 15);
}

TEST_F(SamplerTest, KeepsThrottledTimeWhenAVcpuIsUnplugged) {
  for (const auto& vcpu : web_.vcpus) {
    host_.set_quota(web_, vcpu.number, "50000 100000");
  }
  Sampler sampler = make_sampler();
  (void)sample(sampler);
  host_.set_throttled(web_, 0, 300);
  host_.set_throttled(web_, 1, 400);
  EXPECT_EQ(sample(sampler).vms[0].throttled_us, 700);
  host_.unplug(web_, web_.vcpus[1]);
  host_.set_throttled(web_, 0, 310);
  EXPECT_EQ(sample(sampler).vms[0].throttled_us, 710);
}

TEST_F(SamplerTest, SeesAPluggedVcpuInTheSameEpoch) {
  Sampler sampler = make_sampler(0);
  (void)sample(sampler);
  const tests::FakeVcpu plugged{2, 503};
  host_.plug(web_, plugged);
  host_.set_vcpu_times(web_, plugged, 10, 20);
  const Sample after = sample(sampler);
  if (after.vms[0].vcpus.size() == 2) {
    const auto links = files::Directory::open(host_.path() + "/sys").value().link_count().value();
    if (links < 3) {
      GTEST_SKIP() << "the file system of '" << host_.path() << "' does not count sub-directories";
    }
  }
  EXPECT_THAT(after.vms[0].vcpus, ElementsAre(VcpuSample{0, 501, 0, 0}, VcpuSample{1, 502, 0, 0},
                                              VcpuSample{2, 503, 10, 20}));
}

TEST_F(SamplerTest, NamesAVcpuThatShouldBeThere) {
  host_.unplug(web_, web_.vcpus[1]);
  Sampler sampler = make_sampler();
  const Sample after = sample(sampler);
  EXPECT_THAT(after.vms[0].vcpus, SizeIs(1));
  EXPECT_THAT(after.missing, ElementsAre(MissingSource{"VM 'web' vCPU 1",
                                                       "no counters of its thread", web_.id()}));
}

TEST_F(SamplerTest, LeavesOutOnlyTheVcpuThatCannotBeRead) {
  host_.write(web_.thread_directory(502) + "schedstat", "12");
  Sampler sampler = make_sampler();
  for (int epoch = 0; epoch < 3; ++epoch) {
    const Sample half = sample(sampler);
    EXPECT_THAT(half.vms[0].vcpus, ElementsAre(VcpuSample{0, 501, 0, 0}));
    ASSERT_THAT(half.missing, SizeIs(1));
    EXPECT_EQ(half.missing[0].source, "VM 'web' vCPU 1");
    EXPECT_THAT(half.missing[0].reason, HasSubstr("502/schedstat': this is not"));
  }
  host_.write(web_.thread_directory(502) + "schedstat", "12 13 14\n");
  const Sample whole = sample(sampler);
  EXPECT_THAT(whole.vms[0].vcpus,
              ElementsAre(VcpuSample{0, 501, 0, 0}, VcpuSample{1, 502, 12, 13}));
  EXPECT_THAT(whole.missing, IsEmpty());
}

TEST_F(SamplerTest, AVmWithoutReadableVcpusHasNoNumbers) {
  host_.write(web_.thread_directory(501) + "schedstat", "");
  host_.write(web_.thread_directory(502) + "schedstat", "");
  Sampler sampler = make_sampler();
  const Sample half = sample(sampler);
  EXPECT_EQ(find(half, web_), nullptr);
  EXPECT_NE(find(half, db_), nullptr);
  ASSERT_THAT(half.missing, SizeIs(1));
  EXPECT_EQ(half.missing[0].source, "VM 'web'");
  EXPECT_THAT(half.missing[0].reason, HasSubstr("none of its vCPU threads can be read"));
  EXPECT_EQ(half.missing[0].vm, web_.id());
}

TEST_F(SamplerTest, AVmOfDoubtfulIdentityHasNoNumbers) {
  tests::FakeVm impostor = web_;
  impostor.uuid = 99;
  host_.start(impostor);
  Sampler sampler = make_sampler();
  const Sample after = sample(sampler);
  EXPECT_EQ(find(after, web_), nullptr);
  ASSERT_THAT(after.missing, SizeIs(1));
  EXPECT_THAT(after.missing[0].reason, HasSubstr("not the QEMU of this VM"));
}

TEST_F(SamplerTest, AVmThatEndedHasNoNumbers) {
  Sampler sampler = make_sampler();
  (void)sample(sampler);
  host_.stop(web_);
  const Sample after = sample(sampler);
  EXPECT_EQ(find(after, web_), nullptr);
  EXPECT_NE(find(after, db_), nullptr);
  ASSERT_THAT(after.missing, SizeIs(1));
  EXPECT_THAT(after.missing[0].reason, HasSubstr("web.pid'"));
}

TEST_F(SamplerTest, ReadsARestartedVmInTheSameEpoch) {
  Sampler sampler = make_sampler(0);
  (void)sample(sampler);
  host_.stop(web_);
  web_.domain_id = 13;
  web_.pid = 700;
  web_.start_time_ticks = 9000;
  web_.vcpus = {{0, 701}};
  host_.start(web_);
  host_.set_vcpu_times(web_, web_.vcpus[0], 1, 2);
  const Sample after = sample(sampler);
  EXPECT_EQ(after.vms[0].process, (VmProcess{700, 9000}));
  EXPECT_THAT(after.vms[0].vcpus, ElementsAre(VcpuSample{0, 701, 1, 2}));
  EXPECT_THAT(after.missing, IsEmpty());
}

TEST_F(SamplerTest, NoticesARestartWithTheSamePid) {
  Sampler sampler = make_sampler();
  (void)sample(sampler);
  host_.stop(web_);
  web_.start_time_ticks = 1001;
  host_.start(web_);
  EXPECT_EQ(sample(sampler).vms[0].process, (VmProcess{500, 1001}));
}

TEST_F(SamplerTest, FollowsAVmIntoAnotherCgroup) {
  Sampler sampler = make_sampler();
  host_.write("proc/500/cgroup", "0::/machine.slice\n");  // libvirt has not sorted it in yet
  EXPECT_THAT(sample(sampler).missing, SizeIs(1));
  host_.start(web_);
  host_.write(web_.scope() + "cpu.weight", "333\n");
  const Sample after = sample(sampler);
  EXPECT_THAT(after.missing, IsEmpty());
  EXPECT_EQ(after.vms[0].weight, 333);
}

TEST_F(SamplerTest, ForgetsVmsThatAreNotAskedFor) {
  Sampler sampler = make_sampler(0);
  (void)sample(sampler);
  host_.set_memory(web_, {{.node = 1, .anonymous = kMiB, .shared = {}}});
  EXPECT_THAT(sample(sampler, {db_}).vms, SizeIs(1));
  // A VM that comes back is new: without a turn of its own it has a full reading.
  EXPECT_EQ(sample(sampler).vms[0].memory, (std::vector{Bytes{}, kMiB}));
}

TEST_F(SamplerTest, ReadsMemoryInTurns) {
  Sampler sampler = make_sampler(1);
  (void)sample(sampler);  // both are new; the turn was the first one's
  const auto set_both = [&](Bytes bytes) {
    host_.set_memory(web_, {{.node = 0, .anonymous = bytes, .shared = {}}});
    host_.set_memory(db_, {{.node = 0, .anonymous = bytes, .shared = {}}});
  };
  const auto read_both = [&] {
    const Sample now = sample(sampler);
    return std::vector{now.vms[0].memory->at(0), now.vms[1].memory->at(0)};
  };
  set_both(kMiB);
  EXPECT_THAT(read_both(), ElementsAre(kMiB * 64, kMiB));
  set_both(kMiB * 2);
  EXPECT_THAT(read_both(), ElementsAre(kMiB * 2, kMiB));
  set_both(kMiB * 3);
  EXPECT_THAT(read_both(), ElementsAre(kMiB * 2, kMiB * 3));
}

TEST_F(SamplerTest, ReadsMemoryOfAMovingVmInEveryEpoch) {
  Sampler sampler = make_sampler(0);
  (void)sample(sampler);
  moving_ = {db_.id()};
  host_.set_memory(web_, {{.node = 0, .anonymous = kMiB, .shared = {}}});
  host_.set_memory(db_, {{.node = 0, .anonymous = kMiB, .shared = {}}});
  const Sample after = sample(sampler);
  EXPECT_EQ(after.vms[0].memory->at(0), kMiB * 64);
  EXPECT_EQ(after.vms[1].memory->at(0), kMiB);
}

TEST_F(SamplerTest, UnreadableMemoryIsAbsentAndNamedUntilItIsRead) {
  Sampler sampler = make_sampler(0);
  moving_ = {web_.id()};
  host_.write(web_.scope() + "memory.numa_stat", "anon N0=12");
  EXPECT_EQ(sample(sampler).vms[0].memory, std::nullopt);
  moving_.clear();
  const Sample later = sample(sampler);
  EXPECT_EQ(later.vms[0].memory, std::nullopt);
  ASSERT_THAT(later.missing, SizeIs(1));
  EXPECT_EQ(later.missing[0].source, "VM 'web' memory.numa_stat");
  EXPECT_THAT(later.missing[0].reason, HasSubstr("'anon N0=12'"));
  EXPECT_EQ(later.missing[0].vm, web_.id());

  moving_ = {web_.id()};
  host_.set_memory(web_, {{.node = 0, .anonymous = kMiB, .shared = {}}});
  const Sample healed = sample(sampler);
  EXPECT_EQ(healed.vms[0].memory->at(0), kMiB);
  EXPECT_THAT(healed.missing, IsEmpty());
}

TEST_F(SamplerTest, DoesNotPlaceMemoryOnANodeItDoesNotKnow) {
  host_.set_memory(web_, {{.node = 9, .anonymous = kMiB, .shared = {}}});
  Sampler sampler = make_sampler();
  const Sample after = sample(sampler);
  EXPECT_EQ(after.vms[0].memory, std::nullopt);
  ASSERT_THAT(after.missing, SizeIs(1));
  EXPECT_THAT(after.missing[0].reason, HasSubstr("node 9"));
}

TEST_F(SamplerTest, TellsWhatElseSchedulesThreads) {
  Sampler sampler = make_sampler();
  EXPECT_EQ(sample(sampler).sched_ext, std::nullopt);
  EXPECT_EQ(sample(sampler).cache_scheduling, CacheScheduling::kNone);
  host_.write("sys/kernel/sched_ext/state", "enabled\n");
  host_.write("sys/kernel/sched_ext/root/ops", "rusty\n");
  EXPECT_EQ(sample(sampler).sched_ext, (SchedExt{"rusty", true}));
  host_.write("sys/kernel/debug/sched/llc_balancing/enabled", "1\n");
  Sampler on_newer_kernel = make_sampler();
  EXPECT_EQ(sample(on_newer_kernel).cache_scheduling, CacheScheduling::kOn);
}

TEST_F(SamplerTest, TellsWhichCpusTheCgroupOfAVmAllowsIfItHasACpuset) {
  Sampler sampler = make_sampler();
  EXPECT_EQ(sample(sampler).vms[0].cpus, std::nullopt);
  host_.write(web_.scope() + "/cpuset.cpus.effective", "1-2\n");
  EXPECT_EQ(sample(sampler).vms[0].cpus, (std::vector{CpuId{1}, CpuId{2}}));
  host_.write(web_.scope() + "/cpuset.cpus.effective", "some\n");
  const Sample damaged = sample(sampler);
  EXPECT_EQ(damaged.vms[0].cpus, std::nullopt);
  EXPECT_THAT(damaged.missing, SizeIs(1));
}

TEST_F(SamplerTest, TellsWhetherTheKernelBalancesWhereItCan) {
  Sampler sampler = make_sampler();
  EXPECT_EQ(sample(sampler).kernel_numa_balancing, std::nullopt);
  host_.write("proc/sys/kernel/numa_balancing", "1\n");
  EXPECT_EQ(sample(sampler).kernel_numa_balancing, 1);
  host_.write("proc/sys/kernel/numa_balancing", "maybe\n");
  const Sample damaged = sample(sampler);
  EXPECT_EQ(damaged.kernel_numa_balancing, std::nullopt);
  EXPECT_THAT(damaged.missing, SizeIs(1));
}

TEST_F(SamplerTest, TellsWakeUpsBetweenVmsWhereTheyAreCounted) {
  Sampler sampler = make_sampler();
  const auto counts = [&](std::int64_t taken_us) {
    return "vmnuma-wakeups 1 " + std::to_string(taken_us) + " 2000\n" +
           std::to_string(std::min(web_.pid, db_.pid)) + " " +
           std::to_string(std::max(web_.pid, db_.pid)) + " 90\n";
  };
  EXPECT_EQ(sample(sampler).wakeups, std::nullopt);
  host_.write("run/vmnuma-wakeups/counts", counts(4'000'000));
  const Sample counted = sample(sampler);
  ASSERT_TRUE(counted.wakeups);
  EXPECT_THAT(*counted.wakeups, ElementsAre(WakeupSample{std::min(web_.id(), db_.id()),
                                                         std::max(web_.id(), db_.id()), 90}));
  EXPECT_THAT(sample(sampler, {web_}).wakeups->size(), 0);  // the other has ended
  EXPECT_THAT(counted.missing, IsEmpty());
}

TEST_F(SamplerTest, WhereTheFileIsOldWakeUpsAreNotCountedAndThatIsNoFault) {
  Sampler sampler = make_sampler();
  host_.write("run/vmnuma-wakeups/counts", "vmnuma-wakeups 1 900000000 2000\n");
  const Sample old = sample(sampler);
  EXPECT_EQ(old.wakeups, std::nullopt);
  EXPECT_THAT(old.missing, IsEmpty());
}

TEST_F(SamplerTest, APipeInPlaceOfTheCountsIsMissingAndIsNotWaitedFor) {
  Sampler sampler = make_sampler();
  host_.write("run/vmnuma-wakeups/other", "");  // makes the directory
  ASSERT_EQ(::mkfifo((host_.path() + "/run/vmnuma-wakeups/counts").c_str(), 0600), 0);
  const Sample piped = sample(sampler);
  EXPECT_EQ(piped.wakeups, std::nullopt);
  ASSERT_THAT(piped.missing, SizeIs(1));
  EXPECT_THAT(piped.missing[0].reason, HasSubstr("is not a regular file"));
}

TEST_F(SamplerTest, DamagedCountsOfWakeUpsAreMissing) {
  Sampler sampler = make_sampler();
  host_.write("run/vmnuma-wakeups/counts", "vmnuma-wakeups 2\n");
  const Sample damaged = sample(sampler);
  EXPECT_EQ(damaged.wakeups, std::nullopt);
  ASSERT_THAT(damaged.missing, SizeIs(1));
  EXPECT_THAT(damaged.missing[0].source, HasSubstr("run/vmnuma-wakeups/counts"));
}

TEST_F(SamplerTest, TellsDirectReclaimsWhereTheKernelDoes) {
  Sampler sampler = make_sampler();
  EXPECT_EQ(sample(sampler).direct_reclaims, std::nullopt);
  host_.write("proc/vmstat", "pgalloc_dma 5\nallocstall_dma 0\nallocstall_normal 7\n");
  EXPECT_EQ(sample(sampler).direct_reclaims, 7);
  host_.write("proc/vmstat", "pgalloc_dma 5\n");
  const Sample damaged = sample(sampler);
  EXPECT_EQ(damaged.direct_reclaims, std::nullopt);
  EXPECT_THAT(damaged.missing, SizeIs(1));
}

TEST_F(SamplerTest, TellsMemoryPressureWhereTheKernelDoes) {
  Sampler sampler = make_sampler();
  const Sample without = sample(sampler);
  EXPECT_EQ(without.memory_pressure, std::nullopt);
  EXPECT_THAT(without.missing, IsEmpty());
  host_.write("proc/pressure/memory", "some avg10=12.34 avg60=0.87 avg300=0.29 total=11\n");
  EXPECT_EQ(sample(sampler).memory_pressure, Permille{123});
  host_.write("proc/pressure/memory", "nonsense\n");
  const Sample damaged = sample(sampler);
  EXPECT_EQ(damaged.memory_pressure, std::nullopt);
  EXPECT_THAT(damaged.missing, SizeIs(1));
}

TEST_F(SamplerTest, IgnoresEmptyNodesThatItDoesNotKnow) {
  host_.set_memory(web_, {{.node = 0, .anonymous = kMiB, .shared = {}},
                          {.node = 9, .anonymous = {}, .shared = {}}});
  Sampler sampler = make_sampler();
  EXPECT_EQ(sample(sampler).vms[0].memory, (std::vector{kMiB, Bytes{}}));
}

TEST_F(SamplerTest, ReadsMemoryOfAHugePageVmFromItsMappings) {
  host_.write("proc/500/numa_maps",
              "7f0000000000 default file=/dev/hugepages/ram huge dirty=3 N0=1 N1=2 "
              "kernelpagesize_kB=2048\n"
              "7f1000000000 default anon=4 dirty=4 N1=4 kernelpagesize_kB=4\n");
  VmDescription web = web_.description();
  web.huge_page_size = kMiB * 2;
  Sampler sampler = make_sampler();
  const Sample after = sample_described(sampler, {web});
  EXPECT_EQ(after.vms[0].memory, (std::vector{kMiB * 2, kMiB * 4 + kKiB * 16}));
}

TEST_F(SamplerTest, ReadsAVmWithoutCgroupsByItsThreadNames) {
  tests::FakeVm plain{.name = "plain",
                      .uuid = 3,
                      .domain_id = 14,
                      .pid = 800,
                      .start_time_ticks = 3000,
                      .vcpus = {{0, 801}, {1, 802}},
                      .in_cgroup = false};
  host_.start(plain);
  host_.set_vcpu_times(plain, plain.vcpus[1], 42, 43);
  Sampler sampler = make_sampler();
  const Sample after = sample(sampler, {plain});
  ASSERT_THAT(after.vms, SizeIs(1));
  EXPECT_THAT(after.vms[0].vcpus,
              ElementsAre(VcpuSample{0, 801, 0, 0}, VcpuSample{1, 802, 42, 43}));
  EXPECT_EQ(after.vms[0].weight, 100);
  EXPECT_EQ(after.vms[0].memory, (std::vector{kMiB * 64, Bytes{}}));
  ASSERT_THAT(after.missing, SizeIs(1));
  EXPECT_EQ(after.missing[0].source, "VM 'plain' cgroup");
  EXPECT_THAT(after.missing[0].reason, HasSubstr("weight, quota and throttled time are unknown"));
}

/// A VM that libvirt does not know: no pid file, and a cgroup of its own somewhere.
class PlainQemuTest : public SamplerTest {
 protected:
  PlainQemuTest() {
    host_.start(vm_);
    host_.remove("run/libvirt/qemu/plain.pid");
    put_into("/qemu.slice/100.scope");
    host_.write("sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory hugetlb pids\n");
    host_.write(kScope + "cgroup.procs", "800\n");
    host_.write(kScope + "cpu.weight", "250\n");
    host_.write(kScope + "cpu.max", "150000 100000\n");
    host_.write(kScope + "cpu.stat", "usage_usec 1\nthrottled_usec 0\n");
    host_.write(kScope + "memory.numa_stat",
                "anon N0=1048576 N1=0\nfile N0=0 N1=4096\nshmem N0=0 N1=2097152\n");
    host_.write(kScope + "memory.stat", "anon 1048576\nfile 4096\nshmem 2097152\nunevictable 0\n");
    host_.set_memory_limits(kScope, {});
    host_.write(kScope + "memory.swap.current", "0\n");
  }

  void put_into(const std::string& cgroup) {
    host_.write("proc/800/cgroup", "0::" + cgroup + "\n");
  }
  VmDescription description() const {
    VmDescription vm = vm_.description();
    vm.process = VmProcess{800, 3000};
    return vm;
  }
  Sample sample_plain(Sampler& sampler) { return sample_described(sampler, {description()}); }

  const std::string kScope = "sys/fs/cgroup/qemu.slice/100.scope/";
  tests::FakeVm vm_{.name = "plain",
                    .uuid = 3,
                    .domain_id = 800,
                    .pid = 800,
                    .start_time_ticks = 3000,
                    .vcpus = {{0, 801}, {1, 802}},
                    .in_cgroup = false};
};

TEST_F(PlainQemuTest, HasItsSharesQuotaAndMemoryFromItsCgroupWhereverThatIs) {
  Sampler sampler = make_sampler();
  const Sample first = sample_plain(sampler);
  ASSERT_THAT(first.vms, SizeIs(1));
  EXPECT_THAT(first.vms[0].vcpus, SizeIs(2));
  EXPECT_EQ(first.vms[0].process, (VmProcess{800, 3000}));
  EXPECT_EQ(first.vms[0].weight, 250);
  EXPECT_EQ(first.vms[0].quota_permille, 1500);
  EXPECT_EQ(first.vms[0].memory, (std::vector{kMiB, kMiB * 2}));
  ASSERT_TRUE(first.vms[0].memory_state.has_value());
  EXPECT_EQ(first.vms[0].memory_state->scope, "qemu.slice/100.scope");
  EXPECT_THAT(first.missing, IsEmpty());

  host_.write(kScope + "cpu.stat", "usage_usec 1\nthrottled_usec 70\n");
  EXPECT_EQ(sample_plain(sampler).vms.at(0).throttled_us, 70);
}

TEST_F(PlainQemuTest, ItsHelpersMayBeInItsCgroup) {
  host_.write(kScope + "cgroup.procs", "800\n900\n901\n902\n");
  host_.write("proc/900/comm", "swtpm\n");
  host_.write("proc/900/cmdline", "swtpm");
  host_.write("proc/901/comm", "vhost-800\n");
  host_.write("proc/901/cmdline", "");
  Sampler sampler = make_sampler();  // 902 has ended
  EXPECT_EQ(sample_plain(sampler).vms.at(0).weight, 250);
}

TEST_F(PlainQemuTest, ACgroupThatItSharesWithOthersTellsNothingOfIt) {
  host_.write(kScope + "cgroup.procs", "800\n900\n");
  host_.write("proc/900/comm", "bash\n");
  host_.write("proc/900/cmdline", "bash");
  Sampler sampler = make_sampler();
  const Sample after = sample_plain(sampler);
  ASSERT_THAT(after.vms, SizeIs(1));
  EXPECT_THAT(after.vms[0].vcpus, SizeIs(2));
  EXPECT_EQ(after.vms[0].weight, 100);
  EXPECT_EQ(after.vms[0].quota_permille, std::nullopt);
  EXPECT_EQ(after.vms[0].memory, (std::vector{kMiB * 64, Bytes{}}));  // of its mappings
  ASSERT_THAT(after.missing, SizeIs(1));
  EXPECT_THAT(after.missing[0].reason, HasSubstr("no cgroup of its own"));
}

TEST_F(PlainQemuTest, WithoutTheMemoryControllerItsMappingsTell) {
  host_.remove(kScope + "memory.numa_stat");
  Sampler sampler = make_sampler();
  const Sample after = sample_plain(sampler);
  EXPECT_EQ(after.vms.at(0).memory, (std::vector{kMiB * 64, Bytes{}}));
  EXPECT_EQ(after.vms.at(0).memory_state, std::nullopt);
  EXPECT_THAT(after.missing, IsEmpty());
}

TEST_F(PlainQemuTest, AnotherProcessOfThatNumberIsNotIt) {
  Sampler sampler = make_sampler();
  VmDescription other = description();
  other.process->start_time_ticks = 2999;
  const Sample after = sample_described(sampler, {other});
  EXPECT_THAT(after.vms, IsEmpty());
  ASSERT_THAT(after.missing, SizeIs(1));
  EXPECT_THAT(after.missing[0].reason, HasSubstr("has ended"));
}

TEST_F(PlainQemuTest, IsReadAnewWhenItMovesToAnotherCgroup) {
  Sampler sampler = make_sampler();
  (void)sample_plain(sampler);
  put_into("/");
  EXPECT_EQ(sample_plain(sampler).vms.at(0).weight, 100);
}

TEST_F(SamplerTest, TakesAHybridHostForOneWithoutCgroups) {
  // cgroup v1 has the controllers; the cgroup v2 hierarchy is at /sys/fs/cgroup/unified and has
  // none.
  host_.remove("sys/fs/cgroup");
  host_.write("proc/500/cgroup",
              "1:cpu:/machine/qemu-1-web.libvirt-qemu/emulator\n"
              "0::/machine/qemu-1-web.libvirt-qemu/emulator\n");
  Sampler sampler = make_sampler();
  const Sample after = sample(sampler, {web_});
  ASSERT_THAT(after.vms, SizeIs(1));
  EXPECT_THAT(after.vms[0].vcpus, SizeIs(2));
  ASSERT_THAT(after.missing, SizeIs(1));
  EXPECT_EQ(after.missing[0].source, "VM 'web' cgroup");
}

TEST_F(SamplerTest, NamesUnreadableWeightAndQuota) {
  host_.write(web_.scope() + "cpu.weight", "heavy\n");
  host_.set_quota(web_, 1, "half");
  Sampler sampler = make_sampler();
  const Sample after = sample(sampler);
  ASSERT_THAT(after.missing, SizeIs(2));
  EXPECT_EQ(after.missing[0].source, "VM 'web' cpu.weight");
  EXPECT_EQ(after.missing[1].source, "VM 'web' quota of vCPU 1");
  EXPECT_NE(find(after, web_), nullptr);
}

TEST_F(SamplerTest, NamesNodesAndCpusThatAreMissing) {
  Sampler sampler = make_sampler();
  (void)sample(sampler);
  host_.write("sys/devices/system/node/node1/meminfo", "Node 1 MemTot");
  host_.write("proc/stat",
              "cpu0 0 0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0 0 0\ncpu2 0 0 0 0 0 0 0 0 0 0\n");
  const Sample after = sample(sampler);
  EXPECT_THAT(after.nodes, SizeIs(1));
  EXPECT_THAT(after.cpus, SizeIs(3));
  ASSERT_THAT(after.missing, SizeIs(2));
  EXPECT_THAT(after.missing[0].source, HasSubstr("node1/meminfo"));
  EXPECT_EQ(after.missing[0].vm, std::nullopt);
  EXPECT_EQ(after.missing[1].reason, "there is no line of CPU 3");
}

TEST_F(SamplerTest, OpensAnewWhatCouldNotBeRead) {
  Sampler sampler = make_sampler();
  host_.remove("proc/stat");
  host_.remove("sys/devices/system/node/node0/meminfo");
  EXPECT_THAT(sample(sampler).missing, SizeIs(2));
  host_.set_cpu_times(nodes_, 10'000);
  host_.set_node_memory(0, kGiB, kGiB);
  const Sample after = sample(sampler);
  EXPECT_THAT(after.missing, IsEmpty());
  EXPECT_THAT(after.cpus, SizeIs(4));
  EXPECT_THAT(after.nodes, SizeIs(2));
}

TEST_F(SamplerTest, SurvivesAFullDescriptorTableAndRecovers) {
  Sampler sampler = make_sampler();
  const Sample empty =
      sample_without_new_descriptors(sampler, {web_.description(), db_.description()});
  EXPECT_THAT(empty.vms, IsEmpty());
  ASSERT_THAT(empty.missing, SizeIs(5));  // two nodes, /proc/stat, two VMs
  for (const MissingSource& source : empty.missing) {
    EXPECT_THAT(source.reason, HasSubstr("Too many open files"));
  }
  const Sample whole = sample(sampler);
  EXPECT_THAT(whole.vms, SizeIs(2));
  EXPECT_THAT(whole.missing, IsEmpty());
}

TEST_F(SamplerTest, KeepsWhatItHasWhenNoNewDescriptorCanBeHad) {
  Sampler sampler = make_sampler(0);
  (void)sample(sampler);
  const Sample after =
      sample_without_new_descriptors(sampler, {web_.description(), db_.description()});
  EXPECT_THAT(after.vms, SizeIs(2));
  EXPECT_THAT(after.missing, IsEmpty());
}

TEST_F(SamplerTest, ReadsHowMemoryStands) {
  host_.set_memory(web_, {{.node = 0, .anonymous = kMiB * 4, .shared = kMiB * 2}});
  host_.set_memory_limits(web_.scope(), {kMiB, kMiB * 2, kMiB * 3, std::nullopt, Bytes{}});
  host_.write(web_.scope() + "memory.swap.current", "4096\n");
  host_.write(web_.scope() + "memory.pressure",
              "some avg10=1.50 avg60=0.00 avg300=0.00 total=5\n"
              "full avg10=0.50 avg60=0.00 avg300=0.00 total=3\n");
  host_.write(web_.process_directory() + "oom_score_adj", "-500\n");
  host_.set_memory_limits("sys/fs/cgroup/machine.slice/", {kMiB * 9, {}, {}, {}, {}});
  host_.write("proc/meminfo", "MemTotal: 100 kB\nSwapTotal: 2048 kB\n");
  host_.write("proc/self/mountinfo",
              "29 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,memory_recursiveprot\n");
  Sampler sampler = make_sampler();
  const Sample now = sample(sampler);
  ASSERT_TRUE(now.vms[0].memory_state);
  const MemoryState& web = *now.vms[0].memory_state;
  EXPECT_EQ("sys/fs/cgroup/" + web.scope + "/", web_.scope());
  EXPECT_EQ(web.read_in, 1);
  EXPECT_EQ(web.limits, (MemoryLimits{kMiB, kMiB * 2, kMiB * 3, std::nullopt, Bytes{}}));
  EXPECT_EQ(web.anonymous, kMiB * 4);
  EXPECT_EQ(web.shared, kMiB * 2);
  EXPECT_EQ(web.file, kMiB);
  EXPECT_EQ(web.swap, Bytes{4096});
  EXPECT_EQ(web.waits_some, Permille{15});
  EXPECT_EQ(web.waits_full, Permille{5});
  EXPECT_EQ(web.oom_score_adj, -500);
  EXPECT_THAT(now.slices, ElementsAre(SliceMemory{"machine.slice", {kMiB * 9, {}, {}, {}, {}}}));
  EXPECT_EQ(now.swap_total, kMiB * 2);
  EXPECT_EQ(now.protection_inherited, true);
  EXPECT_THAT(now.missing, IsEmpty());
  EXPECT_EQ(sample(sampler).vms[0].memory_state->read_in, 2);
}

TEST_F(SamplerTest, ReadsHowManyThreadsAVmHasAndHowTheyWait) {
  Sampler sampler = make_sampler();
  const Sample without = sample(sampler);
  EXPECT_EQ(without.vms[0].threads, std::nullopt);
  EXPECT_EQ(without.vms[0].cpu_waits, std::nullopt);
  host_.write(web_.scope() + "pids.current", "9\n");
  host_.write(web_.scope() + "cpu.pressure", "some avg10=1.50 avg60=0.00 avg300=0.00 total=5\n");
  const Sample now = sample(sampler);
  EXPECT_EQ(now.vms[0].threads, 9);
  EXPECT_EQ(now.vms[0].cpu_waits, Permille{15});
  host_.write(web_.scope() + "pids.current", "many\n");
  EXPECT_EQ(sample(sampler).vms[0].threads, std::nullopt);
  EXPECT_THAT(sample(sampler).missing, IsEmpty());  // nothing depends on them
}

TEST_F(SamplerTest, ReadsWhatTheOtherThreadsOfAVmUsed) {
  Sampler sampler = make_sampler();
  const Sample without = sample(sampler);
  EXPECT_EQ(without.vms[0].beside_us, std::nullopt);
  EXPECT_THAT(without.missing, IsEmpty());  // nothing is degraded without it
  std::int64_t vcpus_us = 0;
  for (const VcpuSample& vcpu : without.vms[0].vcpus) {
    vcpus_us += vcpu.run_ns / 1000;
  }
  host_.write(web_.scope() + "cpu.stat",
              "usage_usec " + std::to_string(vcpus_us + 5000) + "\nuser_usec 1\nsystem_usec 1\n");
  EXPECT_NEAR(static_cast<double>(sample(sampler).vms[0].beside_us.value_or(0)), 5000, 2);
  // Counted at another moment.
  host_.write(web_.scope() + "cpu.stat", "usage_usec 0\n");
  EXPECT_EQ(sample(sampler).vms[0].beside_us, 0);
}

TEST_F(SamplerTest, HowMemoryStandsIsSlowToRead) {
  Sampler sampler = make_sampler(0);
  (void)sample(sampler);
  host_.set_memory_limits(web_.scope(), {kMiB, {}, {}, {}, {}});
  const Sample later = sample(sampler);
  EXPECT_EQ(later.vms[0].memory_state->limits, MemoryLimits{});
  EXPECT_EQ(later.vms[0].memory_state->read_in, 1);
}

TEST_F(SamplerTest, UnreadableLimitsAreAbsentAndNamed) {
  host_.write(web_.scope() + "memory.high", "much");
  host_.remove("sys/fs/cgroup/machine.slice/memory.min");
  Sampler sampler = make_sampler();
  const Sample now = sample(sampler);
  EXPECT_EQ(now.vms[0].memory_state, std::nullopt);
  EXPECT_THAT(now.slices, IsEmpty());
  ASSERT_THAT(now.missing, SizeIs(1));
  EXPECT_EQ(now.missing[0].source, "VM 'web' memory limits");
  EXPECT_THAT(now.missing[0].reason, HasSubstr("memory.high"));
}

TEST_F(SamplerTest, WithoutSwapAndPressureFilesThereIsStillAState) {
  host_.remove(web_.scope() + "memory.swap.max");
  host_.remove(web_.scope() + "memory.swap.current");
  Sampler sampler = make_sampler();
  const Sample now = sample(sampler);
  ASSERT_TRUE(now.vms[0].memory_state);
  EXPECT_EQ(now.vms[0].memory_state->limits.swap_max, std::nullopt);
  EXPECT_EQ(now.vms[0].memory_state->waits_full, std::nullopt);
  EXPECT_EQ(now.swap_total, std::nullopt);
  EXPECT_EQ(now.protection_inherited, std::nullopt);
  EXPECT_THAT(now.missing, IsEmpty());
}

TEST_F(SamplerTest, HasNothingToDoWithoutVms) {
  Sampler sampler = make_sampler();
  const Sample after = sample(sampler, {});
  EXPECT_THAT(after.vms, IsEmpty());
  EXPECT_THAT(after.missing, IsEmpty());
  EXPECT_THAT(after.cpus, SizeIs(4));
}

}  // namespace
}  // namespace vmnuma::stats
