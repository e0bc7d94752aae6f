// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/live/live_host.h"

#include <atomic>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/controller/orders.h"
#include "stats/latency/measured_distances.h"
#include "tests/sim/scenarios.h"

namespace vmnuma::tools {
namespace {

using balancer::HostReading;
using balancer::SimLoadRequest;
using balancer::SimStartRequest;
using balancer::SimStopRequest;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Thread = migration::ThreadId::Kind;

constexpr std::int64_t kEpochUs = 2'000'000;

class LiveHostTest : public testing::Test {
 protected:
  LiveHostTest() {
    scenario_.name = "test";
    scenario_.host = small_host(2);
  }
  void open() {
    host_ = std::make_unique<LiveHost>(
        LiveHost::Setup{scenario_,
                        {},
                        {[this] { return Microseconds{now_us_}; },
                         [this](Microseconds time) {
                           now_us_ += time.value;
                           waited_us_ += time.value;
                         }},
                        [this](const std::string& news) { news_.push_back(news); }});
    host_->watch([this] { ++changes_; });
  }
  void pass(std::int64_t us) { now_us_ += us; }
  HostReading read() {
    return host_->read({++sequence_, Microseconds{now_us_}, running_, moving_, spilling_});
  }
  std::vector<std::string> names() {
    std::vector<std::string> names;
    const auto running = host_->refresh();
    for (const VmDescription& vm : running.value_or(std::vector<VmDescription>{})) {
      names.push_back(vm.name);
    }
    return names;
  }
  /// Of all vCPUs of the VM, in milliseconds.
  static std::int64_t ran_ms(const HostReading& reading, std::size_t vm) {
    std::int64_t ran_ns = 0;
    for (const VcpuSample& vcpu : reading.sample.vms.at(vm).vcpus) {
      ran_ns += vcpu.run_ns;
    }
    return ran_ns / 1'000'000;
  }
  Result<void> pin_first(const VmDescription& vm) {
    return host_->control().pin({vm.id, vm.domain_id}, {Thread::kVcpu, 0},
                                balancer::cpus_of(host_->topology().nodes[1]));
  }

  Scenario scenario_;
  std::atomic<std::int64_t> now_us_ = 77'000'000;  // of a machine that runs since a while
  std::atomic<std::int64_t> waited_us_ = 0;
  std::vector<std::string> news_;
  int changes_ = 0;
  std::int64_t sequence_ = 0;
  std::vector<VmDescription> running_;
  std::set<VmId> moving_;
  std::set<VmId> spilling_;
  std::unique_ptr<LiveHost> host_;
};

TEST_F(LiveHostTest, AReadingIsOfTheMomentItIsTakenAt) {
  scenario_.vms = {busy_vm("a", 2, 50)};
  open();
  EXPECT_EQ(ran_ms(read(), 0), 0);
  pass(1'030'000);  // five whiles of 200 ms and 30 ms of the sixth
  const HostReading reading = read();
  EXPECT_EQ(reading.sample.taken_at, Microseconds{now_us_});
  EXPECT_EQ(ran_ms(reading, 0), 1'030);  // two vCPUs at 50 %
  pass(kEpochUs * 10);
  EXPECT_EQ(ran_ms(read(), 0), 1'030 + 20'000);
}

TEST_F(LiveHostTest, VmsStartAndStopAtTheirEpochsHoweverSeldomItIsAsked) {
  scenario_.vms = {busy_vm("a", 1, 50), busy_vm("b", 1, 50)};
  scenario_.vms[0].stop = 5;
  scenario_.vms[1].start = 3;
  open();
  EXPECT_THAT(names(), ElementsAre("a"));
  pass(kEpochUs * 3 - 1);
  EXPECT_THAT(names(), ElementsAre("a"));
  pass(1);
  EXPECT_THAT(names(), ElementsAre("a", "b"));
  pass(kEpochUs * 100);
  EXPECT_THAT(names(), ElementsAre("b"));
  EXPECT_THAT(news_, ElementsAre("VM 'b' starts", "VM 'a' stops"));
  EXPECT_EQ(ran_ms(read(), 0), 100'000);  // since it started, at half a CPU
}

TEST_F(LiveHostTest, AChangeIsToldOnceUntilItIsLookedAt) {
  scenario_.vms = {busy_vm("a", 1, 50), busy_vm("b", 1, 50), busy_vm("c", 1, 50)};
  scenario_.vms[1].start = 1;
  scenario_.vms[2].start = 2;
  open();
  (void)names();
  changes_ = 0;
  pass(kEpochUs);
  (void)read();
  EXPECT_EQ(changes_, 1);
  pass(kEpochUs);
  (void)read();
  EXPECT_EQ(changes_, 1);
  EXPECT_EQ(names().size(), 3U);
  (void)read();
  EXPECT_EQ(changes_, 1);
}

TEST_F(LiveHostTest, ACallReturnsAfterTheTimeItTakes) {
  scenario_.vms = {busy_vm("a", 1, 50)};
  scenario_.faults = {{.epoch = 1, .kind = FaultKind::kSlowLibvirt, .epochs = 2}};
  open();
  const VmDescription vm = host_->refresh().value().at(0);
  ASSERT_TRUE(pin_first(vm));
  EXPECT_EQ(waited_us_, 5'000);
  pass(kEpochUs);
  ASSERT_TRUE(pin_first(vm));
  EXPECT_EQ(waited_us_, 3'005'000);
  EXPECT_THAT(news_, ElementsAre("fault slow-libvirt begins"));
}

TEST_F(LiveHostTest, WhileLibvirtIsGoneNothingIsToldAndThenAll) {
  scenario_.vms = {busy_vm("a", 1, 50), busy_vm("b", 1, 50)};
  scenario_.vms[1].start = 2;
  scenario_.faults = {{.epoch = 1, .kind = FaultKind::kLibvirtGone, .epochs = 3}};
  open();
  EXPECT_THAT(names(), ElementsAre("a"));
  changes_ = 0;
  pass(kEpochUs * 2);
  const auto gone = host_->refresh();
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(changes_, 0);
  pass(kEpochUs * 2);
  EXPECT_THAT(names(), ElementsAre("a", "b"));
}

TEST_F(LiveHostTest, ANodeThatGoesOfflineIsToldOnce) {
  scenario_.faults = {
      {.epoch = 1, .kind = FaultKind::kNodeOffline, .node = NodeId{1}, .epochs = 1}};
  open();
  EXPECT_FALSE(read().topology);
  pass(kEpochUs);
  const HostReading reading = read();
  ASSERT_TRUE(reading.topology);
  EXPECT_EQ(reading.topology->nodes[1].cpu_count(), 0);
  EXPECT_FALSE(read().topology);
  pass(kEpochUs);
  EXPECT_EQ(read().topology, host_->topology());
}

TEST_F(LiveHostTest, AStaleSampleLacksWhatTheScenarioSays) {
  scenario_.faults = {{.epoch = 1, .kind = FaultKind::kStaleSample, .epochs = 1}};
  open();
  EXPECT_THAT(read().sample.missing, IsEmpty());
  pass(kEpochUs);
  EXPECT_EQ(read().sample.missing.size(), 1U);
  pass(kEpochUs);
  EXPECT_THAT(read().sample.missing, IsEmpty());
}

TEST_F(LiveHostTest, LatenciesAreThoseOfTheDistances) {
  scenario_.host.firmware_distances = {10, 10, 10, 10};
  open();
  const std::atomic<bool> stop = false;
  const auto found = host_->find_latencies("", host_->topology(), {}, stop);
  EXPECT_EQ(stats::local_read_ns(host_->topology(), found.latencies), kTypicalReadNs);
  EXPECT_EQ(stats::with_measured_distances(host_->topology(), found.latencies).distances,
            scenario_.host.distances);
}

TEST_F(LiveHostTest, VmsCanBePlayedWith) {
  open();
  EXPECT_EQ(host_->play(SimStartRequest{"guest", 2, 1024, 100}),
            "VM 'guest' starts: 2 vCPUs, 1024 MiB, load 100 %");
  EXPECT_THAT(names(), ElementsAre("guest"));
  pass(kEpochUs);
  EXPECT_EQ(ran_ms(read(), 0), 4'000);
  EXPECT_TRUE(host_->play(SimLoadRequest{"guest", 25}));
  pass(kEpochUs);
  EXPECT_EQ(ran_ms(read(), 0), 4'000 + 1'000);
  EXPECT_TRUE(host_->play(SimStopRequest{"guest"}));
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(LiveHostTest, WhatCannotBePlayedIsRefusedWithTheReason) {
  scenario_.vms = {busy_vm("web1", 1, 50)};
  open();
  const auto refusal = [this](const balancer::PlayCommand& command) {
    const auto played = host_->play(command);
    return played ? "it was played" : played.error().message;
  };
  EXPECT_THAT(refusal(SimStartRequest{"web1"}), HasSubstr("runs already"));
  EXPECT_THAT(refusal(SimStartRequest{"a", 0}), HasSubstr("'vcpus' is 0, but must be 1 to"));
  EXPECT_THAT(refusal(SimStartRequest{"a", 1, 16 * 1024 + 2}),  // two nodes of 8 GiB
              HasSubstr("'memory_mib' is 16386, but must be 2 to 16384"));
  EXPECT_THAT(refusal(SimStartRequest{"a", 1, 1024, 101}), HasSubstr("'load_pct' is 101"));
  EXPECT_THAT(refusal(SimStopRequest{"web2"}),
              HasSubstr("no VM 'web2' runs on the simulated host; did you mean 'web1'?"));
  EXPECT_THAT(refusal(SimLoadRequest{"nobody", 5}), HasSubstr("no VM 'nobody' runs"));
  EXPECT_THAT(refusal(SimLoadRequest{"web1", -1}), HasSubstr("'load_pct' is -1"));
}

TEST_F(LiveHostTest, SeveralThreadsMayUseIt) {
  scenario_.vms = {busy_vm("a", 2, 50)};
  open();
  const VmDescription vm = host_->refresh().value().at(0);
  std::thread executor([&] {
    for (int i = 0; i < 100; ++i) {
      EXPECT_TRUE(pin_first(vm));  // each passes 5 ms
    }
  });
  std::int64_t last = 0;
  for (int i = 0; i < 100; ++i) {
    const std::int64_t ran = ran_ms(read(), 0);
    EXPECT_GE(ran, last);
    last = ran;
  }
  executor.join();
  EXPECT_EQ(ran_ms(read(), 0), 500);  // half of each of two CPUs, for half a second
}

}  // namespace
}  // namespace vmnuma::tools
