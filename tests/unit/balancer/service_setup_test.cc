// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/service_setup.h"

#include <gtest/gtest.h>

namespace vmnuma::balancer {
namespace {

TEST(ServiceSetupTest, WhereTheDaemonIsAndWhatItAsksChangeWithTheNextStartOnly) {
  Config running;
  Config read;
  read.hypervisor = HypervisorKind::kQemu;
  read.uri = "test:///default";
  read.socket_path = "/elsewhere";
  read.socket_group = "others";
  read.state_dir = "/elsewhere";
  read.history.max_mib = 1;
  EXPECT_EQ(without_restart(read, running), running);
}

TEST(ServiceSetupTest, AllElseOfAConfigurationCountsAtOnce) {
  Config running;
  Config read;
  read.mode = Mode::kActive;
  read.on_stop = OnStop::kRestore;
  read.foreign_pins = ForeignPins::kRepair;
  read.distances = Distances::kFirmware;
  read.log_level = LogLevel::kDebug;
  read.metadata_wins = false;
  read.vms["db"] = {};
  read.notices = {"a sentence"};
  read.options.rebalance_period += 1;
  EXPECT_EQ(without_restart(read, running), read);
}

}  // namespace
}  // namespace vmnuma::balancer
