// SPDX-License-Identifier: Apache-2.0
#include "balancer/config/config.h"

#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balancer/config/config_view.h"
#include "balancer/config/device_pools.h"
#include "balancer/config/keys.h"
#include "balancer/policy/policy_keys.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {
namespace {

using ::testing::HasSubstr;

/// What parse_config() says about a wrong file.
std::string problems_of(std::string_view text) {
  const auto config = parse_config(text, "f.toml");
  if (config) {
    return "accepted";
  }
  EXPECT_EQ(config.error().code, ErrorCode::kInvalidArgument);
  return config.error().message;
}

TEST(ConfigTest, EmptyFileGivesDefaults) {
  const auto config = parse_config("", "f.toml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(*config, Config{});
}

TEST(ConfigTest, ShippedDefaultIsDryRun) {
  EXPECT_EQ(Config{}.mode, Mode::kDryRun);
}

TEST(ConfigTest, ReadsEveryTopKey) {
  const auto config = parse_config(R"(
    hypervisor = "auto"
    uri = "test:///default"
    mode = "active"
    on_stop = "restore"
    foreign_pins = "repair"
    metadata_wins = false
    socket_path = "/tmp/s"
    socket_group = "operators"
    state_dir = "/srv/vmnuma"
    log_level = "debug"
  )",
                                   "f.toml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->uri, "test:///default");
  EXPECT_EQ(config->hypervisor, HypervisorKind::kAuto);
  EXPECT_EQ(hypervisor_text(*config), "test:///default and QEMU processes");
  EXPECT_EQ(config->mode, Mode::kActive);
  EXPECT_EQ(config->on_stop, OnStop::kRestore);
  EXPECT_EQ(config->foreign_pins, ForeignPins::kRepair);
  EXPECT_FALSE(config->metadata_wins);
  EXPECT_EQ(config->socket_path, "/tmp/s");
  EXPECT_EQ(config->socket_group, "operators");
  EXPECT_EQ(config->state_dir, "/srv/vmnuma");
  EXPECT_EQ(config->log_level, Severity::kDebug);
  EXPECT_EQ(config->origin_of("mode"), Origin::kFile);
}

TEST(ConfigTest, ReadsHistoryLimits) {
  const auto config = parse_config(
      "[history]\nmax_mib = 7\nmoves_days = 8\nepoch_samples_minutes = 9\n"
      "minute_samples_days = 10\nhour_samples_days = 11\n",
      "f.toml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->history, (HistoryLimits{7, 8, 9, 10, 11}));
  EXPECT_EQ(config->origin_of("history.max_mib"), Origin::kFile);
}

TEST(ConfigTest, ReadsOptionsQuotedAndUnquoted) {
  const auto config = parse_config(
      "[options]\n\"Numa.MigImbalanceThreshold\" = 11\nNuma.MigThreshold = 3\n", "f.toml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->options.mig_imbalance_threshold, 11);
  EXPECT_EQ(config->options.mig_threshold, 3);
  EXPECT_EQ(config->origin_of("Numa.MigThreshold"), Origin::kFile);
  EXPECT_EQ(config->origin_of("Numa.SwapInterval"), Origin::kDefault);
}

TEST(ConfigTest, APresetIsWhatOptionsHaveThatAreSetNowhere) {
  const auto config =
      parse_config("preset = \"esxi\"\n[options]\n\"Numa.PageMigRateMax\" = 64000\n", "f.toml");
  ASSERT_TRUE(config) << config.error().message;
  Options expected = options_of(Preset::kEsxi);
  EXPECT_EQ(expected.spill_enable, 0);
  EXPECT_EQ(expected.shortage_half_life, 0);
  EXPECT_EQ(expected.mig_threshold_cpus, 0);
  EXPECT_EQ(expected.page_mig_rate_max, 32000);
  EXPECT_EQ(expected.migrations_per_epoch, 4);
  expected.page_mig_rate_max = 64000;
  EXPECT_EQ(config->options, expected);
  EXPECT_EQ(parse_config("preset = \"vmnuma\"\n", "f.toml")->options, Options{});
}

TEST(ConfigTest, ReadsEveryPolicyKey) {
  const auto config = parse_config(R"(
    [vm."web1"]
    nodes = "0-1,3"
    memory_mode = "mask"
    do_not_move = true
    prefer_ht = true
    max_per_node = 8
    max_per_client = 4
    consolidate = false
    affinity_group = "shop"
    anti_affinity_group = "front"
    anti_affinity = "hard"
    reservation = 25
  )",
                                   "f.toml");
  ASSERT_TRUE(config) << config.error().message;
  VmPolicy expected;
  expected.nodes = {{0}, {1}, {3}};
  expected.memory_mode = MemoryMode::kMask;
  expected.do_not_move = true;
  expected.prefer_ht = true;
  expected.max_per_node = 8;
  expected.max_per_client = 4;
  expected.consolidate = false;
  expected.affinity_group = "shop";
  expected.anti_affinity_group = "front";
  expected.anti_affinity_hard = true;
  expected.reservation_permille = 250;
  ASSERT_EQ(config->vms.count("web1"), 1U);
  EXPECT_EQ(config->vms.at("web1"), expected);
}

TEST(ConfigTest, FindsPolicyByUuidBeforeName) {
  // The UUID is written in upper case in the file and found all the same.
  const auto config = parse_config(
      "[vm.web1]\nmax_per_node = 1\n"
      "[vm.C7A5FDBD-EDAF-9455-926A-D65C16DB1809]\nmax_per_node = 2\n",
      "f.toml");
  ASSERT_TRUE(config) << config.error().message;
  const auto id = parse_vm_id("c7a5fdbd-edaf-9455-926a-d65c16db1809");
  ASSERT_TRUE(id);
  ASSERT_NE(config->policy_of(*id, "web1"), nullptr);
  EXPECT_EQ(config->policy_of(*id, "web1")->max_per_node, 2);
  ASSERT_NE(config->policy_of(VmId{}, "web1"), nullptr);
  EXPECT_EQ(config->policy_of(VmId{}, "web1")->max_per_node, 1);
  EXPECT_EQ(config->policy_of(VmId{}, "web2"), nullptr);
}

TEST(ConfigTest, AcceptsNamesWithDotsAndBlanks) {
  const auto config = parse_config("[vm.\"a b.example.org\"]\nmax_per_node = 1\n", "f.toml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->vms.count("a b.example.org"), 1U);
}

TEST(ConfigTest, NamesTheNearestKey) {
  EXPECT_EQ(problems_of("mod = \"active\""),
            "f.toml:1: there is no key 'mod'; did you mean 'mode'?");
  EXPECT_EQ(problems_of("[option]"), "f.toml:1: there is no key 'option'; did you mean 'options'?");
  EXPECT_EQ(problems_of("[history]\nmoves_day = 1"),
            "f.toml:2: there is no key 'moves_day' in [history]; did you mean 'moves_days'?");
  EXPECT_EQ(problems_of("[vm.a]\nnode = \"0\""),
            "f.toml:2: there is no key 'node' in a [vm] table; did you mean 'nodes'?");
  EXPECT_EQ(problems_of("[options]\nNuma.MigTreshold = 1"),
            "f.toml:2: there is no option 'Numa.MigTreshold'; did you mean 'Numa.MigThreshold'?");
}

TEST(ConfigTest, SaysWhereAKeyOfTheTopBelongs) {
  EXPECT_EQ(
      problems_of("[options]\nmode = \"active\""),
      "f.toml:2: there is no option 'mode'; 'mode' must be above the first [table] of the file");
  EXPECT_EQ(problems_of("[vm.web1]\nmode = \"active\""),
            "f.toml:2: there is no key 'mode' in a [vm] table; 'mode' must be above the first "
            "[table] of the file");
}

TEST(ConfigTest, SuggestsNothingForAWordUnlikeAnyKey) {
  EXPECT_EQ(problems_of("zebra_crossing = 1"), "f.toml:1: there is no key 'zebra_crossing'");
}

TEST(ConfigTest, NamesTheKindWanted) {
  EXPECT_EQ(problems_of("mode = 1"), "f.toml:1: 'mode' is an integer, but must be a string");
  EXPECT_EQ(problems_of("metadata_wins = \"yes\""),
            "f.toml:1: 'metadata_wins' is a string, but must be true or false");
  EXPECT_EQ(problems_of("[history]\nmax_mib = 1.5"),
            "f.toml:2: 'max_mib' is a number with a fraction, but must be an integer");
  EXPECT_EQ(problems_of("[options]\n\"Numa.PreferHT\" = true"),
            "f.toml:2: 'Numa.PreferHT' is true or false, but must be an integer");
  EXPECT_EQ(problems_of("options = 1"), "f.toml:1: 'options' is an integer, but must be a table");
  EXPECT_EQ(problems_of("[vm]\nweb1 = \"0\""), "f.toml:2: 'web1' is a string, but must be a table");
  EXPECT_EQ(problems_of("uri = 1979-05-27"),
            "f.toml:1: 'uri' is a date or time, but must be a string");
}

TEST(ConfigTest, NamesTheChoices) {
  EXPECT_EQ(problems_of("mode = \"on\""),
            "f.toml:1: 'mode' is 'on', but must be 'observe', 'dry-run' or 'active'");
  EXPECT_EQ(problems_of("on_stop = \"\""),
            "f.toml:1: 'on_stop' is '', but must be 'leave' or 'restore'");
  EXPECT_EQ(problems_of("[vm.a]\nanti_affinity = \"firm\""),
            "f.toml:2: 'anti_affinity' is 'firm', but must be 'soft' or 'hard'");
}

TEST(ConfigTest, ReadsReservedMemoryAsTheKubeletHasIt) {
  const auto config = parse_config(
      "reserved_memory = \"1:memory=1Gi;0:hugepages-2Mi=64Mi,memory=1536Mi\"", "f.toml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->reserved_memory, (ReservedMemory{{NodeId{0}, {}, kMiB * 1536},
                                                     {NodeId{0}, kMiB * 2, kMiB * 64},
                                                     {NodeId{1}, {}, kGiB}}));
  for (const char* wrong :
       {"0", "0:", "x:memory=1Gi", "0:memory", "0:memory=", "0:memory=1Xi", "0:memory=-1",
        "0:swap=1Gi", "0:hugepages-=1", "0:memory=1Gi,memory=2Gi", "0:memory=1Gi;0:memory=1Gi",
        "0:memory=9223372036854775807Ti", "-1:memory=1"}) {
    EXPECT_THAT(problems_of("reserved_memory = \"" + std::string(wrong) + "\""),
                HasSubstr("must be like '0:memory=2Gi"))
        << wrong;
  }
}

TEST(ConfigTest, ReadsPoolsOfDevicesAndWhichAVmTakesFrom) {
  const std::string pools = "gpu=0000:3b:00.0,0000:86:00.0;vf=0000:3b:10.0";
  const auto config = parse_config(
      "device_pool = \"" + pools + "\"\n[vm.web1]\ndevice_pool = \"gpu,gpu,vf\"", "f.toml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->device_pools,
            (std::vector<DevicePool>{{"gpu", {{"0000:3b:00.0", {}}, {"0000:86:00.0", {}}}},
                                     {"vf", {{"0000:3b:10.0", {}}}}}));
  EXPECT_EQ(device_pools_text(config->device_pools), pools);
  EXPECT_EQ(config->vms.at("web1").device_pools, (std::vector<std::string>{"gpu", "gpu", "vf"}));
  for (const char* wrong : {"gpu", "gpu=", "=0000:3b:00.0", "gpu=3b:00.0", "gpu=0000:3B:00.0",
                            "gpu=0000:3b:00.0;vf=0000:3b:00.0", "a b=0000:3b:00.0",
                            "gpu=0000:3b:00.0;gpu=0000:3c:00.0", "gpu=0000:3b:00.0,0000:3b:00.0"}) {
    EXPECT_THAT(problems_of("device_pool = \"" + std::string(wrong) + "\""),
                HasSubstr("must be like 'gpu=0000:3b:00.0"))
        << wrong;
  }
  EXPECT_THAT(problems_of("[vm.web1]\ndevice_pool = \"gpu,,vf\""),
              HasSubstr("must be names of pools"));
}

TEST(ConfigTest, NamesAPoolThatAVmTakesFromAndThatIsNotThere) {
  EXPECT_EQ(problems_of("device_pool = \"gpu=0000:3b:00.0\"\n\n[vm.web1]\ndevice_pool = \"gpus\""),
            "f.toml:4: 'device_pool' names 'gpus', but vmnuma.toml has no such pool; did you mean "
            "'gpu'?");
  EXPECT_THAT(problems_of("[vm.web1]\ndevice_pool = \"vf\""), HasSubstr("names 'vf'"));
}

TEST(ConfigTest, RefusesModesThatOnlyADaemonCanBeIn) {
  EXPECT_THAT(problems_of("mode = \"paused\""),
              HasSubstr("must be 'observe', 'dry-run' or 'active'"));
  EXPECT_THAT(problems_of("mode = \"degraded\""), HasSubstr("must be"));
}

TEST(ConfigTest, NamesTheRange) {
  EXPECT_EQ(problems_of("[options]\n\"Numa.MigThreshold\" = 300"),
            "f.toml:2: Numa.MigThreshold = 300 is out of range, it goes from 0 to 100");
  EXPECT_EQ(problems_of("[history]\nmax_mib = 0"),
            "f.toml:2: 'max_mib' is 0, but must be a number from 1 to 1048576");
  EXPECT_EQ(problems_of("[vm.a]\nreservation = 101"),
            "f.toml:2: 'reservation' is 101, but must be a number from 0 to 100");
  EXPECT_EQ(problems_of("[vm.a]\nmax_per_node = -1"),
            "f.toml:2: 'max_per_node' is -1, but must be a number from 0 to 4096");
}

TEST(ConfigTest, RefusesAPolicyThatContradictsItself) {
  EXPECT_THAT(problems_of("[vm.a]\nmax_per_node = 4\n\n[vm.b]\nmax_per_node = 4\n"
                          "topology_policy = \"single-numa-node\""),
              ::testing::StartsWith("f.toml:4: 'max_per_node' divides the VM among nodes"));
}

TEST(ConfigTest, RefusesPathsThatCannotWork) {
  EXPECT_EQ(problems_of("state_dir = \"var\""),
            "f.toml:1: 'state_dir' is 'var', but must be a path that begins with '/'");
  EXPECT_THAT(problems_of("socket_path = \"/" + std::string(107, 'x') + "\""),
              HasSubstr("is 108 bytes long, but the path of a socket has at most 107"));
  EXPECT_EQ(problems_of("uri = \"\""),
            "f.toml:1: 'uri' is empty, but must be a libvirt URI such as 'qemu:///system'");
}

TEST(ConfigTest, RefusesControlCharactersInText) {
  EXPECT_THAT(problems_of("uri = \"qemu:///\\u0007system\""),
              HasSubstr("without control characters"));
}

TEST(ConfigTest, RefusesNodesThatAreNoList) {
  EXPECT_THAT(problems_of("[vm.a]\nnodes = \"0-\""),
              HasSubstr("but must be a list of nodes such as '0-1,3'"));
}

TEST(ConfigTest, ReportsAllProblemsInTheOrderOfTheLines) {
  EXPECT_EQ(problems_of("mode = \"on\"\n"
                        "log_levle = \"info\"\n"
                        "[vm.b]\n"
                        "prefer_ht = 1\n"
                        "[options]\n"
                        "\"Numa.SwapInterval\" = 0\n"
                        "\"Numa.SwapIntervall\" = 1\n"
                        "[history]\n"
                        "max_mib = \"1\"\n"),
            "f.toml:1: 'mode' is 'on', but must be 'observe', 'dry-run' or 'active'\n"
            "f.toml:2: there is no key 'log_levle'; did you mean 'log_level'?\n"
            "f.toml:4: 'prefer_ht' is an integer, but must be true or false\n"
            "f.toml:6: Numa.SwapInterval = 0 is out of range, it goes from 1 to 10000\n"
            "f.toml:7: there is no option 'Numa.SwapIntervall'; did you mean 'Numa.SwapInterval'?\n"
            "f.toml:9: 'max_mib' is a string, but must be an integer");
}

TEST(ConfigTest, NamesTheLineOfASyntaxError) {
  EXPECT_THAT(problems_of("mode = \"active\"\nuri = \n"), HasSubstr("f.toml:2: "));
}

TEST(ConfigTest, RefusesKeysGivenTwice) {
  EXPECT_THAT(problems_of("mode = \"active\"\nmode = \"observe\""), HasSubstr("f.toml:2: "));
  EXPECT_THAT(problems_of("[options]\n\"Numa.MigThreshold\" = 1\nNuma.MigThreshold = 1"),
              HasSubstr("'Numa.MigThreshold' is given twice"));
  EXPECT_THAT(problems_of("[vm.c7a5fdbd-edaf-9455-926a-d65c16db1809]\n"
                          "[vm.C7A5FDBD-EDAF-9455-926A-D65C16DB1809]\n"),
              HasSubstr("the VM 'c7a5fdbd-edaf-9455-926a-d65c16db1809' has a second table"));
}

TEST(ConfigTest, RefusesAVmWithoutAName) {
  EXPECT_EQ(problems_of("[vm.\"\"]"), "f.toml:1: a [vm] table needs the VM's name or UUID");
}

TEST(ConfigTest, SurvivesDeepNesting) {
  std::string text = "a = ";
  text.append(100000, '[');
  EXPECT_THAT(problems_of(text), HasSubstr("f.toml:1: "));
}

TEST(ConfigTest, RefusesBytesThatAreNoText) {
  EXPECT_THAT(problems_of("uri = \"\xff\xfe\""), HasSubstr("f.toml:1: "));
}

Config unusual_config() {
  Config config;
  std::int64_t number = 0;
  // Every option at its largest value, every key at something that is not its default.
  for (const auto& option : option_table()) {
    config.options.*option.value = option.largest;
    config.origins[std::string(option.name)] = Origin::kFile;
  }
  config.hypervisor = HypervisorKind::kQemu;
  config.uri = "qemu+unix:///system?socket=/a \"b\"\\c";
  config.mode = Mode::kActive;
  config.on_stop = OnStop::kRestore;
  config.admission = AdmissionMode::kAdvise;
  config.reserved_memory = {
      {NodeId{0}, {}, kGiB * 2}, {NodeId{0}, kMiB * 2, kMiB * 64}, {NodeId{3}, kGiB, Bytes{3}}};
  config.log_level = Severity::kError;
  config.foreign_pins = ForeignPins::kRepair;
  config.metadata_wins = false;
  config.strategy = PlacementStrategy::kDistributeEvenly;
  config.socket_path = "/s";
  config.socket_group = "";
  config.state_dir = "/d";
  config.history = {++number, ++number, ++number, ++number, ++number};
  for (const auto& key : top_keys()) {
    config.origins[std::string(key.name)] = Origin::kFile;
  }
  for (const auto& key : history_keys()) {
    config.origins["history." + std::string(key.name)] = Origin::kFile;
  }
  VmPolicy policy;
  policy.nodes = {{0}, {7}};
  policy.affinity_group = "größe \"x\"";
  policy.reservation_permille = 990;
  policy.strategy = PlacementStrategy::kMostAllocated;
  config.vms["odd \"name\"\\ \n."] = policy;
  config.vms["plain"] = VmPolicy{};
  return config;
}

TEST(ConfigTest, ShownValuesReadAgainAreTheSame) {
  const Config config = unusual_config();
  std::map<std::string, std::string> shown;
  for (const SettingView& setting : config_view(config).settings) {
    EXPECT_TRUE(shown.emplace(setting.key, setting.value).second) << setting.key;
  }
  Config again;
  for (const auto& key : top_keys()) {
    EXPECT_TRUE(key.set(again, shown.at(std::string(key.name)))) << key.name;
    EXPECT_EQ(key.get(again), key.get(config));
  }
  for (const auto& key : history_keys()) {
    EXPECT_TRUE(key.set(again.history, shown.at("history." + std::string(key.name)))) << key.name;
  }
  EXPECT_EQ(again.history, config.history);
  for (const OptionRow& option : option_table()) {
    EXPECT_EQ(shown.at(std::string(option.name)), std::to_string(config.options.*option.value));
  }
  for (const auto& [vm, policy] : config.vms) {
    VmPolicy read;
    for (const auto& key : policy_keys()) {
      EXPECT_TRUE(key.set(read, shown.at("vm." + vm + "." + std::string(key.name)))) << key.name;
    }
    EXPECT_EQ(read, policy) << vm;
  }
}

TEST(ConfigTest, StrategiesHaveTheNamesTheyHaveElsewhere) {
  for (const std::string name :
       {"least-lost-time", "MostAllocated", "LeastAllocated", "DistributeEvenly"}) {
    const auto config =
        parse_config("strategy = \"" + name + "\"\n[vm.a]\nstrategy = \"" + name + "\"", "f.toml");
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_EQ(name_of(config->strategy), name);
    EXPECT_EQ(name_of(config->vms.at("a").strategy), name);
  }
  EXPECT_EQ(problems_of("strategy = \"mostallocated\""),
            "f.toml:1: 'strategy' is 'mostallocated', but must be 'least-lost-time', "
            "'MostAllocated', 'LeastAllocated' or 'DistributeEvenly'");
}

TEST(ConfigTest, ShownValuesSayWhereTheyComeFrom) {
  auto config = parse_config(
      "mode = \"active\"\n[options]\nNuma.MigThreshold = 3\n[vm.web1]\nnodes = \"1\"\n", "f.toml");
  ASSERT_TRUE(config);
  config->origins["Numa.SwapInterval"] = Origin::kPersisted;
  EXPECT_THAT(
      config_view(*config).settings,
      ::testing::IsSupersetOf({SettingView{"mode", "active", Origin::kFile},
                               SettingView{"log_level", "info", Origin::kDefault},
                               SettingView{"history.max_mib", "1024", Origin::kDefault},
                               SettingView{"Numa.MigThreshold", "3", Origin::kFile},
                               SettingView{"Numa.SwapInterval", "3", Origin::kPersisted},
                               SettingView{"vm.web1.nodes", "1", Origin::kFile},
                               SettingView{"vm.web1.do_not_move", "false", Origin::kDefault}}));
}

TEST(ConfigTest, ExampleIsAcceptedAndChangesNothing) {
  const auto config = parse_config(example_config(), "f.toml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->options, Options{});
  EXPECT_TRUE(config->origins.empty());
}

TEST(ConfigTest, ExampleWithEveryLineInForceIsTheDefault) {
  // Settings are "#key = value" and "#[table]"; explanations have a blank behind the '#'.
  std::string text;
  const std::string example = example_config();
  std::string_view rest = example;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() + 1);
    EXPECT_LE(line.size(), 80U) << line;
    text += line.starts_with('#') && !line.starts_with("# ") ? line.substr(1) : line;
    text += '\n';
  }
  const auto config = parse_config(text, "f.toml");
  ASSERT_TRUE(config) << config.error().message << "\n" << text;
  Config expected;
  expected.vms["web1"] = VmPolicy{};
  expected.origins = config->origins;
  EXPECT_EQ(*config, expected);
  EXPECT_EQ(config->origins.size(),
            top_keys().size() + history_keys().size() + option_table().size());
}

}  // namespace
}  // namespace vmnuma::balancer
