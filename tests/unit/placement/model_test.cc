// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement/base/sorted.h"
#include "placement/model/amounts.h"
#include "placement/model/domain.h"
#include "placement/model/memory_state.h"
#include "placement/model/options.h"
#include "placement/model/plan.h"
#include "placement/model/text.h"
#include "placement/model/topology.h"
#include "tests/support/build_snapshot.h"

namespace vmnuma {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(AmountsTest, ScalesWithoutOverflow) {
  EXPECT_EQ(scaled(CpuTime{10}, 2, 3), CpuTime{6});
  EXPECT_EQ(scaled(Bytes{1LL << 50}, 1LL << 50, 1LL << 51), Bytes{1LL << 49});
  EXPECT_EQ(scaled(CpuTime{10}, 1, 0), CpuTime{});
  EXPECT_EQ(permille_of(1, 3, Permille{}), Permille{333});
  EXPECT_EQ(permille_of(1, 0, Permille{7}), Permille{7});
}

TEST(TopologyTest, CountsCoresOnce) {
  const Topology topology = tests::equal_nodes(2, 4, 2, 16);
  EXPECT_EQ(topology.nodes[1].core_count(), 4);
  EXPECT_EQ(topology.nodes[1].cpu_count(), 8);
  EXPECT_EQ(Node{}.core_count(), 0);
}

TEST(TopologyTest, ListsItsCpusInOrderWhateverTheirNodes) {
  Topology topology = tests::equal_nodes(2, 2, 1, 16);
  topology.nodes[0].cpus = {{CpuId{0}, 0, 0}, {CpuId{2}, 1, 0}};
  topology.nodes[1].cpus = {{CpuId{1}, 2, 1}, {CpuId{3}, 3, 1}};
  EXPECT_EQ(topology.cpu_ids(), (std::vector{CpuId{0}, CpuId{1}, CpuId{2}, CpuId{3}}));
  EXPECT_TRUE(Topology{}.cpu_ids().empty());
}

TEST(SortedTest, EachValueIsThereOnceAndIsFound) {
  const std::vector<std::int32_t> sorted = sorted_unique<std::int32_t>({3, 1, 3, 2, 1});
  EXPECT_EQ(sorted, (std::vector<std::int32_t>{1, 2, 3}));
  EXPECT_EQ(find_sorted(sorted, 2, std::identity{}), &sorted[1]);
  EXPECT_EQ(find_sorted(sorted, 4, std::identity{}), nullptr);
}

TEST(TopologyTest, FindsNodesByTheirKernelNumber) {
  Topology topology = tests::equal_nodes(3, 4, 1, 16);
  topology.nodes[2].id = NodeId{8};
  EXPECT_EQ(topology.index_of(NodeId{8}), 2);
  EXPECT_EQ(topology.index_of(NodeId{2}), std::nullopt);
  EXPECT_EQ(topology.index_of(NodeId{-1}), std::nullopt);
  EXPECT_EQ(topology.distance(0, 0), 10);
  EXPECT_EQ(topology.distance(0, 2), 20);
}

TEST(TopologyTest, KnowsTheOnlyNodeThatCanBeAHome) {
  Topology topology = tests::equal_nodes(3, 4, 1, 16);
  EXPECT_EQ(topology.only_home(), std::nullopt);
  topology.nodes[0].cpus.clear();
  topology.nodes[2].memory = Bytes{};
  EXPECT_EQ(topology.only_home(), std::nullopt);  // a vCPU may run on node 2, far from its memory
  topology.nodes[2].cpus.clear();
  EXPECT_EQ(topology.only_home(), NodeIndex{1});
  topology.nodes[1].cpus.clear();
  EXPECT_EQ(topology.only_home(), std::nullopt);
}

TEST(MemoryStateTest, NamesTheSlicesAndTheUnitOfAScope) {
  const std::string scope = "machine.slice/machine-prod.slice/machine-qemu\\x2d1\\x2da.scope";
  EXPECT_THAT(slices_above(scope),
              ElementsAre("machine.slice", "machine.slice/machine-prod.slice"));
  EXPECT_EQ(unit_of(scope), "machine-qemu\\x2d1\\x2da.scope");
  EXPECT_THAT(slices_above("machine/qemu-1-a.libvirt-qemu"), IsEmpty());
  EXPECT_THAT(slices_above("machine.slice"), IsEmpty());
  EXPECT_EQ(unit_of("machine.slice"), "machine.slice");
}

TEST(DomainTest, SaysWhyMemoryStays) {
  VmDescription vm;
  EXPECT_EQ(why_memory_stays(vm), std::nullopt);
  vm.numatune = NumatuneMode::kRestrictive;
  EXPECT_EQ(why_memory_stays(vm), std::nullopt);
  for (const auto& [mode, word] : {std::pair{NumatuneMode::kStrict, "strict"},
                                   std::pair{NumatuneMode::kPreferred, "preferred"},
                                   std::pair{NumatuneMode::kInterleave, "interleave"}}) {
    vm.numatune = mode;
    EXPECT_THAT(why_memory_stays(vm).value_or(""), HasSubstr(word));
  }
  vm.memory_locked = true;
  EXPECT_THAT(why_memory_stays(vm).value_or(""), HasSubstr("locked"));
  vm.memory_pinned_by = "mdev 'x'";
  EXPECT_THAT(why_memory_stays(vm).value_or(""), HasSubstr("mdev 'x'"));
  vm.pci_devices = {{"0000:3b:00.0"}};
  EXPECT_THAT(why_memory_stays(vm).value_or(""), HasSubstr("0000:3b:00.0"));
  vm.policy.memory_mode = MemoryMode::kHandsOff;
  EXPECT_THAT(why_memory_stays(vm).value_or(""), HasSubstr("hands-off"));
}

TEST(OptionsTest, HasDefaultsInsideTheirRanges) {
  const Options defaults;
  std::set<std::string_view> names;
  for (const OptionRow& option : option_table()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_LE(option.smallest, defaults.*(option.value)) << option.name;
    EXPECT_GE(option.largest, defaults.*(option.value)) << option.name;
    EXPECT_FALSE(option.help.empty()) << option.name;
  }
  EXPECT_EQ(names.size() * sizeof(std::int64_t), sizeof(Options));
}

TEST(OptionsTest, AsManyMovesBeginAsThereAreNodesUnlessTold) {
  Options options;
  EXPECT_EQ(migrations_per_epoch(options, 2), 4);
  EXPECT_EQ(migrations_per_epoch(options, 64), 64);
  options.migrations_per_epoch = 3;
  EXPECT_EQ(migrations_per_epoch(options, 64), 3);
  EXPECT_EQ(migrations_per_epoch(options_of(Preset::kEsxi), 64), 4);
}

TEST(OptionsTest, SetsByName) {
  Options options;
  ASSERT_TRUE(set_option(options, "Numa.Residency", 7));
  EXPECT_EQ(options.residency, 7);
}

TEST(OptionsTest, RefusesWhatIsOutOfRange) {
  Options options;
  const Result<void> low = set_option(options, "Numa.RebalancePeriod", 99);
  ASSERT_FALSE(low);
  EXPECT_EQ(low.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(low.error().message,
            "Numa.RebalancePeriod = 99 is out of range, it goes from 100 to 60000");
  EXPECT_FALSE(set_option(options, "Numa.RebalancePeriod", 60'001));
  EXPECT_EQ(options, Options{});
}

TEST(OptionsTest, NamesTheNearestOption) {
  Options options;
  const Result<void> unknown = set_option(options, "Numa.Residenzy", 7);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(unknown.error().message, HasSubstr("did you mean 'Numa.Residency'?"));
  EXPECT_THAT(set_option(options, "quite another thing", 7).error().message,
              ::testing::Not(HasSubstr("did you mean")));
  EXPECT_EQ(find_option("numa.residency"), nullptr);
}

TEST(OptionsTest, FindsNamesThatAreNearEnough) {
  EXPECT_EQ(nearest_name("web-1", {"db-1", "web1", "mail"}), "web1");
  EXPECT_EQ(nearest_name("WEB1", {"db-1", "web1"}), "web1");
  EXPECT_EQ(nearest_name("xyz", {"db-1", "web1"}), "");
  EXPECT_EQ(nearest_name(std::string(201, 'a'), {std::string_view("a")}), "");
  EXPECT_EQ(nearest_name("", {}), "");
}

TEST(OptionsTest, LettersThatChangedPlacesAreOneMistake) {
  EXPECT_EQ(nearest_name("lsit", {"set", "list", "wait"}), "list");
  EXPECT_EQ(nearest_name("lits", {"list"}), "list");
  EXPECT_EQ(nearest_name("mvoe", {"move"}), "move");
  EXPECT_EQ(nearest_name("jsno", {"json"}), "json");
  EXPECT_EQ(nearest_name("tabel", {"table"}), "table");
  EXPECT_EQ(nearest_name("ilts", {"list"}), "");  // two
  EXPECT_EQ(nearest_name("BA", {"ab"}), "ab");
}

TEST(TextTest, WritesAndReadsVmIds) {
  const std::string text = "c7a5fdbd-edaf-9455-926a-d65c16db1809";
  const Result<VmId> id = parse_vm_id(text);
  ASSERT_TRUE(id);
  EXPECT_EQ(to_text(*id), text);
  EXPECT_EQ(parse_vm_id("C7A5FDBD-EDAF-9455-926A-D65C16DB1809").value(), *id);
}

TEST(TextTest, RefusesWhatIsNoVmId) {
  for (const std::string_view text :
       {"", "c7a5fdbd", "c7a5fdbd-edaf-9455-926a-d65c16db180g",
        "c7a5fdbdxedaf-9455-926a-d65c16db1809", "c7a5fdbd-edaf-9455-926a-d65c16db18090",
        "c7a5fdbd-edaf-9455-926a-d65c16db180"}) {
    const Result<VmId> id = parse_vm_id(text);
    ASSERT_FALSE(id) << text;
    EXPECT_EQ(id.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(id.error().message, HasSubstr(std::string(text)));
  }
}

TEST(TextTest, WritesLists) {
  EXPECT_EQ(to_list(std::vector<CpuId>{}), "");
  EXPECT_EQ(to_list(std::vector<CpuId>{{0}, {1}, {2}, {8}, {10}, {11}}), "0-2,8,10-11");
  EXPECT_EQ(to_list(std::vector<NodeId>{{3}}), "3");
  EXPECT_EQ(to_list(std::vector<std::int32_t>{4, 1, 2}), "1-2,4");
}

TEST(TextTest, SaysNodeOrNodes) {
  EXPECT_EQ(node_or_nodes({{3}}), "node 3");
  EXPECT_EQ(node_or_nodes({{0}, {1}, {4}}), "nodes 0-1,4");
}

TEST(TextTest, ReadsLists) {
  EXPECT_THAT(parse_cpu_list("0-2,8").value(), ElementsAre(CpuId{0}, CpuId{1}, CpuId{2}, CpuId{8}));
  EXPECT_THAT(parse_node_list("0,2\n").value(), ElementsAre(NodeId{0}, NodeId{2}));
  EXPECT_THAT(parse_cpu_list("").value(), IsEmpty());
  EXPECT_THAT(parse_cpu_list("3,1,1-2").value(), ElementsAre(CpuId{1}, CpuId{2}, CpuId{3}));
}

TEST(TextTest, RefusesWhatIsNoList) {
  for (const std::string_view text :
       {"a", "1-", "-1", "3-1", "1,,2", "1 2", "1,", "0-99999999", "99999999999", "1-2-3"}) {
    const Result<std::vector<CpuId>> cpus = parse_cpu_list(text);
    ASSERT_FALSE(cpus) << text;
    EXPECT_EQ(cpus.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(cpus.error().message, HasSubstr(std::string(text)));
  }
  EXPECT_FALSE(parse_node_list("x"));
}

}  // namespace
}  // namespace vmnuma
