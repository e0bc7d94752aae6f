// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/scenario_course.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/scenarios.h"

namespace vmnuma::tools {
namespace {

using testing::ElementsAre;

/// Cores of node 0, which has 4, in each of the first epochs.
std::vector<std::int32_t> cores_with(const std::vector<Fault>& faults, std::int64_t epochs) {
  Scenario scenario;
  scenario.host = small_host(2);
  scenario.faults = faults;
  Microseconds clock;
  SimHost host(scenario.host, scenario.seed, /*prefer_ht=*/false, clock);
  ScenarioCourse course(scenario, host);
  std::vector<std::int32_t> cores;
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    course.begin_epoch(epoch);
    course.begin_and_end_faults(epoch, [](const Fault& /*fault*/, bool /*is_on*/) {});
    cores.push_back(host.topology().nodes[0].core_count());
  }
  return cores;
}

Fault offline(std::int64_t epoch, std::int64_t epochs, std::int32_t cores) {
  return {.epoch = epoch,
          .kind = FaultKind::kNodeOffline,
          .node = NodeId{0},
          .epochs = epochs,
          .cores = cores};
}

TEST(ScenarioCourseTest, AFaultThatBeginsAsAnotherEndsTakesEffectInAnyOrder) {
  EXPECT_THAT(cores_with({offline(1, 2, 0), offline(3, 1, 0)}, 5), ElementsAre(4, 0, 0, 0, 4));
  EXPECT_THAT(cores_with({offline(3, 1, 0), offline(1, 2, 0)}, 5), ElementsAre(4, 0, 0, 0, 4));
}

TEST(ScenarioCourseTest, OfFaultsThatOverlapEachLastsAsLongAsItSays) {
  EXPECT_THAT(cores_with({offline(1, 3, 1), offline(2, 1, 0)}, 5), ElementsAre(4, 3, 0, 3, 4));
  EXPECT_THAT(cores_with({offline(1, 3, 0), offline(2, 3, 3)}, 6), ElementsAre(4, 0, 0, 0, 1, 4));
}

TEST(ScenarioCourseTest, LibvirtIsGoneUntilTheLastFaultEnds) {
  Scenario scenario;
  scenario.host = small_host(1);
  scenario.faults = {{.epoch = 0, .kind = FaultKind::kLibvirtGone, .epochs = 2},
                     {.epoch = 1, .kind = FaultKind::kLibvirtGone, .epochs = 2}};
  Microseconds clock;
  SimHost host(scenario.host, scenario.seed, /*prefer_ht=*/false, clock);
  ScenarioCourse course(scenario, host);
  std::vector<bool> told;
  for (std::int64_t epoch = 0; epoch < 4; ++epoch) {
    course.begin_epoch(epoch);
    course.begin_and_end_faults(epoch,
                                [&](const Fault& /*fault*/, bool is_on) { told.push_back(is_on); });
  }
  EXPECT_THAT(told, ElementsAre(true, true, true, false));
  EXPECT_THAT(course.take_news(),
              ElementsAre("fault libvirt-gone begins", "fault libvirt-gone begins",
                          "fault libvirt-gone ends", "fault libvirt-gone ends"));
}

}  // namespace
}  // namespace vmnuma::tools
