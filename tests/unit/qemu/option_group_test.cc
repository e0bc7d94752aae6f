// SPDX-License-Identifier: Apache-2.0
#include "balancer/qemu/option_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vmnuma::balancer::qemu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Settings = std::vector<Setting>;

TEST(OptionGroupTest, AValueWithoutAKeyHasTheImpliedOneIfItIsTheFirst) {
  EXPECT_EQ(parse_settings("node,nodeid=1", "type"), (Settings{{"type", "node"}, {"nodeid", "1"}}));
  EXPECT_EQ(parse_settings("file=a,readonly", ""), (Settings{{"file", "a"}, {"readonly", "on"}}));
}

TEST(OptionGroupTest, TwoCommasAreOneOfTheValue) {
  EXPECT_EQ(parse_settings("file=a,,b=c,if=none", ""),
            (Settings{{"file", "a,b=c"}, {"if", "none"}}));
  EXPECT_EQ(parse_settings("a,,b", "guest"), (Settings{{"guest", "a,b"}}));
}

TEST(OptionGroupTest, TheLastOfTwoValuesCountsAndListsKeepAll) {
  const OptionGroup group{"numa", {{"cpus", "0"}, {"cpus", "2"}, {"cpus.1", "4"}, {"cpusx", "5"}}};
  EXPECT_EQ(group.value("cpus"), "2");
  EXPECT_THAT(group.values("cpus"), ElementsAre("0", "2", "4"));
  EXPECT_EQ(group.value("mem"), std::nullopt);
}

TEST(OptionGroupTest, NestedJsonHasKeysWithDots) {
  EXPECT_EQ(parse_json_settings(R"({"driver":"raw","file":{"filename":"/dev/sda","ro":true},)"
                                R"("nodes":[0,3],"none":null})"),
            (Settings{{"driver", "raw"},
                      {"file.filename", "/dev/sda"},
                      {"file.ro", "on"},
                      {"nodes.0", "0"},
                      {"nodes.1", "3"},
                      {"none", ""}}));
}

TEST(OptionGroupTest, WhatIsNoJsonObjectOrTooDeepIsNothing) {
  EXPECT_EQ(parse_json_settings("{"), std::nullopt);
  EXPECT_EQ(parse_json_settings("[1]"), std::nullopt);
  std::string deep = "1";
  for (int level = 0; level < 100; ++level) {
    deep = R"({"a":)" + deep + "}";
  }
  EXPECT_EQ(parse_json_settings(deep), std::nullopt);
}

TEST(OptionGroupTest, AFileHasSectionsWithAndWithoutAnId) {
  const ConfigFile file = parse_config_file(
      "# CPU\n[smp-opts]\n  cpus = \"2\"\n[object \"mem0\"]\n"
      "qom-type = \"memory-backend-ram\"\n");
  ASSERT_EQ(file.groups.size(), 2U);
  EXPECT_EQ(file.groups[0].name, "smp");
  EXPECT_TRUE(file.groups[0].is("cpus", "2"));
  EXPECT_EQ(file.groups[1].settings,
            (Settings{{"id", "mem0"}, {"qom-type", "memory-backend-ram"}}));
  EXPECT_EQ(file.not_understood, 0);
}

TEST(OptionGroupTest, LinesOfAFileThatAreNeitherAreCounted) {
  const ConfigFile file =
      parse_config_file("size = \"1\"\n[memory]\nsize = 1\nnonsense\n[a \"b]\n");
  EXPECT_EQ(file.not_understood, 4);
  ASSERT_EQ(file.groups.size(), 1U);
  EXPECT_THAT(file.groups[0].settings, IsEmpty());
}

}  // namespace
}  // namespace vmnuma::balancer::qemu
