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

TEST(ServiceSetupTest, AValueThatStaysKeepsItsOriginAndOneThatIsReadHasItsNewOne) {
  const auto config = parse_config(R"(
uri = "qemu:///session"
socket_group = "kvm"
[history]
max_mib = 5
)",
                                   "vmnuma.toml");
  ASSERT_TRUE(config) << config.error().message;
  const Config with_defaults = without_restart(Config{}, *config);
  EXPECT_EQ(with_defaults.origins, config->origins);
  const Config from_file = without_restart(*config, Config{});
  EXPECT_TRUE(from_file.origins.empty());
  Config command_line = *config;
  command_line.origins["uri"] = Origin::kCommandLine;
  EXPECT_EQ(without_restart(command_line, *config), command_line) << "the value is the same";
  command_line.mode = Mode::kActive;
  command_line.origins["mode"] = Origin::kFile;
  EXPECT_EQ(without_restart(command_line, Config{}).origins,
            (decltype(Config::origins){{"mode", Origin::kFile}}));
}

TEST(ServiceSetupTest, AllElseOfAConfigurationCountsAtOnce) {
  Config running;
  Config read;
  read.mode = Mode::kActive;
  read.on_stop = OnStop::kRestore;
  read.foreign_pins = ForeignPins::kRepair;
  read.distances = Distances::kFirmware;
  read.log_level = Severity::kDebug;
  read.metadata_wins = false;
  read.vms["db"] = {};
  read.notices = {"a sentence"};
  read.options.rebalance_period += 1;
  EXPECT_EQ(without_restart(read, running), read);
}

TEST(ServiceSetupTest, TheControllerKnowsThePresetAndThePoolsOfDevices) {
  Config config;
  config.preset = Preset::kEsxi;
  config.device_pools = {{"gpu", {}}};
  const Settings settings = settings_of(config);
  EXPECT_EQ(settings.preset, config.preset);
  EXPECT_EQ(settings.device_pools, config.device_pools);
}

}  // namespace
}  // namespace vmnuma::balancer
