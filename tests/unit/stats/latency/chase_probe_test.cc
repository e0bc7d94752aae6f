// SPDX-License-Identifier: Apache-2.0
// Real memory of this machine. Only what must be so on any: how long a read takes here is not
// promised.
#include "stats/latency/chase_probe.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "stats/files/directory.h"
#include "stats/topology/topology_reader.h"

namespace vmnuma::stats {
namespace {

class ChaseProbeTest : public testing::Test {
 protected:
  void SetUp() override {
#if !defined(__x86_64__) && !defined(__aarch64__)
    GTEST_SKIP() << "reading without the caches is not supported on this machine";
#endif
    auto reading = read_topology(files::Directory::open("/").value());
    ASSERT_TRUE(reading) << reading.error().message;
    topology_ = std::move(reading->topology);
    for (const Node& node : topology_.nodes) {
      if (!node.cpus.empty() && node.memory > Bytes{}) {
        node_ = node;
        return;
      }
    }
    GTEST_SKIP() << "no node of this machine has CPUs and memory";
  }
  /// The probe binds its thread, which should not be the test's.
  template <class Body>
  static void aside(Body body) {
    std::thread(body).join();
  }

  Topology topology_;
  Node node_;
};

TEST_F(ChaseProbeTest, ReadsEveryLineOfMemoryOnTheNode) {
  const int priority = getpriority(PRIO_PROCESS, 0);
  aside([&] {
    ChaseProbe probe;
    const Result<void> prepared = probe.prepare(node_, node_.id);
    ASSERT_TRUE(prepared) << prepared.error().message;
    const LatencyRound round = probe.round();
    EXPECT_EQ(round.reads, 65536);            // 4 MiB in lines of 64 bytes
    EXPECT_GT(round.passed_ns, round.reads);  // a read from memory takes more than one nanosecond
    EXPECT_GT(round.running_ns, 0);
    EXPECT_LE(round.running_ns, round.passed_ns + 1'000'000);
    EXPECT_EQ(getpriority(PRIO_PROCESS, 0), 19);
  });
  EXPECT_EQ(getpriority(PRIO_PROCESS, 0), priority);  // only that of the thread that measured
}

TEST_F(ChaseProbeTest, MeasuresThisHostOrSaysThatItIsBusy) {
  aside([&] {
    ChaseProbe probe;
    const std::atomic<bool> stop = false;
    const LatencyMeasurement measured = measure_latencies(topology_, {}, probe, stop);
    ASSERT_FALSE(measured.latencies.empty());
    for (const MeasuredLatency& latency : measured.latencies) {
      EXPECT_EQ(latency.state == LatencyState::kMeasured, latency.read_ns > 0);
      EXPECT_LT(latency.read_ns, 1'000'000);
      RecordProperty("node" + std::to_string(latency.cpu.value) + "_to_node" +
                         std::to_string(latency.memory.value) + "_ns",
                     std::to_string(latency.read_ns));
    }
  });
}

TEST_F(ChaseProbeTest, ANodeThatIsNotThereIsAnError) {
  aside([&] {
    ChaseProbe probe;
    EXPECT_FALSE(probe.prepare(node_, {1023}));
    Node elsewhere = node_;
    elsewhere.cpus = {{{8191}, 8191, 8191}};
    EXPECT_FALSE(probe.prepare(elsewhere, node_.id));
    EXPECT_TRUE(probe.prepare(node_, node_.id));  // after an error, too
  });
}

}  // namespace
}  // namespace vmnuma::stats
