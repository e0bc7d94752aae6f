// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnumad/simulated.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temp_directory.h"
#include "tools/client/sim_folder.h"

namespace vmnuma::tools {
namespace {

using balancer::Config;
using balancer::Origin;
using testing::HasSubstr;

namespace fs = std::filesystem;

TEST(SimFolderTest, IsTheUsersOwn) {
  EXPECT_EQ(sim_folder("/run/user/7", 7), "/run/user/7/vmnuma-sim");
  EXPECT_EQ(sim_folder(nullptr, 7), "/tmp/vmnuma-sim-7");
  EXPECT_EQ(sim_folder("", 7), "/tmp/vmnuma-sim-7");
  EXPECT_EQ(sim_folder("relative", 7), "/tmp/vmnuma-sim-7");
}

TEST(SimFolderTest, IsMadeForItsUserAloneAndUsedAgain) {
  const tests::TempDirectory directory;
  const std::string path = directory.path() + "/sim";
  ASSERT_TRUE(make_private_folder(path));
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
  EXPECT_TRUE(make_private_folder(path));
}

TEST(SimFolderTest, IsRefusedIfOthersMayEnterItOrItIsALink) {
  const tests::TempDirectory directory;
  const std::string open = directory.path() + "/open";
  fs::create_directory(open);
  fs::permissions(open, fs::perms::owner_all | fs::perms::group_exec);
  const auto refused = make_private_folder(open);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kPermissionDenied);
  EXPECT_THAT(refused.error().message, HasSubstr("not a folder of this user alone"));

  const std::string mine = directory.path() + "/mine";
  ASSERT_TRUE(make_private_folder(mine));
  fs::create_symlink(mine, directory.path() + "/link");
  EXPECT_FALSE(make_private_folder(directory.path() + "/link"));
}

TEST(SimulatedStateTest, IsForgottenButForTheLock) {
  const tests::TempDirectory directory;
  std::ofstream(directory.path() + "/lock") << "";
  std::ofstream(directory.path() + "/history.sqlite") << "x";
  fs::create_directories(directory.path() + "/old/older");
  ASSERT_TRUE(forget_state(directory.path()));
  EXPECT_TRUE(fs::exists(directory.path() + "/lock"));
  EXPECT_FALSE(fs::exists(directory.path() + "/history.sqlite"));
  EXPECT_FALSE(fs::exists(directory.path() + "/old"));
  EXPECT_FALSE(forget_state(directory.path() + "/nowhere"));
}

TEST(SimulatedConfigTest, ActsInItsFolderWithTheScenariosOptions) {
  Scenario scenario;
  scenario.name = "test";
  scenario.options.rebalance_period = 500;
  scenario.strategy = PlacementStrategy::kMostAllocated;
  const Config config = simulated_config({}, scenario, "/f");
  EXPECT_EQ(config.uri, "simulated:test");
  EXPECT_EQ(config.socket_path, "/f/vmnuma.sock");
  EXPECT_EQ(config.socket_group, "");
  EXPECT_EQ(config.state_dir, "/f/state");
  EXPECT_EQ(config.mode, balancer::Mode::kActive);
  EXPECT_EQ(config.options.rebalance_period, 500);
  EXPECT_EQ(config.strategy, scenario.strategy);
  for (const char* key : {"uri", "socket_path", "mode", "strategy", "Numa.RebalancePeriod"}) {
    EXPECT_EQ(config.origin_of(key), balancer::Origin::kCommandLine) << key;
  }
}

TEST(SimulatedConfigTest, AFileGoesBeforeTheScenario) {
  Scenario scenario;
  scenario.options.rebalance_period = 500;
  const auto read = balancer::parse_config(
      "mode = \"observe\"\n[options]\n\"Numa.RebalancePeriod\" = 1000\n", "file");
  ASSERT_TRUE(read) << read.error().message;
  const Config config = simulated_config(*read, scenario, "/f");
  EXPECT_EQ(config.mode, balancer::Mode::kObserve);
  EXPECT_EQ(config.options.rebalance_period, 1000);
}

}  // namespace
}  // namespace vmnuma::tools
