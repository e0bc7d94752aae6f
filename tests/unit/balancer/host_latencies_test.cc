// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/host_latencies.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_host.h"
#include "tests/support/fake_latency_probe.h"

namespace vmnuma::balancer {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using tests::FakeLatencyProbe;

class HostLatenciesTest : public testing::Test {
 protected:
  HostLatenciesTest() {
    for (const std::int32_t id : {0, 1, 2, 3}) {
      Node node{.id = {id}};
      node.cpus = {{{id}, id, id}};
      node.memory = kGiB;
      topology_.nodes.push_back(node);
    }
    topology_.distances.assign(16, 20);
    for (const auto& cpus : topology_.nodes) {
      for (const auto& memory : topology_.nodes) {
        probe_.rounds[{cpus.id, memory.id}] = {
            FakeLatencyProbe::round_of(cpus.id == memory.id ? 80 : 140)};
      }
    }
    start_host("11111111-0000-0000-0000-000000000000");
    host_.write("sys/devices/system/node/node0/access0/initiators/node0/cpulist", "0\n");
    host_.write("sys/devices/system/node/node0/access0/initiators/read_latency", "75\n");
  }
  void start_host(const std::string& boot_id) {
    host_.write("proc/sys/kernel/random/boot_id", boot_id + "\n");
  }
  FoundLatencies find(const std::vector<stats::MeasuredLatency>& known = {}) {
    probe_.prepared.clear();
    return find_latencies(files::Directory::open(host_.path()).value(), state_.path(), topology_,
                          known, probe_, stop_);
  }
  [[nodiscard]] std::string kept_path() const { return state_.path() + "/latencies.json"; }

  tests::FakeHost host_;
  tests::TempDirectory state_;
  Topology topology_;
  FakeLatencyProbe probe_;
  std::atomic<bool> stop_ = false;
};

TEST_F(HostLatenciesTest, AreMeasuredOnceABoot) {
  const FoundLatencies first = find();
  EXPECT_THAT(first.latencies.measured, SizeIs(16));
  EXPECT_THAT(first.latencies.firmware, SizeIs(1));
  EXPECT_EQ(first.log.message, "memory latencies measured: 80 to 140 ns");
  EXPECT_THAT(probe_.prepared, SizeIs(16));

  const FoundLatencies again = find();
  EXPECT_EQ(again.latencies, first.latencies);
  EXPECT_THAT(probe_.prepared, IsEmpty());

  start_host("22222222-0000-0000-0000-000000000000");
  EXPECT_EQ(find().latencies, first.latencies);
  EXPECT_THAT(probe_.prepared, SizeIs(16));
}

TEST_F(HostLatenciesTest, ABusyHostSaysSoAndOnlyTheRestIsTriedAgain) {
  probe_.rounds[{{1}, {2}}] = {FakeLatencyProbe::round_of(140, 60)};
  const FoundLatencies busy = find();
  EXPECT_EQ(busy.log.severity, Severity::kNotice);
  EXPECT_EQ(busy.log.message,
            "memory latencies were not all measured (from node 1 to node 2: the host was too "
            "busy), the rest is tried again later");
  EXPECT_TRUE(busy.again);
  EXPECT_THAT(busy.latencies.measured, SizeIs(16));
  EXPECT_FALSE(std::filesystem::exists(kept_path()));
  probe_.rounds[{{1}, {2}}] = {FakeLatencyProbe::round_of(140)};
  const FoundLatencies all = find(busy.latencies.measured);
  EXPECT_EQ(all.log.message, "memory latencies measured: 80 to 140 ns");
  EXPECT_FALSE(all.again);
  EXPECT_THAT(probe_.prepared, SizeIs(1));
  EXPECT_THAT(all.latencies.measured, SizeIs(16));
  EXPECT_TRUE(std::filesystem::exists(kept_path()));
}

TEST_F(HostLatenciesTest, OfANodeThatCameOnlyWhatIsNewIsMeasured) {
  const Node last = topology_.nodes.back();
  topology_.nodes.pop_back();
  const FoundLatencies three = find();
  EXPECT_THAT(probe_.prepared, SizeIs(9));
  topology_.nodes.push_back(last);
  EXPECT_THAT(find(three.latencies.measured).latencies.measured, SizeIs(16));
  EXPECT_THAT(probe_.prepared, SizeIs(7));
}

TEST_F(HostLatenciesTest, ADamagedFileIsWrittenAnew) {
  std::ofstream(kept_path()) << "{\"version\":1,";
  EXPECT_EQ(find().log.message, "memory latencies measured: 80 to 140 ns");
  std::ifstream file(kept_path());
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(text, HasSubstr("11111111-0000"));
}

TEST_F(HostLatenciesTest, WhatCannotBeKeptIsShownAllTheSame) {
  std::filesystem::create_directories(kept_path() + ".new");
  const FoundLatencies found = find();
  EXPECT_EQ(found.log.severity, Severity::kWarning);
  EXPECT_THAT(found.log.message, HasSubstr("not kept for the next start"));
  EXPECT_THAT(found.latencies.measured, SizeIs(16));
}

TEST_F(HostLatenciesTest, WithoutABootIdNothingIsKept) {
  host_.remove("proc/sys/kernel/random/boot_id");
  EXPECT_EQ(find().log.severity, Severity::kWarning);
  EXPECT_FALSE(std::filesystem::exists(kept_path()));
}

TEST_F(HostLatenciesTest, ADamagedHmatIsSaidAndLeftOut) {
  host_.write("sys/devices/system/node/node0/access0/initiators/read_latency", "?\n");
  const FoundLatencies found = find();
  EXPECT_EQ(found.log.severity, Severity::kWarning);
  EXPECT_THAT(found.log.message, HasSubstr("; what HMAT says cannot be read"));
  EXPECT_THAT(found.latencies.measured, SizeIs(16));
  EXPECT_THAT(found.latencies.firmware, IsEmpty());
}

TEST_F(HostLatenciesTest, AHostWithoutAnythingToMeasureIsNoError) {
  for (Node& node : topology_.nodes) {
    node.memory = {};
  }
  const FoundLatencies found = find();
  EXPECT_EQ(found.log.severity, Severity::kInfo);
  EXPECT_THAT(found.latencies.measured, IsEmpty());
}

}  // namespace
}  // namespace vmnuma::balancer
