// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::tests {
namespace {

using balancer::Effects;
using balancer::Health;
using balancer::Mode;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> messages(const Effects& effects) {
  std::vector<std::string> messages;
  for (const balancer::LogLine& line : effects.log) {
    messages.push_back(line.message);
  }
  return messages;
}

TEST(HealthTest, LogsEachFailureAndRecoveryOnce) {
  Health health;
  Effects effects;
  health.source_changed({"libvirt", "connection refused", 1}, effects);
  health.source_changed({"libvirt", "no such socket", 2}, effects);
  EXPECT_THAT(messages(effects), ElementsAre(HasSubstr("'libvirt' is missing: connection")));
  EXPECT_EQ(health.missing().at("libvirt").reason, "no such socket");
  EXPECT_EQ(health.missing().at("libvirt").since_unix_s, 1);
  health.source_changed({"libvirt", "", 3}, effects);
  health.source_changed({"libvirt", "", 4}, effects);
  EXPECT_THAT(messages(effects),
              ElementsAre(HasSubstr("is missing"), HasSubstr("'libvirt' works again")));
}

TEST(HealthTest, FilesThatTheNextSampleReadsWorkAgain) {
  Health health;
  Effects effects;
  health.source_changed({"history", "disk full", 1}, effects);
  health.sampled({{"/proc/stat", "no such file", std::nullopt}}, 2, effects);
  EXPECT_EQ(health.missing().size(), 2U);
  health.sampled({}, 3, effects);
  EXPECT_EQ(health.missing().size(), 1U);
  EXPECT_TRUE(health.missing().contains("history"));
}

TEST(HealthTest, ReachesVmsUnlessLibvirtOrTheExecutorIsMissing) {
  for (const std::string source : {"libvirt", "executor", "history"}) {
    Health health;
    Effects effects;
    health.source_changed({source, "gone", 1}, effects);
    EXPECT_EQ(health.reaches_vms(Mode::kActive), source == "history") << source;
    EXPECT_FALSE(health.reaches_vms(Mode::kDryRun));
  }
  Health paused;
  paused.set_paused(true);
  EXPECT_TRUE(paused.reaches_vms(Mode::kActive));
  EXPECT_FALSE(paused.acts(Mode::kActive));
}

TEST(HealthTest, PausedComesBeforeDegradedBeforeConfigured) {
  Health health;
  Effects effects;
  EXPECT_EQ(health.mode(Mode::kActive), Mode::kActive);
  health.source_changed({"history", "disk full", 1}, effects);
  EXPECT_EQ(health.mode(Mode::kActive), Mode::kDegraded);
  health.set_paused(true);
  EXPECT_EQ(health.mode(Mode::kActive), Mode::kPaused);
}

TEST(HealthTest, ABrokenPlanIsAMissingPlannerUntilASoundOne) {
  Health health;
  Effects effects;
  health.planned(1, "", 1, effects);
  EXPECT_THAT(effects.log, IsEmpty());
  health.planned(2, "two homes at once", 2, effects);
  health.planned(3, "two homes at once", 3, effects);
  EXPECT_EQ(health.missing().at("planner").since_unix_s, 2);
  EXPECT_THAT(health.missing().at("planner").reason, HasSubstr("the plan of epoch 3"));
  health.planned(4, "", 4, effects);
  EXPECT_THAT(messages(effects),
              ElementsAre(HasSubstr("the plan of epoch 2 breaks a rule"), "plans are sound again"));
  EXPECT_THAT(health.missing(), IsEmpty());
}

}  // namespace
}  // namespace vmnuma::tests
